# States are saved, loaded, shown in reports, and continue from one run to the next.
$ printf 'volta 1\nmodel m {\n  input x: f32[2]\n  state sum: f32[2] = ones\n  state runs: i64[] = zeros\n  next sum = sum + x\n  next runs = runs + 1\n  output before = sum\n}\n' > $TMP/sum.vt
$ python3 tests/cli/make_tensors.py $TMP/x.npy =f32[2]:2,-1
$ volta run $TMP/sum.vt --backend reference --in x=$TMP/x.npy --save-state $TMP/one.safetensors
before f32[2] a16289306696d969930844a8ab5212a138b594c843758bfdbf4e6d61634f7b38
  1 1
state d0cbf1e2ba1d02dd87f388e6794ad5b27cbd21ab712b61d618ceff39c232c843
run 0797fc5a786c389f65c76d69e8f3b9494ebfa80309048a425641b26cc572f54b
! wrote $TMP/one.safetensors
$ volta run $TMP/sum.vt --backend island:1 --in x=$TMP/x.npy --state $TMP/one.safetensors --save-state $TMP/two.safetensors
before f32[2] 8d89a16f549f882dce336865f90c270f70beeac0b1cc303b0fde0f3e9cb61d47
  3 0
state a89ed58efea68bb20ada64a270adf3ca52cf24f5387b6c61d6f78c219e0fbdd0
run 1b994dbb776a1bc897a770d31e130508f24fe0bae683fd713aa58d1e9d1d3cd0
! wrote $TMP/two.safetensors
$ volta inspect $TMP/two.safetensors
\$TMP/two.safetensors: safetensors, 2 tensors
runs  i64[]  1 element, 8 bytes
  2
sum  f32[2]  2 elements, 8 bytes, 0 nan, 0 inf
  5 -1
$ volta run $TMP/sum.vt --backend cpu --in x=$TMP/x.npy --state $TMP/two.safetensors --json | grep -E '"(state|digest)": "'
      "digest": "0103397321f1f63a7cc2836a309ca3011a9ba4633b1a0354d57ee4645f0c18c7",
  "digest": "d4fef16c4c67f6c726dde84ed41ea0d5a357b0e9dfa2d4c88b08c6d75d0c5e8b",
  "state": "ef46857d0115c68a7bb3081c71a0f7c634962ac5776906ac7a0882aecfc7d48a",
$ volta run $TMP/sum.vt --backend cpu --in x=$TMP/x.npy --state $TMP/x.npy
! $TMP/x.npy: error: the file has no tensor 'sum' [name]
? 2
$ volta run $TMP/sum.vt --backend cpu --in x=$TMP/x.npy --state $TMP/missing.safetensors
! volta: error: cannot open $TMP/missing.safetensors: No such file or directory [io]
? 3
$ volta run examples/mlp.vt --backend cpu --bind B=1 --random-inputs 1 --save-state $TMP/none.safetensors
! volta: error: --save-state is given, and the model declares no state [usage]
? 2
