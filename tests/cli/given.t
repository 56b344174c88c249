# Parameters without an initialiser must be given.
$ volta check tests/cli/models/given.vt
tests/cli/models/given.vt: ok: 3 nodes, 3 parameters, 1 input, 1 output
$ volta info tests/cli/models/given.vt
model given
hash 866f21c9f084bf7777a826c57a42c8f4b7bca24d359645ce00d3fb510e3ad451
nodes 3
input  x: f32[2]
param  w: f32[2] from f16
param  v: f32[2] = ones
param  u: f32[2]
output y: f32[2]
parameters: 3 tensors, 6 elements, 24 bytes
$ volta run tests/cli/models/given.vt --random-inputs 1
! volta: error: parameters without an initialiser must be given a value: 'w', 'u' [name]
!   help: give --params FILE
? 2
$ volta parity tests/cli/models/given.vt --random-inputs 1
! volta: error: parameters without an initialiser must be given a value: 'w', 'u' [name]
!   help: give --params FILE
? 2
$ python3 tests/cli/make_tensors.py $TMP/w.npz w=f32[2]:1,2 v=f32[2]:3,4 u=f32[2]:0.5,0.25
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2]:10,20; volta run tests/cli/models/given.vt --in x=$TMP/x.npy --params $TMP/w.npz | head -n 2
y f32[2] 5f55aad62cb0f9fb36110d7d76bde7758d8796da5a33314d9e0fbc29dff061ab
  11.5 41
