# Ops that move elements, make them from nothing, or draw them.

case literal
over V = 0.1 | -0 | inf | -inf | nan | 1e-45 | 3.4028235e38 | 16777217 | 0x1.8p-3
  output a = f32($V)
  output b = f64($V)
  output c = f16($V)
  output d = bf16($V)
end

case literal whole
over T & V = i8 & -128 | u8 & 255 | i32 & -2147483648 | i64 & 9223372036854775807 | i64 & -7 | bool & true | bool & false
  output y = $T($V)
end

case iota
over T = f32 | f64 | i32 | i64
over S & A = 1 & 0 | 0 & 0 | 300 & 0 | 2, 3, 4 & 0 | 2, 3, 4 & 1 | 2, 3, 4 & 2 | 2, 0, 3 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 7
  output y = iota(shape=[$S], axis=$A, dtype=$T)
end

case gather
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over I = i32[] | i64[7] | i32[2, 3] | i64[0]
mix ordinary special few
  input x: $T[5, 3]
  input i: $I in 0..4
  output y = gather(x, i)
end

case gather axes
over T = f32 | i64
over X & I & R & N = 3, 4, 5 & 2 & axis=1 & 3 | 3, 4, 5 & 2, 2 & axis=-1 & 4 | 3, 4, 5 & 3, 2 & axis=1, batch=1 & 3 | 2, 3, 4 & 2, 3, 2 & axis=2, batch=2 & 3 | 1, 33 & 5 & axis=0 & 0 | 4, 0 & 3 & axis=0 & 3
mix ordinary special few
  input x: $T[$X]
  input i: i32[$I] in 0..$N
  output y = gather(x, i, $R)
end

# Some indices do not exist: the first of them is named, and nothing is given.
case gather outside
over T = i32 | i64
over N = 4 | 3 | 9
mix ordinary special few wide
expect range
  input x: f32[4, 2]
  input i: $T[2, 3] in -1..$N
  output y = gather(x, i)
end

case gather gradient
over T = f32 | f64
over X & I & R & N = 5, 3 & 7 & axis=0 & 4 | 3, 4, 5 & 2, 2 & axis=1 & 3 | 3, 4, 2 & 3, 2 & axis=1, batch=1 & 3 | 4 & & axis=0 & 3 | 2, 3 & 0 & axis=0 & 1
mix ordinary few
  input x: $T[$X]
  input i: i32[$I] in 0..$N
  output y = gather(x, i, $R)
grad x
end

case embedding
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over I = i32[] | i64[7] | i32[2, 3] | i64[2, 1, 4] | i32[0]
over R & N = 5, 3 & 4 | 1, 33 & 0
mix ordinary special
  input x: $T[$R]
  input i: $I in 0..$N
  output y = embedding(x, i)
end

case embedding nothing
over R & I = 0, 3 & 0 | 4, 0 & 3
mix ordinary
  input x: f32[$R]
  input i: i64[$I] in 0..3
  output y = embedding(x, i)
end

case embedding outside
over T = i32 | i64
over R = 4, 2 | 4, 0
mix ordinary special few wide
expect range
  input x: f32[$R]
  input i: $T[2, 3] in -2..6
  output y = embedding(x, i)
end

case embedding gradient
over T = f32 | f64
over I = 7 | 2, 3 | 0 |
mix ordinary few
  input x: $T[4, 3]
  input i: i32[$I] in 0..3
  output y = embedding(x, i)
grad x
end

case concat
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over A & B & C & X = 3 & 4 & 0 & 0 | 2, 3 & 1, 3 & 4, 3 & 0 | 2, 3 & 2, 1 & 2, 8 & 1 | 2, 0, 3 & 2, 1, 3 & 2, 2, 3 & -2
mix ordinary special
  input a: $T[$A]
  input b: $T[$B]
  input c: $T[$C]
  output y = concat(a, b, c, axis=$X)
end

case concat one
mix ordinary special
  input a: f32[2, 3]
  output y = concat(a, axis=0)
  output z = concat(a, a, a, a, a, axis=1)
end

case concat gradient
over T = f32 | f64
over A & B & C & X = 3 & 4 & 0 & 0 | 2, 3 & 1, 3 & 4, 3 & 0 | 2, 3 & 2, 1 & 2, 8 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  input c: $T[$C]
  output y = concat(a, b, c, axis=$X)
grad a b c
end

case slice
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = 9 & start=[2], stop=[7] | 9 & start=[0], stop=[9], step=[3] | 4, 5 & start=[1, 0], stop=[3, 5] | 4, 5 & start=[1, 1], stop=[4, 5], step=[2, 3] | 4, 5 & start=[2, 2], stop=[2, 4] | 2, 0 & start=[0, 0], stop=[1, 0]
mix ordinary special
  input x: $T[$X]
  output y = slice(x, $R)
end

case slice gradient
over T = f32 | f64
over X & R = 9 & start=[2], stop=[7] | 9 & start=[0], stop=[9], step=[3] | 4, 5 & start=[1, 0], stop=[3, 5] | 4, 5 & start=[1, 1], stop=[4, 5], step=[2, 3] | 4, 5 & start=[2, 2], stop=[2, 4]
mix ordinary
  input x: $T[$X]
  output y = slice(x, $R)
grad x
end

case pad
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & R = & low=[], high=[] | 3 & low=[2], high=[1] | 3 & low=[0], high=[0] | 2, 3 & low=[1, 0], high=[0, 2] | 0, 2 & low=[1, 1], high=[1, 0] | 1, 2, 1, 2, 1, 2, 1, 2 & low=[0, 0, 0, 1, 0, 0, 0, 0], high=[0, 0, 1, 0, 0, 0, 0, 1]
mix ordinary special
  input x: $T[$X]
  input v: $T[]
  output y = pad(x, v, $R)
end

case pad gradient
over T = f32 | f64
over X & R = 3 & low=[2], high=[1] | 3 & low=[0], high=[0] | 2, 3 & low=[1, 0], high=[0, 2]
mix ordinary
  input x: $T[$X]
  input v: $T[]
  output y = pad(x, v, $R)
grad x v
end

case reshape
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & S = 12 & 3, 4 | 3, 4 & 2, 6 | 2, 3, 4 & 24 | 1 & | & 1, 1 | 0, 5 & 3, 0 | 4, 2 & 1, 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: $T[$X]
  output y = reshape(x, shape=[$S])
end

case reshape gradient
over T = f32 | f64
over X & S = 12 & 3, 4 | 2, 3, 2 & 12 | 1 & | & 1, 1 | 0, 5 & 3, 0
mix ordinary
  input x: $T[$X]
  output y = reshape(x, shape=[$S])
grad x
end

case transpose
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & P = 5 & 0 | 3, 4 & 1, 0 | 33, 17 & 1, 0 | 2, 3, 4 & 2, 0, 1 | 2, 3, 4 & 0, 2, 1 | 0, 3 & 1, 0 | 1, 2, 3, 1, 2, 1, 2, 1 & 7, 1, 6, 3, 0, 2, 5, 4
mix ordinary special
  input x: $T[$X]
  output y = transpose(x, perm=[$P])
end

case transpose gradient
over T = f32 | f64
over X & P = 5 & 0 | 3, 4 & 1, 0 | 2, 3, 4 & 2, 0, 1 | 2, 3, 4 & 0, 2, 1 | 0, 3 & 1, 0
mix ordinary
  input x: $T[$X]
  output y = transpose(x, perm=[$P])
grad x
end

case broadcast
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & S = & 3 | & | 1 & 4 | 3 & 2, 3 | 2, 1, 3 & 2, 4, 3 | 1, 3 & 0, 3 | 0 & 2, 0 | 1, 1 & 1, 2, 1, 2, 1, 2, 1, 2
mix ordinary special
  input x: $T[$X]
  output y = broadcast(x, shape=[$S])
end

case broadcast gradient
over T = f32 | f64
over X & S = & 3 | & | 1 & 4 | 3 & 2, 3 | 2, 1, 3 & 2, 4, 3 | 1, 3 & 0, 3
mix ordinary
  input x: $T[$X]
  output y = broadcast(x, shape=[$S])
grad x
end

case random_uniform
over S = | 0 | 1 | 2 | 3 | 4 | 5 | 7 | 8 | 9 | 255 | 256 | 257 | 1025 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over R = | , stream=7 | , stream=4294967295
mix ordinary special zeros
  input seed: i64[]
  input step: i64[] in 0..4294967295
  output y = random_uniform(seed, step, shape=[$S]$R)
end

case random_normal
over S = | 0 | 1 | 2 | 3 | 4 | 5 | 7 | 8 | 9 | 255 | 256 | 257 | 1025 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over R = | , stream=7 | , stream=4294967295
mix ordinary special zeros
  input seed: i64[]
  input step: i64[] in 0..4294967295
  output y = random_normal(seed, step, shape=[$S]$R)
end
