# Parameters from several files, from the shards of an index, renamed and converted.
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3,-4,5,-6
$ python3 tests/cli/make_tensors.py $TMP/w.safetensors w=f32[3,2]:1,0,0,1,1,1
$ python3 tests/cli/make_tensors.py $TMP/more.npz dense.0.kernel=f32[3,2]:1,0,0,1,1,1 W=f32[1]:1
$ python3 tests/cli/make_tensors.py $TMP/half.npz w=f16[3,2]:1,0,0,1,1,1
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b

# A tensor too many is an error, unless it is ignored.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --params $TMP/more.npz
! volta: error: the weights do not fit model small: not parameters: 'W', 'dense.0.kernel' [name]
!   help: --ignore-extra accepts tensors that are not parameters
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --params $TMP/more.npz --ignore-extra --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params $TMP/w.safetensors --ignore-extra --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta parity tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --params $TMP/more.npz --ignore-extra --backends reference,cpu | tail -1
reference:0 = cpu:0: b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --params $TMP/w.safetensors
! volta: error: two tensors have the name 'w': 'w' of $TMP/w.safetensors and 'w' of $TMP/w.safetensors [name]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --params $TMP/more.npz --ignore-extra --json | grep -A 5 '"parameters"'
  "parameters": {
    "files": [
      "$TMP/w.safetensors",
      "$TMP/more.npz"
    ]
  },

# A map renames tensors and drops others.
$ printf '# one rule per line\ndense.*.kernel = w\nW =  # dropped\n' > $TMP/map
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map --json | grep -A 3 '"parameters"'
  "parameters": {
    "file": "$TMP/more.npz",
    "map": "$TMP/map"
  },
$ printf 'dense.*.kernel = w\n\ndense.1.kernel = v\n' > $TMP/map; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map
! $TMP/map:3:1: error: no tensor matches 'dense.1.kernel', or an earlier rule matches it first [name]
! dense.1.kernel = v
! ^
!   help: did you mean 'dense.0.kernel'?
? 2
$ printf 'dense.*.kernel = *.*\n' > $TMP/map; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map
! $TMP/map:1:1: error: the name has more stars than the pattern [format]
! dense.*.kernel = *.*
! ^
? 3
$ printf 'dense.*.kernel = w\nW = w\n' > $TMP/map; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map
! volta: error: two tensors have the name 'w': 'dense.0.kernel' of $TMP/more.npz and 'W' of $TMP/more.npz [name]
? 2
$ printf 'a\0b' > $TMP/map; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/map
! volta: error: $TMP/map is not a text: byte 1 is zero [format]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/more.npz --params-map $TMP/missing
! volta: error: $TMP/missing cannot be read: No such file or directory [io]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params-map $TMP/map
! volta: error: --params-map is about --params, which is not given [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --ignore-extra
! volta: error: --ignore-extra is about --params, which is not given [usage]
? 2
$ volta parity tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --convert-params
! volta: error: --convert-params is about --params, which is not given [usage]
? 2

# Types.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/half.npz
! $TMP/half.npz: error: the weights do not fit model small: of another type: 'w' is f16[3, 2], not f32[3, 2] [tensor]
!   help: --convert-params rounds f16, bf16 and f64 to f32
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/half.npz --convert-params --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b

# An index of shards.
$ cp $TMP/w.safetensors $TMP/a.safetensors; python3 tests/cli/make_tensors.py $TMP/b.safetensors v=f32[1]:2
$ printf '{"weight_map": {"w": "a.safetensors", "v": "b.safetensors"}}' > $TMP/model.safetensors.index.json
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/model.safetensors.index.json --ignore-extra --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta inspect $TMP/model.safetensors.index.json
\$TMP/model.safetensors.index.json: index, 2 tensors
v  f32[1]  1 element, 4 bytes, 0 nan, 0 inf
  2
w  f32[3, 2]  6 elements, 24 bytes, 0 nan, 0 inf
  1 0 0 1 1 1
$ volta digest $TMP/model.safetensors.index.json
910270be883d91158b7c3384378ce7769f1776ba43b8cb7ecb48c4799cb78786  v  f32[1]
ae48186ecf57bfc29742490c226a8a83de7c2286c06ed327ae432d1fdb0ac2b7  w  f32[3, 2]
42d4691fd251e5ee9513c1fa63859674091e6d53b6b217cb99a54197c868d833  model.safetensors.index.json  weights
$ volta digest $TMP/model.safetensors.index.json --json | tail -7
    {
      "digest": "42d4691fd251e5ee9513c1fa63859674091e6d53b6b217cb99a54197c868d833",
      "name": "model.safetensors.index.json",
      "type": "weights"
    }
  ]
}
$ printf '{"weight_map": {"w": "a.safetensors", "v": "a.safetensors"}}' > $TMP/bad.json; volta inspect $TMP/bad.json
! volta: error: $TMP/bad.json: 'a.safetensors' does not have the tensor 'v' [format]
? 3
$ printf '{"weight_map": {"w": "c.safetensors"}}' > $TMP/bad.json; volta digest $TMP/bad.json
! volta: error: a shard that the index names is missing or unreadable: cannot open $TMP/c.safetensors: No such file or directory [io]
? 3
$ printf '{"weight_map": {"w": "../a.safetensors"}}' > $TMP/bad.json; volta run tests/cli/models/small.vt --bind B=2 --random-inputs 1 --params $TMP/bad.json
! volta: error: $TMP/bad.json: tensor 'w' is in '../a.safetensors', which is not the name of a file in the folder of the index [format]
? 3
