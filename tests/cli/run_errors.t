# Bindings.
$ volta run examples/mlp.vt --random-inputs 1
! volta: error: the dimension 'B' is not bound [bind]
!   help: add --bind B=VALUE
? 2
$ volta run examples/mlp.vt --bind B --random-inputs 1
! volta: error: --bind takes NAME=N,..., not 'B' [usage]
? 2
$ volta run examples/mlp.vt --bind =4 --random-inputs 1
! volta: error: --bind takes NAME=N,..., not '=4' [usage]
? 2
$ volta run examples/mlp.vt --bind B=four --random-inputs 1
! volta: error: --bind B=four: the size must be a whole number [bind]
? 2
$ volta run examples/mlp.vt --bind B=4, --random-inputs 1
! volta: error: --bind takes NAME=N,..., not '' [usage]
? 2
$ volta run examples/mlp.vt --bind B=-1 --random-inputs 1
! volta: error: the dimension 'B' is bound to -1, outside 0..2^40 [bind]
? 2
$ volta run examples/mlp.vt --bind B=99999999999999999999 --random-inputs 1
! volta: error: --bind B=99999999999999999999: the size must be a whole number [bind]
? 2
$ volta run examples/mlp.vt --bind B=2000000000000 --random-inputs 1
! volta: error: the dimension 'B' is bound to 2000000000000, outside 0..2^40 [bind]
? 2
$ volta run examples/mlp.vt --bind B=4,B=5 --random-inputs 1
! volta: error: --bind gives 'B' twice [usage]
? 2
$ volta run examples/mlp.vt --bind B=4 --bind B=4 --random-inputs 1
! volta: error: --bind gives 'B' twice [usage]
? 2
$ volta run examples/mlp.vt --bind B=4,Q=1 --random-inputs 1
! volta: error: the model has no symbolic dimension 'Q' [bind]
? 2
$ volta run examples/tiny_transformer.vt --bind B=2 --random-inputs 1
! volta: error: the dimension 'T' is not bound [bind]
!   help: add --bind T=VALUE
? 2
$ volta run examples/tiny_transformer.vt --bind B=2,T=1000 --random-inputs 1
! examples/tiny_transformer.vt:15:12: error: 'places' = slice: axis 0 of f32[256, 64] is sliced up to 1000, its length is 256, with B=2,T=1000 [bind]
!   places = slice(wpe, start=[0, 0], stop=[T, C])
!            ^
? 2

# Backends.
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend nonesuch
! volta: error: there is no backend 'nonesuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend reference:77
! volta: error: backend 'reference' has 2 devices, there is no number 77 [backend]
? 5
$ VOLTA_BACKEND=nonesuch volta run examples/mlp.vt --bind B=4 --random-inputs 1
! volta: error: there is no backend 'nonesuch'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta run examples/mlp.vt --bind B=4 --random-inputs 1 --backend null
! volta: error: backend 'null:0' does not run '_0' = literal giving f32[]: this backend has no kernels [unsupported]
? 4

# Inputs.
$ volta run examples/mlp.vt --bind B=4
! volta: error: the input 'x' has no value [name]
!   help: give --in x=FILE.npy or --random-inputs SEED
? 2
$ volta run examples/mlp.vt --bind B=4 --in x
! volta: error: --in takes NAME=FILE, not 'x' [usage]
? 2
$ volta run examples/mlp.vt --bind B=4 --in x=$TMP/missing.npy
! volta: error: cannot open $TMP/missing.npy: No such file or directory [io]
? 3
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3
$ volta run tests/cli/models/small.vt --bind B=2 --in z=$TMP/x.npy
! volta: error: the model has no input 'z' [name]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --in x=$TMP/x.npy
! volta: error: --in gives 'x' twice [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=3 --in x=$TMP/x.npy
! $TMP/x.npy: error: 'x' is f32[2, 3], the model declares f32[3, 3] [tensor]
? 3
$ python3 tests/cli/make_tensors.py $TMP/x64.npy x=f64[2,3]:1,2,3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x64.npy
! $TMP/x64.npy: error: 'x' is f64[2, 3], the model declares f32[2, 3] [tensor]
? 3
$ head -c 140 $TMP/x.npy > $TMP/short.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/short.npy
! $TMP/short.npy: error: the npy file ends at byte 140, 12 bytes short of its shape [format]
? 3
$ head -c 7 $TMP/x.npy > $TMP/shorter.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/shorter.npy
! $TMP/shorter.npy: error: the npy file ends at byte 7, inside its head [format]
? 3
$ printf 'some text\n' > $TMP/text.npy; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/text.npy
! $TMP/text.npy: error: the file format is not npy, npz, safetensors or IDX [format]
? 3
$ volta run tests/cli/models/anyrows.vt --bind N=3 --random-inputs 1
! volta: error: the input 'index' holds integers and declares no range to draw from: give it a value [usage]
? 2
# An index outside its axis, with a range declared and without one.
$ python3 tests/cli/make_tensors.py $TMP/index.npy index=i32[3]:1,7,-1
$ volta run tests/cli/models/rows.vt --bind N=3 --in index=$TMP/index.npy
! volta: error: input 'index' holds 7 at position 1, outside 0..3 [range]
? 3
$ volta run tests/cli/models/anyrows.vt --bind N=3 --in index=$TMP/index.npy
! tests/cli/models/anyrows.vt:6:9: error: 'row' = gather: index 7 at position 1 is out of range [range]
!   row = gather(table, index)
!         ^
? 3
$ volta run tests/cli/models/anyrows.vt --bind N=3 --in index=$TMP/index.npy --out $TMP/none; ls $TMP/none
! tests/cli/models/anyrows.vt:6:9: error: 'row' = gather: index 7 at position 1 is out of range [range]
!   row = gather(table, index)
!         ^
! ls: cannot access '$TMP/none': No such file or directory
? 2

# Parameters.
$ python3 tests/cli/make_tensors.py $TMP/empty.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/empty.safetensors
! $TMP/empty.safetensors: error: the weights do not fit model small: missing: 'w' [name]
? 2
$ python3 tests/cli/make_tensors.py $TMP/more.safetensors w=f32[3,2]:1 v=f32[1]:1
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/more.safetensors
! $TMP/more.safetensors: error: the weights do not fit model small: not parameters: 'v' [name]
!   help: --ignore-extra accepts tensors that are not parameters
? 2
$ python3 tests/cli/make_tensors.py $TMP/shape.safetensors w=f32[2,3]:1
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/shape.safetensors
! $TMP/shape.safetensors: error: the weights do not fit model small: of another type: 'w' is f32[2, 3], not f32[3, 2] [tensor]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/missing.safetensors
! volta: error: cannot open $TMP/missing.safetensors: No such file or directory [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/shape.safetensors --seed 3
! volta: error: --params and --seed contradict each other [usage]
? 2

# Models.
$ volta run $TMP/missing.vt
! volta: error: cannot open $TMP/missing.vt: No such file or directory [io]
? 3
$ volta run tests/cli/models/syntax.vt
! tests/cli/models/syntax.vt:5:3: error: expected ')' to close the call of 'exp', found 'output' [syntax]
!   output y
!   ^
!   help: it was opened on line 4
? 3
