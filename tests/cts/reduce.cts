# Products, running sums and what is composed of reductions, at lengths around the blocks of S.

case prod
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide flat
  input x: $T[2, $N]
  output y = prod(x, axes=-1)
end

case prod long
over T = f32 | f64
over N = 2047 | 2048 | 2049 | 33000 | 1048577
mix ordinary special flat
  input x: $T[$N]
  output y = prod(x)
end

case prod axes
over T = f32 | f64 | i32
over S = 3, 4, 5 | 2, 33, 32 | 1, 1, 1 | 0, 2, 3 | 2, 3, 0
over A = | , axes=0 | , axes=-1 | , axes=[0, 2] | , axes=[1, 2] | , axes=[2, 0, 1] | , axes=[0, 2], keep=true | , keep=true
mix ordinary special tiny
  input x: $T[$S]
  output y = prod(x$A)
end

case prod ranks
over S = | 1 | 2, 3 | 2, 1, 2, 1, 2, 1, 2, 3
  input x: f32[$S]
  output y = prod(x)
  output k = prod(x, keep=true)
end

case prod gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 3, 2 & , axes=[2, 0], keep=true | 3, 0 & , axes=1 | 0, 3 & , axes=1 | 2, 9 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = prod(x$A)
grad x in 0.5..1.5
end

case argmin
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 1 | 2 | 9 | 16 | 33 | 257 | 1025
mix ordinary special few zeros
  input x: $T[3, $N]
  output y = argmin(x)
end

case argmin axes
over T = f32 | i32
over S = 3, 4, 5 | 2, 33, 2 | 0, 2, 3 | 1, 1, 1
over A = 1 | -2
mix ordinary special few
  input x: $T[$S]
  output y = argmin(x, axis=$A)
end

case argmin first
over A = 0 | 1 | 2 | 3
mix special few
  input x: f64[2, 3, 4, 5]
  output y = argmin(x, axis=$A)
end

case cumsum
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = 0 | 1 | 2 | 8 | 31 | 32 | 33 | 63 | 64 | 65 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 2049
mix ordinary special wide
  input x: $T[2, $N]
  output y = cumsum(x)
end

case cumsum ways
over T = f32 | f64 | i32
over S & A = 7 & 0 | 33, 3 & 0 | 2, 40, 3 & 1 | 3, 1100 & -1 | 0, 3 & 1 | 3, 0 & 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 4
over W = , exclusive=true | , reverse=true | , exclusive=true, reverse=true
mix ordinary special tiny zeros
  input x: $T[$S]
  output y = cumsum(x, axis=$A$W)
end

case cumsum gradient
over T = f32 | f64
over S & A = 7 & 0 | 3, 4 & 0 | 2, 33 & 1 | 0, 3 & 1
over W = | , exclusive=true | , reverse=true | , exclusive=true, reverse=true
mix ordinary
  input x: $T[$S]
  output y = cumsum(x, axis=$A$W)
grad x
end

case logsumexp
over N = 1 | 2 | 7 | 8 | 9 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: f32[2, $N]
  output y = logsumexp(x, axes=1)
end

case logsumexp axes
over S & A = & | 5 & | 33, 3 & , axes=0 | 2, 33, 2 & , axes=[0, 2], keep=true | 2, 3, 4, 5 & , axes=[3, 1] | 0, 3 & , axes=1 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special wide flat few
  input x: f32[$S]
  output y = logsumexp(x$A)
end

case logsumexp gradient
over S & A = & | 5 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2] | 2, 33 & , axes=1, keep=true | 0, 3 & , axes=1
mix ordinary
  input x: f32[$S]
  output y = logsumexp(x$A)
grad x
end

case var
over T = f32 | f64
over N = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
over C = | , correction=0
mix ordinary special wide flat
  input x: $T[2, $N]
  output y = var(x, axes=1$C)
end

case var axes
over T = f32 | f64
over S & A = & | 5 & | 3, 4, 5 & , axes=[0, 2], keep=true | 3, 4, 5 & , axes=1, correction=3 | 0, 3 & , axes=1 | 3, 0 & , axes=1, correction=0 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special tiny
  input x: $T[$S]
  output y = var(x$A)
end

case var gradient
over T = f32 | f64
over S & A = 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2], keep=true | 2, 33 & , axes=1, correction=0 | 0, 3 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = var(x$A)
grad x
end

case std
over T = f32 | f64
over N = 0 | 1 | 2 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
over C = | , correction=0
mix ordinary special wide flat
  input x: $T[2, $N]
  output y = std(x, axes=1$C)
end

case std axes
over T = f32 | f64
over S & A = & | 5 & | 3, 4, 5 & , axes=[0, 2], keep=true | 3, 4, 5 & , axes=1, correction=3 | 0, 3 & , axes=1 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special tiny
  input x: $T[$S]
  output y = std(x$A)
end

case std gradient
over T = f32 | f64
over S & A = 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2], keep=true | 2, 33 & , axes=1, correction=0 | 0, 3 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = std(x$A)
grad x
end

case sum_square
over T = f32 | f64
over N = 0 | 1 | 8 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide tiny
  input x: $T[2, $N]
  output y = sum_square(x, axes=1)
end

case sum_square axes
over T = f32 | f64
over S & A = & | 5 & | 3, 4, 5 & , axes=[0, 2], keep=true | 2, 3, 0 & , axes=1 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special
  input x: $T[$S]
  output y = sum_square(x$A)
end

case sum_square gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2], keep=true | 0, 3 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = sum_square(x$A)
grad x
end

case norm_l1
over T = f32 | f64
over N = 0 | 1 | 8 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide tiny
  input x: $T[2, $N]
  output y = norm_l1(x, axes=1)
end

case norm_l1 axes
over T = f32 | f64
over S & A = & | 5 & | 3, 4, 5 & , axes=[0, 2], keep=true | 2, 3, 0 & , axes=1 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special zeros
  input x: $T[$S]
  output y = norm_l1(x$A)
end

case norm_l1 gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2], keep=true | 0, 3 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = norm_l1(x$A)
grad x in 0.25..2.0
end

case norm_l2
over T = f32 | f64
over N = 0 | 1 | 8 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
mix ordinary special wide tiny zeros
  input x: $T[2, $N]
  output y = norm_l2(x, axes=1)
end

case norm_l2 axes
over T = f32 | f64
over S & A = & | 5 & | 3, 4, 5 & , axes=[0, 2], keep=true | 2, 3, 0 & , axes=1 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special
  input x: $T[$S]
  output y = norm_l2(x$A)
end

case norm_l2 gradient
over T = f32 | f64
over S & A = & | 7 & | 3, 4 & , axes=0 | 2, 3, 2 & , axes=[0, 2], keep=true | 0, 3 & , axes=1
mix ordinary
  input x: $T[$S]
  output y = norm_l2(x$A)
grad x in 0.25..2.0
end

case any
over S & A = & | 0 & | 1 & | 7 & | 33 & | 3, 4, 5 & | 3, 4, 5 & , axes=0 | 3, 4, 5 & , axes=[0, 2], keep=true | 2, 0, 3 & , axes=1 | 2, 0, 3 & , axes=0 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special
  input x: bool[$S]
  output y = any(x$A)
end

case any rows
over N = 1 | 2 | 3 | 4 | 257
mix ordinary special
  input x: bool[40, $N]
  output y = any(x, axes=1)
end

case all
over S & A = & | 0 & | 1 & | 7 & | 33 & | 3, 4, 5 & | 3, 4, 5 & , axes=0 | 3, 4, 5 & , axes=[0, 2], keep=true | 2, 0, 3 & , axes=1 | 2, 0, 3 & , axes=0 | 1, 2, 1, 2, 1, 2, 1, 3 & , axes=[3, 7]
mix ordinary special
  input x: bool[$S]
  output y = all(x$A)
end

case all rows
over N = 1 | 2 | 3 | 4 | 257
mix ordinary special
  input x: bool[40, $N]
  output y = all(x, axes=1)
end
