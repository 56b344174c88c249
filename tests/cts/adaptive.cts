# Pools by the number of their windows: windows that overlap, differ in size, or are one element.

case adaptive_avg_pool 1d
over T = f32 | f64
over I & O = 7 & 3 | 8 & 4 | 8 & 3 | 9 & 9 | 5 & 7 | 33 & 1 | 33 & 2 | 1025 & 1 | 2100 & 2 | 1 & 4 | 7 & 0 | 0 & 2 | 0 & 0
  input x: $T[2, 3, $I]
  output y = adaptive_avg_pool(x, to=$O)
end

case adaptive_avg_pool 2d
over T = f32 | f64
over S & O = 2, 2, 5, 6 & [2, 4] | 1, 3, 8, 9 & [3, 2] | 1, 1, 16, 17 & 5 | 0, 2, 6, 6 & 2 | 1, 0, 6, 6 & 4 | 1, 2, 7, 11 & [4, 3] | 1, 1, 40, 35 & [1, 1] | 1, 1, 3, 4 & [5, 7]
  input x: $T[$S]
  output y = adaptive_avg_pool(x, to=$O)
end

case adaptive_avg_pool 3d
over T = f32 | f64
over O = 1 | 2 | [2, 3, 4] | [3, 1, 7]
  input x: $T[1, 2, 5, 4, 6]
  output y = adaptive_avg_pool(x, to=$O)
end

case adaptive_max_pool 1d
over T = f32 | f64 | i8 | u8 | i32 | i64
over I & O = 7 & 3 | 8 & 4 | 8 & 3 | 9 & 9 | 5 & 7 | 33 & 1 | 33 & 2 | 1 & 4 | 7 & 0 | 0 & 0
  input x: $T[2, 3, $I]
  output y = adaptive_max_pool(x, to=$O)
end

case adaptive_max_pool 2d
over T = f32 | f64
over S & O = 2, 2, 5, 6 & [2, 4] | 1, 3, 8, 9 & [3, 2] | 1, 1, 16, 17 & 5 | 0, 2, 6, 6 & 2 | 1, 0, 6, 6 & 4 | 1, 2, 7, 11 & [4, 3] | 1, 1, 3, 4 & [5, 7]
  input x: $T[$S]
  output y = adaptive_max_pool(x, to=$O)
end

case adaptive_max_pool 3d
over T = f32 | i32
over O = 1 | [2, 3, 4] | [3, 1, 7]
  input x: $T[1, 2, 5, 4, 6]
  output y = adaptive_max_pool(x, to=$O)
end

case adaptive_avg_pool gradient
over T = f32 | f64
over S & O = 2, 2, 7 & 3 | 1, 2, 5 & 7 | 2, 2, 5, 6 & [2, 4] | 1, 1, 4, 3, 5 & [3, 2, 2] | 1, 1, 40 & 3
mix ordinary
  input x: $T[$S]
  output y = adaptive_avg_pool(x, to=$O)
grad x
end

case adaptive_max_pool gradient
over T = f32 | f64
over S & O = 2, 2, 7 & 3 | 1, 2, 5 & 7 | 2, 2, 5, 6 & [2, 4] | 1, 1, 4, 3, 5 & [3, 2, 2]
mix ordinary
  input x: $T[$S]
  output y = adaptive_max_pool(x, to=$O)
grad x
end
