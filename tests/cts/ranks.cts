# Ops at the highest rank, with dimensions of 1 and 0 among the others, and at rank 0 where they take it.

case eq ranks
over T = f32 | i64 | bool
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = eq(a, b)
end

case ne ranks
over T = f32 | i64 | bool
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = ne(a, b)
end

case lt ranks
over T = f32 | i64
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = lt(a, b)
end

case le ranks
over T = f32 | i64
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = le(a, b)
end

case gt ranks
over T = f32 | i64
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = gt(a, b)
end

case ge ranks
over T = f32 | i64
over A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 2, 1, 1, 2, 1, 3 & 2, 1, 3 | 2, 1, 0, 1, 1, 2, 1, 3 & 3, 1, 1, 2, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = ge(a, b)
end

case cast ranks
over T & U = f32 & f64 | f64 & f16 | f16 & f32 | bf16 & f32 | f32 & bf16 | f32 & i8 | i64 & i32 | u8 & f32 | i32 & bool | bool & i64
over S = 1 | 1, 2, 1, 2, 1, 2, 1, 3 | 2, 1, 0, 1, 2, 1, 1, 3
mix ordinary special few
  input x: $T[$S]
  output y = cast(x, dtype=$U)
end

case select ranks
over T = f32 | f64 | i8 | bool | bf16
over W & A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 3 | 3 & 2, 1, 1, 2, 1, 1, 2, 3 & | 2, 1, 0, 1, 2, 1, 1, 3 & 3 & 1, 2, 1, 3
mix ordinary special few
  input w: bool[$W]
  input a: $T[$A]
  input b: $T[$B]
  output y = select(w, a, b)
end

case where ranks
over T = f32 | f64 | i8 | bool | bf16
over W & A & B = 1, 2, 1, 2, 1, 2, 1, 3 & 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 3 | 3 & 2, 1, 1, 2, 1, 1, 2, 3 & | 2, 1, 0, 1, 2, 1, 1, 3 & 3 & 1, 2, 1, 3
mix ordinary special few
  input w: bool[$W]
  input a: $T[$A]
  input b: $T[$B]
  output y = where(w, a, b)
end

case fma ranks
over T = f32 | f64
over A & B & C = 1, 2, 1, 2, 1, 2, 1, 3 & 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 3 | 3 & 2, 1, 1, 2, 1, 1, 2, 3 & | 2, 1, 0, 1, 2, 1, 1, 3 & 3 & 1, 2, 1, 3
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  input c: $T[$C]
  output y = fma(a, b, c)
end

case argmax ranks
over T = f32 | f64 | i8 | i64
over A = 0 | 1 | 4 | -1
mix ordinary special few
  input x: $T[2, 3, 1, 2, 3, 1, 2, 5]
  output y = argmax(x, axis=$A)
end

case argmax empty ranks
mix ordinary
  input x: f32[2, 1, 0, 1, 2, 1, 1, 3]
  output y = argmax(x, axis=-1)
end

case argmin ranks
over T = f32 | f64 | i8 | i64
over A = 0 | 1 | 4 | -1
mix ordinary special few
  input x: $T[2, 3, 1, 2, 3, 1, 2, 5]
  output y = argmin(x, axis=$A)
end

case argmin empty ranks
mix ordinary
  input x: f32[2, 1, 0, 1, 2, 1, 1, 3]
  output y = argmin(x, axis=-1)
end

case gather ranks
over T = f32 | i8 | bool | f16
over X & I & R & N = 2, 1, 3, 1, 2, 1, 2, 3 & 4 & axis=2 & 2 | 2, 1, 3, 1, 2, 1, 2, 3 & & axis=-1 & 2 | 2, 3, 1, 2, 1, 2, 4, 3 & 2, 3, 1, 2, 1, 2, 5 & axis=6, batch=6 & 3 | 2, 3 & 1, 2, 1, 2, 1, 1, 2 & axis=0 & 1 | 2, 1, 0, 1, 2, 1, 3, 3 & 2 & axis=6 & 2
mix ordinary special few
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  output y = gather(x, i, $R)
end

case embedding ranks
over T = f32 | i8 | f16
over I = 1, 2, 1, 3, 1, 2, 1 | 2, 1, 0, 1, 2, 1, 1
mix ordinary special
  input x: $T[5, 3]
  input i: i32[$I] in 0..4
  output y = embedding(x, i)
end

case concat ranks
over T = f32 | f64 | i8 | bool | f16
over A & B & X = 1 & 1 & 0 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 5 & -1 | 1, 2, 1, 2, 1, 2, 1, 3 & 2, 2, 1, 2, 1, 2, 1, 3 & 0 | 2, 1, 2, 2, 1, 1, 2, 3 & 2, 1, 2, 0, 1, 1, 2, 3 & 3
mix ordinary special
  input a: $T[$A]
  input b: $T[$B]
  output y = concat(a, b, a, axis=$X)
end

case rms_norm ranks
over T = f32 | f64
over L = 2, 1, 2, 1, 3, 1, 2 | 2, 1, 0, 1, 3, 1, 2
mix ordinary special wide
  input x: $T[$L, 9]
  input g: $T[9]
  output y = rms_norm(x, g)
end

case cross_entropy ranks
over L = 2, 1, 2, 1, 3, 1, 2 | 2, 1, 0, 1, 3, 1, 2
over R = | , ignore=0
mix ordinary special few
  input x: f32[$L, 5]
  input t: i32[$L] in 0..4
  output y = cross_entropy(x, t$R)
end

case fake_quantize ranks
over Z = i8 | u8
over S = 2, 1, 2, 1, 3, 1, 2, 5 | 2, 1, 0, 1, 3, 1, 2, 5
mix ordinary special wide
  input x: f32[$S]
  input s: f32[]
  input z: $Z[]
  output y = fake_quantize(x, s, z)
end

case fake_quantize ranks by axis
mix ordinary special
  input x: f32[2, 1, 2, 1, 3, 1, 2, 5]
  input s: f32[3]
  input z: i8[3]
  output y = fake_quantize(x, s, z, axis=4)
end

case requantize ranks
over Z = i8 | u8
over S = 2, 1, 2, 1, 3, 1, 2, 5 | 2, 1, 0, 1, 3, 1, 2, 5
mix ordinary special wide
  input x: i32[$S]
  input a: f32[]
  input b: f32[]
  input s: f32[]
  input z: $Z[]
  output y = requantize(x, a, b, s, z)
end

case slice ranks
over T = f32 | bool | f16
mix ordinary special
  input x: $T[]
  output y = slice(x, start=[], stop=[])
end

case transpose ranks
over T = f32 | bool | f16
mix ordinary special
  input x: $T[]
  output y = transpose(x, perm=[])
end

case avg_pool_grad ranks
over T = f32 | f64
over L = 0, 2 | 2, 0 | 1, 1
mix ordinary special
  input v: $T[$L, 5, 4]
  output y = avg_pool_grad(avg_pool(v, kernel=2, stride=1), kernel=2, stride=1, from=[5, 4])
end

case scatter_nd ranks
over X & I & U = & 3, 0 & 3 | 1 & 2, 1 & 2 | 1, 3 & 2, 1 & 2, 3
mix ordinary special
  input x: f32[$X]
  input i: i64[$I] in 0..0
  input u: f32[$U]
  output y = scatter_nd(x, i, u)
end

case scatter_nd_add ranks
over X & I & U = & 3, 0 & 3 | 1 & 2, 1 & 2 | 1, 3 & 2, 1 & 2, 3
mix ordinary special
  input x: f32[$X]
  input i: i64[$I] in 0..0
  input u: f32[$U]
  output y = scatter_nd_add(x, i, u)
end

case scatter_nd_max ranks
over X & I & U = & 3, 0 & 3 | 1 & 2, 1 & 2 | 1, 3 & 2, 1 & 2, 3
mix ordinary special
  input x: f32[$X]
  input i: i64[$I] in 0..0
  input u: f32[$U]
  output y = scatter_nd_max(x, i, u)
end

case scatter_nd_min ranks
over X & I & U = & 3, 0 & 3 | 1 & 2, 1 & 2 | 1, 3 & 2, 1 & 2, 3
mix ordinary special
  input x: f32[$X]
  input i: i64[$I] in 0..0
  input u: f32[$U]
  output y = scatter_nd_min(x, i, u)
end

case loop ranks
over T = f32 | f64
over S & E = & 1 | 1 & 1, 1 | 0 & 1, 0 | 2, 1, 2, 1, 3, 1, 2 & 1, 2, 1, 2, 1, 3, 1, 2 | 2, 1, 0, 1, 3, 1, 2 & 1, 2, 1, 0, 1, 3, 1, 2
mix ordinary special
  input h: $T[$S]
  input x: $T[$E]
  hn, all = loop(h, x, count=1, carried=1, each=1) (i, h, xt) {
    g = h * 0.5 + xt
    give g, g * g
  }
  output hn
  output all
end

case loop ranks carried
over S = 2, 1, 2, 1, 3, 1, 2, 3 | 2, 1, 0, 1, 3, 1, 2, 3
mix ordinary special
  input h: f32[$S]
  input x: f32[3, 3]
  hn = loop(h, x, count=3, carried=1, each=1) (i, h, xt) {
    give h * 0.5 + xt
  }
  output hn
end

case cond ranks
over T = f32 | i32
over S = | 1 | 0 | 2, 1, 2, 1, 3, 1, 2, 3 | 2, 1, 0, 1, 3, 1, 2, 3
mix ordinary special few
  input which: bool[]
  input a: $T[$S]
  input b: $T[$S]
  y = cond(which) { give a + b } else { give a * b }
  output y
end
