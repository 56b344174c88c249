# Batches of ops whose conformance cases have none: their attributes name sizes.

case slice rows
over T = f32 | i8
mix ordinary
  dim B = 3
  input x: $T[B, 9]
  output y = slice(x, start=[0, 1], stop=[B, 8], step=[1, 3])
end

case reshape rows
over T = f32 | i8
mix ordinary
  dim B = 3
  input x: $T[B, 6]
  output y = reshape(x, shape=[B, 2, 3])
end

case broadcast rows
over T = f32 | i8
mix ordinary
  dim B = 3
  input x: $T[B, 1, 5]
  output y = broadcast(x, shape=[B, 4, 5])
end

case squeeze rows
over T = f32 | i8
mix ordinary
  dim B = 3
  input x: $T[B, 1, 5]
  output y = squeeze(x, axes=1)
end

case loop rows
over T = f32 | f64
mix ordinary
  dim B = 3
  input h: $T[B, 5]
  input w: $T[5, 5]
  y = loop(h, w, count=4, carried=1) (i, a, u) {
    give tanh(matmul(a, u))
  }
  output y
end

# Recurrent ops have their batch as second axis.

case rnn rows
mix ordinary
  input x: f32[3, 7, 33]
  input w: f32[33, 9]
  input u: f32[9, 9]
  y, h = rnn(transpose(x, perm=[1, 0, 2]), w, u)
  output z = transpose(y, perm=[1, 0, 2])
end

case lstm rows
mix ordinary
  input x: f32[3, 7, 33]
  input w: f32[33, 36]
  input u: f32[9, 36]
  y, h, s = lstm(transpose(x, perm=[1, 0, 2]), w, u)
  output z = transpose(y, perm=[1, 0, 2])
end

case gru rows
mix ordinary
  input x: f32[3, 7, 33]
  input w: f32[33, 27]
  input u: f32[9, 27]
  y, h = gru(transpose(x, perm=[1, 0, 2]), w, u)
  output z = transpose(y, perm=[1, 0, 2])
end
