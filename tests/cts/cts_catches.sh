#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cts_catches.sh CTS DIVERGING [PYTHON] - tests that the conformance suite fails when it should: on a
# wrong bit; on a changed, missing or superfluous digest; on an op, a type, a length or a class of
# shapes without a case; on a broken case file; on a required instruction set that is missing.
# DIVERGING is a cts whose device reference:1 is wrong in one bit, and which finds no avx512.
set -euo pipefail
cts=${1:?usage: cts_catches.sh CTS DIVERGING [PYTHON]}
diverging=${2:?usage: cts_catches.sh CTS DIVERGING [PYTHON]}
python=${3:-python3}
here=$(cd "$(dirname "$0")" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cases=$temporary/cases
failed=0

fresh() {
  rm -rf "$cases"
  mkdir "$cases"
  cp "$here"/*.cts "$here"/cts.digests "$cases"
}

# expect STATUS WORDS NAME COMMAND...: the command must end with this status and print these words.
expect() {
  local want=$1 words=$2 what=$3 status=0
  shift 3
  "$@" >"$temporary/said" 2>&1 || status=$?
  if [[ $status == "$want" ]] && [[ -z $words || $(<"$temporary/said") == *"$words"* ]]; then
    echo "ok: $what"
  else
    echo "FAILED: $what: status $status, expected $want and '$words'"
    head -n 5 "$temporary/said"
    failed=1
  fi
}
run() { "$cts" --cases "$cases" "$@"; }
one='relu/T=f32/S=7/ordinary'

fresh
expect 0 "0 runs failed" "stored digests" run --only relu
expect 1 "FAILED relu: $one on reference:1" "a wrong bit" "$diverging" --cases "$cases" --only "$one"
expect 1 "[6] is" "the position of a wrong bit" "$diverging" --cases "$cases" --only "$one"
expect 1 '"failed": 1' "a wrong bit in JSON" "$diverging" --cases "$cases" --only "$one" --json
mkdir "$temporary/few"
cp "$here/base_region.cts" "$temporary/few"
expect 1 "FAILED" "--write with devices that disagree" "$diverging" --cases "$temporary/few" --write
expect 1 "" "writes nothing" test -e "$temporary/few/cts.digests"
expect 0 "0 runs failed" "--write with devices that agree" "$cts" --cases "$temporary/few" --write
expect 0 "0 runs failed" "stores digests" "$cts" --cases "$temporary/few"
expect 0 "--backend" "help" run --help
expect 2 "no case is chosen" "an --only without a case" run --only nothing
expect 2 "cts: --backend nowhere: there is no backend" "an unknown backend" run --only "$one" --backend reference,nowhere
expect 0 "" "is reported once" test "$(wc -l <"$temporary/said")" = 1

# These commands test lanes: each backend runs with each instruction set and each number of threads.
expect 0 "cases on 4 backends, 0 runs failed" "lanes" run --only "$one" --backend reference \
  --isa scalar,avx2 --threads 1,3
cp "$temporary/said" "$temporary/lanes"
expect 0 "  reference avx2 x3: 1 cases, 0 failed" "one line per lane" cat "$temporary/lanes"
expect 0 "" "one digest for all lanes" test "$(sed '$d' "$temporary/lanes" | cut -d' ' -f1 | sort -u | wc -l)" = 1
lacking=("$diverging" --cases "$cases" --only "$one" --backend reference --threads 2)
expect 77 "SKIPPED: lane reference avx512 x2: this processor has no avx512 instructions" "a lane that cannot run" \
  "${lacking[@]}" --isa avx512
expect 77 "reference scalar x2: 1 cases, 0 failed" "the other lanes run" "${lacking[@]}" --isa avx512,scalar
expect 1 "FAILED: lane reference avx512 x2" "a lane that is required" env VOLTA_REQUIRE=gcc,avx512 "${lacking[@]}" --isa avx512
expect 77 "SKIPPED" "a lane whose name resembles a required one" env VOLTA_REQUIRE=avx51,avx5122 "${lacking[@]}" --isa avx512
expect 1 "repeat: cts --backend reference:1 --isa avx2 --threads 3 --only" "the command to repeat" \
  "$diverging" --cases "$cases" --only "$one" --isa avx2 --threads 3
expect 2 "unknown instruction set 'mmx'" "unknown instructions" run --only "$one" --backend cpu --isa mmx

sed -i "s|^[0-9a-f]* $one\$|0123456789abcdef $one|" "$cases/cts.digests"
expect 1 "FAILED relu: $one on reference:0" "a digest that is changed" run --only relu
expect 1 "agree: the stored digest is wrong" "both devices agree" run --only "$one"
fresh
sed -i "\| $one\$|d" "$cases/cts.digests"
expect 1 "no digest is stored" "a digest that is missing" run --only "$one"
expect 0 "0 runs failed" "other cases still pass" run --only relu/T=f64/S=7/ordinary
expect 2 "no digest is stored for $one" "--write of another case refuses" run --write --only relu/T=f64/S=7/ordinary
expect 0 "cts: 1 of " "a digest that is written" run --write --only "$one"
expect 0 "" "the other digests are unchanged" cmp "$cases/cts.digests" "$here/cts.digests"
sed -i "s|^[0-9a-f]* $one\$|0123456789abcdef $one|" "$cases/cts.digests"
expect 0 "" "a digest that is written again" run --write --only relu
expect 0 "" "is the same as before" cmp "$cases/cts.digests" "$here/cts.digests"
fresh
sed -i '/^case relu$/,/^end/d' "$cases/base_comp.cts"
expect 1 "a stored digest belongs to no case" "a superfluous digest" run --only exp
fresh
sed -i '/^case loop\>/,/^end/d' "$cases"/*.cts
expect 1 "FAILED loop: no case" "an op without a case" run --complete --least 1
fresh
sed -i '/^case relu\>/,/^end/ s/f32 | f64/f32/' "$cases"/*.cts
expect 1 "relu: takes f64, and no case has it" "a type without a case" run --complete --least 1
fresh
sed -i '/^case add sizes$/,/^end/d' "$cases/sizes_elementwise.cts"
expect 1 "FAILED add of f32: no case has the length 8 9 15 16" "a length without a case" run --complete --least 1
fresh
sed -i '/^case eq ranks$/,/^end/d' "$cases/ranks.cts"
expect 1 "FAILED eq: no case has rank 8" "a class of shapes without a case" run --complete --least 1
# The cases that docs/adding-an-op.md gives for its two example ops are complete: they also work for two similar ops.
fresh
sed -i '/^case sqrt\>/,/^end/d; /^case tanh\>/,/^end/d' "$cases"/*.cts
sed -n '/^case /,/^end/p' "$here/../../docs/adding-an-op.md" | sed 's/next_up/sqrt/g; s/gaussian/tanh/g' >"$cases/page.cts"
expect 0 " 0 gaps" "the cases of docs/adding-an-op.md" run --complete --least 1
expect 1 "at least 1000000 are required" "too few cases" run --complete --least 1000000
fresh
printf 'case relu\n  input x: f32[3]\n  output y = tanh(x)\nend\n' >"$cases/zz.cts"
expect 1 "does not use 'relu'" "a case of another op" run --only "relu/ordinary"
printf 'case relu\nover T = f32 | f64\nover S = 7\n  input x: $T[$S]\n  output y = relu(x)\nend\n' >"$cases/zz.cts"
expect 2 "two cases are called relu/T=f32/S=7" "a name used twice" run
printf 'case nothing\n' >"$cases/zz.cts"
expect 2 "zz.cts:1: no op is called 'nothing'" "an unknown op" run
printf 'case relu\n  output y = relu($Q)\nend\n' >"$cases/zz.cts"
expect 2 "no variable fits" "an unknown variable" run
printf 'case gather zz\n  input x: f32[2]\n  input i: i32[9] in 2..3\n  output y = gather(x, i)\nend\n' >"$cases/zz.cts"
expect 1 "out of range [range]" "an index out of range that is not expected" run --only gather.zz/ordinary
fresh

# This case has a gradient that does not match the differences: that of a step function.
printf 'case cast zz\n  input x: f32[5]\n  output y = cast(cast(x * 0.7, dtype=f16), dtype=f32)\ngrad x\nend\n' >"$cases/zz.cts"
if [[ -n $("$cts" --cases "$cases" --list --only 'cast.zz/gradient.*' 2>/dev/null) ]]; then
  expect 1 "the gradient says" "a wrong gradient" run --grad --only cast
fi
fresh

# All parts (--part) together have every case once.
run --list --only softmax >"$temporary/whole"
for part in 1/3 2/3 3/3; do run --list --only softmax --part $part; done | LC_ALL=C sort >"$temporary/parts"
expect 0 "" "parts" cmp "$temporary/parts" <(LC_ALL=C sort "$temporary/whole")

if "$python" -c 'import numpy' 2>/dev/null; then
  expect 1 "FAILED softmax" "a wrong softmax, against NumPy" \
    "$python" -B "$here/peers.py" --binary "$cts" --short --only softmax --break softmax
  expect 0 "not noticed: none" "each op wrong in turn, against NumPy" \
    "$python" -B "$here/peers.py" --binary "$cts" --short --break all
fi
exit $failed
