# Gather by coordinates and by elements, the scatters, and what is made from an index.

case gather_nd
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  output y = gather_nd(x, i, $R)
end

case gather_nd narrow
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  output y = gather_nd(x, i, $R)
end

case gather_nd outside
over T = i32 | i64
mix ordinary special few wide
expect range
  input x: f32[4, 3]
  input i: $T[4, 2] in -1..3
  output y = gather_nd(x, i)
end

case gather_nd gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  output y = gather_nd(x, i, $R)
grad x
end

case gather_elements
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  output y = gather_elements(x, i, axis=$A)
end

case gather_elements narrow
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  output y = gather_elements(x, i, axis=$A)
end

case gather_elements outside
over T = i32 | i64
over A = 0 | 1
mix ordinary special few wide
expect range
  input x: f32[3, 3]
  input i: $T[3, 3] in -2..4
  output y = gather_elements(x, i, axis=$A)
end

case gather_elements gradient
over T = f32 | f64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 3 & 1025 & 0 & 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  output y = gather_elements(x, i, axis=$A)
grad x
end

case scatter
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter(x, i, u, $R)
end

case scatter narrow
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter(x, i, u, $R)
end

case scatter gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter(x, i, u, $R)
grad x u
end

case scatter_add
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special zeros wide
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_add(x, i, u, $R)
end

case scatter_add narrow
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_add(x, i, u, $R)
end

case scatter_add gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_add(x, i, u, $R)
grad x u
end

case scatter_max
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_max(x, i, u, $R)
end

case scatter_max narrow
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_max(x, i, u, $R)
end

case scatter_max gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_max(x, i, u, $R)
grad x u
end

case scatter_min
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_min(x, i, u, $R)
end

case scatter_min narrow
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2 | 3 & 1, 2, 1, 2, 1, 1, 2, 1 & axis=0 & 2 & 1, 2, 1, 2, 1, 1, 2, 1 | 1, 2, 1, 2, 1, 1, 2, 3 & 1, 2, 1, 2, 1, 1, 2, 4 & axis=7, batch=7 & 2 & 1, 2, 1, 2, 1, 1, 2, 4 | 257, 2 & 33 & axis=0 & 256 & 33, 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_min(x, i, u, $R)
end

case scatter_min gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7 & axis=0 & 4 & 7 | 5 &  & axis=0 & 4 &  | 4, 3 & 6 & axis=0 & 3 & 6, 3 | 4, 3 & 2, 5 & axis=1 & 2 & 4, 2, 5 | 4, 3 & 4, 6 & axis=1, batch=1 & 2 & 4, 6 | 2, 3, 4 & 2, 5 & axis=2, batch=1 & 3 & 2, 3, 5 | 2, 3, 4 & 5 & axis=-2 & 2 & 2, 5, 4 | 3 & 0 & axis=0 & 2 & 0 | 4, 0 & 3 & axis=0 & 3 & 3, 0 | 0, 3 & 2 & axis=1 & 2 & 0, 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_min(x, i, u, $R)
grad x u
end

case scatter outside
over T = i32 | i64
mix ordinary special few wide
expect range
  input x: f32[4, 3]
  input i: $T[2, 3] in -1..4
  input u: f32[2, 3, 3]
  output y = scatter(x, i, u)
end

case scatter_elements
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements(x, i, u, axis=$A)
end

case scatter_elements narrow
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$I]
  output y = scatter_elements(x, i, u, axis=$A)
end

case scatter_elements gradient
over T = f32 | f64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 3 & 1025 & 0 & 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements(x, i, u, axis=$A)
grad x u
end

case scatter_elements_add
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special zeros wide
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_add(x, i, u, axis=$A)
end

case scatter_elements_add narrow
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$I]
  output y = scatter_elements_add(x, i, u, axis=$A)
end

case scatter_elements_add gradient
over T = f32 | f64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 3 & 1025 & 0 & 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_add(x, i, u, axis=$A)
grad x u
end

case scatter_elements_max
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_max(x, i, u, axis=$A)
end

case scatter_elements_max narrow
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$I]
  output y = scatter_elements_max(x, i, u, axis=$A)
end

case scatter_elements_max gradient
over T = f32 | f64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 3 & 1025 & 0 & 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_max(x, i, u, axis=$A)
grad x u
end

case scatter_elements_min
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_min(x, i, u, axis=$A)
end

case scatter_elements_min narrow
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 1025 & 33 & 0 & 1024 | 3 & 1025 & 0 & 2 | 1, 2, 1, 2, 1, 2, 1, 3 & 1, 2, 1, 2, 1, 2, 1, 4 & 7 & 2
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$I]
  output y = scatter_elements_min(x, i, u, axis=$A)
end

case scatter_elements_min gradient
over T = f32 | f64
over X & I & A & N = 5 & 7 & 0 & 4 | 5 & 3 & 0 & 4 | 4, 3 & 4, 3 & 0 & 3 | 4, 3 & 4, 6 & 1 & 2 | 4, 3 & 2, 6 & 1 & 2 | 4, 3 & 9, 2 & 0 & 3 | 3 & 0 & 0 & 2 | 0, 3 & 0, 3 & 1 & 2 | 2, 3, 4 & 2, 5, 3 & -2 & 2 | 3 & 1025 & 0 & 2
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$I]
  output y = scatter_elements_min(x, i, u, axis=$A)
grad x u
end

case scatter_elements outside
over T = i32 | i64
mix ordinary special few wide
expect range
  input x: f32[3, 3]
  input i: $T[3, 3] in -1..3
  input u: f32[3, 3]
  output y = scatter_elements(x, i, u, axis=0)
end

case scatter_nd
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd(x, i, u, $R)
end

case scatter_nd narrow
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_nd(x, i, u, $R)
end

case scatter_nd gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd(x, i, u, $R)
grad x u
end

case scatter_nd_add
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special zeros wide
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_add(x, i, u, $R)
end

case scatter_nd_add narrow
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_nd_add(x, i, u, $R)
end

case scatter_nd_add gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_add(x, i, u, $R)
grad x u
end

case scatter_nd_max
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_max(x, i, u, $R)
end

case scatter_nd_max narrow
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_nd_max(x, i, u, $R)
end

case scatter_nd_max gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_max(x, i, u, $R)
grad x u
end

case scatter_nd_min
over T = f32 | f64 | i8 | u8 | i32 | i64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special few zeros
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_min(x, i, u, $R)
end

case scatter_nd_min narrow
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0 | 5 & 1 & batch=0 & 4 &  | 2, 2, 2, 2, 2, 2, 2, 2 & 3, 8 & batch=0 & 1 & 3 | 2, 3 & 2, 1, 2, 1, 2, 1, 1, 2 & batch=0 & 1 & 2, 1, 2, 1, 2, 1, 1
mix ordinary special
  input x: f32[$X]
  input i: i32[$I] in 0..$N
  input u: f32[$U]
  output y = scatter_nd_min(x, i, u, $R)
end

case scatter_nd_min gradient
over T = f32 | f64
over X & I & R & N & U = 5 & 7, 1 & batch=0 & 4 & 7 | 4, 4 & 6, 2 & batch=0 & 3 & 6 | 4, 3 & 5, 1 & batch=0 & 3 & 5, 3 | 3, 4, 2 & 3, 2, 1 & batch=1 & 3 & 3, 2, 2 | 2, 3, 3 & 2, 3, 1 & batch=2 & 2 & 2, 3 | 2, 3, 3 & 2, 4, 2 & batch=1 & 2 & 2, 4 | 3 & 2, 0 & batch=0 & 0 & 2, 3 | 3 & 0, 1 & batch=0 & 2 & 0 | 4, 0 & 3, 1 & batch=0 & 3 & 3, 0
mix ordinary
  input x: $T[$X]
  input i: i64[$I] in 0..$N
  input u: $T[$U]
  output y = scatter_nd_min(x, i, u, $R)
grad x u
end

case scatter_nd outside
over T = i32 | i64
mix ordinary special few wide
expect range
  input x: f32[4, 3]
  input i: $T[4, 2] in -1..3
  input u: f32[4]
  output y = scatter_nd(x, i, u)
end

case scatter_add many
over T = f32 | f64
over N = 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025 | 2049
over K = 0 | 1
mix ordinary special wide
  input x: $T[2, 3]
  input i: i32[$N] in 0..$K
  input u: $T[$N, 3]
  output y = scatter_add(x, i, u)
end

case scatter_elements_add many
over T = f32 | f64
over N = 31 | 32 | 33 | 1023 | 1024 | 1025
over K = 0 | 1
mix ordinary special wide
  input x: $T[2, 3]
  input i: i32[$N, 3] in 0..$K
  input u: $T[$N, 3]
  output y = scatter_elements_add(x, i, u, axis=0)
end

case scatter_nd_add many
over T = f32 | f64
over N = 31 | 32 | 33 | 1023 | 1024 | 1025
over K = 0 | 1
mix ordinary special wide
  input x: $T[2, 2]
  input i: i32[$N, 2] in 0..$K
  input u: $T[$N]
  output y = scatter_nd_add(x, i, u)
end

case one_hot
over T = i32 | i64
over I = | 5 | 2, 3 | 0 | 1, 2, 1, 2, 1, 2, 1
over D = 0 | 1 | 4 | 257
mix ordinary special few
  input i: $T[$I] in -2..6
  output y = one_hot(i, depth=$D)
end

case one_hot values
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over V = on=0.1, off=-0 | on=-3.75, off=300 | on=nan, off=inf
mix ordinary
  input i: i64[2, 3] in 0..3
  output y = one_hot(i, depth=4, dtype=$T, $V)
end

case nonzero
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over X = | 5 | 0 | 3, 4 | 2, 0, 3 | 257 | 1, 2, 1, 2, 1, 2, 1, 3
over B = 0 | 1 | 4 | 300
mix ordinary special zeros few
  input x: $T[$X]
  i, n = nonzero(x, bound=$B)
  output i
  output n
end
