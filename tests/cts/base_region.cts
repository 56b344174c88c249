# Ops with bodies.

case loop
over T = f32 | f64
over N = 0 | 1 | 2 | 7 | 33
  input h: $T[3]
  input x: $T[$N, 3]
  hn, all = loop(h, x, count=$N, carried=1, each=1) (i, h, xt) {
    g = h * 0.5 + xt
    give g, g * g
  }
  output hn
  output all
end

case loop index
over N = 0 | 1 | 5
mix ordinary special
  input x: i64[2]
  y, all = loop(x, count=$N, carried=1) (i, y) {
    give y * 3 + i, y - i
  }
  output y
  output all
end

case loop nested
mix ordinary special wide
  input h: f32[2]
  input w: f32[2, 2]
  y = loop(h, count=3, carried=1) (i, a) {
    b = loop(a, count=2, carried=1) (j, c) {
      give reshape(matmul(reshape(c, shape=[1, 2]), w), shape=[2])
    }
    give tanh(b)
  }
  output y
end

case cond
over T = f32 | f64 | i32
mix ordinary special few zeros
  input which: bool[]
  input a: $T[5]
  input b: $T[5]
  y = cond(which) { give a + b } else { give a * b }
  output y
end

case cond nested
mix ordinary special few zeros
  input p: bool[]
  input q: bool[]
  input a: f32[4]
  y = cond(p) {
    z = cond(q) { give exp(a) } else { give a * 2 }
    give z + 1
  } else {
    give -a
  }
  output y
end
