# Ops of one operand, element by element.

case neg
over T = f32 | f64 | i8 | u8 | i32 | i64
over S = | 0 | 1 | 7 | 8 | 9 | 33 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = neg(x)
end

case neg gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = neg(x)
grad x
end

case abs
over T = f32 | f64 | i8 | u8 | i32 | i64
over S = | 0 | 1 | 7 | 15 | 16 | 17 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = abs(x)
end

case abs gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = abs(x)
grad x
end

case sqrt
over T = f32 | f64
over S = | 0 | 1 | 8 | 31 | 32 | 33 | 257 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = sqrt(x)
end

# Roots of negative numbers are tried above; most of the numbers here are not.
case sqrt positive
over T = f32 | f64
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: $T[$S]
  output y = sqrt(abs(x))
end

case sqrt gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = sqrt(x)
grad x in 0.25..4
end

case rsqrt
over S = | 0 | 1 | 8 | 31 | 32 | 33 | 257 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = rsqrt(x)
end

case rsqrt positive
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = rsqrt(abs(x))
end

case rsqrt gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = rsqrt(x)
grad x in 0.25..4
end

case exp
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = exp(x)
end

# Where the result overflows, underflows, and is subnormal.
case exp edges
over C = 88.72284 | -87.33655 | -103.97208
mix ordinary tiny few flat
  input x: f32[300]
  output y = exp(x * 0.001 + $C)
end

case exp gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = exp(x)
grad x
end

case log
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = log(x)
end

case log positive
over S = 255 | 256 | 1023 | 1024
mix ordinary special tiny wide
  input x: f32[$S]
  output y = log(abs(x))
end

case log near one
mix ordinary special tiny
  input x: f32[500]
  output y = log(1 + x * 0.0001)
end

case log gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = log(x)
grad x in 0.25..4
end

case sin
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = sin(x)
end

case sin gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = sin(x)
grad x
end

case cos
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = cos(x)
end

case cos gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = cos(x)
grad x
end

case tanh
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = tanh(x)
end

case tanh gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = tanh(x)
grad x
end

case erf
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = erf(x)
end

case erf gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = erf(x)
grad x
end

case sigmoid
over S = | 0 | 1 | 7 | 8 | 9 | 15 | 16 | 17 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: f32[$S]
  output y = sigmoid(x)
end

case sigmoid gradient
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: f32[$S]
  output y = sigmoid(x)
grad x
end

case not
over S = | 0 | 1 | 7 | 33 | 257 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
mix ordinary zeros flat few
  input x: bool[$S]
  output y = not(x)
end

# Every type to every type.
case cast
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over U = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over S = | 5 | 64 | 3, 0, 2
  input x: $T[$S]
  output y = cast(x, dtype=$U)
end

# Numbers of the size of integers, and halves between them.
case cast whole
over T = f32 | f64
over U = i8 | u8 | i32 | i64
over K = 1 | 100 | 200 | 1000000 | 1e10 | 1e19
mix ordinary few special
  input x: $T[65]
  output y = cast(x * $K, dtype=$U)
end

case cast gradient
over T & U = f32 & f64 | f64 & f32 | f32 & f32 | f64 & f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = cast(x, dtype=$U)
grad x
end
