# Attention with further operands, and rotary positions.

# b batches, h heads over g heads of keys, t queries, s keys.
case attention window
over B & H & G & T & S = 1 & 1 & 1 & 1 & 1 | 2 & 4 & 2 & 5 & 5 | 1 & 2 & 1 & 2 & 7 | 1 & 2 & 1 & 7 & 2 | 1 & 1 & 1 & 9 & 33 | 1 & 1 & 1 & 3 & 257 | 1 & 2 & 2 & 3 & 0
over W = 1 | 2 | 5 | 300
over C = true | false
mix ordinary special zeros
  input q: f32[$B, $H, $T, 4]
  input k: f32[$B, $G, $S, 4]
  input v: f32[$B, $G, $S, 3]
  output y = attention(q, k, v, causal=$C, window=$W)
end

case attention masked
over M = 2, 4, 5, 6 | 1, 1, 5, 6 | 2, 1, 1, 6 | 4, 5, 1 | 5, 6 | 1, 6 | 6 | 1 | 2, 4, 1, 1
over R = | , causal=true | , window=2
mix ordinary special zeros few
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input m: bool[$M]
  output y = attention(q, k, v, m$R)
end

case attention biased
over M = 2, 4, 5, 6 | 1, 1, 5, 6 | 2, 1, 1, 6 | 4, 5, 1 | 5, 6 | 1
over R = | , causal=true
mix ordinary special zeros wide few
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input m: f32[$M]
  output y = attention(q, k, v, m$R)
end

case attention lengths
over T = i32 | i64
over N = 0 | 1 | 5 | 8
over R = | , causal=true | , window=2 | , causal=true, window=3
mix ordinary special
  input q: f32[3, 2, 5, 3]
  input k: f32[3, 1, 6, 3]
  input v: f32[3, 1, 6, 2]
  input l: $T[3] in 0..$N
  output y = attention(q, k, v, l$R)
end

case attention everything
over R = | , causal=true | , causal=true, window=2 | , window=3, scale=0.5
mix ordinary special zeros
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input m: bool[2, 1, 5, 6]
  input c: f32[4, 1, 6]
  input l: i64[2] in 3..6
  output y = attention(q, k, v, m, c, l$R)
end

case attention odd lengths
over R = , causal=true | , window=2
mix special
  input q: f32[4, 1, 3, 2]
  input k: f32[4, 1, 5, 2]
  input v: f32[4, 1, 5, 2]
  input l: i64[4]
  output y = attention(q, k, v, l$R)
end

case attention many keys
over S = 31 | 33 | 255 | 256 | 257 | 1023 | 1025
mix ordinary special
  input q: f32[1, 1, 2, 3]
  input k: f32[1, 1, $S, 3]
  input v: f32[1, 1, $S, 2]
  input m: bool[2, $S]
  output y = attention(q, k, v, m)
end

case attention gradient masked
over M = 2, 4, 5, 6 | 5, 6 | 2, 1, 1, 6 | 1, 4, 5, 6
mix ordinary
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input m: bool[$M]
  output y = attention(q, k, v, m)
grad q k v
end

case attention gradient biased
over M = 2, 4, 5, 6 | 5, 6 | 2, 1, 1, 6 | 4, 1, 6
mix ordinary
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input c: f32[$M]
  output y = attention(q, k, v, c)
grad q k v c
end

case attention gradient everything
over R = | , window=4
mix ordinary
  input q: f32[2, 4, 5, 3]
  input k: f32[2, 2, 6, 3]
  input v: f32[2, 2, 6, 2]
  input m: bool[2, 1, 5, 6]
  input c: f32[4, 1, 6]
  input l: i64[2] in 4..6
  output y = attention(q, k, v, m, c, l$R)
grad q k v c
end

case rope
over I = true | false
over S & P = 2 & | 1, 4 & 1 | 5, 8 & 5 | 2, 3, 7, 6 & 7 | 2, 3, 7, 6 & 2, 1, 7 | 2, 3, 7, 6 & 2, 3, 7 | 0, 4 & 0 | 3, 0 & 3 | 2, 66 & 1 | 1, 258 & 1 | 1, 2, 1, 2, 1, 2, 2, 4 & 2, 1, 2, 2
over T = i32 | i64
  input x: f32[$S]
  input p: $T[$P]
  output y = rope(x, p, interleaved=$I)
end

case rope width
over I = true | false
over W = 2 | 4 | 6
over B = 10000 | 1 | 0.5 | 500000
mix ordinary special wide
  input x: f32[2, 5, 7]
  input p: i64[5] in -9..4096
  output y = rope(x, p, interleaved=$I, width=$W, base=$B)
end

case rope gradient
over I = true | false
over W = 0 | 2 | 4
mix ordinary
  input x: f32[2, 5, 6]
  input p: i64[5] in 0..100
  output y = rope(x, p, interleaved=$I, width=$W)
grad x
end
