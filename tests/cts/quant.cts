# Eight bits: quantisation and integer products.

case quantize
over Z = i8 | u8
over S = | 0 | 1 | 7 | 16 | 33 | 257 | 1024 | 3, 5 | 2, 0, 3 | 1, 1, 1, 1, 1, 1, 2, 3
  input x: f32[$S]
  input s: f32[]
  input z: $Z[]
  output y = quantize(x, s, z)
end

case quantize by axis
over Z = i8 | u8
over A & N = 0 & 3 | 1 & 1 | 2 & 5 | -1 & 5
  input x: f32[3, 1, 5]
  input s: f32[$N]
  input z: $Z[$N]
  output y = quantize(x, s, z, axis=$A)
end

case quantize mixed
over Z = i8 | u8
  input x: f32[4, 9]
  input s: f32[9]
  input z: $Z[]
  input t: f32[]
  input v: $Z[4]
  output a = quantize(x, s, z)
  output b = quantize(x, t, v, axis=0)
end

case dequantize
over T = i8 | u8 | i32
over S = | 0 | 1 | 7 | 16 | 33 | 257 | 1024 | 3, 5 | 2, 0, 3 | 1, 1, 1, 1, 1, 1, 2, 3
  input x: $T[$S]
  input s: f32[]
  input z: $T[]
  output y = dequantize(x, s, z)
end

case dequantize by axis
over T = i8 | u8 | i32
over A & N = 0 & 3 | 1 & 1 | 2 & 5 | -1 & 5
  input x: $T[3, 1, 5]
  input s: f32[$N]
  input z: $T[$N]
  output y = dequantize(x, s, z, axis=$A)
end

case fake_quantize
over Z = i8 | u8
over S = | 0 | 1 | 9 | 257 | 3, 5 | 2, 0, 3
  input x: f32[$S]
  input s: f32[]
  input z: $Z[]
  output y = fake_quantize(x, s, z)
straight x
end

case fake_quantize by axis
over Z = i8 | u8
over A & N = 0 & 3 | 1 & 1 | 2 & 5
  input x: f32[3, 1, 5]
  input s: f32[$N]
  input z: $Z[$N]
  output y = fake_quantize(x, s, z, axis=$A)
end

case dynamic_quantize
over S = | 1 | 7 | 33 | 257 | 1025 | 3, 5 | 1, 1, 1, 1, 1, 1, 2, 3
  input x: f32[$S]
  y, s, z = dynamic_quantize(x)
  output y
  output s
  output z
end

case requantize
over Z = i8 | u8
over S = | 0 | 1 | 9 | 257 | 3, 5
  input x: i32[$S]
  input a: f32[]
  input b: f32[]
  input s: f32[]
  input z: $Z[]
  output y = requantize(x, a, b, s, z)
end

case requantize by axis
over Z = i8 | u8
over A & N = 0 & 3 | 1 & 5
  input x: i32[3, 5]
  input a: f32[]
  input b: f32[$N]
  input s: f32[]
  input z: $Z[]
  output y = requantize(x, a, b, s, z, axis=$A)
end

case matmul_int
over A = i8 | u8
over B = i8 | u8
over K = 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1025 | 4099
  input a: $A[3, $K]
  input b: $B[$K, 5]
  output y = matmul_int(a, b)
end

case matmul_int zero points
over A = i8 | u8
over B = i8 | u8
over K = 0 | 1 | 9 | 33 | 257 | 1025
  input a: $A[3, $K]
  input b: $B[$K, 5]
  input z: $A[]
  input v: $B[]
  input w: $B[5]
  output x = matmul_int(a, b, z)
  output y = matmul_int(a, b, z, v)
  output q = matmul_int(a, b, z, w)
end

case matmul_int batch
over A = i8 | u8
over S & R = 2, 3, 4 & 4, 2 | 3, 4 & 2, 4, 2 | 2, 3, 4 & 2, 4, 2 | 1, 3, 4 & 5, 4, 2 | 2, 1, 3, 4 & 3, 4, 2 | 0, 3, 4 & 4, 2 | 2, 0, 4 & 4, 3 | 2, 3, 4 & 4, 0 | 1, 2, 1, 2, 1, 2, 3, 4 & 2, 1, 2, 1, 2, 1, 4, 2
  input a: $A[$S]
  input b: i8[$R]
  output y = matmul_int(a, b)
end

case linear_int
over A = i8 | u8
over B = i8 | u8
over S & R & N = 2, 3 & 3, 4 & 4 | 0, 3 & 3, 2 & 2 | 2, 0 & 0, 3 & 3 | 33, 8 & 8, 1 & 1 | 2, 1, 3, 257 & 257, 2 & 2 | 3, 1025 & 1025, 5 & 5 | 2, 5 & 5, 0 & 0 | 1, 2, 1, 2, 1, 2, 3, 4 & 4, 2 & 2
  input x: $A[$S]
  input w: $B[$R]
  input zx: $A[]
  input zw: $B[]
  input column: $B[$N]
  input bias: i32[$N]
  output a = linear_int(x, w)
  output b = linear_int(x, w, zx)
  output c = linear_int(x, w, zx, zw)
  output d = linear_int(x, w, zx, column)
  output e = linear_int(x, w, zx, zw, bias)
  output f = linear_int(x, w, zx, column, bias)
end
