# The one order along an axis.

case sort
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & A = 1 & 0 | 7 & 0 | 0 & 0 | 2, 0 & 1 | 0, 3 & 1 | 3, 8 & -1 | 8, 3 & 0 | 2, 16, 3 & 1 | 31 & 0 | 33 & 0 | 255 & 0 | 256 & 0 | 257 & 0 | 1, 2, 1, 2, 1, 2, 1, 5 & 7
over D = false | true
mix ordinary special zeros few
  input x: $T[$X]
  v, i = sort(x, axis=$A, descending=$D)
  output v
  output i
end

case sort long
over T = f32 | i8
over N = 1023 | 1024 | 1025
over D = false | true
mix special few wide tiny
  input x: $T[2, $N]
  v, i = sort(x, descending=$D)
  output v
  output i
end

case sort gradient
over T = f32 | f64
over X & A = 7 & 0 | 3, 4 & 0 | 3, 4 & 1 | 2, 0 & 1 | 2, 3, 2 & 1
over D = false | true
mix ordinary
  input x: $T[$X]
  v, i = sort(x, axis=$A, descending=$D)
  output v
grad x
end

case argsort
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & A = 1 & 0 | 7 & 0 | 0 & 0 | 2, 0 & 1 | 0, 3 & 1 | 3, 8 & -1 | 8, 3 & 0 | 2, 16, 3 & 1 | 31 & 0 | 33 & 0 | 255 & 0 | 256 & 0 | 257 & 0 | 1, 2, 1, 2, 1, 2, 1, 5 & 7
over D = false | true
mix ordinary special zeros few
  input x: $T[$X]
  output y = argsort(x, axis=$A, descending=$D)
end

case argsort long
over T = f32 | i8
over N = 1023 | 1024 | 1025
over D = false | true
mix special few wide tiny
  input x: $T[2, $N]
  output y = argsort(x, descending=$D)
end

case top_k
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & A & K = 1 & 0 & 1 | 7 & 0 & 3 | 7 & 0 & 7 | 7 & 0 & 0 | 0 & 0 & 0 | 0, 3 & 1 & 2 | 3, 8 & -1 & 1 | 8, 3 & 0 & 5 | 2, 16, 3 & 1 & 15 | 33 & 0 & 32 | 257 & 0 & 10 | 1025 & 0 & 1024 | 1, 2, 1, 2, 1, 2, 1, 5 & 7 & 2
over L = false | true
mix ordinary special zeros few
  input x: $T[$X]
  v, i = top_k(x, k=$K, axis=$A, least=$L)
  output v
  output i
end

case top_k gradient
over T = f32 | f64
over X & A & K = 7 & 0 & 3 | 3, 4 & 0 & 2 | 3, 4 & 1 & 4 | 5 & 0 & 0
over L = false | true
mix ordinary
  input x: $T[$X]
  v, i = top_k(x, k=$K, axis=$A, least=$L)
  output v
grad x
end
