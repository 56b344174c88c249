# Bundles: written to a folder and to one file, run, checked, shown, and refused.
$ python3 tests/cli/make_tensors.py $TMP/x.npy x=f32[2,3]:1,2,3,-4,5,-6
$ python3 tests/cli/make_tensors.py $TMP/w.safetensors w=f32[3,2]:1,0,0,1,1,1
$ python3 tests/cli/make_tensors.py $TMP/half.npz dense.0.kernel=f16[3,2]:1,0,0,1,1,1 W=f32[1]:1
$ volta run tests/cli/models/small.vt --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors --meta licence=MIT --meta "note=a=b" --digest B=2=B24A36EFC74B8601769ACA6D9DFE0597D5E636C0B21AA54EC02009AA3CB7013B --plan cpu:B=2 --plan reference:0:B=2 -o $TMP/m
! wrote $TMP/m
$ volta bundle $TMP/m --plan cpu:B=2 -o $TMP/m.vtz -q
$ ls -A $TMP/m $TMP/m/plans | sed '/^$/d; s/^[0-9a-f]*[.]plan/PLAN/; s,.*/,/,'
/m:
manifest.json
model.vt
plans
weights.safetensors
/plans:
PLAN
PLAN
$ cmp $TMP/m/model.vt tests/cli/models/small.vt

# It is a model with its parameters for every verb.
$ for b in $TMP/m $TMP/m.vtz; do volta run $b --backend cpu --bind B=2 --in x=$TMP/x.npy --digest -v 2>&1 | grep -v ms, | grep -v bytes; done
plan: found in the bundle
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
plan: found in the bundle
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta run $TMP/m.vtz --backend cpu --bind B=2 --in x=$TMP/x.npy --digest --dump-passes $TMP/passes -q; ls $TMP/passes | head -2
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
00-source.vt
01-bind.vt
$ volta parity $TMP/m.vtz --bind B=2 --in x=$TMP/x.npy --backends reference,cpu | tail -1
reference:0 = cpu:0: b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta plan $TMP/m --bind B=2 --backend cpu -v 2>&1 | head -1
plan: found in the bundle
$ volta fmt $TMP/m.vtz | diff - <(volta fmt tests/cli/models/small.vt)
$ volta digest $TMP/m.vtz | sed 's/^[0-9a-f]*/HEX/'
HEX  small  model
HEX  m.vtz  weights
$ volta digest $TMP/m.vtz | head -1 | diff - <(volta digest tests/cli/models/small.vt)
$ volta info $TMP/m | grep -A 9 '^parameters' | sed 's/[0-9a-f]\{64\}/HEX/; s,plans/[0-9a-f]*,plans/HEX,; s/plan: [0-9]*/plan: N/; s/vt: [0-9]*/vt: N/'
parameters: 1 tensor, 6 elements, 24 bytes
numerics 1
weights HEX
file model.vt: N bytes
file plans/HEX.plan: N bytes
file plans/HEX.plan: N bytes
file weights.safetensors: 96 bytes
metadata licence: MIT
metadata note: a=b
digest B=2: HEX
$ volta inspect $TMP/m | tail -2
metadata note: a=b
digest B=2: b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b
$ volta check $TMP/m.vtz | sed 's/[0-9a-f]\{32,64\}/HEX/g; s/ok: [0-9]* bytes/ok: N bytes/'
\$TMP/m.vtz/model.vt: ok: N bytes, blake2b HEX
\$TMP/m.vtz/plans/HEX.plan: ok: N bytes, blake2b HEX
\$TMP/m.vtz/weights.safetensors: ok: N bytes, blake2b HEX
\$TMP/m.vtz: ok: model HEX
\$TMP/m.vtz: ok: weights HEX
\$TMP/m.vtz: ok: 2 nodes, 1 parameter, 1 input, 2 outputs

# Weights are renamed once, keep their type, and lose what is no parameter.
$ printf 'dense.*.kernel = w\n' > $TMP/map; volta bundle tests/cli/models/small.vt --params $TMP/half.npz --params-map $TMP/map --ignore-extra --convert-params -o $TMP/half.vtz -q
$ volta run $TMP/half.vtz --bind B=2 --in x=$TMP/x.npy --digest
b24a36efc74b8601769aca6d9dfe0597d5e636c0b21aa54ec02009aa3cb7013b

# A bundle has its own parameters.
$ volta run $TMP/m.vtz --bind B=2 --in x=$TMP/x.npy --params $TMP/w.safetensors
! volta: error: $TMP/m.vtz is a bundle, which has its own parameters: drop --params [usage]
? 2
$ volta run $TMP/m.vtz --bind B=2 --in x=$TMP/x.npy --seed 1
! volta: error: $TMP/m.vtz is a bundle, which has its own parameters: drop --seed [usage]
? 2

# Replaced in one step; a folder only if it is a bundle.
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors -o $TMP/m -q; ls -A $TMP/m
manifest.json
model.vt
weights.safetensors
$ mkdir $TMP/mine; volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors -o $TMP/mine
! volta: error: the folder will not be replaced: $TMP/mine is a folder without 'manifest.json', so it is not a bundle [io]
? 3
$ ls -A $TMP | grep volta-
? 1

# Damaged and incomplete bundles.
$ cp -r $TMP/m $TMP/d; printf X | dd of=$TMP/d/weights.safetensors bs=1 seek=90 conv=notrunc 2> /dev/null; volta check $TMP/d
! volta: error: $TMP/d: 'weights.safetensors' is damaged: its content does not have the hash that the manifest says [format]
? 3
$ touch $TMP/d/.hidden; volta run $TMP/d --bind B=2 --in x=$TMP/x.npy
! volta: error: $TMP/d: '.hidden' is in the bundle, but not in its manifest [format]
? 3
$ head -c 500 $TMP/m.vtz > $TMP/cut.vtz; volta info $TMP/cut.vtz
! volta: error: $TMP/cut.vtz: the zip file has no end record; it may be truncated [format]
? 3
$ python3 -c "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED); z.write(sys.argv[2], 'model.vt')" $TMP/c.vtz tests/cli/models/small.vt; volta check $TMP/c.vtz
! volta: error: $TMP/c.vtz: 'model.vt' is compressed; the members of a bundle are stored, as zip -0 writes them, so that they can be read in place [unsupported]
? 4
$ volta run $TMP/mine --bind B=2
! volta: error: $TMP/mine is a folder without 'manifest.json', so it is not a bundle [io]
? 3

# Usage.
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors
! volta: error: -o is missing: it names the folder or the .vtz file to write [usage]
? 2
$ volta bundle tests/cli/models/small.vt -o $TMP/n.vtz
! volta: error: the model has parameters, such as 'w', so its bundle needs weights [name]
!   help: --params gives them
? 2
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors --meta x -o $TMP/n.vtz
! volta: error: --meta takes KEY=VALUE, not 'x' [usage]
? 2
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors --digest x=12 -o $TMP/n.vtz
! volta: error: the digest 'x' is not 64 hexadecimal digits [usage]
? 2
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors --plan B=2 -o $TMP/n.vtz
! volta: error: --plan takes BACKEND or BACKEND:NAME=N,..., not 'B=2' [usage]
? 2
$ volta bundle tests/cli/models/small.vt --params $TMP/w.safetensors --plan cpu -o $TMP/n.vtz
! volta: error: the dimension 'B' is not bound [bind]
!   help: --plan BACKEND:NAME=N,... gives dims their sizes
? 2
$ ls $TMP/n.vtz 2> /dev/null
? 2
