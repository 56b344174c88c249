# npz, IDX and CSV; what --out writes; convert.
$ python3 tests/cli/make_tensors.py $TMP/x.npz x=f32[2,3]:1,nan,-0 other=i8[1]:7
$ volta inspect $TMP/x.npz
\$TMP/x.npz: npz, 2 tensors
x  f32[2, 3]  6 elements, 24 bytes, 2 nan, 0 inf
  1 nan -0 1 nan -0
other  i8[1]  1 element, 1 byte
  7
$ volta digest $TMP/x.npz
525070acbb4471acbc4826abd4796635b924eb1971bef5cdb6cb5ee3ffd9a42d  x  f32[2, 3]
38e5898c88f9c2714031c7f3ab7d56fd966a180ce0735fa33366b8c96568b9fc  other  i8[1]
$ volta digest tests/golden/files/images.idx.gz
07e9f5acdedc551a7c6c3a080289a9bcd1d841e33461f84b19009a0d2dd3be43  -  u8[2, 3, 4]
$ volta digest tests/golden/files/images.idx
07e9f5acdedc551a7c6c3a080289a9bcd1d841e33461f84b19009a0d2dd3be43  -  u8[2, 3, 4]
$ volta inspect tests/golden/files/images.idx.gz
tests/golden/files/images.idx.gz: idx, 1 tensor
-  u8[2, 3, 4]  24 elements, 24 bytes
  0 1 2 3 4 5 ...
$ printf 'a,b,c\n1,2,3\n4,5,6.5\n' > $TMP/x.csv; volta inspect $TMP/x.csv
\$TMP/x.csv: csv, 1 tensor
-  f64[2, 3]  6 elements, 48 bytes, 0 nan, 0 inf
  1 2 3 4 5 6.5
# An input from each format: the same numbers, the same digest.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --digest
93ceec46d74509cdb518a23a5a7a32ab9e80b73becf62c1214a59dd4eea7d303
$ volta convert $TMP/x.csv $TMP/y.npz
! wrote $TMP/y.npz
$ volta inspect $TMP/y.npz
\$TMP/y.npz: npz, 1 tensor
arr_0  f64[2, 3]  6 elements, 48 bytes, 0 nan, 0 inf
  1 2 3 4 5 6.5
$ python3 tests/cli/make_tensors.py $TMP/z.npz z=f32[2,3]:1,2,3,4,5,6.5; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/z.npz:z --digest
93ceec46d74509cdb518a23a5a7a32ab9e80b73becf62c1214a59dd4eea7d303
$ volta convert $TMP/z.npz $TMP/z.npy; volta convert $TMP/z.npy $TMP/z.safetensors; volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/z.safetensors:arr_0 --digest
93ceec46d74509cdb518a23a5a7a32ab9e80b73becf62c1214a59dd4eea7d303
! wrote $TMP/z.npy
! wrote $TMP/z.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/z.npz --digest
! $TMP/z.npz: error: the file has no tensor 'x' [name]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/z.npy:x --digest
! $TMP/z.npy:x: error: tensors of this file format have no names: drop ':x' [name]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv:b --digest
! $TMP/x.csv:b: error: 'x' is f32[2], the model declares f32[2, 3] [tensor]
? 3
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv:d --digest
! $TMP/x.csv:d: error: the file has no column 'd' [name]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/y.npz:arr_0
! $TMP/y.npz:arr_0: error: 'x' is f64[2, 3], the model declares f32[2, 3] [tensor]
? 3
# Outputs in one file.
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --out $TMP/o --format npz; volta digest $TMP/o/outputs.npz
7300ff157f15a0fe6d65b16996b11c157672ea2f1010ac574d7e4bc22d652078  a  f32[2, 2]
aa3d5cec2f7945948a4c625e22247653769bd94068440d678ec620c69e0da65f  y  f32[2, 2]
! wrote $TMP/o/outputs.npz
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --out $TMP/o --format safetensors; volta digest $TMP/o/outputs.safetensors
7300ff157f15a0fe6d65b16996b11c157672ea2f1010ac574d7e4bc22d652078  a  f32[2, 2]
aa3d5cec2f7945948a4c625e22247653769bd94068440d678ec620c69e0da65f  y  f32[2, 2]
! wrote $TMP/o/outputs.safetensors
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --out $TMP/o --format npy; volta digest $TMP/o/y.npy
aa3d5cec2f7945948a4c625e22247653769bd94068440d678ec620c69e0da65f  -  f32[2, 2]
! wrote $TMP/o/a.npy
! wrote $TMP/o/y.npy
$ ls $TMP/o
a.npy
outputs.npz
outputs.safetensors
y.npy
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --format npz
! volta: error: --format is the format of --out, which is not given [usage]
? 2
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.csv --out $TMP/o --format pickle
! volta: error: --format takes npy, npz or safetensors, not 'pickle' [usage]
? 2
# What convert refuses.
$ volta convert $TMP/x.npz $TMP/one.npy
! volta: error: a npy file holds one tensor, but $TMP/x.npz has 2: choose one by FILE:KEY [usage]
? 2
$ volta convert $TMP/x.npz:other $TMP/one.npy; volta inspect $TMP/one.npy
\$TMP/one.npy: npy, 1 tensor
-  i8[1]  1 element, 1 byte
  7
! wrote $TMP/one.npy
$ volta convert $TMP/x.npz:none $TMP/one.npy
! $TMP/x.npz:none: error: the file has no tensor 'none' [name]
? 2
$ volta convert $TMP/x.npz $TMP/x.csv
! volta: error: '$TMP/x.csv' ends in none of .npy, .npz and .safetensors [usage]
? 2
$ volta convert $TMP/none.npz $TMP/x.npy
! volta: error: cannot open $TMP/none.npz: No such file or directory [io]
? 3
# Wrong files.
$ printf '1,2\n3\n' > $TMP/ragged.csv; volta inspect $TMP/ragged.csv
! $TMP/ragged.csv:2:1: error: the row has fewer fields than the first [format]
! 3
! ^
? 3
$ printf 'a,\n1,2\n' > $TMP/name.csv; volta inspect $TMP/name.csv
! $TMP/name.csv:1:3: error: the field is empty [format]
! a,
!   ^
? 3
$ printf 'a,b\0c\n1,2\n' > $TMP/name.csv; volta inspect $TMP/name.csv 2>&1 | head -n 1
\$TMP/name.csv:1:3: error: 'b\x00c' cannot be a column's name [format]
? 3
$ volta digest tests/golden/files/zip64.npz | tail -n 1; volta digest tests/golden/files/piped.npz | tail -n 1
2177111a7d0dbc1897b0659af8c0eefa695834413a9ca05ba690d49457a6b044  half  f16[2]
2177111a7d0dbc1897b0659af8c0eefa695834413a9ca05ba690d49457a6b044  half  f16[2]
$ head -c 300 $TMP/x.npz > $TMP/short.npz; volta inspect $TMP/short.npz
! $TMP/short.npz: error: the zip file has no end record; it may be truncated [format]
? 3
$ head -c 30 tests/golden/files/images.idx > $TMP/short.idx; volta inspect $TMP/short.idx
! $TMP/short.idx: error: the IDX shape before byte 16 needs 24 bytes, and the file cannot hold them [format]
? 3
# Behind a link it is the file that is written.
$ ln -s real.vt $TMP/link.vt; touch $TMP/real.vt; volta fmt tests/cli/models/small.vt -o $TMP/link.vt; test -L $TMP/link.vt && test -s $TMP/real.vt && echo written
written
