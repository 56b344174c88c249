# Element by element, at the lengths where vectors, blocks and chunks end.

case neg sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = neg(x)
end

case abs sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = abs(x)
end

case sqrt sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = sqrt(x)
end

case rsqrt sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = rsqrt(x)
end

case exp sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = exp(x)
end

case log sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = log(x)
end

case sin sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = sin(x)
end

case cos sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = cos(x)
end

case tanh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = tanh(x)
end

case erf sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = erf(x)
end

case sigmoid sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = sigmoid(x)
end

case exp2 sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = exp2(x)
end

case expm1 sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = expm1(x)
end

case log2 sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = log2(x)
end

case log10 sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = log10(x)
end

case log1p sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = log1p(x)
end

case tan sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = tan(x)
end

case asin sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = asin(x)
end

case acos sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = acos(x)
end

case atan sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = atan(x)
end

case sinh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = sinh(x)
end

case cosh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = cosh(x)
end

case asinh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = asinh(x)
end

case acosh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = acosh(x)
end

case atanh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = atanh(x)
end

case sign sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = sign(x)
end

case floor sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = floor(x)
end

case ceil sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = ceil(x)
end

case trunc sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = trunc(x)
end

case round sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = round(x)
end

case square sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = square(x)
end

case reciprocal sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = reciprocal(x)
end

case is_nan sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = is_nan(x)
end

case is_inf sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = is_inf(x)
end

case is_finite sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = is_finite(x)
end

case add sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = add(a, b)
end

case sub sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = sub(a, b)
end

case mul sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = mul(a, b)
end

case div sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = div(a, b)
end

case maximum sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = maximum(a, b)
end

case minimum sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = minimum(a, b)
end

case pow sizes
over N = sizes
mix ordinary special
  input a: f32[$N]
  input b: f32[$N]
  output y = pow(a, b)
end

case eq sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = eq(a, b)
end

case ne sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = ne(a, b)
end

case lt sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = lt(a, b)
end

case le sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = le(a, b)
end

case gt sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = gt(a, b)
end

case ge sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = ge(a, b)
end

case mod sizes
over T = i32 | i8 | u8 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = mod(a, b)
end

case xor sizes
over T = i32 | i8 | u8 | i64 | bool
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = xor(a, b)
end

case shl sizes
over T = i32 | i8 | u8 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = shl(a, b)
end

case shr sizes
over T = i32 | i8 | u8 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = shr(a, b)
end

case and sizes
over T = bool | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = and(a, b)
end

case or sizes
over T = bool | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  output y = or(a, b)
end

case not sizes
over T = bool | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = not(x)
end

case select sizes
over N = sizes
mix ordinary special
  input w: bool[$N]
  input a: f32[$N]
  input b: f32[$N]
  output y = select(w, a, b)
end

case where sizes
over N = sizes
mix ordinary special
  input w: bool[$N]
  input a: f32[$N]
  input b: f32[$N]
  output y = where(w, a, b)
end

case fma sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input a: $T[$N]
  input b: $T[$N]
  input c: $T[$N]
  output y = fma(a, b, c)
end

case cast sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[$N]
  output a = cast(x, dtype=f16)
  output b = cast(x, dtype=bf16)
  output c = cast(x, dtype=f64)
  output d = cast(x, dtype=i32)
  output e = cast(x, dtype=u8)
end
