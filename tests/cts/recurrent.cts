# Recurrent cells over sequences.

case rnn
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary special wide zeros few
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h = rnn(x, w, u$R)
  output y
  output h
end

case rnn biased
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  y, h = rnn(x, w, u, b, c$R)
  output y
  output h
end

case rnn everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h = rnn(x, w, u, b, c, h0, l$R)
  output y
  output h
end

case rnn started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = rnn(x, w, u, h0$R)
  output y
  output h
end

case rnn lengths
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input l: i32[$B] in 0..4
  y, h = rnn(x, w, u, l$R)
  output y
  output h
end

case rnn both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=both | , direction=both, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  y, h = rnn(x, w, u$R)
  output y
  output h
end

case rnn both ways, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 4 & 5 & 5 | 0 & 2 & 3 & 2 & 2 | 4 & 0 & 3 & 2 & 2 | 4 & 2 & 0 & 3 & 3 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 3 | 2 & 3 & 33 & 9 & 9 | 2 & 1 & 257 & 2 & 2
over R = , direction=both | , direction=both, activation=relu
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  input l: i64[$B] in 0..4
  y, h = rnn(x, w, u, b, c, h0, l$R)
  output y
  output h
end

case rnn gradient
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h = rnn(x, w, u$R)
  output y
  output h
grad x w u
end

case rnn gradient, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h = rnn(x, w, u, b, c, h0, l$R)
  output y
  output h
grad x w u b c h0
end

case rnn gradient, started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = rnn(x, w, u, h0$R)
  output y
  output h
grad x w u h0
end

case rnn gradient, both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=both | , direction=both, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  y, h = rnn(x, w, u, b, c, h0$R)
  output y
  output h
grad x w u b c h0
end

case rnn gradient of y
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = rnn(x, w, u, h0$R)
  output y
grad x w u h0
end

case rnn gradient of h
over T & B & I & H & W = 1 & 1 & 1 & 1 & 1 | 3 & 2 & 3 & 2 & 2 | 4 & 3 & 2 & 3 & 3
over R = , direction=forward | , direction=forward, activation=relu | , direction=reverse | , direction=reverse, activation=relu
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = rnn(x, w, u, h0$R)
  output h
grad x w u h0
end

case lstm
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=forward | , direction=reverse
mix ordinary special wide zeros few
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h, s = lstm(x, w, u$R)
  output y
  output h
  output s
end

case lstm biased
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=forward | , direction=reverse
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  y, h, s = lstm(x, w, u, b, c$R)
  output y
  output h
  output s
end

case lstm everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=forward | , direction=reverse
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h, s = lstm(x, w, u, b, c, h0, s0, l$R)
  output y
  output h
  output s
end

case lstm started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=forward | , direction=reverse
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  y, h, s = lstm(x, w, u, h0, s0$R)
  output y
  output h
  output s
end

case lstm lengths
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=forward | , direction=reverse
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input l: i32[$B] in 0..4
  y, h, s = lstm(x, w, u, l$R)
  output y
  output h
  output s
end

case lstm both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=both
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  y, h, s = lstm(x, w, u$R)
  output y
  output h
  output s
end

case lstm both ways, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 4 & 5 & 20 | 0 & 2 & 3 & 2 & 8 | 4 & 0 & 3 & 2 & 8 | 4 & 2 & 0 & 3 & 12 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 12 | 2 & 3 & 33 & 9 & 36 | 2 & 1 & 257 & 2 & 8
over R = , direction=both
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  input s0: f32[2, $B, $H]
  input l: i64[$B] in 0..4
  y, h, s = lstm(x, w, u, b, c, h0, s0, l$R)
  output y
  output h
  output s
end

case lstm gradient
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h, s = lstm(x, w, u$R)
  output y
  output h
  output s
grad x w u
end

case lstm gradient, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h, s = lstm(x, w, u, b, c, h0, s0, l$R)
  output y
  output h
  output s
grad x w u b c h0 s0
end

case lstm gradient, started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  y, h, s = lstm(x, w, u, h0, s0$R)
  output y
  output h
  output s
grad x w u h0 s0
end

case lstm gradient, both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=both
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  input s0: f32[2, $B, $H]
  y, h, s = lstm(x, w, u, b, c, h0, s0$R)
  output y
  output h
  output s
grad x w u b c h0 s0
end

case lstm gradient of y
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  y, h, s = lstm(x, w, u, h0, s0$R)
  output y
grad x w u h0 s0
end

case lstm gradient of h
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  y, h, s = lstm(x, w, u, h0, s0$R)
  output h
grad x w u h0 s0
end

case lstm gradient of s
over T & B & I & H & W = 1 & 1 & 1 & 1 & 4 | 3 & 2 & 3 & 2 & 8 | 4 & 3 & 2 & 3 & 12
over R = , direction=forward | , direction=reverse
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  input s0: f32[$B, $H]
  y, h, s = lstm(x, w, u, h0, s0$R)
  output s
grad x w u h0 s0
end

case gru
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary special wide zeros few
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h = gru(x, w, u$R)
  output y
  output h
end

case gru biased
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  y, h = gru(x, w, u, b, c$R)
  output y
  output h
end

case gru everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h = gru(x, w, u, b, c, h0, l$R)
  output y
  output h
end

case gru started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = gru(x, w, u, h0$R)
  output y
  output h
end

case gru lengths
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input l: i32[$B] in 0..4
  y, h = gru(x, w, u, l$R)
  output y
  output h
end

case gru both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=both | , direction=both, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  y, h = gru(x, w, u$R)
  output y
  output h
end

case gru both ways, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 4 & 5 & 15 | 0 & 2 & 3 & 2 & 6 | 4 & 0 & 3 & 2 & 6 | 4 & 2 & 0 & 3 & 9 | 4 & 2 & 3 & 0 & 0 | 7 & 1 & 2 & 3 & 9 | 2 & 3 & 33 & 9 & 27 | 2 & 1 & 257 & 2 & 6
over R = , direction=both | , direction=both, reset_before=true
mix ordinary special
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  input l: i64[$B] in 0..4
  y, h = gru(x, w, u, b, c, h0, l$R)
  output y
  output h
end

case gru gradient
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  y, h = gru(x, w, u$R)
  output y
  output h
grad x w u
end

case gru gradient, everything
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input b: f32[$W]
  input c: f32[$W]
  input h0: f32[$B, $H]
  input l: i64[$B] in 0..4
  y, h = gru(x, w, u, b, c, h0, l$R)
  output y
  output h
grad x w u b c h0
end

case gru gradient, started
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = gru(x, w, u, h0$R)
  output y
  output h
grad x w u h0
end

case gru gradient, both ways
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=both | , direction=both, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[2, $I, $W]
  input u: f32[2, $H, $W]
  input b: f32[2, $W]
  input c: f32[2, $W]
  input h0: f32[2, $B, $H]
  y, h = gru(x, w, u, b, c, h0$R)
  output y
  output h
grad x w u b c h0
end

case gru gradient of y
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = gru(x, w, u, h0$R)
  output y
grad x w u h0
end

case gru gradient of h
over T & B & I & H & W = 1 & 1 & 1 & 1 & 3 | 3 & 2 & 3 & 2 & 6 | 4 & 3 & 2 & 3 & 9
over R = , direction=forward | , direction=forward, reset_before=true | , direction=reverse | , direction=reverse, reset_before=true
mix ordinary
  input x: f32[$T, $B, $I]
  input w: f32[$I, $W]
  input u: f32[$H, $W]
  input h0: f32[$B, $H]
  y, h = gru(x, w, u, h0$R)
  output h
grad x w u h0
end
