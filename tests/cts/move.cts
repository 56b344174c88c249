# Movements composed of others, and the further forms of those of the base files.

case iota negative
over T = f32 | f64 | i32 | i64
over S & A = 4 & -1 | 2, 3, 4 & -1 | 2, 3, 4 & -2 | 2, 3, 4 & -3 | 2, 0, 3 & -2 | 1, 2, 1, 2, 1, 2, 1, 3 & -8
  output y = iota(shape=[$S], axis=$A, dtype=$T)
end

case slice steps gradient
over T = f32 | f64
over X & R = 9 & start=[2], stop=[3], step=[5] | 33 & start=[1], stop=[33], step=[4] | 5, 7 & start=[4, 1], stop=[5, 6], step=[3, 2] | 4, 0 & start=[0, 0], stop=[4, 0], step=[2, 3] | 2, 1, 3, 1, 2, 1, 2, 5 & start=[0, 0, 0, 0, 0, 0, 0, 1], stop=[2, 1, 3, 1, 1, 1, 2, 5], step=[1, 1, 2, 1, 1, 1, 1, 3]
mix ordinary
  input x: $T[$X]
  output y = slice(x, $R)
grad x
end

case pad wide gradient
over T = f32 | f64
over X & R = & low=[], high=[] | 1025 & low=[3], high=[0] | 2, 3 & low=[0, 0], high=[0, 0] | 0, 2 & low=[1, 1], high=[1, 0] | 1, 2, 1, 2, 1, 2, 1, 2 & low=[0, 0, 0, 1, 0, 0, 0, 0], high=[0, 0, 1, 0, 0, 0, 0, 1]
mix ordinary
  input x: $T[$X]
  input v: $T[]
  output y = pad(x, v, $R)
grad x v
end

case broadcast wide gradient
over T = f32 | f64
over X & S = & 3, 2 | 1 & 1025 | 1, 3 & 33, 3 | 2, 1, 1 & 4, 2, 33, 5 | 1 & 0 | 3 & 0, 3 | 2, 1, 2, 1 & 1, 2, 1, 2, 2, 3, 2, 2
mix ordinary
  input x: $T[$X]
  output y = broadcast(x, shape=[$S])
grad x
end

case tile
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = & | 5 & 1 | 5 & 3 | 1 & 257 | 0 & 4 | 4 & 0 | 2, 3 & 1, 2 | 2, 3 & 3, 1 | 2, 3 & 2, 4 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 1, 2, 1, 1, 1, 2
mix ordinary special
  input x: $T[$X]
  output y = tile(x, repeats=[$R])
end

case tile gradient
over T = f32 | f64
over X & R = & | 5 & 1 | 5 & 3 | 1 & 257 | 2 & 1025 | 0 & 4 | 4 & 0 | 2, 3 & 1, 2 | 2, 3 & 3, 1 | 2, 3 & 33, 2 | 2, 1, 3 & 2, 3, 4 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 2, 2, 2, 2, 2, 2, 2
mix ordinary
  input x: $T[$X]
  output y = tile(x, repeats=[$R])
grad x
end

case flip
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = & | 1 & | 9 & | 9 & , axes=0 | 0 & | 3, 4 & , axes=1 | 3, 4 & , axes=[0, 1] | 3, 4 & , axes=-2 | 2, 0, 3 & , axes=[0, 2] | 2, 1, 2, 1, 3, 1, 1, 2 & , axes=[0, 4, 7]
mix ordinary special
  input x: $T[$X]
  output y = flip(x$R)
end

case flip gradient
over T = f32 | f64
over X & R = & | 9 & | 3, 4 & , axes=1 | 2, 3, 2 & , axes=[0, 2] | 2, 0 &
mix ordinary
  input x: $T[$X]
  output y = flip(x$R)
grad x
end

case roll
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & A = 7 & 0 | 1 & 0 | 3, 4 & 0 | 3, 4 & -1 | 2, 0, 3 & 1 | 2, 0, 3 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 7
over N = 0 | 1 | -1 | 3 | -10 | 1000000000000
mix ordinary special
  input x: $T[$X]
  output y = roll(x, shift=$N, axis=$A)
end

case roll gradient
over T = f32 | f64
over X & A = 7 & 0 | 3, 4 & 0 | 3, 4 & -1 | 2, 0 & 1
over N = 0 | 2 | -1 | -1000000000000
mix ordinary
  input x: $T[$X]
  output y = roll(x, shift=$N, axis=$A)
grad x
end

case triu
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X = 3, 3 | 2, 5 | 5, 2 | 1, 1 | 0, 3 | 3, 0 | 2, 3, 4 | 1, 2, 1, 2, 1, 2, 3, 3
over K = 0 | 1 | -1 | 100 | -1000000000000000000
mix ordinary special
  input x: $T[$X]
  output y = triu(x, k=$K)
end

case triu gradient
over T = f32 | f64
over X = 3, 3 | 2, 3, 4 | 0, 3
over K = 0 | 1 | -1
mix ordinary
  input x: $T[$X]
  output y = triu(x, k=$K)
grad x
end

case tril
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X = 3, 3 | 2, 5 | 5, 2 | 1, 1 | 0, 3 | 3, 0 | 2, 3, 4 | 1, 2, 1, 2, 1, 2, 3, 3
over K = 0 | 1 | -1 | 100 | -1000000000000000000
mix ordinary special
  input x: $T[$X]
  output y = tril(x, k=$K)
end

case tril gradient
over T = f32 | f64
over X = 3, 3 | 2, 3, 4 | 0, 3
over K = 0 | 1 | -1
mix ordinary
  input x: $T[$X]
  output y = tril(x, k=$K)
grad x
end

case stack
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & A = & 0 | & -1 | 3 & 0 | 3 & 1 | 0 & 0 | 2, 3 & 0 | 2, 3 & 1 | 2, 3 & 2 | 2, 3 & -1 | 2, 3 & -3 | 1, 2, 1, 2, 1, 2, 2 & 4
mix ordinary special
  input a: $T[$X]
  input b: $T[$X]
  input c: $T[$X]
  output y = stack(a, b, c, axis=$A)
  output z = stack(a, axis=$A)
end

case stack gradient
over T = f32 | f64
over X & A = & 0 | 3 & 1 | 2, 3 & 0 | 2, 3 & 1 | 2, 3 & -1 | 0 & 0
mix ordinary
  input a: $T[$X]
  input b: $T[$X]
  output y = stack(a, b, a, axis=$A)
grad a b
end

case split
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & A = 6 & 0 | 0 & 0 | 3, 4 & 0 | 2, 6 & -1 | 2, 9, 2 & 1 | 0, 3 & 1 | 1, 2, 1, 2, 1, 2, 1, 3 & 7
mix ordinary special
  input x: $T[$X]
  a, b, c = split(x, parts=3, axis=$A)
  output a
  output b
  output c
end

case split sizes
over T = f32 | i32
over X & A & S = 6 & 0 & 1, 2, 3 | 3, 4 & 1 & 0, 4, 0 | 4, 2 & 0 & 2, 1, 1 | 257, 2 & 0 & 255, 1, 1
mix ordinary special
  input x: $T[$X]
  a, b, c = split(x, sizes=[$S], axis=$A)
  output a
  output b
  output c
end

case split gradient
over T = f32 | f64
over X & R = 6 & parts=3 | 2, 6 & parts=3, axis=1 | 6, 2 & sizes=[1, 2, 3] | 0, 3 & parts=3, axis=1
mix ordinary
  input x: $T[$X]
  a, b, c = split(x, $R)
  output a
  output c
grad x
end

case squeeze
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = & | 1 & | 3 & | 1, 3, 1 & | 1, 3, 1 & , axes=0 | 1, 3, 1 & , axes=-1 | 1, 3, 1 & , axes=[2, 0] | 1, 0 & , axes=0 | 1, 2, 1, 2, 1, 2, 1, 2 & | 1, 1, 1, 1, 1, 1, 1, 1 &
mix ordinary special
  input x: $T[$X]
  output y = squeeze(x$R)
end

case squeeze gradient
over T = f32 | f64
over X & R = 1, 3, 1 & | 1, 3, 1 & , axes=0 | 1 & | 1, 0 &
mix ordinary
  input x: $T[$X]
  output y = squeeze(x$R)
grad x
end

case unsqueeze
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & A = & 0 | & 0, 1, 2, 3, 4, 5, 6, 7 | 3 & 0 | 3 & 1 | 3 & -1 | 3 & -2 | 2, 3 & 0, 2, -1 | 2, 3 & 3, 0 | 0, 2 & 1 | 2, 3 &
mix ordinary special
  input x: $T[$X]
  output y = unsqueeze(x, axes=[$A])
end

case unsqueeze gradient
over T = f32 | f64
over X & A = & 0 | 3 & -1 | 2, 3 & 0, 2, -1 | 0 & 0
mix ordinary
  input x: $T[$X]
  output y = unsqueeze(x, axes=[$A])
grad x
end

case flatten
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = & | 3 & | 2, 3 & | 2, 3, 4 & , start=1 | 2, 3, 4 & , end=1 | 2, 3, 4 & , start=1, end=1 | 2, 3, 4 & , start=-2, end=-1 | 2, 0, 3 & , start=1 | 1, 2, 1, 2, 1, 2, 1, 2 & , start=1, end=6
mix ordinary special
  input x: $T[$X]
  output y = flatten(x$R)
end

case flatten gradient
over T = f32 | f64
over X & R = & | 2, 3 & | 2, 3, 4 & , start=1 | 2, 0, 3 &
mix ordinary
  input x: $T[$X]
  output y = flatten(x$R)
grad x
end

case diag matrix
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & K = 3, 3 & 0 | 3, 3 & 1 | 3, 3 & -2 | 3, 3 & 3 | 3, 3 & -3 | 2, 5 & 0 | 2, 5 & 3 | 2, 5 & 5 | 5, 2 & -1 | 5, 2 & 1 | 1, 1 & 0 | 0, 3 & 0 | 3, 0 & 0 | 33, 32 & 1
mix ordinary special
  input x: $T[$X]
  output y = diag(x, k=$K)
end

case diag line
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X = 0 | 1 | 3 | 17
over K = 0 | 1 | -1 | 5 | -4
mix ordinary special
  input x: $T[$X]
  output y = diag(x, k=$K)
end

case diag gradient
over T = f32 | f64
over X & K = 3, 3 & 0 | 3, 3 & -1 | 2, 5 & 2 | 5, 2 & -3 | 0, 3 & 0 | 4 & 0 | 3 & 2 | 3 & -1
mix ordinary
  input x: $T[$X]
  output y = diag(x, k=$K)
grad x
end
