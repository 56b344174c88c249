# Reductions and orders at the lengths where vectors, blocks and chunks end.

case sum sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = sum(x, axes=-1)
  output z = sum(x, axes=0)
end

case max sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = max(x, axes=-1)
  output z = max(x, axes=0)
end

case min sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = min(x, axes=-1)
  output z = min(x, axes=0)
end

case prod sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = prod(x, axes=-1)
  output z = prod(x, axes=0)
end

case mean sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = mean(x, axes=-1)
  output z = mean(x, axes=0)
end

case logsumexp sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = logsumexp(x, axes=-1)
  output z = logsumexp(x, axes=0)
end

case var sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = var(x, axes=-1)
  output z = var(x, axes=0)
end

case std sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = std(x, axes=-1)
  output z = std(x, axes=0)
end

case sum_square sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = sum_square(x, axes=-1)
  output z = sum_square(x, axes=0)
end

case norm_l1 sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = norm_l1(x, axes=-1)
  output z = norm_l1(x, axes=0)
end

case norm_l2 sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = norm_l2(x, axes=-1)
  output z = norm_l2(x, axes=0)
end

case any sizes
over N = sizes
mix ordinary special
  input x: bool[2, $N]
  output y = any(x, axes=-1)
  output z = any(x, axes=0)
end

case all sizes
over N = sizes
mix ordinary special
  input x: bool[2, $N]
  output y = all(x, axes=-1)
  output z = all(x, axes=0)
end

case argmax sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = argmax(x, axis=-1)
  output z = argmax(x, axis=0)
end

case argmin sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = argmin(x, axis=-1)
  output z = argmin(x, axis=0)
end

case cumsum sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = cumsum(x, axis=-1)
  output z = cumsum(x, axis=0)
end

case softmax sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = softmax(x, axis=-1)
  output z = softmax(x, axis=0)
end

case log_softmax sizes
over N = sizes
mix ordinary special
  input x: f32[2, $N]
  output y = log_softmax(x, axis=-1)
  output z = log_softmax(x, axis=0)
end

case sort sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  v, i = sort(x, axis=-1)
  output v
  output i
end

case argsort sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  output y = argsort(x, axis=-1)
end

case top_k sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  v, i = top_k(x, k=5, axis=-1)
  output v
  output i
end
