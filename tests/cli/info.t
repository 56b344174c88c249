$ volta info examples/mlp.vt
model mlp
hash 4842ad81fc72106d357be29d4ce23e168545be4c724294fade6cd456705d3fa8
nodes 4
dims B
input  x: f32[B, 784]
param  w1: f32[784, 256] = he_normal(fan_in=0, fan_out=0, stream=1)
param  b1: f32[256] = zeros
param  w2: f32[256, 10] = he_normal(fan_in=0, fan_out=0, stream=2)
output logits: f32[B, 10]
parameters: 3 tensors, 203520 elements, 814080 bytes
$ volta info examples/mlp.vt --bind B=4
model mlp
hash 4842ad81fc72106d357be29d4ce23e168545be4c724294fade6cd456705d3fa8
nodes 4
dims B=4
input  x: f32[4, 784]
param  w1: f32[784, 256] = he_normal(fan_in=0, fan_out=0, stream=1)
param  b1: f32[256] = zeros
param  w2: f32[256, 10] = he_normal(fan_in=0, fan_out=0, stream=2)
output logits: f32[4, 10]
parameters: 3 tensors, 203520 elements, 814080 bytes
$ volta info examples/tiny_transformer.vt --bind B=2 --bind T=16
model tiny_transformer
hash 2dd0dd89b72fc744b289a9dfedc2ca7f5ba2833bc3cf0023a6b102f4cfe4bed5
nodes 45
dims B=2 T=16
input  tokens: i32[2, 16] in 0..95
param  wpe: f32[256, 64] = normal(std=0.02, stream=1930754895)
param  tok.weight: f32[96, 64] = normal(std=0.02, stream=3125281189)
param  h.0.ln1.gamma: f32[64] = ones
param  h.0.ln1.beta: f32[64] = zeros
param  h.0.attn.q.weight: f32[64, 64] = normal(std=0.02, stream=1968933109)
param  h.0.attn.q.bias: f32[64] = zeros
param  h.0.attn.k.weight: f32[64, 64] = normal(std=0.02, stream=3701943934)
param  h.0.attn.k.bias: f32[64] = zeros
param  h.0.attn.v.weight: f32[64, 64] = normal(std=0.02, stream=250970051)
param  h.0.attn.v.bias: f32[64] = zeros
param  h.0.attn.o.weight: f32[64, 64] = normal(std=0.02, stream=1517073076)
param  h.0.attn.o.bias: f32[64] = zeros
param  h.0.ln2.gamma: f32[64] = ones
param  h.0.ln2.beta: f32[64] = zeros
param  h.0.up.weight: f32[64, 256] = normal(std=0.02, stream=3562984912)
param  h.0.up.bias: f32[256] = zeros
param  h.0.down.weight: f32[256, 64] = normal(std=0.02, stream=3023412959)
param  h.0.down.bias: f32[64] = zeros
param  h.1.ln1.gamma: f32[64] = ones
param  h.1.ln1.beta: f32[64] = zeros
param  h.1.attn.q.weight: f32[64, 64] = normal(std=0.02, stream=1346328939)
param  h.1.attn.q.bias: f32[64] = zeros
param  h.1.attn.k.weight: f32[64, 64] = normal(std=0.02, stream=4195180494)
param  h.1.attn.k.bias: f32[64] = zeros
param  h.1.attn.v.weight: f32[64, 64] = normal(std=0.02, stream=3439003786)
param  h.1.attn.v.bias: f32[64] = zeros
param  h.1.attn.o.weight: f32[64, 64] = normal(std=0.02, stream=3001662843)
param  h.1.attn.o.bias: f32[64] = zeros
param  h.1.ln2.gamma: f32[64] = ones
param  h.1.ln2.beta: f32[64] = zeros
param  h.1.up.weight: f32[64, 256] = normal(std=0.02, stream=1029515493)
param  h.1.up.bias: f32[256] = zeros
param  h.1.down.weight: f32[256, 64] = normal(std=0.02, stream=107745063)
param  h.1.down.bias: f32[64] = zeros
param  ln_f.gamma: f32[64] = ones
param  ln_f.beta: f32[64] = zeros
param  head.weight: f32[64, 96] = normal(std=0.02, stream=4024231250)
output logits: f32[2, 16, 96]
parameters: 37 tensors, 128768 elements, 515072 bytes
$ volta info --json tests/cli/models/small.vt
{
  "model": "small",
  "hash": "a8f53b1d818e783ea519495f6d652cb108c5bf58e4673397f8634657a1901c59",
  "nodes": 2,
  "dims": [
    {
      "name": "B",
      "value": null
    }
  ],
  "ports": [
    {
      "kind": "input",
      "name": "x",
      "type": "f32[B, 3]",
      "extra": ""
    },
    {
      "kind": "param",
      "name": "w",
      "type": "f32[3, 2]",
      "extra": "= uniform(low=-1.0, high=1.0, stream=3101895931)"
    },
    {
      "kind": "output",
      "name": "y",
      "type": "f32[B, 2]",
      "extra": ""
    },
    {
      "kind": "output",
      "name": "a",
      "type": "f32[B, 2]",
      "extra": ""
    }
  ],
  "parameters": {
    "tensors": 1,
    "elements": 6,
    "bytes": 24
  }
}
$ volta info --json tests/cli/models/small.vt --bind B=7
{
  "model": "small",
  "hash": "a8f53b1d818e783ea519495f6d652cb108c5bf58e4673397f8634657a1901c59",
  "nodes": 2,
  "dims": [
    {
      "name": "B",
      "value": 7
    }
  ],
  "ports": [
    {
      "kind": "input",
      "name": "x",
      "type": "f32[7, 3]",
      "extra": ""
    },
    {
      "kind": "param",
      "name": "w",
      "type": "f32[3, 2]",
      "extra": "= uniform(low=-1.0, high=1.0, stream=3101895931)"
    },
    {
      "kind": "output",
      "name": "y",
      "type": "f32[7, 2]",
      "extra": ""
    },
    {
      "kind": "output",
      "name": "a",
      "type": "f32[7, 2]",
      "extra": ""
    }
  ],
  "parameters": {
    "tensors": 1,
    "elements": 6,
    "bytes": 24
  }
}
$ volta info tests/cli/models/rows.vt
model rows
hash 2072d30f6208194166859362728e28aefa3da1a81e5aaf618611db7f15a6a407
nodes 1
dims N
input  index: i32[N] in 0..3
param  table: f32[4, 2] = uniform(low=-1.0, high=1.0, stream=128716532)
output row: f32[N, 2]
parameters: 1 tensor, 8 elements, 32 bytes
$ volta info tests/cli/models/fixed.vt
model fixed
hash 5c3b8c1ee5054cc92589b9c90477c3140bf1c7184988378e134cd24d559b8766
nodes 1
input  x: f32[2]
output y: f32[2]
parameters: 0 tensors, 0 elements, 0 bytes
$ volta info tests/cli/models/wide.vt
model wide
hash aa6a82799eb99cfa285d988709beab5a7219cf13b05ebc1a695566442bf0243c
nodes 1
dims N M
input  x: f32[3, N]
param  w: f32[N, 2*N*M - N + 1] = zeros
output y: f32[3, 2*N*M - N + 1]
parameters: 1 tensor; --bind the dims to count their elements
$ volta info tests/cli/models/wide.vt --bind N=3
model wide
hash aa6a82799eb99cfa285d988709beab5a7219cf13b05ebc1a695566442bf0243c
nodes 1
dims N=3 M
input  x: f32[3, 3]
param  w: f32[N, 2*N*M - N + 1] = zeros
output y: f32[3, 2*N*M - N + 1]
parameters: 1 tensor; --bind the dims to count their elements
$ volta info tests/cli/models/wide.vt --bind N=3,M=5
model wide
hash aa6a82799eb99cfa285d988709beab5a7219cf13b05ebc1a695566442bf0243c
nodes 1
dims N=3 M=5
input  x: f32[3, 3]
param  w: f32[3, 28] = zeros
output y: f32[3, 28]
parameters: 1 tensor, 84 elements, 336 bytes
$ volta info --json tests/cli/models/wide.vt --bind M=5 | tail -n 7
  ],
  "parameters": {
    "tensors": 1,
    "elements": null,
    "bytes": null
  }
}
# A tensor with too many elements to count, and a negative dimension.
$ volta info tests/cli/models/wide.vt --bind N=1000000000000,M=1
! tests/cli/models/wide.vt: error: a tensor has more bytes than can be addressed [limit]
? 3
$ volta info tests/cli/models/wide.vt --bind N=4000000000,M=1
! tests/cli/models/wide.vt: error: a tensor has more bytes than can be addressed [limit]
? 3
$ volta info tests/cli/models/wide.vt --bind N=-3,M=1
! tests/cli/models/wide.vt: error: the dimension 'N' is bound to -3, outside 0..2^40 [bind]
? 2
$ volta info examples/mlp.vt --bind Q=4
! examples/mlp.vt: error: the model has no symbolic dimension 'Q' [bind]
? 2
