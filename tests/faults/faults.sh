#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh CC BASE GENERATED SODIUM - the unit tests of the numerics notice deliberate faults.
#   CC         the compiler                     BASE    the library of src/base
#   GENERATED  the folder of volta/volta_ops.h  SODIUM  libsodium
# Builds src/num as it is, and sees its tests pass. Then builds it wrong, one fault at a time: flags
# that change results, a wrong environment, shortcuts, wrong orders, one flipped bit in one table of
# each family of functions (that of its quick way) and in one of the short ways, a bound of 0.
# For each fault at least one test must fail; the line printed says which. A fault whose place in
# the source has gone is a failure as well: it must be planted anew. In the short form the first test
# that fails is enough, at its first failure; with VOLTA_TEST_FULL all are run to their ends.
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

# wrong: a fresh copy of the sources, to be spoilt.
wrong() {
  rm -rf "$work/wrong"
  mkdir "$work/wrong"
  cp src/num/*.c src/num/*.h src/num/*.inc src/num/*.def "$work/wrong"
}
# spoil FILE SED: the copy of FILE, by a sed script that must change it.
spoil() {
  sed -E -i "$2" "$work/wrong/$1"
  if cmp -s "src/num/$1" "$work/wrong/$1"; then fail "src/num/$1 has no place for this fault: $2"; fi
}
# flip FILE TABLE: one bit of one number of the table, worth 2^-32 of it. The number is the fifth
# that uses all its digits and is no lower half of a pair, which would be below 2^-9.
flip() {
  awk -v table="$2[" '
    BEGIN { hex = "0123456789abcdef" }
    index($0, table) { inside = 1 }
    inside && match($0, /0x1\.[0-9a-f]+p(\+|-[0-9],)/) && substr($0, RSTART + 4, 13) !~ /0000$/ && ++seen == 5 {
      at = RSTART + 11
      i = index(hex, substr($0, at, 1)) - 1
      $0 = substr($0, 1, at - 1) substr(hex, (i % 2 ? i - 1 : i + 1) + 1, 1) substr($0, at + 1)
    }
    { print }' "src/num/$1" >"$work/wrong/$1"
  if cmp -s "src/num/$1" "$work/wrong/$1"; then fail "src/num/$1 has no table $2 to flip a bit of"; fi
}
# objects_of TEST: the objects to link, wrong where there is a wrong one.
objects_of() {
  local name
  for name in "$1" "${units[@]}"; do
    if [[ -e $work/wrong/$name.o ]]; then echo "$work/wrong/$name.o"; else echo "$work/right/$name.o"; fi
  done
  if [[ -e $work/wrong/extra.o ]]; then echo "$work/wrong/extra.o"; fi
}
# runs TEST [arguments]: links and runs; 0 when the test passes, 1 when it fails. What it says is kept.
# Anything else (it does not link, it crashes, it takes too long) is a failure of ours.
runs() {
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
# notice WHAT TEST...: at least one test fails. A test with arguments is one word: "slices_test exp:64".
notice() {
  local what=$1 by=() words
  shift
  for test in "$@"; do
    read -ra words <<<"$test"
    if runs "${words[@]}"; then continue; fi
    by+=("${words[0]}")
    if [[ -n ${VOLTA_TEST_FIRST-} ]]; then break; fi
  done
  if [[ ${#by[@]} == 0 ]]; then
    fail "$what: noticed by none of: $*"
  else
    caught=$((caught + 1))
    printf '%-52s noticed by %s\n' "$what" "${by[*]}"
  fi
}

# ---- nothing is wrong ----

# In the short form that is left to the tests themselves, which are built of the same sources.
mkdir "$work/wrong"
for test in "${tests[@]}"; do
  if [[ -n ${VOLTA_TEST_FIRST-} ]]; then break; fi
  words=("$test")
  if [[ $test == slices_test ]]; then words+=(exp:64 log:63 sin:65 atan:63 erf:63); fi
  if [[ $test == float_float_test ]]; then words+=(exp:64); fi
  if ! runs "${words[@]}"; then
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
  # In functions.c and fma.c a product that is added is exact or within the bound of its error, so no
  # result is known that contraction of these alone would change. The self-test, which is built
  # along with them, notices it.
  wrong
  for name in "${units[@]}"; do compile "$work/wrong" "$name" "${contract[@]}"; done
  notice "a*b+c contracted" selftest_test
fi

reassociate=(-fassociative-math -fno-signed-zeros -fno-trapping-math)
wrong
compile "$work/wrong" functions "${reassociate[@]}"
notice "functions.c reassociated" functions_test
wrong
compile "$work/wrong" selftest "${reassociate[@]}"
notice "selftest.c reassociated" selftest_test

# ---- the environment ----

if [[ $x86 == yes ]]; then
  wrong
  cat >"$work/wrong/extra.c" <<'C'
#include <immintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
C
  compile "$work/wrong" extra
  notice "subnormals flushed (FTZ, DAZ)" functions_test sum_test dot_test fma_test selftest_test cast_test
fi

# ---- shortcuts ----

wrong
spoil fma.inc 's/return vt_s_narrow\(vt_of_bits\(.*/return vt_s_narrow(s);/'
compile "$work/wrong" fma
notice "f32 fma by one f64 multiplication and addition" fma_test dot_test

wrong
spoil fma.inc 's/(vt_sel_w\(far, high, low\)) \| sticky/\1/'
compile "$work/wrong" fma
notice "f64 fma without a sticky bit" fma_test

wrong
echo 'float vt_f32_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }' >"$work/wrong/extra.c"
compile "$work/wrong" extra
compile "$work/wrong" functions -Dvt_f32_rsqrt=not_this_one
notice "rsqrt as 1/sqrt" functions_test

wrong
spoil vt_core.h 's/(const vt_i odd = ).*/\1size;/'
compile "$work/wrong" functions
notice "functions settled without rounding to odd" functions_test

wrong
spoil cast.inc 's/return vt_store_16\(x, 10/return vt_store_16((double)(float)x, 10/'
compile "$work/wrong" cast
notice "f64 to f16 by way of f32" cast_test

# ---- orders ----

wrong
spoil vt_num.h 's/VT_SUM_LANES = 32/VT_SUM_LANES = 16/'
compile "$work/wrong" sum
notice "S with 16 lanes" sum_test
wrong
spoil vt_num.h 's/VT_SUM_CHUNK = 1024/VT_SUM_CHUNK = 512/'
compile "$work/wrong" sum
notice "S with chunks of 512" sum_test
wrong
spoil sum.inc 's/for \(int h = VT_SUM_LANES \/ 2; h > 0; h \/= 2\)/for (int h = 1; h < VT_SUM_LANES; h *= 2)/
  s/for \(int l = 0; l < h; l\+\+\) s\[l\] = s\[l\] \+ s\[l \+ h\];/for (int l = 0; l < VT_SUM_LANES; l += 2 * h) s[l] = s[l] + s[l + h];/'
compile "$work/wrong" sum
notice "S with neighbouring lanes added first" sum_test
for unit in dot_soft dot_fma; do
  wrong
  spoil vt_dot.h 's/VT_DOT_BLOCK = 256/VT_DOT_BLOCK = 128/'
  compile "$work/wrong" $unit
  notice "D with blocks of 128 in $unit.c" dot_test
  wrong
  spoil vt_dot.h 's/VT_DOT_GROUP = 8/VT_DOT_GROUP = 4/'
  compile "$work/wrong" $unit
  notice "D with groups of 4 in $unit.c" dot_test
done
wrong
spoil order.inc 's/vt_u_num\(UINT32_MAX\)/vt_u_num(0)/'
compile "$work/wrong" order
notice "NaN lowest in the order" order_test
wrong
spoil integer.inc 's/return a \/ b;/return a \/ b - (a % b != 0 \&\& (a < 0) != (b < 0));/'
compile "$work/wrong" integer
notice "integer division rounded down" integer_test
wrong
spoil canonical.inc 's/(VT_INF_F32\), u) & 0x7fffffffu/\1 < 0x80000000u ? u : 0/'
compile "$work/wrong" canonical
notice "f32 NaN with a sign left as it is" order_test
wrong
spoil philox.inc 's/round < 10/round < 9/'
compile "$work/wrong" philox
notice "Philox with nine rounds" philox_test

wrong
spoil vt_words_vector.h 's/all \|= m\[i\]/all |= m[0]/'
compile "$work/wrong" lanes4_test
notice "a vector that asks its first lane only" lanes4_test
# The same texts over vectors, wrong there alone: the library that they are compared with is right.
for row in 'S:sum.inc:s/s\[l\] \+ s\[l \+ h\]/s[l + h] + s[h - 1 - l]/' \
  'D:dot.inc:s/full % VT_DOT_GROUP == 0/full % 4 == 0/; s/full \/= VT_DOT_GROUP/full \/= 4/' \
  'the f32 fma:fma.inc:s/return vt_s_narrow\(vt_of_bits\(.*/return vt_s_narrow(s);/' \
  'rounding to 16 bits:vt_core.h:s/(odd = m >> by) & 1/\1 \& 0/'; do
  IFS=: read -r name file change <<<"$row"
  if [[ -n ${VOLTA_TEST_FIRST-} && $name != D ]]; then continue; fi # each takes seconds to compile
  wrong
  spoil "$file" "$change"
  compile "$work/wrong" lanes4_test
  notice "$name wrong over vectors" lanes4_test
done
wrong
spoil fn_trig.inc 's/(x \* vt_get\(vt_trig_turns, i \+ vt_int\(3\)\))/0.0 * \1/'
compile "$work/wrong" functions
notice "2/pi cut short" "functions_test sin cos tan"

# ---- tables ----

# Those that the quick way reads: others decide so few inputs that a slice must be lucky to see it.
for table in arc:vt_arc_atan:atan erf:erf_quick_table:erf exp:exp_table:exp \
  log:vt_log_table:"log log2 log10" pow:pow_log_table:pow trig:vt_trig_sine:sin; do
  IFS=: read -r name table functions <<<"$table"
  wrong
  flip "fn_${name}_tables.inc" "$table"
  compile "$work/wrong" functions
  notice "a bit flipped in $table" "functions_test $functions"
done

# ---- the short ways ----

# Each is wrong by less than 2^-37, near the middle between two results only: a whole slice shows it.
wrong
spoil fs_tables.inc 's/0x1\.0b5586p\+0f, 0x1\.9f3122p/0x1.0b5586p+0f, 0x1.9f3922p/'
compile "$work/wrong" float_float_test
notice "a bit flipped in fs_exp_table" "float_float_test exp:64"
wrong
spoil fs_exp.inc 's/(fs_round_test\(fs_exp_whole\(c, fs_exp_rest\(r, r_lo\)\), )[^)]*/\10.0f/'
compile "$work/wrong" float_float_test
notice "a bound of 0 in the rounding test of exp" "float_float_test exp:64"

if [[ $failed != 0 ]]; then exit 1; fi
echo "$caught faults noticed"
if [[ $skipped != 0 ]]; then exit 77; fi
