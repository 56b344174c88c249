# Ops of two and three operands, element by element, with broadcasting.

case add
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 7 & 7 | 33 & 33 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = add(a, b)
end

case sub
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 8 & 8 | 257 & 257 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = sub(a, b)
end

case mul
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 9 & 9 | 255 & 255 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = mul(a, b)
end

case div
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 15 & 15 | 256 & 256 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = div(a, b)
end

case maximum
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 16 & 16 | 257 & 257 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = maximum(a, b)
end

case minimum
over T = f32 | f64 | i8 | u8 | i32 | i64
over A & B = & | 17 & 17 | 257 & 257 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = minimum(a, b)
end

case add gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = add(a, b)
grad a b
end

case sub gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = sub(a, b)
grad a b
end

case mul gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = mul(a, b)
grad a b
end

# One value used three times: its contributions are folded from the last use to the first.
case mul several uses
over T = f32 | f64
mix ordinary special
  input x: $T[5]
  output y = mul(x, x) * x
grad x
end

case div gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = div(a, b)
grad a
grad b in 0.5..2
end

case maximum gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = maximum(a, b)
grad a b
end

case minimum gradient
over T = f32 | f64
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 3, 0 & 1
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  output y = minimum(a, b)
grad a b
end

case mod
over T = i8 | u8 | i32 | i64
over A & B = & | 16 & 16 | 257 & 257 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: $T[$A]
  input b: $T[$B]
  output y = mod(a, b)
end

# Divisors that are small more often than not.
case mod small
over T = i8 | i32 | i64
mix ordinary special wide
  input a: $T[100]
  input b: $T[100] in -5..5
  output y = mod(a, b)
  output q = a / b
end

case pow
over A & B = & | 7 & 7 | 33 & 33 | 256 & 256 | 5 & | & 5 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1 | 1, 2, 1, 2, 1, 2, 1, 2 & 2, 1, 2, 1, 2, 1, 2, 1
  input a: f32[$A]
  input b: f32[$B]
  output y = pow(a, b)
end

case pow positive
over N = 255 | 257 | 1025
mix ordinary special tiny wide
  input a: f32[$N]
  input b: f32[$N]
  output y = pow(abs(a), b)
end

# Exact and half-way cases are among these.
case pow whole
over P = 2 | 3 | 0.5 | -1 | 0 | -2 | 1.5 | 7 | inf | nan
mix ordinary special few wide
  input a: f32[64]
  output y = pow(a, $P)
end

case pow gradient
over A & B = & | 7 & 7 | 5 & | & 5 | 3, 4 & 4 | 3, 0 & 1
mix ordinary
  input a: f32[$A]
  input b: f32[$B]
  output y = pow(a, b)
grad a in 0.5..2
grad b
end

case eq
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = eq(a, b)
end

case ne
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = ne(a, b)
end

case lt
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = lt(a, b)
end

case le
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = le(a, b)
end

case gt
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = gt(a, b)
end

case ge
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool
over A & B = & | 33 & 33 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
  input a: $T[$A]
  input b: $T[$B]
  output y = ge(a, b)
end

case and
over A & B = & | 8 & 8 | 33 & 33 | 257 & 257 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary zeros flat few
  input a: bool[$A]
  input b: bool[$B]
  output y = and(a, b)
end

case or
over A & B = & | 8 & 8 | 33 & 33 | 257 & 257 | 3, 4 & 4 | 2, 1, 3 & 5, 1 | 3, 0 & 1
mix ordinary zeros flat few
  input a: bool[$A]
  input b: bool[$B]
  output y = or(a, b)
end

case select
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over W & A & B = & & | 33 & 33 & 33 | 4 & & | & 4 & 4 | 2, 1 & 3 & 2, 3 | 3, 0 & 1 & 0
mix ordinary special few zeros
  input w: bool[$W]
  input a: $T[$A]
  input b: $T[$B]
  output y = select(w, a, b)
end

case select gradient
over T = f32 | f64
over W & A & B = & & | 9 & 9 & 9 | 4 & & | & 4 & 4 | 2, 1 & 3 & 2, 3
mix ordinary
  input w: bool[$W]
  input a: $T[$A]
  input b: $T[$B]
  output y = select(w, a, b)
grad a b
end

case fma
over T = f32 | f64
over A & B & C = & & | 7 & 7 & 7 | 33 & 33 & 33 | 257 & 257 & 257 | 4 & & | & 4 & 3, 1 | 2, 1 & 3 & 2, 3 | 3, 0 & 1 & 0
  input a: $T[$A]
  input b: $T[$B]
  input c: $T[$C]
  output y = fma(a, b, c)
end

# The product nearly cancels: one rounding is told from two.
case fma cancels
over T = f32 | f64
mix ordinary special tiny wide few
  input a: $T[300]
  input b: $T[300]
  output y = fma(a, b, -(a * b))
end

case fma gradient
over T = f32 | f64
over A & B & C = & & | 7 & 7 & 7 | 4 & & | & 4 & 3, 1 | 2, 1 & 3 & 2, 3
mix ordinary
  input a: $T[$A]
  input b: $T[$B]
  input c: $T[$C]
  output y = fma(a, b, c)
grad a b c
end
