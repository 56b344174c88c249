# Compositions: the ops that define them on one device, their own kernels on the other.

case relu
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 2, 0, 3 | 3, 5 | 2, 3, 4, 5 | 2, 1, 2, 1, 2, 1, 2, 2 | 2048
  input x: $T[$S]
  output y = relu(x)
end

case relu gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary zeros
  input x: $T[$S]
  output y = relu(x)
grad x
end

case silu
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 2, 0, 3 | 3, 5 | 2, 3, 4, 5 | 2, 1, 2, 1, 2, 1, 2, 2 | 2048
  input x: f32[$S]
  output y = silu(x)
end

case silu gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = silu(x)
grad x
end

case gelu
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 2, 0, 3 | 3, 5 | 2, 3, 4, 5 | 2, 1, 2, 1, 2, 1, 2, 2 | 2048
  input x: f32[$S]
  output y = gelu(x)
end

case gelu gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = gelu(x)
grad x
end

case gelu_tanh
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 2, 0, 3 | 3, 5 | 2, 3, 4, 5 | 2, 1, 2, 1, 2, 1, 2, 2 | 2048
  input x: f32[$S]
  output y = gelu_tanh(x)
end

case gelu_tanh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = gelu_tanh(x)
grad x
end

case mean
over T = f32 | f64
over S = 3, 4, 5 | 2, 33, 32 | 1, 1, 1 | 0, 2, 3 | 2, 3, 0 | 3, 5, 1025
over A = | , axes=0 | , axes=-1 | , axes=[0, 2] | , axes=[1, 2] | , axes=[2, 0, 1] | , axes=[0, 2], keep=true | , axes=1, keep=true | , keep=true
mix ordinary special tiny wide
  input x: $T[$S]
  output y = mean(x$A)
end

case mean lengths
over T = f32 | f64
over N = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary flat
  input x: $T[$N, 2]
  output y = mean(x, axes=0)
end

case mean ranks
over S = | 0 | 2, 1, 2, 1, 2, 1, 2, 3
mix ordinary special
  input x: f32[$S]
  output y = mean(x)
end

case mean gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 3, 2 & , axes=[2, 0], keep=true
mix ordinary
  input x: $T[$S]
  output y = mean(x$A)
grad x
end

case softmax
over N = 1 | 2 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: f32[2, $N]
  output y = softmax(x)
end

case softmax axes
over S & A = 5 & 0 | 33, 3 & 0 | 2, 33, 2 & 1 | 2, 3, 4, 5 & 0 | 2, 3, 4, 5 & 1 | 2, 3, 4, 5 & 2 | 2, 3, 4, 5 & -1 | 0, 3 & 1 | 3, 0, 2 & 0 | 1, 2, 1, 2, 1, 2, 1, 3 & 3
mix ordinary special wide flat few
  input x: f32[$S]
  output y = softmax(x, axis=$A)
end

case softmax gradient
over S & A = 5 & 0 | 3, 4 & 0 | 3, 4 & 1 | 2, 3, 2 & 1 | 0, 3 & 1 | 2, 33 & 1
mix ordinary
  input x: f32[$S]
  output y = softmax(x, axis=$A)
grad x
end

case log_softmax
over N = 1 | 2 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: f32[2, $N]
  output y = log_softmax(x)
end

case log_softmax axes
over S & A = 5 & 0 | 33, 3 & 0 | 2, 33, 2 & 1 | 2, 3, 4, 5 & 0 | 2, 3, 4, 5 & 1 | 2, 3, 4, 5 & 2 | 2, 3, 4, 5 & -1 | 0, 3 & 1 | 3, 0, 2 & 0 | 1, 2, 1, 2, 1, 2, 1, 3 & 3
mix ordinary special wide flat few
  input x: f32[$S]
  output y = log_softmax(x, axis=$A)
end

case log_softmax gradient
over S & A = 5 & 0 | 3, 4 & 0 | 3, 4 & 1 | 2, 3, 2 & 1 | 0, 3 & 1 | 2, 33 & 1
mix ordinary
  input x: f32[$S]
  output y = log_softmax(x, axis=$A)
grad x
end

case layer_norm
over T = f32 | f64
over N = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: $T[2, $N]
  input g: $T[$N]
  input b: $T[$N]
  output y = layer_norm(x, g, b)
end

case layer_norm eps
over T & L = f32 & 2, 3, | f64 &
over E = 0 | 0.5 | 1e-45 | 1e30 | -1 | 0.1
  input x: $T[$L 33]
  input g: $T[33]
  input b: $T[33]
  output y = layer_norm(x, g, b, eps=$E)
end

case layer_norm ranks
over L = | 0, | 2, 1, 3, | 1, 2, 1, 2, 1, 2, 1,
mix ordinary special
  input x: f32[$L 5]
  input g: f32[5]
  input b: f32[5]
  output y = layer_norm(x, g, b)
end

case layer_norm gradient
over T = f32 | f64
over L & N = & 5 | 3, & 4 | 2, 2, & 3 | 0, & 3 | 2, & 33
mix ordinary
  input x: $T[$L $N]
  input g: $T[$N]
  input b: $T[$N]
  output y = layer_norm(x, g, b, eps=0.01)
grad x g b
end

case rms_norm
over T = f32 | f64
over N = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: $T[2, $N]
  input g: $T[$N]
  output y = rms_norm(x, g)
end

case rms_norm eps
over T & L = f32 & 2, 3, | f64 &
over E = 0 | 0.5 | 1e-45 | 1e30 | -1 | 0.1
  input x: $T[$L 33]
  input g: $T[33]
  output y = rms_norm(x, g, eps=$E)
end

case rms_norm gradient
over T = f32 | f64
over L & N = & 5 | 3, & 4 | 2, 2, & 3 | 0, & 3 | 2, & 33
mix ordinary
  input x: $T[$L $N]
  input g: $T[$N]
  output y = rms_norm(x, g, eps=0.01)
grad x g
end

# b batches, h heads over g heads of keys, t queries, s keys, widths d and e.
case attention
over B & H & G & T & S & D & E = 1 & 1 & 1 & 1 & 1 & 1 & 1 | 2 & 4 & 4 & 5 & 5 & 8 & 8 | 1 & 6 & 2 & 3 & 3 & 4 & 5 | 2 & 4 & 1 & 2 & 2 & 3 & 1 | 1 & 2 & 2 & 2 & 7 & 4 & 4 | 1 & 2 & 1 & 7 & 2 & 4 & 4 | 2 & 2 & 2 & 3 & 0 & 4 & 4 | 1 & 2 & 2 & 0 & 3 & 4 & 4 | 0 & 2 & 1 & 3 & 3 & 4 & 4 | 1 & 0 & 1 & 3 & 3 & 4 & 4 | 1 & 2 & 2 & 3 & 3 & 0 & 4 | 1 & 2 & 2 & 3 & 3 & 4 & 0 | 1 & 1 & 1 & 2 & 31 & 8 & 2 | 1 & 1 & 1 & 33 & 33 & 33 & 3 | 1 & 2 & 1 & 2 & 256 & 4 & 2 | 1 & 1 & 1 & 3 & 257 & 4 & 2 | 1 & 1 & 1 & 2 & 40 & 257 & 2 | 1 & 2 & 2 & 9 & 9 & 6 & 3 | 1 & 2 & 1 & 9 & 9 & 7 & 3 | 1 & 1 & 1 & 9 & 9 & 17 & 3
over R = | , causal=true | , causal=true, scale=0.3 | , scale=-2
mix ordinary special wide zeros few
  input q: f32[$B, $H, $T, $D]
  input k: f32[$B, $G, $S, $D]
  input v: f32[$B, $G, $S, $E]
  output y = attention(q, k, v$R)
end

case attention gradient
over B & H & G & T & S & D & E = 1 & 1 & 1 & 1 & 1 & 1 & 1 | 2 & 2 & 2 & 3 & 3 & 4 & 4 | 1 & 4 & 2 & 3 & 3 & 2 & 3 | 1 & 2 & 1 & 2 & 5 & 3 & 2
over R = | , causal=true | , causal=true, scale=0.3
mix ordinary
  input q: f32[$B, $H, $T, $D]
  input k: f32[$B, $G, $S, $D]
  input v: f32[$B, $G, $S, $E]
  output y = attention(q, k, v$R)
grad q k v
end

case cross_entropy
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 33 & i32[2, 3] & 32 | 1, 1 & i32[1] & 0 | 0, 5 & i64[0] & 4 | 40, 32 & i32[40] & 31 | 2, 1, 2, 9 & i64[2, 1, 2] & 8 | 3, 257 & i32[3] & 256 | 2, 1025 & i64[2] & 1024 | 1030, 2 & i32[1030] & 1
over R = | , ignore=0
  input x: f32[$L]
  input t: $T in 0..$N
  output y = cross_entropy(x, t$R)
end

# -1 is ignored, and a half of the targets or more.
case cross_entropy ignores
over L & T & N = 9, 2 & i32[9] & 1 | 5, 1 & i64[5] & 0 | 33, 3 & i32[33] & 2
mix ordinary special few zeros
  input x: f32[$L]
  input t: $T in -1..$N
  output y = cross_entropy(x, t, ignore=-1)
end

case cross_entropy outside
over R = | , ignore=-1 | , ignore=7
mix ordinary special few wide
expect range
  input x: f32[2, 5, 7]
  input t: i32[2, 5] in -2..8
  output y = cross_entropy(x, t$R)
end

case cross_entropy gradient
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 5 & i32[2, 3] & 4
over R = | , ignore=0
mix ordinary
  input x: f32[$L]
  input t: $T in 0..$N
  output y = cross_entropy(x, t$R)
grad x
end
