# digest and inspect.
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,4]:1,nan,-inf,0.1,-0,1e-45,3.4e38,inf
$ volta digest $TMP/x.npy
556c07efaa3bd175577706f0b5e8b95dab68fd666af94043922c6b6e85d23ecf  -  f32[2, 4]
$ volta inspect $TMP/x.npy
\$TMP/x.npy: npy, 1 tensor
-  f32[2, 4]  8 elements, 32 bytes, 1 nan, 2 inf
  1 nan -inf 0.1 -0 1e-45 ...
$ volta inspect --json $TMP/x.npy
{
  "file": "$TMP/x.npy",
  "format": "npy",
  "tensors": [
    {
      "name": "",
      "dtype": "f32",
      "shape": [
        2,
        4
      ],
      "elements": 8,
      "bytes": 32,
      "nan": 1,
      "inf": 2,
      "values": [
        1.0,
        "nan",
        "-inf",
        0.10000000149011612,
        -0.0,
        1.4012984643248171e-45
      ]
    }
  ]
}
$ python3 tests/cli/make_tensors.py $TMP/all.safetensors b=i64[2]:-9223372036854775808,9223372036854775807 a=f64[]:0.1 c=u8[0]: h=f16[5]:65504,0.00006103515625,5.960464477539063e-08,inf,-1.5 n=i8[3]:-128,0,127 i=i32[2,1,2]:-1
$ volta digest $TMP/all.safetensors
e48d81718bca4a1205a309af33189a67efe3fbfd13a2640340c18e2e1f088119  b  i64[2]
7be3ac321d60c3e0c815444902e86b4c42fc1fd6295a861a1640bbc5d18d17b4  a  f64[]
d7c36f2de09b3769c80a8acde29b582e03e2cf403e7fcaff89aa5cfd2320beb0  c  u8[0]
dd2eb02c1485cf8b1bae2a47a9e340283afd4016da848009b29eaeaf63124c3d  h  f16[5]
4f0823e0bb9b70b3471abc0442c32ae6ebcd766d064117b304869a6daec22cd0  n  i8[3]
1075124b1cc81cd131620e1889f9710c65e2a51bd0eeaa54058cae21fd08a7eb  i  i32[2, 1, 2]
$ volta digest --json $TMP/all.safetensors
{
  "file": "$TMP/all.safetensors",
  "digests": [
    {
      "digest": "e48d81718bca4a1205a309af33189a67efe3fbfd13a2640340c18e2e1f088119",
      "name": "b",
      "type": "i64[2]"
    },
    {
      "digest": "7be3ac321d60c3e0c815444902e86b4c42fc1fd6295a861a1640bbc5d18d17b4",
      "name": "a",
      "type": "f64[]"
    },
    {
      "digest": "d7c36f2de09b3769c80a8acde29b582e03e2cf403e7fcaff89aa5cfd2320beb0",
      "name": "c",
      "type": "u8[0]"
    },
    {
      "digest": "dd2eb02c1485cf8b1bae2a47a9e340283afd4016da848009b29eaeaf63124c3d",
      "name": "h",
      "type": "f16[5]"
    },
    {
      "digest": "4f0823e0bb9b70b3471abc0442c32ae6ebcd766d064117b304869a6daec22cd0",
      "name": "n",
      "type": "i8[3]"
    },
    {
      "digest": "1075124b1cc81cd131620e1889f9710c65e2a51bd0eeaa54058cae21fd08a7eb",
      "name": "i",
      "type": "i32[2, 1, 2]"
    }
  ]
}
$ volta inspect $TMP/all.safetensors
\$TMP/all.safetensors: safetensors, 6 tensors
b  i64[2]  2 elements, 16 bytes
  -9223372036854775808 9223372036854775807
a  f64[]  1 element, 8 bytes, 0 nan, 0 inf
  0.1
c  u8[0]  0 elements, 0 bytes
h  f16[5]  5 elements, 10 bytes, 0 nan, 1 inf
  65504 6.1035156e-05 5.9604645e-08 inf -1.5
n  i8[3]  3 elements, 3 bytes
  -128 0 127
i  i32[2, 1, 2]  4 elements, 16 bytes
  -1 -1 -1 -1
# The digest depends on type, shape and content, not on the file format.
$ python3 tests/cli/make_tensors.py $TMP/y.safetensors y=f32[2,4]:1,nan,-inf,0.1,-0,1e-45,3.4e38,inf; volta digest $TMP/y.safetensors
556c07efaa3bd175577706f0b5e8b95dab68fd666af94043922c6b6e85d23ecf  y  f32[2, 4]
$ volta digest examples/mlp.vt
4842ad81fc72106d357be29d4ce23e168545be4c724294fade6cd456705d3fa8  mlp  model
$ volta digest --json examples/mlp.vt
{
  "file": "examples/mlp.vt",
  "digests": [
    {
      "digest": "4842ad81fc72106d357be29d4ce23e168545be4c724294fade6cd456705d3fa8",
      "name": "mlp",
      "type": "model"
    }
  ]
}
$ volta inspect tests/cli/models/small.vt
model small
hash a8f53b1d818e783ea519495f6d652cb108c5bf58e4673397f8634657a1901c59
nodes 2
dims B
input  x: f32[B, 3]
param  w: f32[3, 2] = uniform(low=-1.0, high=1.0, stream=3101895931)
output y: f32[B, 2]
output a: f32[B, 2]
parameters: 1 tensor, 6 elements, 24 bytes
$ volta digest $TMP/missing.npy
! volta: error: cannot open $TMP/missing.npy: No such file or directory [io]
? 3
$ volta inspect $TMP
! volta: error: $TMP is a folder without 'manifest.json', so it is not a bundle [io]
? 3
$ head -c 100 $TMP/x.npy > $TMP/short.npy; volta inspect $TMP/short.npy
! $TMP/short.npy: error: the npy header at byte 10 declares 118 bytes, but 90 are left [format]
? 3
$ printf 'hello' > $TMP/text.bin; volta digest $TMP/text.bin
! $TMP/text.bin: error: the file format is not npy, npz, safetensors or IDX [format]
? 3
$ printf '' > $TMP/empty.npy; volta inspect $TMP/empty.npy
! $TMP/empty.npy: error: the file format is not npy, npz, safetensors or IDX [format]
? 3

# Saved parameters are those of the seed: a run with them has the same digest.
$ volta run examples/mlp.vt --bind B=3 --random-inputs 7 --save-params $TMP/mlp.safetensors --digest
b3fb28236a9da60c4723d73b29a58816c990febb94ae4a710fd70bebeafc8e96
! wrote $TMP/mlp.safetensors
$ volta run examples/mlp.vt --bind B=3 --random-inputs 7 --params $TMP/mlp.safetensors --digest
b3fb28236a9da60c4723d73b29a58816c990febb94ae4a710fd70bebeafc8e96
