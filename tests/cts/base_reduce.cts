# Reductions: the order S depends on the length alone, so lengths around its blocks are tried.

case sum
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide flat
  input x: $T[2, $N]
  output y = sum(x, axes=-1)
end

case sum long
over T = f32 | f64
over N = 2047 | 2048 | 2049 | 32768 | 33000 | 1048577
mix ordinary special
  input x: $T[$N]
  output y = sum(x)
end

case sum axes
over T = f32 | f64 | i32
over S = 3, 4, 5 | 2, 33, 32 | 1, 1, 1 | 0, 2, 3 | 2, 3, 0 | 3, 5, 129
over A = | , axes=0 | , axes=-1 | , axes=[0, 2] | , axes=[1, 2] | , axes=[2, 0, 1] | , axes=[0, 2], keep=true | , axes=1, keep=true | , keep=true
mix ordinary special tiny
  input x: $T[$S]
  output y = sum(x$A)
end

case sum ranks
over S = | 1 | 2, 3 | 2, 1, 2, 1, 2, 1, 2, 3
  input x: f32[$S]
  output y = sum(x)
  output k = sum(x, keep=true)
end

case sum gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 3, 2 & , axes=[2, 0], keep=true | 3, 0 & , axes=1 | 2, 33 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = sum(x$A)
grad x
end

case max
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 1 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1025
mix ordinary special few zeros
  input x: $T[2, $N]
  output y = max(x, axes=-1)
end

case max axes
over T = f32 | f64 | i64
over S & A = & | 3, 4, 5 & | 3, 4, 5 & , axes=0 | 3, 4, 5 & , axes=[0, 2] | 3, 4, 5 & , axes=[2, 0], keep=true | 2, 33, 32 & , axes=1 | 0, 2, 3 & , axes=1 | 2, 3, 0 & , axes=[0], keep=true | 2, 1, 2, 1, 2, 1, 2, 3 & , axes=[1, 7]
  input x: $T[$S]
  output y = max(x$A)
end

case max gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 3, 2 & , axes=[2, 0], keep=true | 0, 3 & , axes=1
mix ordinary few
  input x: $T[$S]
  output y = max(x$A)
grad x
end

case min
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 1 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1025
mix ordinary special few zeros
  input x: $T[2, $N]
  output y = min(x, axes=-1)
end

case min axes
over T = f32 | f64 | i64
over S & A = & | 3, 4, 5 & | 3, 4, 5 & , axes=0 | 3, 4, 5 & , axes=[0, 2] | 3, 4, 5 & , axes=[2, 0], keep=true | 2, 33, 32 & , axes=1 | 0, 2, 3 & , axes=1 | 2, 3, 0 & , axes=[0], keep=true | 2, 1, 2, 1, 2, 1, 2, 3 & , axes=[1, 7]
  input x: $T[$S]
  output y = min(x$A)
end

case min gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 3, 2 & , axes=[2, 0], keep=true | 0, 3 & , axes=1
mix ordinary few
  input x: $T[$S]
  output y = min(x$A)
grad x
end

case argmax
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 1 | 2 | 9 | 16 | 33 | 257 | 1025
mix ordinary special few zeros
  input x: $T[3, $N]
  output y = argmax(x)
end

case argmax axes
over T = f32 | i32
over S = 3, 4, 5 | 2, 33, 2 | 0, 2, 3 | 1, 1, 1
over A = 1 | -2
mix ordinary special few
  input x: $T[$S]
  output y = argmax(x, axis=$A)
end

case argmax first
over A = 0 | 1 | 2 | 3
mix special few
  input x: f64[2, 3, 4, 5]
  output y = argmax(x, axis=$A)
end
