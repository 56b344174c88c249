# Elementwise ops beyond the first: functions, steps to whole numbers, bits of integers.

case exp2
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = exp2(x)
end

case exp2 edges
over C = 128 | -126 | -149.5 | 0
mix ordinary tiny few flat
  input x: f32[300]
  output y = exp2(x * 0.0001 + $C)
end

case exp2 gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = exp2(x)
grad x
end

case expm1
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = expm1(x)
end

case expm1 edges
over C = 88.72284 | -17 | 0
mix ordinary tiny few flat
  input x: f32[300]
  output y = expm1(x * 0.0001 + $C)
end

case expm1 gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = expm1(x)
grad x
end

case log2
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = log2(x)
end

case log2 positive
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = log2(abs(x))
end

case log2 edges
over C = 1 | 2
mix ordinary tiny few flat
  input x: f32[300]
  output y = log2(x * 0.0001 + $C)
end

case log2 gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = log2(x)
grad x in 0.25..4
end

case log10
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = log10(x)
end

case log10 positive
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = log10(abs(x))
end

case log10 edges
over C = 1 | 10
mix ordinary tiny few flat
  input x: f32[300]
  output y = log10(x * 0.0001 + $C)
end

case log10 gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = log10(x)
grad x in 0.25..4
end

case log1p
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = log1p(x)
end

case log1p positive
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = log1p(abs(x))
end

case log1p edges
over C = 0 | -0.5 | 16777216
mix ordinary tiny few flat
  input x: f32[300]
  output y = log1p(x * 0.0001 + $C)
end

case log1p gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = log1p(x)
grad x in -0.5..4
end

case tan
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = tan(x)
end

case tan edges
over C = 1.5707964 | 3.1415927 | 0
mix ordinary tiny few flat
  input x: f32[300]
  output y = tan(x * 0.0001 + $C)
end

case tan gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = tan(x)
grad x in -1.25..1.25
end

case asin
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = asin(x)
end

case asin inside
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = asin(minimum(maximum(x, -1.0), 1.0))
end

case asin edges
over C = 0 | 0.999
mix ordinary tiny few flat
  input x: f32[300]
  output y = asin(x * 0.0001 + $C)
end

case asin gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = asin(x)
grad x in -0.75..0.75
end

case acos
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = acos(x)
end

case acos inside
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = acos(minimum(maximum(x, -1.0), 1.0))
end

case acos edges
over C = 0 | 0.999
mix ordinary tiny few flat
  input x: f32[300]
  output y = acos(x * 0.0001 + $C)
end

case acos gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = acos(x)
grad x in -0.75..0.75
end

case atan
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = atan(x)
end

case atan edges
over C = 0 | 16777216
mix ordinary tiny few flat
  input x: f32[300]
  output y = atan(x * 0.0001 + $C)
end

case atan gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = atan(x)
grad x
end

case sinh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = sinh(x)
end

case sinh edges
over C = 89.41599 | -89.41599 | 0
mix ordinary tiny few flat
  input x: f32[300]
  output y = sinh(x * 0.0001 + $C)
end

case sinh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = sinh(x)
grad x
end

case cosh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = cosh(x)
end

case cosh edges
over C = 89.41599 | -89.41599
mix ordinary tiny few flat
  input x: f32[300]
  output y = cosh(x * 0.0001 + $C)
end

case cosh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = cosh(x)
grad x
end

case asinh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = asinh(x)
end

case asinh edges
over C = 0 | 1e19
mix ordinary tiny few flat
  input x: f32[300]
  output y = asinh(x * 0.0001 + $C)
end

case asinh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = asinh(x)
grad x
end

case acosh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = acosh(x)
end

case acosh inside
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = acosh(1.0 + abs(x))
end

case acosh edges
over C = 1.001 | 1e19
mix ordinary tiny few flat
  input x: f32[300]
  output y = acosh(x * 0.0001 + $C)
end

case acosh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = acosh(x)
grad x in 1.25..4
end

case atanh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = atanh(x)
end

case atanh inside
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = atanh(minimum(maximum(x, -1.0), 1.0))
end

case atanh edges
over C = 0 | 0.999
mix ordinary tiny few flat
  input x: f32[300]
  output y = atanh(x * 0.0001 + $C)
end

case atanh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = atanh(x)
grad x in -0.75..0.75
end

case sign
over T = f32 | f64 | i8 | u8 | i32 | i64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = sign(x)
end

case floor
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = floor(x)
end

# Halves of every whole number near 0, exactly and a little beside.
case floor ties
over T = f32 | f64
mix zeros tiny
  input x: $T[2049]
  output y = floor(cast(iota(shape=[2049]), dtype=$T) * 0.5 - 512.0 + x)
end

case floor large
over T & C = f32 & 4194304.5 | f32 & 8388607.5 | f64 & 2251799813685248.5 | f64 & 4503599627370495.5
mix ordinary few zeros
  input x: $T[257]
  output y = floor(x + $C)
  output z = floor(x - $C)
end

case ceil
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = ceil(x)
end

# Halves of every whole number near 0, exactly and a little beside.
case ceil ties
over T = f32 | f64
mix zeros tiny
  input x: $T[2049]
  output y = ceil(cast(iota(shape=[2049]), dtype=$T) * 0.5 - 512.0 + x)
end

case ceil large
over T & C = f32 & 4194304.5 | f32 & 8388607.5 | f64 & 2251799813685248.5 | f64 & 4503599627370495.5
mix ordinary few zeros
  input x: $T[257]
  output y = ceil(x + $C)
  output z = ceil(x - $C)
end

case trunc
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = trunc(x)
end

# Halves of every whole number near 0, exactly and a little beside.
case trunc ties
over T = f32 | f64
mix zeros tiny
  input x: $T[2049]
  output y = trunc(cast(iota(shape=[2049]), dtype=$T) * 0.5 - 512.0 + x)
end

case trunc large
over T & C = f32 & 4194304.5 | f32 & 8388607.5 | f64 & 2251799813685248.5 | f64 & 4503599627370495.5
mix ordinary few zeros
  input x: $T[257]
  output y = trunc(x + $C)
  output z = trunc(x - $C)
end

case round
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = round(x)
end

# Halves of every whole number near 0, exactly and a little beside.
case round ties
over T = f32 | f64
mix zeros tiny
  input x: $T[2049]
  output y = round(cast(iota(shape=[2049]), dtype=$T) * 0.5 - 512.0 + x)
end

case round large
over T & C = f32 & 4194304.5 | f32 & 8388607.5 | f64 & 2251799813685248.5 | f64 & 4503599627370495.5
mix ordinary few zeros
  input x: $T[257]
  output y = round(x + $C)
  output z = round(x - $C)
end

case and integers
over T = i8 | u8 | i32 | i64
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
mix ordinary special
  input a: $T[$S]
  input b: $T[$R]
  output y = and(a, b)
end

case or integers
over T = i8 | u8 | i32 | i64
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
mix ordinary special
  input a: $T[$S]
  input b: $T[$R]
  output y = or(a, b)
end

case xor
over T = i8 | u8 | i32 | i64 | bool
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
mix ordinary special
  input a: $T[$S]
  input b: $T[$R]
  output y = xor(a, b)
end

case not integers
over T = i8 | u8 | i32 | i64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
mix ordinary special
  input x: $T[$S]
  output y = not(x)
end

case shl
over T = i8 | u8 | i32 | i64
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
mix ordinary special
  input x: $T[$S]
  input n: $T[$R]
  output y = shl(x, n)
end

# Counts around the width and below 0.
case shl counts
over T & L = i8 & -128..127 | u8 & 0..255 | i32 & -3..40 | i64 & -3..70
mix ordinary special
  input x: $T[300]
  input n: $T[300] in $L
  output y = shl(x, n)
end

case shr
over T = i8 | u8 | i32 | i64
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
mix ordinary special
  input x: $T[$S]
  input n: $T[$R]
  output y = shr(x, n)
end

# Counts around the width and below 0.
case shr counts
over T & L = i8 & -128..127 | u8 & 0..255 | i32 & -3..40 | i64 & -3..70
mix ordinary special
  input x: $T[300]
  input n: $T[300] in $L
  output y = shr(x, n)
end
