# Pools: padding that is absent, windows that overlap, dilation, the last window of ceil.

case max_pool 1d
over T = f32 | f64 | i8 | u8 | i32 | i64
over A = kernel=2 | kernel=3, stride=1 | kernel=3, stride=2, low=1, high=1 | kernel=3, stride=2, ceil=true | kernel=2, dilation=3, stride=1
over I = 7 | 8 | 9 | 33
  input x: $T[2, 3, $I]
  output y = max_pool(x, $A)
  output i = max_pool_index(x, $A)
end

case max_pool 2d
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=2, low=1, high=1 | kernel=[3, 2], stride=1, low=[1, 0], high=[1, 1] | kernel=3, stride=2, ceil=true | kernel=2, dilation=2, stride=1, low=1
over S = 0, 2, 6, 6 | 1, 0, 6, 6 | 2, 2, 5, 6 | 1, 3, 8, 9 | 1, 1, 16, 17
  input x: $T[$S]
  output y = max_pool(x, $A)
end

case max_pool gradient
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=2, low=1, high=1 | kernel=3, stride=1 | kernel=[2, 3], stride=[2, 1], ceil=true
mix ordinary
  input x: $T[2, 2, 6, 7]
  output y = max_pool(x, $A)
grad x
end

case max_pool 3d
over T = f32 | f64
over A = kernel=2 | kernel=[1, 2, 3], stride=1, low=[0, 1, 1] | kernel=2, stride=1, high=1
  input x: $T[1, 2, 3, 4, 5]
  output y = max_pool(x, $A)
  output i = max_pool_index(x, $A)
end

case max_pool_index
over T = f32 | f64 | i8 | u8
over A = kernel=2 | kernel=3, stride=2, low=1, high=1 | kernel=[3, 2], stride=1, low=[2, 1], high=[1, 0] | kernel=2, dilation=2, stride=1, low=1
over S = 0, 2, 6, 6 | 2, 2, 5, 6 | 1, 3, 8, 9
  input x: $T[$S]
  output i = max_pool_index(x, $A)
end

case max_pool_grad
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=1, low=1, high=1 | kernel=3, stride=2, low=1, ceil=true | kernel=[2, 3], dilation=[2, 1], stride=1
over S = 0, 2, 6, 6 | 2, 2, 5, 6 | 1, 3, 8, 9
  input x: $T[$S]
  input v: $T[$S]
  output y = max_pool_grad(x, max_pool(v, $A), $A)
end

case max_pool_grad wide
over T = f32 | f64
over K = 6 | 33 | 40
  input x: $T[1, 1, 80]
  input v: $T[1, 1, 80]
  output y = max_pool_grad(x, max_pool(v, kernel=$K, stride=1), kernel=$K, stride=1)
end

case max_pool_grad gradient
over T = f32 | f64
mix ordinary
  input x: $T[1, 2, 6, 6]
  input dy: $T[1, 2, 4, 4]
  output y = max_pool_grad(x, dy, kernel=3, stride=1)
grad dy
end

case avg_pool 1d
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=1 | kernel=3, stride=2, low=1, high=1 | kernel=3, stride=2, low=1, high=1, count_padding=true | kernel=3, stride=2, ceil=true | kernel=3, stride=2, low=1, high=1, ceil=true, count_padding=true | kernel=2, dilation=3, stride=1 | kernel=2, stride=1, low=3, high=3
over I = 7 | 8 | 9 | 33
  input x: $T[2, 3, $I]
  output y = avg_pool(x, $A)
end

case avg_pool long
over T = f32 | f64
over K = 8 | 16 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
  input x: $T[1, 2, 1030]
  output y = avg_pool(x, kernel=$K, stride=3)
end

case avg_pool 2d
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=2, low=1, high=1 | kernel=3, stride=2, low=1, high=1, count_padding=true | kernel=[3, 2], stride=1, low=[1, 0], high=[1, 1] | kernel=3, stride=2, ceil=true | kernel=[7, 6], stride=1, low=3, high=3
over S = 0, 2, 6, 6 | 1, 0, 6, 6 | 2, 2, 5, 6 | 1, 3, 8, 9
  input x: $T[$S]
  output y = avg_pool(x, $A)
end

case avg_pool gradient
over T = f32 | f64
over A = kernel=2 | kernel=3, stride=2, low=1, high=1 | kernel=3, stride=1, low=1, high=1, count_padding=true | kernel=[2, 3], stride=[2, 1], ceil=true
mix ordinary
  input x: $T[2, 2, 6, 7]
  output y = avg_pool(x, $A)
grad x
end

case avg_pool 3d
over T = f32 | f64
over A = kernel=2 | kernel=[1, 2, 3], stride=1, low=[0, 1, 1] | kernel=2, stride=1, high=1, count_padding=true
  input x: $T[1, 2, 3, 4, 5]
  output y = avg_pool(x, $A)
grad x
end

case avg_pool_grad
over T = f32 | f64
over A = kernel=2, stride=1 | kernel=3, stride=1, low=1 | kernel=3, stride=1, low=1, count_padding=true | kernel=2, stride=1, dilation=2, high=1
over S = 8, 9 | 16, 5
  input v: $T[2, 2, $S]
  output y = avg_pool_grad(avg_pool(v, $A), $A, from=[$S])
end

case avg_pool_grad long
over T = f32 | f64
over K = 8 | 31 | 32 | 33 | 40
  input v: $T[1, 2, 80]
  output y = avg_pool_grad(avg_pool(v, kernel=$K, stride=1), kernel=$K, stride=1, from=80)
end

case avg_pool_grad gradient
over T = f32 | f64
mix ordinary
  input dy: $T[1, 2, 4, 4]
  output y = avg_pool_grad(dy, kernel=3, stride=1, from=[6, 6])
grad dy
end

case global_max_pool
over T = f32 | f64 | i8 | u8 | i32 | i64
over S = 2, 3, 7 | 0, 2, 3 | 2, 0, 3 | 2, 2, 3, 5 | 1, 2, 1025 | 1, 2, 2, 3, 4 | 2, 1, 2, 1, 2, 1, 2, 2
  input x: $T[$S]
  output y = global_max_pool(x)
end

case global_max_pool gradient
over T = f32 | f64
over S = 2, 3, 7 | 2, 2, 3, 5 | 1, 2, 2, 3, 4
mix ordinary
  input x: $T[$S]
  output y = global_max_pool(x)
grad x
end

case global_avg_pool
over T = f32 | f64
over S = 2, 3, 7 | 0, 2, 3 | 2, 0, 3 | 2, 2, 0 | 2, 2, 3, 5 | 1, 2, 31 | 1, 2, 32 | 1, 2, 33 | 1, 2, 1023 | 1, 2, 1024 | 1, 2, 1025 | 2, 1, 2, 1, 2, 1, 2, 2
  input x: $T[$S]
  output y = global_avg_pool(x)
end

case global_avg_pool gradient
over T = f32 | f64
over S = 2, 3, 7 | 2, 2, 3, 5 | 1, 2, 2, 3, 4
mix ordinary
  input x: $T[$S]
  output y = global_avg_pool(x)
grad x
end
