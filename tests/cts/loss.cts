# Losses of classes with weights, smoothing and every reduction, and losses of elements.

case cross_entropy reductions
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 33 & i32[2, 3] & 32 | 0, 5 & i64[0] & 4 | 1030, 2 & i32[1030] & 1
over R = none | sum | mean
over I = | , ignore=0
mix ordinary special flat
  input x: f32[$L]
  input t: $T in 0..$N
  output y = cross_entropy(x, t$I, reduction=$R)
end

case cross_entropy weighted
over L & T & V & N = 5 & i32[] & 5 & 4 | 4, 7 & i64[4] & 7 & 6 | 40, 3 & i32[40] & 3 & 2 | 0, 5 & i64[0] & 5 & 4
over R = none | sum | mean
over I = | , ignore=0
mix ordinary special zeros
  input x: f32[$L]
  input t: $T in 0..$N
  input c: f32[$V]
  output y = cross_entropy(x, t, c$I, reduction=$R)
end

case cross_entropy smoothed
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 3, 257 & i32[3] & 256 | 9, 1 & i32[9] & 0
over A = 0.1 | 0.5 | 1
over R = none | mean
mix ordinary special wide
  input x: f32[$L]
  input t: $T in 0..$N
  output y = cross_entropy(x, t, ignore=1, reduction=$R, smoothing=$A)
end

case cross_entropy weighted outside
over R = none | mean
mix ordinary special few wide
expect range
  input x: f32[2, 5, 7]
  input t: i32[2, 5] in -2..8
  input c: f32[7]
  output y = cross_entropy(x, t, c, reduction=$R)
end

case cross_entropy slopes
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 5 & i32[2, 3] & 4
over R = none | sum | mean
over A = 0 | 0.1
mix ordinary
  input x: f32[$L]
  input t: $T in 0..$N
  output y = cross_entropy(x, t, ignore=1, reduction=$R, smoothing=$A)
grad x
end

case cross_entropy weighted slopes
over R = none | sum | mean
mix ordinary
  input x: f32[4, 5]
  input t: i32[4] in 0..4
  input c: f32[5]
  output y = cross_entropy(x, t, abs(c), ignore=1, reduction=$R)
grad x
end

case nll
over F = f32 | f64
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 33 & i32[2, 3] & 32 | 1, 1 & i32[1] & 0 | 0, 5 & i64[0] & 4 | 2, 1, 2, 1, 2, 1, 2, 3 & i64[2, 1, 2, 1, 2, 1, 2] & 2 | 1030, 2 & i32[1030] & 1
over R = none | sum | mean
over I = | , ignore=0
mix ordinary special
  input x: $F[$L]
  input t: $T in 0..$N
  output y = nll(x, t$I, reduction=$R)
end

case nll weighted
over F = f32 | f64
over L & T & V & N = 5 & i32[] & 5 & 4 | 4, 7 & i64[4] & 7 & 6 | 40, 3 & i32[40] & 3 & 2 | 0, 5 & i64[0] & 5 & 4
over R = none | sum | mean
over I = | , ignore=0
mix ordinary special zeros
  input x: $F[$L]
  input t: $T in 0..$N
  input c: $F[$V]
  output y = nll(x, t, c$I, reduction=$R)
end

case nll outside
over R = none | mean
mix ordinary special few wide
expect range
  input x: f32[2, 5, 7]
  input t: i32[2, 5] in -2..8
  output y = nll(x, t, reduction=$R)
end

case nll gradient
over F = f32 | f64
over L & T & N = 5 & i32[] & 4 | 4, 7 & i64[4] & 6 | 2, 3, 5 & i32[2, 3] & 4
over R = none | sum | mean
mix ordinary
  input x: $F[$L]
  input t: $T in 0..$N
  output y = nll(x, t, ignore=1, reduction=$R)
grad x
end

case nll weighted slopes
over R = none | sum | mean
mix ordinary
  input x: f32[4, 5]
  input t: i32[4] in 0..4
  input c: f32[5]
  output y = nll(x, t, c, ignore=1, reduction=$R)
grad x
end

case mse
over F = f32 | f64
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
mix ordinary special wide tiny
  input x: $F[$S]
  input t: $F[$S]
  output y = mse(x, t, reduction=$R)
end

case l1
over F = f32 | f64
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
mix ordinary special wide tiny
  input x: $F[$S]
  input t: $F[$S]
  output y = l1(x, t, reduction=$R)
end

case huber
over F = f32 | f64
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
mix ordinary special wide tiny
  input x: $F[$S]
  input t: $F[$S]
  output y = huber(x, t, reduction=$R)
end

case huber edges
over F = f32 | f64
over A = | , delta=0.3 | , delta=1e-50
over R = none | mean
  input x: $F[40]
  input t: $F[40]
  output y = huber(x, t, reduction=$R$A)
end

case smooth_l1
over F = f32 | f64
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
mix ordinary special wide tiny
  input x: $F[$S]
  input t: $F[$S]
  output y = smooth_l1(x, t, reduction=$R)
end

case smooth_l1 edges
over F = f32 | f64
over A = | , beta=0.3 | , beta=0
over R = none | mean
  input x: $F[40]
  input t: $F[40]
  output y = smooth_l1(x, t, reduction=$R$A)
end

case mse gradient
over F = f32 | f64
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
mix ordinary
  input x: $F[$S]
  input t: $F[$S]
  output y = mse(x, t, reduction=$R)
grad x t
end

case l1 gradient
over F = f32 | f64
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
mix ordinary
  input x: $F[$S]
  input t: $F[$S]
  output y = l1(x, abs(t) + 4.0, reduction=$R)
grad x in -2.0..2.0
end

case huber gradient
over F = f32 | f64
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
over D = 0.7 | 10
mix ordinary
  input x: $F[$S]
  input t: $F[$S]
  output y = huber(x, t, delta=$D, reduction=$R)
grad x t
end

case smooth_l1 gradient
over F = f32 | f64
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
over D = 0.7 | 10
mix ordinary
  input x: $F[$S]
  input t: $F[$S]
  output y = smooth_l1(x, t, beta=$D, reduction=$R)
grad x t
end

case kl_div
over S = 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean | batch
mix ordinary special wide tiny zeros
  input x: f32[$S]
  input t: f32[$S]
  output y = kl_div(x, t, reduction=$R)
end

case kl_div ranks
over R = none | sum | mean
  input x: f32[]
  input t: f32[]
  output y = kl_div(x, t, reduction=$R)
end

case kl_div gradient
over S = 7 | 3, 4 | 0, 2
over R = none | sum | mean | batch
mix ordinary
  input x: f32[$S]
  input t: f32[$S]
  output y = kl_div(x, abs(t), reduction=$R)
grad x
end

case bce
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
  input x: f32[$S]
  input t: f32[$S]
  output y = bce(x, t, reduction=$R)
end

case bce inside
over S = 7 | 33 | 3, 257
mix ordinary tiny
  input x: f32[$S]
  input t: f32[$S]
  output y = bce(sigmoid(x), sigmoid(t), reduction=none)
end

case bce gradient
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
mix ordinary
  input x: f32[$S]
  input t: f32[$S]
  output y = bce(x, sigmoid(t), reduction=$R)
grad x in 0.125..0.875
end

case bce_with_logits
over S = | 0 | 7 | 8 | 33 | 3, 4 | 2, 0, 3 | 257 | 1023 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = none | sum | mean
  input x: f32[$S]
  input t: f32[$S]
  output y = bce_with_logits(x, t, reduction=$R)
end

case bce_with_logits gradient
over S = | 7 | 3, 4 | 0
over R = none | sum | mean
mix ordinary
  input x: f32[$S]
  input t: f32[$S]
  output y = bce_with_logits(x, sigmoid(t), reduction=$R)
grad x
end

case bce ends
over S = 40 | 5, 33
over R = none | sum
mix few zeros flat
  input x: f32[$S]
  input t: f32[$S]
  output y = bce(abs(x), abs(t), reduction=$R)
  output z = bce_with_logits(x, t, reduction=$R)
end
