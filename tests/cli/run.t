$ volta run examples/mlp.vt --bind B=4 --random-inputs 7
logits f32[4, 10] 96fa33675fbbee524124b6ff1644f8df507033485c99884855caef2a649a4685
  -0.83662504 0.4697961 -0.5064565 0.3826385 -0.35273197 0.51746535 ...
run e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/mlp.vt --bind=B=4 --random-inputs=7 --digest --backend reference:1
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ VOLTA_BACKEND=reference:1 volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest
e263a59b0cbfcf7884b9632460c0099010788e24f1b5be8cf003c6a43267ede2
$ volta run examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7
logits f32[2, 16, 96] 0997a31d5e987ee7298a675f17c095001b67df820684932c17bc111268e8f39f
  0.23843896 -0.04132845 0.16734916 0.23112161 0.18770525 -0.2507148 ...
run 23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
$ volta run examples/tiny_transformer.vt --bind B=2 --bind T=16 --random-inputs 7 --digest
23afdf14c3a8e3e4e73593b7326b81802c6bb4513909dfb978417b1f84c3907b
# Another seed gives other parameters, and other inputs.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 7 --seed 1 --digest
92d380073e16ce82f9e88a0fa36a8304fda69c6ce4cbdaa9822bbd2019aea180
$ volta run examples/mlp.vt --bind B=4 --random-inputs 8 --digest
2806c92465a7f17e3e5db1c96ecbcf4ea7199217552ac44a6359ba8f33a26358
# Only the time of a run changes from run to run.
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --json | sed -E 's/"(wall_ns|g[a-z]+_per_second)": [0-9.e-]+/"\1": N/'
{
  "model": "small",
  "hash": "a8f53b1d818e783ea519495f6d652cb108c5bf58e4673397f8634657a1901c59",
  "backend": "reference:0",
  "device": "scalar reference; compositions as the ops that define them",
  "bind": {
    "B": 2
  },
  "parameters": {
    "seed": "0"
  },
  "random_inputs": {
    "seed": "1"
  },
  "plan": {
    "core": "a4f9cba3dacaf4bf1e543df6b729a3c332c43b0900f0da3d97d0dce0cf4cce46",
    "target": "73b42b47e07ba17c429bc2ef3cc8a6aeb19290d18356c8acc8a9041f157ebdc2",
    "schedule": "source",
    "stream": null,
    "memory_budget": null
  },
  "cost": {
    "steps": 3,
    "wall_ns": N,
    "bytes_input": 256,
    "bytes_param": 256,
    "bytes_temp": 256,
    "bytes_output": 512,
    "bytes_state": 0
  },
  "metrics": {
    "runs": 1,
    "wall_ns": N,
    "flops": 28,
    "bytes_read": 68,
    "bytes_written": 36,
    "to_device": 24,
    "from_device": 32,
    "copies_to_device": 1,
    "copies_from_device": 2,
    "allocations": 0,
    "gflops_per_second": N,
    "gbytes_per_second": N
  },
  "outputs": [
    {
      "name": "a",
      "dtype": "f32",
      "shape": [
        2,
        2
      ],
      "digest": "f7bed430bb613d7ee8703c8ec5b63abc401b36e87e365763a2127bef842fd9cc",
      "values": [
        0.68238711357116699,
        0.0,
        0.0,
        0.0
      ]
    },
    {
      "name": "y",
      "dtype": "f32",
      "shape": [
        2,
        2
      ],
      "digest": "1ba9074deebfb9f564c43ae5f765d7e315325575d6c63f522242e8a23fe08b51",
      "values": [
        0.68238711357116699,
        -0.27757829427719116,
        -0.59288895130157471,
        -0.16033309698104858
      ]
    }
  ],
  "digest": "5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3",
  "policy": {
    "determinism": "strict",
    "precision": "locked",
    "fallback": "none",
    "mixed_path": "refused",
    "admission": "required",
    "capabilities": "tried"
  },
  "unadmitted": false,
  "fallback": null
}
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --digest -v 2>&1 | sed 's/in [0-9.]* ms, [0-9.]* GFLOP/in N ms, M GFLOP/'
reference:0: 3 steps in N ms, M GFLOP/s
bytes: inputs 256, parameters 256, temporaries 256, outputs 512, states 0
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
# A dimension of 0 is allowed and runs.
$ volta run tests/cli/models/small.vt --bind B=0 --random-inputs 1
a f32[0, 2] 9ab04e3a85e6afc05d3f894b66b12f6c44d114a7529fae7169ad99722cb7b31a
y f32[0, 2] 9ab04e3a85e6afc05d3f894b66b12f6c44d114a7529fae7169ad99722cb7b31a
run 8ac6c77f90478f4e92c12f288a7df6329db1ffbc0eb7ed61bba84fe73d45cec8

# Inputs and parameters from files.
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3,-4,5,-6
$ python3 tests/cli/make_tensors.py $TMP/w.safetensors w=f32[3,2]:1,0,0,1,1,1
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors
a f32[2, 2] 25b5d8d570c3bc67e34dd4053fb7f9d1c1f741b6f3c6b7e8237febc4b51b55c8
  4 5 0 0
y f32[2, 2] c37f5d4cd13cbdfc553a41bc04426fe276368b7f3fa4f10af3233f2a327d1290
  4 5 -10 -1
run b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ python3 tests/cli/make_tensors.py $TMP/x.safetensors other=u8[1]:1 x=f32[2,3]:1,2,3,-4,5,-6
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.safetensors --params $TMP/w.safetensors --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b

# Outputs in files have the digests of the run.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --out $TMP/out
! wrote $TMP/out/a.npy
! wrote $TMP/out/y.npy
$ ls $TMP/out
a.npy
y.npy
$ volta digest $TMP/out/y.npy
c37f5d4cd13cbdfc553a41bc04426fe276368b7f3fa4f10af3233f2a327d1290  -  f32[2, 2]
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --out $TMP/out -q
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors -o $TMP/out --json | grep '"file"'
    "file": "$TMP/w.safetensors"
      "file": "$TMP/out/a.npy"
      "file": "$TMP/out/y.npy"
! wrote $TMP/out/a.npy
! wrote $TMP/out/y.npy
$ printf 'a file' > $TMP/file; volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --out $TMP/file
! volta: error: $TMP/file cannot be created as a folder: File exists [io]
? 3

# Dumps.
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --dump-passes $TMP/passes --digest
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ cd $TMP/passes && tail -n +1 00-source.vt 01-bind.vt 02-lower.vt 07-fuse.vt
==> 00-source.vt <==
volta 1
model small {
  dim B
  input x: f32[B, 3]
  param w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
  y: f32[B, 2] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)
  a: f32[B, 2] = relu(y)
  output y
  output a
}
\
==> 01-bind.vt <==
volta 1
model small {
  input x: f32[2, 3]
  param w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
  y: f32[2, 2] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)
  a: f32[2, 2] = relu(y)
  output y
  output a
}
\
==> 02-lower.vt <==
volta 1
model small {
  input x: f32[2, 3]
  param w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
  y: f32[2, 2] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)
  _1: f32[] = f32(0.0)
  a: f32[2, 2] = maximum(y, _1)
  output y
  output a
}
\
==> 07-fuse.vt <==
volta 1
model small {
  input x: f32[2, 3]
  param w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
  y: f32[2, 2] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)
  _1: f32[] = f32(0.0)
  a: f32[2, 2] = maximum(y, _1)
  output y
  output a
}
# Leaving out passes, or another order of them, changes no bit.
$ ls $TMP/passes
00-source.vt
01-bind.vt
02-lower.vt
03-canonical.vt
04-fold.vt
05-cse.vt
06-dead.vt
07-fuse.vt
08-state.vt
$ for p in $TMP/passes/*; do volta run $p $(case $p in *source*) echo --bind B=2;; esac) --random-inputs 1 --digest; done | sort | uniq -c
      9 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --passes bind,fuse,dead,lower --dump-passes $TMP/some --digest; ls $TMP/some
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
00-source.vt
01-bind.vt
02-fuse.vt
03-dead.vt
04-lower.vt
$ volta run tests/cli/models/small.vt --backend reference --bind B=2 --random-inputs 1 --passes bind
! volta: error: backend 'reference:0' does not run 'a' = relu giving f32[2, 2] [unsupported]
? 4
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --passes bind --backend reference:1 --digest
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta run tests/cli/models/small.vt --bind B=2 --passes lower
! volta: error: the pass 'bind' must come first in the list [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --passes bind,bind
! volta: error: the pass 'bind' is listed twice [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --passes bind,lowr
! volta: error: there is no pass 'lowr' [usage]
!   help: the passes are bind, lower, canonical, fold, cse, dead, fuse, state
? 2
$ volta parity tests/cli/models/small.vt --bind B=2 --random-inputs 1 --passes bind,cse,lower --backends reference:0,reference:1,cpu:0,island:0,island:1
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  reference:0
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  reference:1  8 elements compared, 0 differ
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  cpu:0  8 elements compared, 0 differ
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  island:0  8 elements compared, 0 differ
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3  island:1  8 elements compared, 0 differ
reference:0 = reference:1 = cpu:0 = island:0 = island:1: 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan $TMP/plan.txt --digest
5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan - | head -c $(stat -c %s $TMP/plan.txt) | cmp - $TMP/plan.txt
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan - | tail -n 1
run 5437dffb4ccef98f31bc8e1bfd4dc078cc0448a867c2e6551108ce7220f824b3
# Dumps that are known before the run are written even if the run fails.
$ python3 tests/cli/make_tensors.py $TMP/index.npy index=i32[1]:9; volta run tests/cli/models/anyrows.vt --bind N=1 --in index=$TMP/index.npy --dump-passes $TMP/failed --dump-plan $TMP/failed/plan.txt; ls $TMP/failed
00-source.vt
01-bind.vt
02-lower.vt
03-canonical.vt
04-fold.vt
05-cse.vt
06-dead.vt
07-fuse.vt
08-state.vt
plan.txt
! tests/cli/models/anyrows.vt:6:9: error: 'row' = gather: index 9 at position 0 is out of range [range]
!   row = gather(table, index)
!         ^
