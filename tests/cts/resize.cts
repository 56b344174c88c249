# Resize in every mode and system of coordinates; blocks of channels.

case resize nearest
over T = f32 | f64 | f16 | bf16 | i8 | u8 | i32 | i64 | bool
over C = half_pixel | pytorch_half_pixel | align_corners | asymmetric
over R = floor | ceil | round_prefer_floor | round_prefer_ceil
over O = 1 | 3 | 7 | 8 | 16
mix ordinary
  input x: $T[1, 2, 7]
  output y = resize(x, to=$O, mode=nearest, coordinates=$C, rounding=$R)
end

case resize nearest 2d
over T = f32 | f64
over C = half_pixel | align_corners | asymmetric
over O = 4, 4 | 9, 3 | 2, 17
  input x: $T[2, 2, 4, 5]
  output y = resize(x, to=[$O], coordinates=$C)
grad x
end

case resize 1d
over M = linear | cubic
over C = half_pixel | pytorch_half_pixel | align_corners | asymmetric
over I = 1 | 2 | 7 | 8
over O = 0 | 1 | 3 | 8 | 16 | 33
  input x: f32[1, 2, $I]
  output y = resize(x, to=$O, mode=$M, coordinates=$C)
end

case resize 2d
over M = linear | cubic
over C = half_pixel | pytorch_half_pixel | align_corners | asymmetric
over O = 4, 5 | 8, 10 | 9, 3 | 1, 1
  input x: f32[2, 2, 4, 5]
  output y = resize(x, to=[$O], mode=$M, coordinates=$C)
grad x
end

case resize 3d
over M = nearest | linear | cubic
over O = 2, 3, 4 | 5, 2, 6
  input x: f32[1, 2, 2, 3, 4]
  output y = resize(x, to=[$O], mode=$M)
grad x
end

case resize scale
over M = nearest | linear | cubic
over C = half_pixel | align_corners | asymmetric
over S = 0.3 | 0.5 | 1 | 1.7 | 2 | 3.1
  input x: f32[1, 2, 7, 6]
  output y = resize(x, scale=$S, mode=$M, coordinates=$C)
grad x
end

case resize cubic a
over A = -0.5 | 0 | 0.1 | 1
  input x: f32[1, 2, 7]
  output y = resize(x, to=17, mode=cubic, a=$A)
grad x
end

case resize empty
over M = nearest | linear | cubic
over S = 0, 2, 4 | 2, 0, 4
mix ordinary
  input x: f32[$S]
  output y = resize(x, to=6, mode=$M)
end

case resize_grad 1d
over M = nearest | linear | cubic
over C = half_pixel | pytorch_half_pixel | align_corners | asymmetric
over I = 1 | 2 | 7 | 8
over O = 0 | 1 | 3 | 8 | 16 | 33
  input dy: f32[1, 2, $O]
  output y = resize_grad(dy, from=$I, mode=$M, coordinates=$C)
end

case resize_grad long
over M = nearest | linear | cubic
over O = 255 | 256 | 257 | 1023 | 1024 | 1025 | 1100
mix ordinary special wide
  input dy: f32[1, 1, $O]
  output y = resize_grad(dy, from=1, mode=$M)
end

case resize_grad f64
over R = floor | ceil | round_prefer_floor | round_prefer_ceil
over O = 1 | 4 | 17
  input dy: f64[2, 1, $O, 3]
  output y = resize_grad(dy, from=[5, 4], rounding=$R)
grad dy
end

case resize_grad 2d
over M = nearest | linear | cubic
over O = 8, 10 | 3, 2 | 9, 4
  input dy: f32[1, 2, $O]
  output y = resize_grad(dy, from=[4, 5], mode=$M)
grad dy
end

case depth_to_space
over T = f32 | f64 | f16 | bf16 | i8 | u8 | i32 | i64 | bool
over M = DCR | CRD
over S = 2, 8, 3, 2 | 0, 4, 2, 2 | 1, 0, 2, 2 | 1, 4, 0, 3 | 1, 4, 1, 1 | 3, 12, 2, 5
mix ordinary
  input x: $T[$S]
  output y = depth_to_space(x, block=2, mode=$M)
end

case depth_to_space gradient
over T = f32 | f64
over M = DCR | CRD
mix ordinary
  input x: $T[1, 9, 2, 3]
  output y = depth_to_space(x, block=3, mode=$M)
grad x
end

case space_to_depth
over T = f32 | f64 | f16 | bf16 | i8 | u8 | i32 | i64 | bool
over M = DCR | CRD
over S = 2, 3, 4, 6 | 0, 1, 2, 2 | 1, 0, 2, 2 | 1, 2, 0, 4 | 1, 1, 2, 2 | 1, 5, 8, 2
mix ordinary
  input x: $T[$S]
  output y = space_to_depth(x, block=2, mode=$M)
end

case space_to_depth gradient
over T = f32 | f64
over M = DCR | CRD
mix ordinary
  input x: $T[1, 2, 6, 3]
  output y = space_to_depth(x, block=3, mode=$M)
grad x
end
