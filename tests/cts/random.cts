# What is drawn, and what is chosen by it. Seeds and steps are any i64.

case random_bits
over S = | 1 | 3 | 4 | 5 | 0 | 33 | 2, 3 | 2, 0 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over N = 0 | 7 | 4294967295
mix ordinary special few
  input s: i64[]
  input t: i64[]
  output y = random_bits(s, t, shape=[$S], stream=$N)
end

case uniform
over S = | 1 | 3 | 4 | 5 | 0 | 33 | 2, 3 | 2, 0 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = | , low=-0.5, high=1 | , low=0.1, high=0.3, stream=9 | , low=1, high=-1 | , low=0, high=0 | , low=-1e300, high=1e300 | , low=-1e-45, high=1e-45
mix ordinary special few
  input s: i64[]
  input t: i64[]
  output y = uniform(s, t, shape=[$S]$R)
end

case random_integer
over S = | 1 | 3 | 4 | 5 | 0 | 33 | 2, 3 | 2, 0 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = low=0, high=1 | low=-5, high=5, stream=3 | low=7, high=7 | low=0, high=4294967295 | low=-1000000000000000000, high=-999999999999999000 | low=-3, high=4294967292
mix ordinary special few
  input s: i64[]
  input t: i64[]
  output y = random_integer(s, t, shape=[$S], $R)
end

case bernoulli
over X = | 1 | 5 | 0 | 33 | 2, 3 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over N = 0 | 4294967295
mix ordinary special tiny wide zeros few
  input p: f32[$X]
  input s: i64[]
  input t: i64[]
  output y = bernoulli(p, s, t, stream=$N)
end

case dropout
over X = | 1 | 5 | 0 | 33 | 2, 3 | 1025 | 1, 2, 1, 2, 1, 2, 1, 3
over R = | , p=0 | , p=1 | , p=0.1, stream=5 | , p=0.999999999 | , p=1e-9
mix ordinary special tiny wide zeros
  input x: f32[$X]
  input s: i64[]
  input t: i64[]
  output y = dropout(x, s, t$R)
end

case dropout gradient
over X = | 5 | 33 | 2, 3 | 0
over R = | , p=0 | , p=1 | , p=0.1, stream=5
mix ordinary
  input x: f32[$X]
  input s: i64[]
  input t: i64[]
  output y = dropout(x, s, t$R)
grad x
end

case categorical
over X & A = 1 & 0 | 5 & 0 | 3, 4 & 0 | 3, 4 & 1 | 2, 5, 3 & 1 | 33 & 0 | 0, 3 & 1 | 2, 257 & -1 | 1025 & 0 | 1, 2, 1, 2, 1, 2, 1, 5 & 7
over N = 0 | 4294967295
mix ordinary special tiny wide zeros flat few
  input x: f32[$X]
  input s: i64[]
  input t: i64[]
  output y = categorical(x, s, t, axis=$A, stream=$N)
end

case categorical several
over X & A & K = 1 & 0 & 1 | 5 & 0 & 3 | 3, 4 & 0 & 3 | 3, 4 & 1 & 2 | 2, 5, 3 & 1 & 4 | 33 & 0 & 32 | 0, 3 & 1 & 2 | 2, 257 & -1 & 5
mix ordinary special wide zeros flat few
  input x: f32[$X]
  input s: i64[]
  input t: i64[]
  output y = categorical(x, s, t, axis=$A, k=$K)
end

case shuffle
over N = 0 | 1 | 2 | 3 | 4 | 5 | 8 | 31 | 32 | 33 | 255 | 256 | 257 | 1023 | 1024 | 1025
over K = 0 | 6 | 4294967295
mix ordinary special few
  input s: i64[]
  input t: i64[]
  output y = shuffle(s, t, n=$N, stream=$K)
end

# So many that first words are equal and the second ones decide.
case shuffle many
mix ordinary
  input s: i64[]
  input t: i64[]
  output y = shuffle(s, t, n=200000)
end

# Numbers that are all equal exactly if every bit of v is right: the first is chosen everywhere.
case categorical level
over S = 300, 2 | 40, 33
mix ordinary special few
  input s: i64[]
  input t: i64[]
  w = random_bits(s, t, shape=[$S])
  v = (cast(w / 512, dtype=f32) + 0.5) * 0x1p-23
  g = log(-log(v))
  output y = categorical(g, s, t)
  output z = categorical(g, s, t, k=2)
end
