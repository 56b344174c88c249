# Gradients of contractions whose operands were repeated, with and without a mask.

case matmul gradient repeated
over T = f32 | f64
over A & B & R = 2, 1, 3, 4 & 1, 5, 4, 2 & | 4, 3 & 3, 2, 4, 2 & , transpose_a=true | 3, 2, 3, 4 & 2, 4 & , transpose_b=true | 1, 3, 4 & 0, 4, 2 & | 0, 3, 4 & 4, 2 & | 2, 3, 4 & 1, 4, 0 & | 1, 2, 1, 2, 1, 2, 3, 4 & 2, 1, 2, 1, 2, 1, 4, 2 & | 2, 1, 4, 3 & 1, 5, 2, 4 & , transpose_a=true, transpose_b=true
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = matmul(a, b$R)
grad a b
end

case matmul_masked gradient repeated
over T = f32 | f64
over A & B & P & R = 2, 1, 3, 4 & 1, 5, 4, 2 & 3, 4 & | 3, 4 & 5, 4, 2 & 5, 3, 4 & | 4, 3 & 5, 4, 2 & 5, 3, 4 & , transpose_a=true | 3, 4 & 2, 4 & 6, 3, 4 & , transpose_b=true | 2, 1, 3, 4 & 4, 2 & 2, 5, 3, 4 & | 1, 3, 4 & 5, 4, 2 & 1, 3, 4 & | 4, 3 & 2, 2, 4 & 2, 3, 4 & , transpose_a=true, transpose_b=true | 1, 2, 1, 2, 1, 2, 3, 4 & 2, 1, 2, 1, 2, 1, 4, 2 & 2, 1, 1, 2, 1, 1, 3, 4 & | 3, 4 & 0, 4, 2 & 0, 3, 4 &
mix ordinary special
  input a: $T[$A]
  input b: $T[$B]
  input p: bool[$P]
  output y = matmul_masked(a, b, p$R)
grad a b
end

case linear gradient shapes
over T = f32 | f64
over X & W & B = 0, 4 & 4, 2 & 2 | 3, 0 & 0, 2 & 2 | 300, 3 & 3, 2 & 2 | 1, 2, 1, 2, 1, 2, 2, 3 & 3, 2 & 2
mix ordinary
  input x: $T[$X]
  input w: $T[$W]
  input b: $T[$B]
  output y = linear(x, w, b)
grad x w b
end
