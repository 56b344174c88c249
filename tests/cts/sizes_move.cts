# Movement, indices, quantisation and random numbers at the lengths where vectors, blocks and chunks end.

case iota sizes
over N = sizes
mix ordinary
  output y = iota(shape=[$N], axis=0, dtype=f32)
end

case concat sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[5]
  output y = concat(a, b, a, axis=0)
end

case slice sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  output y = slice(x, start=[1, 0], stop=[3, $N])
  output z = slice(x, start=[0, 1], stop=[3, $N], step=[2, 2])
end

case pad sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  input v: $T[]
  output y = pad(x, v, low=[0, 2], high=[1, 1])
end

case reshape sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = reshape(x, shape=[$N, 2])
end

case transpose sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  output y = transpose(x, perm=[1, 0])
end

case broadcast sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  input v: $T[3, 1]
  output y = broadcast(x, shape=[3, $N])
  output z = broadcast(v, shape=[3, $N])
end

case tile sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = tile(x, repeats=[3])
end

case flip sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = flip(x, axes=1)
end

case roll sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = roll(x, shift=3, axis=1)
end

case triu sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  input v: $T[$N, 3]
  output y = triu(x, k=1)
  output z = triu(v, k=-1)
end

case tril sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  input v: $T[$N, 3]
  output y = tril(x, k=1)
  output z = tril(v, k=-1)
end

case one_hot sizes
over N = sizes
mix ordinary special
  input i: i32[3] in 0..6
  input v: i64[$N] in 0..6
  output y = one_hot(i, depth=$N)
  output z = one_hot(v, depth=7)
end

case stack sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = stack(a, b, axis=0)
  output z = stack(a, b, axis=1)
end

case split sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  a, b, c = split(x, parts=3, axis=0)
  output a
  output b
  output c
end

case squeeze sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[1, $N]
  output y = squeeze(x, axes=0)
end

case unsqueeze sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = unsqueeze(x, axes=[1])
end

case flatten sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = flatten(x)
end

case diag sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N, $N]
  output y = diag(x)
end

case gather sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N, 2]
  input i: i64[5] in 0..6
  input v: $T[7]
  input j: i32[$N] in 0..6
  output y = gather(x, i)
  output z = gather(v, j)
end

case embedding sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[7, 3]
  input i: i32[$N] in 0..6
  output y = embedding(x, i)
end

case gather_nd sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[7]
  input i: i64[$N, 1] in 0..6
  output y = gather_nd(x, i, batch=0)
end

case gather_elements sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[7]
  input i: i64[$N] in 0..6
  output y = gather_elements(x, i, axis=0)
end

case scatter_nd sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N, 1] in 0..6
  input u: $T[$N]
  output y = scatter_nd(x, i, u, batch=0)
end

case scatter sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter(x, i, u, axis=0)
end

case scatter_elements sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_elements(x, i, u, axis=0)
end

case scatter_nd_add sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N, 1] in 0..6
  input u: $T[$N]
  output y = scatter_nd_add(x, i, u, batch=0)
end

case scatter_add sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_add(x, i, u, axis=0)
end

case scatter_elements_add sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_elements_add(x, i, u, axis=0)
end

case scatter_nd_max sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N, 1] in 0..6
  input u: $T[$N]
  output y = scatter_nd_max(x, i, u, batch=0)
end

case scatter_max sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_max(x, i, u, axis=0)
end

case scatter_elements_max sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_elements_max(x, i, u, axis=0)
end

case scatter_nd_min sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N, 1] in 0..6
  input u: $T[$N]
  output y = scatter_nd_min(x, i, u, batch=0)
end

case scatter_min sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_min(x, i, u, axis=0)
end

case scatter_elements_min sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input i: i64[$N] in 0..6
  input u: $T[$N]
  output y = scatter_elements_min(x, i, u, axis=0)
end

case nonzero sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  i, n = nonzero(x, bound=$N)
  output i
  output n
end

case quantize sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input s: f32[]
  input z: i8[]
  output y = quantize(x, s, z)
end

case dequantize sizes
over T = u8 | i8 | i32
over N = sizes
mix ordinary special
  input x: $T[$N]
  input s: f32[]
  input z: $T[]
  output y = dequantize(x, s, z)
end

case fake_quantize sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input s: f32[]
  input z: i8[]
  output y = fake_quantize(x, s, z)
end

case dynamic_quantize sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  y, s, z = dynamic_quantize(x)
  output y
  output s
  output z
end

case requantize sizes
over N = sizes
mix ordinary special
  input x: i32[$N]
  input a: f32[]
  input b: f32[]
  input s: f32[]
  input z: i8[]
  output y = requantize(x, a, b, s, z)
end

case random_uniform sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = random_uniform(s, t, shape=[$N])
end

case random_normal sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = random_normal(s, t, shape=[$N])
end

case random_bits sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = random_bits(s, t, shape=[$N])
end

case uniform sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = uniform(s, t, shape=[$N])
end

case random_integer sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = random_integer(s, t, shape=[$N], low=-5, high=5)
end

case bernoulli sizes
over N = sizes
mix ordinary special
  input p: f32[$N]
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = bernoulli(p, s, t)
end

case dropout sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = dropout(x, s, t, p=0.5)
end

case categorical sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = categorical(x, s, t, axis=-1)
end

case shuffle sizes
over N = sizes
mix ordinary
  input s: i64[]
  input t: i64[] in 0..4294967295
  output y = shuffle(s, t, n=$N)
end
