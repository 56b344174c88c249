# Activations and gates beyond the first.

case clamp
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over L & H = -0.1 & 0.7
  input x: $T[$S]
  output y = clamp(x, lo=$L, hi=$H)
end

case clamp attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over L & H = 0 & inf | -inf & 0 | 2 & 1 | -inf & inf
  input x: $T[$S]
  output y = clamp(x, lo=$L, hi=$H)
end

case clamp gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over L & H = -0.1 & 0.7 | 0 & inf
mix ordinary
  input x: $T[$S]
  output y = clamp(x, lo=$L, hi=$H)
grad x
end

case square
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = square(x)
end

case square gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = square(x)
grad x
end

case reciprocal
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = reciprocal(x)
end

case reciprocal gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = reciprocal(x)
grad x in 0.5..2
end

case leaky_relu
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A = 0.01
  input x: $T[$S]
  output y = leaky_relu(x, slope=$A)
end

case leaky_relu attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over A = 0.3 | -1.5 | 0
  input x: $T[$S]
  output y = leaky_relu(x, slope=$A)
end

case leaky_relu gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over A = 0.01 | -1.5
mix ordinary
  input x: $T[$S]
  output y = leaky_relu(x, slope=$A)
grad x
end

case relu6
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = relu6(x)
end

case relu6 gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = relu6(x)
grad x
end

case elu
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A = 1
  input x: $T[$S]
  output y = elu(x, alpha=$A)
end

case elu attributes
over T = f32
over S = 33 | 2, 3, 5
over A = 0.3 | -2 | 0
  input x: $T[$S]
  output y = elu(x, alpha=$A)
end

case elu gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
over A = 1 | 0.3
mix ordinary
  input x: $T[$S]
  output y = elu(x, alpha=$A)
grad x
end

case celu
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A = 1
  input x: $T[$S]
  output y = celu(x, alpha=$A)
end

case celu attributes
over T = f32
over S = 33 | 2, 3, 5
over A = 0.3 | -2
  input x: $T[$S]
  output y = celu(x, alpha=$A)
end

case celu gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
over A = 1 | 0.3
mix ordinary
  input x: $T[$S]
  output y = celu(x, alpha=$A)
grad x
end

case selu
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = selu(x)
end

case selu gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = selu(x)
grad x
end

case softplus
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = softplus(x)
end

case softplus gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = softplus(x)
grad x
end

case mish
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = mish(x)
end

case mish gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = mish(x)
grad x
end

case hardsigmoid
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A & B = 0.16666666666666666 & 0.5
  input x: $T[$S]
  output y = hardsigmoid(x, alpha=$A, beta=$B)
end

case hardsigmoid attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over A & B = 0.2 & 0.1 | -3 & 0
  input x: $T[$S]
  output y = hardsigmoid(x, alpha=$A, beta=$B)
end

case hardsigmoid gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over A & B = 0.16666666666666666 & 0.5 | 0.2 & 0.1 | -3 & 0
mix ordinary
  input x: $T[$S]
  output y = hardsigmoid(x, alpha=$A, beta=$B)
grad x
end

case hardswish
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = hardswish(x)
end

case hardswish gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = hardswish(x)
grad x
end

case hardtanh
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over L & H = -1 & 1
  input x: $T[$S]
  output y = hardtanh(x, lo=$L, hi=$H)
end

case hardtanh attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over L & H = -0.3 & 0.1
  input x: $T[$S]
  output y = hardtanh(x, lo=$L, hi=$H)
end

case hardtanh gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over L & H = -1 & 1 | -0.3 & 0.1
mix ordinary
  input x: $T[$S]
  output y = hardtanh(x, lo=$L, hi=$H)
grad x
end

case softsign
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = softsign(x)
end

case softsign gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = softsign(x)
grad x
end

case log_sigmoid
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = log_sigmoid(x)
end

case log_sigmoid gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = log_sigmoid(x)
grad x
end

case softshrink
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A = 0.5
  input x: $T[$S]
  output y = softshrink(x, l=$A)
end

case softshrink attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over A = 0.1 | 0
  input x: $T[$S]
  output y = softshrink(x, l=$A)
end

case softshrink gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over A = 0.5 | 0.1 | 0
mix ordinary
  input x: $T[$S]
  output y = softshrink(x, l=$A)
grad x
end

case hardshrink
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over A = 0.5
  input x: $T[$S]
  output y = hardshrink(x, l=$A)
end

case hardshrink attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over A = 0.1 | 0
  input x: $T[$S]
  output y = hardshrink(x, l=$A)
end

case hardshrink gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over A = 0.5 | 0.1 | 0
mix ordinary
  input x: $T[$S]
  output y = hardshrink(x, l=$A)
grad x
end

case tanhshrink
over T = f32
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = tanhshrink(x)
end

case tanhshrink gradient
over T = f32
over S = | 0 | 7 | 2, 3, 2
mix ordinary
  input x: $T[$S]
  output y = tanhshrink(x)
grad x
end

case threshold
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
over L & V = 0.1 & 20
  input x: $T[$S]
  output y = threshold(x, l=$L, value=$V)
end

case threshold attributes
over T = f32 | f64
over S = 33 | 2, 3, 5
over L & V = -0.3 & nan | 0 & -inf
  input x: $T[$S]
  output y = threshold(x, l=$L, value=$V)
end

case threshold gradient
over T = f32 | f64
over S = | 0 | 7 | 2, 3, 2
over L & V = 0.1 & 20 | -0.3 & 0
mix ordinary
  input x: $T[$S]
  output y = threshold(x, l=$L, value=$V)
grad x
end

case elu far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = elu(x + $C)
end

case celu far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = celu(x + $C)
end

case selu far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = selu(x + $C)
end

case softplus far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = softplus(x + $C)
end

case mish far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = mish(x + $C)
end

case log_sigmoid far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = log_sigmoid(x + $C)
end

case hardswish far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = hardswish(x + $C)
end

case softsign far
over C = -104 | -17 | 17 | 88.7
mix ordinary few
  input x: f32[257]
  output y = softsign(x + $C)
end

case prelu
over T = f32 | f64
over S & R = & | 5 & | 5 & 5 | 5 & 1 | 3, 4 & 4 | 3, 4 & 3, 1 | 2, 3, 4 & 3 | 2, 3, 2, 4 & 3 | 2, 3, 2, 4 & 1 | 2, 3, 2, 4 & 3, 1, 4 | 2, 3, 2, 4 & 2, 1, 1, 1 | 2, 0, 3 & 0 | 0, 3, 3 & 3 | 1, 33, 1, 1, 1, 1, 1, 9 & 33 | 4, 257 & 257
  input x: $T[$S]
  input w: $T[$R]
  output y = prelu(x, w)
end

case prelu gradient
over T = f32 | f64
over S & R = 5 & | 5 & 5 | 3, 4 & 4 | 2, 3, 4 & 3 | 2, 3, 2, 2 & 3, 1, 2 | 2, 0, 3 & 0
mix ordinary
  input x: $T[$S]
  input w: $T[$R]
  output y = prelu(x, w)
grad x
grad w
end

case glu
over S & A = 2 & 0 | 0 & 0 | 66 & 0 | 3, 8 & -1 | 3, 8 & 1 | 4, 3 & 0 | 2, 6, 5 & 1 | 2, 0, 4 & 2 | 0, 4 & 1 | 1, 2, 1, 3 & 1 | 2, 514 & 1 | 1, 2, 1, 4, 1, 2, 1, 2 & 3
  input x: f32[$S]
  output y = glu(x, axis=$A)
end

case glu gradient
over S & A = 4 & 0 | 3, 4 & 1 | 4, 3 & 0 | 2, 0 & 1
mix ordinary
  input x: f32[$S]
  output y = glu(x, axis=$A)
grad x
end

case swiglu
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
  input a: f32[$S]
  input b: f32[$R]
  output y = swiglu(a, b)
end

case swiglu gradient
over S & R = 5 & 5 | 3, 1 & 4 | 2, 3 & 3 | 0 & 1
mix ordinary
  input a: f32[$S]
  input b: f32[$R]
  output y = swiglu(a, b)
grad a
grad b
end

case geglu
over S & R = & | 7 & 7 | 8 & 8 | 33 & 33 | 257 & 257 | 3, 1 & 5 | 0 & 1 | 2, 3, 4 & 3, 1 | 2, 1, 2, 1, 2, 1, 2, 3 & 2, 1, 2, 1, 3
  input a: f32[$S]
  input b: f32[$R]
  output y = geglu(a, b)
end

case geglu gradient
over S & R = 5 & 5 | 3, 1 & 4 | 2, 3 & 3 | 0 & 1
mix ordinary
  input a: f32[$S]
  input b: f32[$R]
  output y = geglu(a, b)
grad a
grad b
end

case is_nan
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = is_nan(x)
end

case is_inf
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = is_inf(x)
end

case is_finite
over T = f32 | f64
over S = | 0 | 1 | 7 | 8 | 9 | 31 | 32 | 33 | 257 | 3, 0, 2 | 2, 3, 5 | 1, 2, 1, 2, 1, 2, 1, 3
  input x: $T[$S]
  output y = is_finite(x)
end

case where
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over W & S & R = & & | 5 & 5 & 5 | 3, 1 & 4 & 3, 4 | 0 & 1 & 1 | 33 & 2, 33 & | 1 & 257 & 257
mix ordinary special
  input w: bool[$W]
  input a: $T[$S]
  input b: $T[$R]
  output y = where(w, a, b)
end

case where gradient
over T = f32 | f64
over W & S & R = 5 & 5 & 5 | 3, 1 & 4 & 3, 4 | 0 & 1 & 1
mix ordinary
  input w: bool[$W]
  input a: $T[$S]
  input b: $T[$R]
  output y = where(w, a, b)
grad a
grad b
end
