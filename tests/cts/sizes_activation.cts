# Activations at the lengths where vectors, blocks and chunks end.

case relu sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = relu(x)
end

case silu sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = silu(x)
end

case gelu sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = gelu(x)
end

case gelu_tanh sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = gelu_tanh(x)
end

case relu6 sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = relu6(x)
end

case selu sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = selu(x)
end

case softplus sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = softplus(x)
end

case mish sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = mish(x)
end

case hardsigmoid sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = hardsigmoid(x)
end

case hardswish sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = hardswish(x)
end

case hardtanh sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = hardtanh(x)
end

case softsign sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = softsign(x)
end

case log_sigmoid sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = log_sigmoid(x)
end

case tanhshrink sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = tanhshrink(x)
end

case clamp sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = clamp(x, lo=-0.1, hi=0.7)
end

case leaky_relu sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = leaky_relu(x, slope=0.01)
end

case elu sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = elu(x, alpha=1.5)
end

case celu sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  output y = celu(x, alpha=1.5)
end

case softshrink sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = softshrink(x, l=0.5)
end

case hardshrink sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = hardshrink(x, l=0.5)
end

case threshold sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  output y = threshold(x, l=0.1, value=20)
end

case prelu sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input w: $T[]
  output y = prelu(x, w)
end

case glu sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = glu(x, axis=0)
end

case swiglu sizes
over N = sizes
mix ordinary special
  input a: f32[$N]
  input b: f32[$N]
  output y = swiglu(a, b)
end

case geglu sizes
over N = sizes
mix ordinary special
  input a: f32[$N]
  input b: f32[$N]
  output y = geglu(a, b)
end
