# Contractions, windows, norms, losses and cells at the lengths where vectors, blocks and chunks end.

case matmul sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input a: $T[3, $N]
  input b: $T[$N, 5]
  output y = matmul(a, b)
end

case matmul_masked sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input a: $T[3, $N]
  input b: $T[$N, 4]
  input p: bool[3, $N]
  output y = matmul_masked(a, b, p)
end

case linear sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  input w: $T[$N, 5]
  input b: $T[5]
  output y = linear(x, w, b)
end

case einsum sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input a: $T[3, $N]
  input b: $T[$N, 5]
  output y = einsum(a, b, equation="ij,jk->ik")
  output z = einsum(a, equation="ij->ji")
end

case matmul_int sizes
over T = i8 | u8
over N = sizes
mix ordinary special
  input a: $T[3, $N]
  input b: u8[$N, 5]
  output y = matmul_int(a, b)
end

case linear_int sizes
over T = u8 | i8
over N = sizes
mix ordinary special
  input x: $T[3, $N]
  input w: i8[$N, 5]
  output y = linear_int(x, w)
end

case conv sizes
over N = sizes
mix ordinary special
  input x: f32[1, 2, $N]
  input w: f32[3, 2, 3]
  input c: f32[1, $N, 4]
  input v: f32[2, $N, 3]
  output y = conv(x, w, low=1, high=1)
  output z = conv(c, v)
end

case conv_int sizes
over N = sizes
mix ordinary special
  input x: i8[1, 2, $N]
  input w: i8[3, 2, 3]
  input c: u8[1, $N, 4]
  input v: i8[2, $N, 3]
  output y = conv_int(x, w, low=1, high=1)
  output z = conv_int(c, v)
end

case conv_transpose sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  input w: $T[2, 3, 3]
  input c: $T[1, $N, 4]
  input v: $T[$N, 2, 3]
  output y = conv_transpose(x, w, stride=2, low=1)
  output z = conv_transpose(c, v)
end

case conv_weight_grad sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  input dy: $T[1, 3, $N]
  output y = conv_weight_grad(x, dy, kernel=3, low=1)
end

case attention sizes
over N = sizes
mix ordinary special
  input q: f32[1, 2, 3, 4]
  input k: f32[1, 1, $N, 4]
  input v: f32[1, 1, $N, 3]
  output y = attention(q, k, v)
end

case rope sizes
over N = sizes
mix ordinary special
  input x: f32[$N, 4]
  input p: i32[$N]
  output y = rope(x, p)
end

case rnn sizes
over N = sizes
mix ordinary special
  input x: f32[2, 1, $N]
  input w: f32[$N, 2]
  input u: f32[2, 2]
  y, h = rnn(x, w, u)
  output y
  output h
end

case lstm sizes
over N = sizes
mix ordinary special
  input x: f32[2, 1, $N]
  input w: f32[$N, 8]
  input u: f32[2, 8]
  y, h, s = lstm(x, w, u)
  output y
  output h
  output s
end

case gru sizes
over N = sizes
mix ordinary special
  input x: f32[2, 1, $N]
  input w: f32[$N, 6]
  input u: f32[2, 6]
  y, h = gru(x, w, u)
  output y
  output h
end

case loop sizes
over N = sizes
mix ordinary special
  input h: f32[3]
  input x: f32[$N, 3]
  hn, all = loop(h, x, count=$N, carried=1, each=1) (i, h, xt) {
  g = h * 0.5 + xt
  give g, g * g
  }
  output hn
  output all
end

case cond sizes
over N = sizes
mix ordinary special
  input which: bool[]
  input a: f32[$N]
  input b: f32[$N]
  y = cond(which) { give a + b } else { give a * b }
  output y
end

case layer_norm sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  input g: $T[$N]
  input b: $T[$N]
  output y = layer_norm(x, g, b)
end

case rms_norm sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[2, $N]
  input g: $T[$N]
  output y = rms_norm(x, g)
end

case group_norm sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 4, $N]
  input g: $T[4]
  input b: $T[4]
  output y = group_norm(x, g, b, groups=2)
end

case instance_norm sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  input g: $T[2]
  input b: $T[2]
  output y = instance_norm(x, g, b)
end

case batch_norm sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N, 2]
  input g: $T[2]
  input b: $T[2]
  input m: $T[2]
  input v: $T[2]
  y, s, t = batch_norm(x, g, b, m, v)
  output y
  output s
  output t
end

case batch_norm_inference sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  input g: $T[2]
  input b: $T[2]
  input m: $T[2]
  input v: $T[2]
  output y = batch_norm_inference(x, g, b, m, v)
end

case cross_entropy sizes
over N = sizes
mix ordinary special
  input x: f32[3, $N]
  input t: i32[3] in 0..6
  input v: f32[$N, 7]
  input u: i64[$N] in 0..6
  output y = cross_entropy(x, t)
  output z = cross_entropy(v, u)
end

case nll sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N, 7]
  input t: i64[$N] in 0..6
  output y = nll(x, t)
end

case mse sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input t: $T[$N]
  output y = mse(x, t, reduction=none)
  output z = mse(x, t, reduction=mean)
end

case l1 sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input t: $T[$N]
  output y = l1(x, t, reduction=none)
  output z = l1(x, t, reduction=mean)
end

case huber sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input t: $T[$N]
  output y = huber(x, t, reduction=none)
  output z = huber(x, t, reduction=mean)
end

case smooth_l1 sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[$N]
  input t: $T[$N]
  output y = smooth_l1(x, t, reduction=none)
  output z = smooth_l1(x, t, reduction=mean)
end

case bce sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input t: f32[$N]
  output y = bce(x, t, reduction=none)
  output z = bce(x, t, reduction=mean)
end

case bce_with_logits sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input t: f32[$N]
  output y = bce_with_logits(x, t, reduction=none)
  output z = bce_with_logits(x, t, reduction=mean)
end

case kl_div sizes
over N = sizes
mix ordinary special
  input x: f32[$N]
  input t: f32[$N]
  output y = kl_div(x, t, reduction=none)
  output z = kl_div(x, t, reduction=mean)
end

case max_pool sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = max_pool(x, kernel=3, stride=2, low=1, high=1)
end

case max_pool_index sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = max_pool_index(x, kernel=3, stride=2, low=1, high=1)
end

case max_pool_grad sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  input v: $T[1, 2, $N]
  output y = max_pool_grad(x, max_pool(v, kernel=3, stride=2, low=1, high=1), kernel=3, stride=2, low=1, high=1)
end

case avg_pool sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = avg_pool(x, kernel=3, stride=2, low=1, high=1)
end

case avg_pool_grad sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input v: $T[1, 2, $N]
  output y = avg_pool_grad(avg_pool(v, kernel=3, stride=2, low=1, high=1), kernel=3, stride=2, low=1, high=1, from=[$N])
end

case global_max_pool sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = global_max_pool(x)
end

case global_avg_pool sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = global_avg_pool(x)
end

case adaptive_avg_pool sizes
over T = f32 | f64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = adaptive_avg_pool(x, to=3)
end

case adaptive_max_pool sizes
over T = f32 | f64 | i8 | u8 | i32 | i64
over N = sizes
mix ordinary special
  input x: $T[1, 2, $N]
  output y = adaptive_max_pool(x, to=3)
end

case resize sizes
over N = sizes
mix ordinary special
  input x: f32[1, 1, $N]
  input v: f32[1, 1, 10]
  output y = resize(x, to=10, mode=linear)
  output z = resize(v, to=$N, mode=linear)
end

case resize sizes nearest
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[1, 1, $N]
  output y = resize(x, to=10, mode=nearest)
end

case resize_grad sizes
over N = sizes
mix ordinary special
  input dy: f32[1, 1, $N]
  input v: f32[1, 1, 10]
  output y = resize_grad(dy, from=10, mode=linear)
  output z = resize_grad(v, from=$N, mode=linear)
end

case resize_grad sizes nearest
over T = f32 | f64
over N = sizes
mix ordinary special
  input dy: $T[1, 1, $N]
  output y = resize_grad(dy, from=10, mode=nearest)
end

case depth_to_space sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[1, 4, 2, $N]
  output y = depth_to_space(x, block=2, mode=DCR)
end

case space_to_depth sizes
over T = f32 | f64 | i8 | u8 | i32 | i64 | bool | f16 | bf16
over N = sizes
mix ordinary special
  input x: $T[1, $N, 2, 4]
  output y = space_to_depth(x, block=2, mode=DCR)
end
