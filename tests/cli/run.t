$ volta run examples/mlp.vt --bind B=4 --random-inputs 7
$ volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest
$ volta run examples/mlp.vt --bind=B=4 --random-inputs=7 --digest --backend reference:1
$ VOLTA_BACKEND=reference:1 volta run examples/mlp.vt --bind B=4 --random-inputs 7 --digest
$ volta run examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7
$ volta run examples/tiny_transformer.vt --bind B=2 --bind T=16 --random-inputs 7 --digest
# Another seed gives other parameters and other inputs.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 7 --seed 1 --digest
$ volta run examples/mlp.vt --bind B=4 --random-inputs 8 --digest
# The time a run took is the one thing that changes.
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --json | sed 's/"wall_ns": [0-9]*/"wall_ns": N/'
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --digest -v 2>&1 | sed 's/in [0-9.]* ms/in N ms/'
# A dimension of 0 is legal and runs.
$ volta run tests/cli/models/small.vt --bind B=0 --random-inputs 1

# Inputs and parameters from files.
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3,-4,5,-6
$ python3 tests/cli/make_tensors.py $TMP/w.safetensors w=f32[3,2]:1,0,0,1,1,1
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors
$ python3 tests/cli/make_tensors.py $TMP/x.safetensors other=u8[1]:1 x=f32[2,3]:1,2,3,-4,5,-6
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.safetensors --params $TMP/w.safetensors --digest
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --digest

# Outputs to files: they read back to the digests of the run.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --out $TMP/out
$ ls $TMP/out
$ volta digest $TMP/out/y.npy
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --out $TMP/out -q
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors -o $TMP/out --json | grep '"file"'
$ printf 'a file' > $TMP/file; volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --out $TMP/file

# Dumps.
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-passes $TMP/passes --digest
$ cd $TMP/passes && tail -n +1 00-source.vt 01-bind.vt 02-lower.vt
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan $TMP/plan.txt --digest
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --dump-plan - | diff - $TMP/plan.txt | grep -c '^>'
