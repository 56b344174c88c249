# Bindings.
$ volta run examples/mlp.vt --random-inputs 1
$ volta run examples/mlp.vt --bind B --random-inputs 1
$ volta run examples/mlp.vt --bind =4 --random-inputs 1
$ volta run examples/mlp.vt --bind B=four --random-inputs 1
$ volta run examples/mlp.vt --bind B=4, --random-inputs 1
$ volta run examples/mlp.vt --bind B=-1 --random-inputs 1
$ volta run examples/mlp.vt --bind B=99999999999999999999 --random-inputs 1
$ volta run examples/mlp.vt --bind B=2000000000000 --random-inputs 1
$ volta run examples/mlp.vt --bind B=4,B=5 --random-inputs 1
$ volta run examples/mlp.vt --bind B=4 --bind B=4 --random-inputs 1
$ volta run examples/mlp.vt --bind B=4,Q=1 --random-inputs 1
$ volta run examples/tiny_transformer.vt --bind B=2 --random-inputs 1
$ volta run examples/tiny_transformer.vt --bind B=2,T=1000 --random-inputs 1

# Backends.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend nonesuch
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend reference:77
$ VOLTA_BACKEND=nonesuch volta run examples/mlp.vt --bind B=4 --random-inputs 1
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend null

# Inputs.
$ volta run examples/mlp.vt --bind B=4
$ volta run examples/mlp.vt --bind B=4 --in x
$ volta run examples/mlp.vt --bind B=4 --in x=$TMP/missing.npy
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3
$ volta run tests/cli/models/small.vt --bind B=2 --in z=$TMP/x.npy
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --in x=$TMP/x.npy
$ volta run tests/cli/models/small.vt --bind B=3 --in x=$TMP/x.npy
$ python3 tests/cli/make_tensors.py $TMP/x64.npy x=f64[2,3]:1,2,3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x64.npy
$ head -c 140 $TMP/x.npy > $TMP/short.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/short.npy
$ head -c 7 $TMP/x.npy > $TMP/shorter.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/shorter.npy
$ cp README.md $TMP/text.npy 2>/dev/null || printf 'some text\n' > $TMP/text.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/text.npy
$ volta run tests/cli/models/anyrows.vt --bind N=3 --random-inputs 1
# An index outside its axis, with a range declared and without one.
$ python3 tests/cli/make_tensors.py $TMP/index.npy index=i32[3]:1,7,-1
$ volta run tests/cli/models/rows.vt --bind N=3 --in index=$TMP/index.npy
$ volta run tests/cli/models/anyrows.vt --bind N=3 --in index=$TMP/index.npy
$ volta run tests/cli/models/anyrows.vt --bind N=3 --in index=$TMP/index.npy --out $TMP/none; ls $TMP/none

# Parameters.
$ python3 tests/cli/make_tensors.py $TMP/empty.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/empty.safetensors
$ python3 tests/cli/make_tensors.py $TMP/more.safetensors w=f32[3,2]:1 v=f32[1]:1
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/more.safetensors
$ python3 tests/cli/make_tensors.py $TMP/shape.safetensors w=f32[2,3]:1
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/shape.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/missing.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/shape.safetensors --seed 3

# Models.
$ volta run $TMP/missing.vt
$ volta run tests/cli/models/syntax.vt
