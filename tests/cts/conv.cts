# Convolutions. Sizes of the contraction lie around the blocks of 256 and their groups of 8.

case conv 1d
over T = f32 | f64
over B = 0 | 1 | 3
over A = | , stride=2 | , dilation=2, low=2, high=1 | , stride=3, low=1, high=2
over I = 7 | 8 | 33
  input x: $T[$B, 2, $I]
  input w: $T[3, 2, 3]
  output y = conv(x, w$A)
end

case conv 1d bias
over T = f32 | f64
over K = 1 | 2 | 8
  input x: $T[2, 4, 16]
  input w: $T[6, 2, $K]
  input b: $T[6]
  output y = conv(x, w, b, groups=2, low=1)
grad x
grad w
grad b
end

case conv depth
over T = f32 | f64
over C = 0 | 1 | 31 | 32 | 85 | 86 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide
  input x: $T[1, $C, 3]
  input w: $T[2, $C, 3]
  output y = conv(x, w, low=1, high=1)
end

case conv 2d
over T = f32 | f64
over A = | , stride=[2, 1] | , stride=2, low=1, high=1 | , dilation=[1, 2], low=[0, 2], high=[1, 2] | , low=2, high=2
over S = 5, 6 | 8, 8 | 17, 9
  input x: $T[2, 3, $S]
  input w: $T[4, 3, 3, 2]
  input b: $T[4]
  output y = conv(x, w, b$A)
end

case conv groups
over T = f32 | f64
over G = 1 | 2 | 4 | 8
over O = 8 | 16
  input x: $T[2, 8, 4, 5]
  input w: $T[$O, 8 / $G, 3, 3]
  output y = conv(x, w, groups=$G, low=1, high=1)
end

case conv 2d gradient
over T = f32 | f64
over A = | , stride=2 | , stride=[2, 3], low=1, high=[0, 1] | , dilation=2, low=2, high=2
over G = 1 | 2
mix ordinary
  input x: $T[2, 4, 6, 7]
  input w: $T[6, 4 / $G, 3, 2]
  input b: $T[6]
  output y = conv(x, w, b, groups=$G$A)
grad x
grad w
grad b
end

case conv 3d
over T = f32 | f64
over A = | , stride=[1, 2, 1], low=[1, 0, 1] | , dilation=[1, 1, 2], high=[0, 1, 2]
  input x: $T[1, 2, 3, 4, 5]
  input w: $T[4, 1, 2, 2, 3]
  output y = conv(x, w, groups=2$A)
grad x
grad w
end

case conv empty
over T = f32 | f64
over N = 0 | 2
over I = 1 | 2 | 5
over O = 0 | 3
mix ordinary
  input x: $T[$N, 2, $I]
  input w: $T[$O, 2, 3]
  output y = conv(x, w, high=1)
end

case conv_transpose 1d
over T = f32 | f64
over B = 0 | 1 | 3
over A = | , stride=2 | , stride=2, extra=1, low=1, high=1 | , dilation=2, low=1 | , stride=3, dilation=2, extra=2
over I = 1 | 7 | 8 | 33
  input x: $T[$B, 2, $I]
  input w: $T[2, 3, 3]
  output y = conv_transpose(x, w$A)
end

case conv_transpose 2d
over T = f32 | f64
over A = | , stride=2, low=1, high=1 | , stride=[2, 3], extra=[1, 0] | , dilation=[2, 1]
over G = 1 | 2
  input x: $T[2, 4, 4, 5]
  input w: $T[4, 3, 3, 2]
  input b: $T[3 * $G]
  output y = conv_transpose(x, w, b, groups=$G$A)
grad x
grad w
grad b
end

case conv_transpose 3d
over T = f32 | f64
  input x: $T[1, 2, 2, 3, 2]
  input w: $T[2, 1, 2, 2, 3]
  output y = conv_transpose(x, w, groups=2, stride=[1, 2, 2], low=[0, 1, 0])
grad x
grad w
end

case conv_transpose depth
over T = f32 | f64
over C = 0 | 1 | 85 | 86 | 127 | 128 | 129 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide
  input x: $T[1, $C, 3]
  input w: $T[$C, 2, 2]
  output y = conv_transpose(x, w)
end

case conv_weight_grad 1d
over T = f32 | f64
over P = 1 | 2 | 31 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide
  input x: $T[1, 2, $P]
  input dy: $T[1, 3, $P]
  output y = conv_weight_grad(x, dy, kernel=3, low=1)
end

case conv_weight_grad 2d
over T = f32 | f64
over A = | , stride=2 | , dilation=2, low=1 | , stride=[1, 3], low=[2, 0]
over G = 1 | 2
over B = 0 | 1 | 3
  input x: $T[$B, 4, 7, 8]
  input dy: $T[$B, 6, 3, 4]
  output y = conv_weight_grad(x, dy, kernel=[3, 2], groups=$G$A)
grad x
grad dy
end

case conv_weight_grad 3d
over T = f32 | f64
  input x: $T[2, 2, 3, 4, 3]
  input dy: $T[2, 2, 2, 2, 2]
  output y = conv_weight_grad(x, dy, kernel=[2, 3, 2], groups=2, stride=[1, 2, 1])
grad x
grad dy
end

case conv_int
over X = i8 | u8
over W = i8 | u8
over A = | , stride=2, low=1, high=1 | , dilation=2, low=2
over S = 5, 6 | 8, 8
mix ordinary
  input x: $X[2, 4, $S]
  input w: $W[6, 2, 3, 3]
  output y = conv_int(x, w, groups=2$A)
end

case conv_int zero
over X = i8 | u8
over W = i8 | u8
over Z = | 6
over A = | , stride=2, low=1, high=1
mix ordinary
  input x: $X[2, 3, 7]
  input w: $W[6, 3, 3]
  input zx: $X[]
  input zw: $W[$Z]
  input b: i32[6]
  output a = conv_int(x, w, zx$A)
  output c = conv_int(x, w, zx, zw$A)
  output y = conv_int(x, w, zx, zw, b$A)
end

case conv_int length
over X = i8 | u8
over C = 0 | 1 | 255 | 256 | 257 | 1024 | 33025
mix ordinary
  input x: $X[1, $C, 2]
  input w: i8[2, $C, 1]
  output y = conv_int(x, w)
end
