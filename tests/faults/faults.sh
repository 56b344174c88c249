#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh CC BASE GENERATED SODIUM - tests that the unit tests of the numerics notice planted faults.
#   CC         the compiler                     BASE    the library of src/base
#   GENERATED  the folder of volta/volta_ops.h  SODIUM  libsodium
# It builds src/num without a fault, and with VOLTA_TEST_FULL checks that its tests pass. Then it builds
# src/num with one fault at a time: flags that change results, a wrong floating-point environment,
# shortcuts, wrong orders of sums, one flipped bit in a table of each family of functions (of its quick
# phase) and in one float-float function, an error bound of 0. For each fault at least one test must
# fail; the printed line names it. A fault that no longer fits the source is a failure too. The short
# form stops at the first test that fails, at its first failure; VOLTA_TEST_FULL runs all tests to the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ $# != 4 ]]; then
  echo "usage: faults.sh CC BASE GENERATED SODIUM" >&2
  exit 2
fi
cc=$1 base=$2 generated=$3 sodium=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -z ${VOLTA_TEST_FULL-} ]]; then export VOLTA_TEST_FIRST=1; fi
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -fno-math-errno -w -Wno-psabi
  -Itests -Isrc/base -Iinclude -Iinclude/volta "-I$generated" "-I$generated/volta")
x86=no
if [[ $(uname -m) == x86_64 ]]; then x86=yes; fi
has_fma=yes
if [[ $x86 == yes ]] && ! grep -qw fma /proc/cpuinfo; then has_fma=no; fi

failed=0 caught=0 skipped=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# ---- the right library ----

tests=(functions_test slices_test sum_test dot_test fma_test selftest_test cast_test order_test
  philox_test lanes4_test integer_test float_float_test)
units=()
for source in src/num/*.c; do
  name=$(basename "$source" .c)
  if [[ $name != *_test ]]; then units+=("$name"); fi
done
mkdir "$work/right"
cp src/num/*.c src/num/*.h src/num/*.inc src/num/*.def "$work/right"

# compile FOLDER NAME [flags]: FOLDER/NAME.c to FOLDER/NAME.o
compile() {
  local folder=$1 name=$2
  shift 2
  if [[ $# == 0 && -n ${VOLTA_TEST_FIRST-} ]]; then set -- -O1; fi # compiling takes the most of the time
  if [[ $name == dot_fma && $x86 == yes ]]; then set -- -mavx2 -mfma "$@"; fi
  "$cc" "${flags[@]}" "-I$folder" "$@" -c "$folder/$name.c" -o "$folder/$name.o"
}
for name in "${units[@]}" "${tests[@]}"; do compile "$work/right" "$name"; done

# ---- one fault ----

# copy_sources: makes a new copy of the sources, for a fault.
copy_sources() {
  rm -rf "$work/wrong"
  mkdir "$work/wrong"
  cp src/num/*.c src/num/*.h src/num/*.inc src/num/*.def "$work/wrong"
}
# change FILE SED: changes the copy of FILE with a sed script, which must have an effect.
change() {
  sed -E -i "$2" "$work/wrong/$1"
  if cmp -s "src/num/$1" "$work/wrong/$1"; then fail "src/num/$1 has no place for this fault: $2"; fi
}
# flip_bit FILE TABLE: flips one bit of one number of the table in the copy of FILE, which changes the
# number by 2^-32 of its value. It chooses the fifth number whose last digits are not 0. Numbers below
# 2^-9 are left out, because they may be the low-order part of a double-double.
flip_bit() {
  awk -v table="$2[" '
    BEGIN { hex = "0123456789abcdef" }
    index($0, table) { inside = 1 }
    inside && match($0, /0x1\.[0-9a-f]+p(\+|-[0-9],)/) && substr($0, RSTART + 4, 13) !~ /0000$/ && ++seen == 5 {
      at = RSTART + 11
      i = index(hex, substr($0, at, 1)) - 1
      $0 = substr($0, 1, at - 1) substr(hex, (i % 2 ? i - 1 : i + 1) + 1, 1) substr($0, at + 1)
    }
    { print }' "src/num/$1" >"$work/wrong/$1"
  if cmp -s "src/num/$1" "$work/wrong/$1"; then fail "src/num/$1 has no table $2 to flip_bit a bit of"; fi
}
# objects_of TEST: prints the objects to link, each from the folder `wrong` if it is there.
objects_of() {
  local name
  for name in "$1" "${units[@]}"; do
    if [[ -e $work/wrong/$name.o ]]; then echo "$work/wrong/$name.o"; else echo "$work/right/$name.o"; fi
  done
  if [[ -e $work/wrong/extra.o ]]; then echo "$work/wrong/extra.o"; fi
}
# run_test TEST [arguments]: links and runs a test; returns 0 if the test passes, 1 if it fails. The output of the test
# is stored in $work/said. If the test does not link, crashes or takes too long, this script fails.
run_test() {
  local test=$1 objects status=0
  shift
  mapfile -t objects < <(objects_of "$test")
  if ! "$cc" "${objects[@]}" "$base" "$sodium" -lm -lpthread -o "$work/$test"; then
    fail "$test does not link"
    return 0
  fi
  timeout 120 "$work/$test" "$@" >"$work/said" 2>&1 || status=$?
  if [[ $status != 0 && $status != 1 ]]; then
    fail "$test ends with status $status"
    return 0
  fi
  return $status
}
# expect_failure FAULT TEST...: at least one test must fail. A test with arguments is one word: "slices_test exp:64".
expect_failure() {
  local what=$1 by=() words
  shift
  for test in "$@"; do
    read -ra words <<<"$test"
    if run_test "${words[@]}"; then continue; fi
    by+=("${words[0]}")
    if [[ -n ${VOLTA_TEST_FIRST-} ]]; then break; fi
  done
  if [[ ${#by[@]} == 0 ]]; then
    fail "$what: not noticed by: $*"
  else
    caught=$((caught + 1))
    printf '%-52s noticed by %s\n' "$what" "${by[*]}"
  fi
}

# ---- without a fault ----

# The short form leaves out the build without a fault, because the unit tests themselves run the same sources.
mkdir "$work/wrong"
for test in "${tests[@]}"; do
  if [[ -n ${VOLTA_TEST_FIRST-} ]]; then break; fi
  words=("$test")
  if [[ $test == slices_test ]]; then words+=(exp:64 log:63 sin:65 atan:63 erf:63); fi
  if [[ $test == float_float_test ]]; then words+=(exp:64); fi
  if ! run_test "${words[@]}"; then
    fail "$test fails without a fault:"
    head -n 20 "$work/said"
  fi
done
if [[ $failed != 0 ]]; then exit 1; fi

# ---- flags ----

contract=(-ffp-contract=fast)
if [[ $x86 == yes ]]; then contract+=(-mfma); fi
if [[ $has_fma == no ]]; then
  skipped=$((skipped + 1))
  echo "SKIPPED: no fma here, so nothing can be contracted"
else
  # In functions.c and fma.c each product that is added is exact or within its error bound, so contraction of
  # these files changes no known result. The self-test, which is compiled with the same flags, notices it.
  copy_sources
  for name in "${units[@]}"; do compile "$work/wrong" "$name" "${contract[@]}"; done
  expect_failure "a*b+c contracted" selftest_test
fi

reassociate=(-fassociative-math -fno-signed-zeros -fno-trapping-math)
copy_sources
compile "$work/wrong" functions "${reassociate[@]}"
expect_failure "functions.c reassociated" functions_test
copy_sources
compile "$work/wrong" selftest "${reassociate[@]}"
expect_failure "selftest.c reassociated" selftest_test

# ---- the environment ----

if [[ $x86 == yes ]]; then
  copy_sources
  cat >"$work/wrong/extra.c" <<'C'
#include <immintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
C
  compile "$work/wrong" extra
  expect_failure "subnormals flushed (FTZ, DAZ)" functions_test sum_test dot_test fma_test selftest_test cast_test
fi

# ---- shortcuts ----

copy_sources
change fma.inc 's/return vt_s_narrow\(vt_of_bits\(.*/return vt_s_narrow(s);/'
compile "$work/wrong" fma
expect_failure "f32 fma by one f64 multiplication and addition" fma_test dot_test

copy_sources
change fma.inc 's/(vt_sel_w\(far, high, low\)) \| sticky/\1/'
compile "$work/wrong" fma
expect_failure "f64 fma without a sticky bit" fma_test

copy_sources
echo 'float vt_f32_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }' >"$work/wrong/extra.c"
compile "$work/wrong" extra
compile "$work/wrong" functions -Dvt_f32_rsqrt=not_this_one
expect_failure "rsqrt as 1/sqrt" functions_test

copy_sources
change vt_core.h 's/(const vt_i odd = ).*/\1size;/'
compile "$work/wrong" functions
expect_failure "functions settled without rounding to odd" functions_test

copy_sources
change cast.inc 's/return vt_store_16\(x, 10/return vt_store_16((double)(float)x, 10/'
compile "$work/wrong" cast
expect_failure "f64 to f16 by way of f32" cast_test

# ---- orders ----

copy_sources
change vt_num.h 's/VT_SUM_LANES = 32/VT_SUM_LANES = 16/'
compile "$work/wrong" sum
expect_failure "S with 16 lanes" sum_test
copy_sources
change vt_num.h 's/VT_SUM_CHUNK = 1024/VT_SUM_CHUNK = 512/'
compile "$work/wrong" sum
expect_failure "S with chunks of 512" sum_test
copy_sources
change sum.inc 's/for \(int h = VT_SUM_LANES \/ 2; h > 0; h \/= 2\)/for (int h = 1; h < VT_SUM_LANES; h *= 2)/
  s/for \(int l = 0; l < h; l\+\+\) s\[l\] = s\[l\] \+ s\[l \+ h\];/for (int l = 0; l < VT_SUM_LANES; l += 2 * h) s[l] = s[l] + s[l + h];/'
compile "$work/wrong" sum
expect_failure "S with neighbouring lanes added first" sum_test
for unit in dot_soft dot_fma; do
  copy_sources
  change vt_dot.h 's/VT_DOT_BLOCK = 256/VT_DOT_BLOCK = 128/'
  compile "$work/wrong" $unit
  expect_failure "D with blocks of 128 in $unit.c" dot_test
  copy_sources
  change vt_dot.h 's/VT_DOT_GROUP = 8/VT_DOT_GROUP = 4/'
  compile "$work/wrong" $unit
  expect_failure "D with groups of 4 in $unit.c" dot_test
done
copy_sources
change order.inc 's/vt_u_num\(UINT32_MAX\)/vt_u_num(0)/'
compile "$work/wrong" order
expect_failure "NaN lowest in the order" order_test
copy_sources
change integer.inc 's/return a \/ b;/return a \/ b - (a % b != 0 \&\& (a < 0) != (b < 0));/'
compile "$work/wrong" integer
expect_failure "integer division rounded down" integer_test
copy_sources
change canonical.inc 's/(VT_INF_F32\), u) & 0x7fffffffu/\1 < 0x80000000u ? u : 0/'
compile "$work/wrong" canonical
expect_failure "f32 NaN with a sign left as it is" order_test
copy_sources
change philox.inc 's/round < 10/round < 9/'
compile "$work/wrong" philox
expect_failure "Philox with nine rounds" philox_test

copy_sources
change vt_words_vector.h 's/all \|= m\[i\]/all |= m[0]/'
compile "$work/wrong" lanes4_test
expect_failure "a vector that asks its first lane only" lanes4_test
# These faults are in the vector versions only: the scalar library that they are compared with is right.
for row in 'S:sum.inc:s/s\[l\] \+ s\[l \+ h\]/s[l + h] + s[h - 1 - l]/' \
  'D:dot.inc:s/full % VT_DOT_GROUP == 0/full % 4 == 0/; s/full \/= VT_DOT_GROUP/full \/= 4/' \
  'the f32 fma:fma.inc:s/return vt_s_narrow\(vt_of_bits\(.*/return vt_s_narrow(s);/' \
  'rounding to 16 bits:vt_core.h:s/(odd = m >> by) & 1/\1 \& 0/'; do
  IFS=: read -r name file change <<<"$row"
  if [[ -n ${VOLTA_TEST_FIRST-} && $name != D ]]; then continue; fi # each takes seconds to compile
  copy_sources
  change "$file" "$change"
  compile "$work/wrong" lanes4_test
  expect_failure "$name wrong over vectors" lanes4_test
done
copy_sources
change fn_trig.inc 's/(x \* vt_get\(vt_trig_turns, i \+ vt_int\(3\)\))/0.0 * \1/'
compile "$work/wrong" functions
expect_failure "2/pi cut short" "functions_test sin cos tan"

# ---- tables ----

# Only bits in tables of the quick phase are flipped: those of the accurate phase decide so few inputs that a slice may
# miss the fault.
for table in arc:vt_arc_atan:atan erf:erf_quick_table:erf exp:exp_table:exp \
  log:vt_log_table:"log log2 log10" pow:pow_log_table:pow trig:vt_trig_sine:sin; do
  IFS=: read -r name table functions <<<"$table"
  copy_sources
  flip_bit "fn_${name}_tables.inc" "$table"
  compile "$work/wrong" functions
  expect_failure "a bit flipped in $table" "functions_test $functions"
done

# ---- the float-float functions ----

# The fault changes results by less than 2^-37, so it shows only next to midpoints; a whole slice has enough of them.
copy_sources
change fs_tables.inc 's/0x1\.0b5586p\+0f, 0x1\.9f3122p/0x1.0b5586p+0f, 0x1.9f3922p/'
compile "$work/wrong" float_float_test
expect_failure "a bit flipped in fs_exp_table" "float_float_test exp:64"
copy_sources
change fs_exp.inc 's/(fs_round_test\(fs_exp_from_parts\(c, fs_expm1_of_r\(r, r_lo\)\), )[^)]*/\10.0f/'
compile "$work/wrong" float_float_test
expect_failure "a bound of 0 in the rounding test of exp" "float_float_test exp:64"

if [[ $failed != 0 ]]; then exit 1; fi
echo "$caught faults noticed"
if [[ $skipped != 0 ]]; then exit 77; fi
