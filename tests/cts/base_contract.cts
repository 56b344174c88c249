# Contractions: the order D, its blocks of 256 and groups of 8 blocks.

case matmul
over T = f32 | f64
over K = 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 511 | 512 | 513 | 1023 | 1024 | 1025 | 2047 | 2048 | 2049 | 2305
mix ordinary special tiny flat
  input a: $T[3, $K]
  input b: $T[$K, 5]
  output y = matmul(a, b)
end

case matmul sizes
over T = f32 | f64
over M = 0 | 1 | 8 | 17
over N = 0 | 1 | 9 | 33
mix ordinary special wide
  input a: $T[$M, 12]
  input b: $T[12, $N]
  output y = matmul(a, b)
end

case matmul turned
over T = f32 | f64
over A & P = 4, 6 & false | 6, 4 & true
over B & Q = 6, 5 & false | 5, 6 & true
mix ordinary special wide
  input a: $T[$A]
  input b: $T[$B]
  output y = matmul(a, b, transpose_a=$P, transpose_b=$Q)
end

case matmul batch
over T = f32 | f64
over A & B = 2, 3, 4 & 4, 2 | 3, 4 & 2, 4, 2 | 2, 3, 4 & 2, 4, 2 | 1, 3, 4 & 5, 4, 2 | 2, 1, 3, 4 & 3, 4, 2 | 0, 3, 4 & 4, 2 | 2, 3, 0 & 2, 0, 2 | 1, 2, 1, 2, 1, 2, 3, 4 & 2, 1, 2, 1, 2, 1, 4, 2
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  output y = matmul(a, b)
end

# 131 groups of 8 blocks do not fit one level of T.
case matmul deep
mix ordinary special
  input a: f32[1, 268300]
  input b: f32[268300, 1]
  output y = matmul(a, b)
end

case matmul gradient
over T = f32 | f64
over A & B & R = 3, 4 & 4, 2 & | 4, 3 & 4, 2 & , transpose_a=true | 3, 4 & 2, 4 & , transpose_b=true | 4, 3 & 2, 4 & , transpose_a=true, transpose_b=true | 2, 3, 4 & 4, 2 & | 3, 4 & 2, 4, 2 & | 2, 3, 4 & 2, 4, 2 & | 2, 1, 3, 4 & 3, 4, 2 & | 3, 0 & 0, 2 & | 2, 3, 4 & 2, 4 & , transpose_b=true | 4, 3 & 5, 4, 2 & , transpose_a=true
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = matmul(a, b$R)
grad a b
end

case matmul_masked
over T = f32 | f64
over K = 0 | 1 | 7 | 8 | 33 | 255 | 256 | 257 | 513 | 2049
mix ordinary special zeros few
  input a: $T[3, $K]
  input b: $T[$K, 4]
  input p: bool[3, $K]
  output y = matmul_masked(a, b, p)
end

case matmul_masked batch
over T = f32 | f64
over A & B & P & R = 2, 3, 4 & 4, 2 & 2, 3, 4 & | 2, 3, 4 & 2, 4, 2 & 2, 3, 4 & | 3, 4 & 2, 4 & 3, 4 & , transpose_b=true
mix ordinary special few
  input a: $T[$A]
  input b: $T[$B]
  input p: bool[$P]
  output y = matmul_masked(a, b, p$R)
end

case matmul_masked gradient
over T = f32 | f64
over A & B & P & R = 3, 4 & 4, 2 & 3, 4 & | 2, 3, 4 & 2, 4, 2 & 2, 3, 4 & | 3, 4 & 2, 4 & 3, 4 & , transpose_b=true
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  input p: bool[$P]
  output y = matmul_masked(a, b, p$R)
grad a b
end

case linear
over T = f32 | f64
over K = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 2305
  input x: $T[3, $K]
  input w: $T[$K, 9]
  input b: $T[9]
  output y = linear(x, w, b)
end

case linear without bias
over T = f32 | f64
over K = 0 | 1 | 8 | 257 | 2049
mix ordinary special tiny flat
  input x: $T[2, 1, $K]
  input w: $T[$K, 2]
  output y = linear(x, w)
end

case linear shapes
over T = f32 | f64
over X & W & B = 0, 3 & 3, 2 & 2 | 2, 3 & 3, 0 & 0 | 2, 2, 2, 3 & 3, 1 & 1 | 1, 2, 1, 2, 1, 2, 2, 3 & 3, 2 & 2
mix ordinary special few
  input x: $T[$X]
  input w: $T[$W]
  input b: $T[$B]
  output y = linear(x, w, b)
end

case linear gradient
over T = f32 | f64
over X & W & B = 3, 4 & 4, 2 & 2 | 2, 3, 4 & 4, 2 & 2 | 2, 2, 1, 4 & 4, 1 & 1
mix ordinary
  input x: $T[$X]
  input w: $T[$W]
  input b: $T[$B]
  output y = linear(x, w, b)
grad x w b
end

case linear gradient without bias
mix ordinary
  input x: f32[2, 3, 4]
  input w: f32[4, 5]
  output y = linear(x, w)
grad x w
end
