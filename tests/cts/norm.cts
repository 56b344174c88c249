# Norms of several axes, of rows without gamma or beta, and of channels.

case layer_norm axes
over T = f32 | f64
over L & N = & 4, 5 | 3, & 4, 5 | 2, 2, & 3, 11 | 0, & 2, 3 | 2, & 0, 3 | 3, & 2, 1, 2, 1, 2, 1, 2 | 2, & 5, 205
mix ordinary special wide flat
  input x: $T[$L $N]
  input g: $T[$N]
  input b: $T[$N]
  output y = layer_norm(x, g, b)
end

case layer_norm plain
over T = f32 | f64
over S = 5 | 3, 33 | 2, 0 | 0, 3 | 2, 257 | 2, 2, 1025
mix ordinary special tiny
  input x: $T[$S]
  output y = layer_norm(x)
end

case layer_norm scaled
over T = f32 | f64
over S & N = 5 & 5 | 3, 33 & 33 | 2, 3, 4 & 3, 4
mix ordinary special
  input x: $T[$S]
  input g: $T[$N]
  output y = layer_norm(x, g)
end

case layer_norm slopes
over T = f32 | f64
over L & N = & 2, 3 | 3, & 4, 2 | 2, 2, & 3
mix ordinary
  input x: $T[$L $N]
  input g: $T[$N]
  input b: $T[$N]
  output y = layer_norm(x, g, b, eps=0.01)
grad x g b
end

case layer_norm plain slopes
over T = f32 | f64
over S = 5 | 3, 4 | 2, 2, 3
mix ordinary
  input x: $T[$S]
  output y = layer_norm(x, eps=0.01)
grad x
end

case rms_norm plain
over T = f32 | f64
over S = 5 | 3, 33 | 2, 0 | 0, 3 | 2, 257 | 2, 2, 1025
mix ordinary special tiny
  input x: $T[$S]
  output y = rms_norm(x)
end

case rms_norm plain slopes
over T = f32 | f64
over S = 5 | 3, 4 | 2, 2, 3
mix ordinary
  input x: $T[$S]
  output y = rms_norm(x, eps=0.01)
grad x
end

case group_norm
over T = f32 | f64
over S & C & G = 2, 6 & 6 & 3 | 2, 6, 5 & 6 & 2 | 3, 4, 3, 2 & 4 & 1 | 1, 4, 257 & 4 & 4 | 2, 2, 1, 2, 1, 2, 1, 3 & 2 & 2 | 0, 4, 3 & 4 & 2 | 2, 4, 0 & 4 & 2 | 2, 0, 3 & 0 & 2 | 1, 8, 130 & 8 & 1 | 1, 1, 1 & 1 & 1 | 2, 4, 512 & 4 & 2
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  output y = group_norm(x, g, b, groups=$G)
end

case group_norm given
over T = f32 | f64
over E = 0 | 0.1 | -1
over O = x | x, g
mix ordinary special flat
  input x: $T[2, 6, 5]
  input g: $T[6]
  output y = group_norm($O, groups=3, eps=$E)
  output z = g + g
end

case group_norm gradient
over T = f32 | f64
over S & C & G = 2, 6 & 6 & 3 | 2, 4, 5 & 4 & 2 | 1, 4, 2, 3 & 4 & 1 | 0, 4, 3 & 4 & 2
mix ordinary
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  output y = group_norm(x, g, b, groups=$G, eps=0.01)
grad x g b
end

case instance_norm
over T = f32 | f64
over S & C = 2, 6, 5 & 6 | 3, 4, 3, 2 & 4 | 1, 2, 257 & 2 | 2, 2, 1, 2, 1, 2, 1, 3 & 2 | 0, 4, 3 & 4 | 2, 4, 0 & 4 | 2, 0, 3 & 0 | 1, 2, 1025 & 2 | 1, 1, 1 & 1
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  output y = instance_norm(x, g, b)
end

case instance_norm given
over T = f32 | f64
over E = 0 | 0.1 | -1
mix ordinary special flat
  input x: $T[2, 6, 5]
  output y = instance_norm(x, eps=$E)
end

case instance_norm gradient
over T = f32 | f64
over S & C = 2, 3, 5 & 3 | 1, 2, 2, 3 & 2 | 0, 4, 3 & 4
mix ordinary
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  output y = instance_norm(x, g, b, eps=0.01)
grad x g b
end

case batch_norm
over T = f32 | f64
over S & C = 4, 3 & 3 | 2, 3, 5 & 3 | 1, 2, 33 & 2 | 3, 2, 2, 3 & 2 | 1030, 2 & 2 | 2, 1, 1, 2, 1, 2, 1, 3 & 1 | 0, 3 & 3 | 4, 0 & 0 | 4, 2, 257 & 2
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  input m: $T[$C]
  input v: $T[$C]
  y, s, t = batch_norm(x, g, b, m, v)
  output y
  output s
  output t
end

case batch_norm numbers
over T = f32 | f64
over E = 0 | 0.1
over M = 0 | 1 | 0.3
mix ordinary special tiny flat
  input x: $T[4, 3, 2]
  input g: $T[3]
  input b: $T[3]
  input m: $T[3]
  input v: $T[3]
  y, s, t = batch_norm(x, g, b, m, v, eps=$E, momentum=$M)
  output y
  output s
  output t
end

case batch_norm gradient
over T = f32 | f64
over S & C = 5, 3 & 3 | 2, 3, 4 & 3 | 2, 2, 2, 3 & 2
mix ordinary
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  input m: $T[$C]
  input v: $T[$C]
  y, s, t = batch_norm(x, g, b, m, v, eps=0.01)
  output y
grad x g b
end

case batch_norm_inference
over T = f32 | f64
over S & C = 4, 3 & 3 | 2, 3, 5 & 3 | 1, 2, 33 & 2 | 3, 2, 2, 3 & 2 | 1, 1 & 1 | 2, 1, 1, 2, 1, 2, 1, 3 & 1 | 0, 3 & 3 | 4, 0 & 0
over E = | , eps=0 | , eps=0.1
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  input m: $T[$C]
  input v: $T[$C]
  output y = batch_norm_inference(x, g, b, m, v$E)
end

case batch_norm_inference gradient
over T = f32 | f64
over S & C = 5, 3 & 3 | 2, 3, 4 & 3 | 0, 2, 3 & 2
mix ordinary
  input x: $T[$S]
  input g: $T[$C]
  input b: $T[$C]
  input m: $T[$C]
  input v: $T[$C]
  output y = batch_norm_inference(x, g, b, m, abs(v), eps=0.1)
grad x g b
end
