#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_builds.sh [FOLDER [VOLTA]] - tests that results do not depend on the compiler and its options.
# It builds variants of the binary (below FOLDER, by default build/variants) and compares their output
# for the examples byte by byte: digests, also with the published ones, formatted models, and plans.
# Every command runs twice with each binary. VOLTA is an existing binary that is compared too, so that
# fewer variants are built with gcc. VOLTA_TEST_FULL=1 builds more variants.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build/variants}
existing=${2-}
# levels_of COMPILER: prints the optimisation levels to build, one per line. The short form uses -O0,
# because the existing binary is optimised.
levels_of() {
  if [[ -n ${VOLTA_TEST_FULL-} ]]; then
    printf '%s\n' -O0 -O1 -O2 -O3 -Os "-O3 -march=native"
  elif [[ $1 == gcc ]]; then
    if [[ -z $existing ]]; then echo -O0; fi
  else
    echo -O0
  fi
}
run=(run examples/tiny_transformer.vt --bind "B=2,T=16" --random-inputs 7)
published=examples/published.digests

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# ---- build ----
# build COMPILER LEVEL: builds a variant and sets `place` to its folder.
build() {
  local compiler=$1 level=$2
  place=$folder/$compiler${level// /}
  mkdir -p "$place"
  scripts/configure.sh "$place" -c "$compiler" -DVOLTA_TESTS=OFF -DVOLTA_CUDA=OFF -DCMAKE_BUILD_TYPE=None \
    "-DCMAKE_C_FLAGS=$level" >"$place/log" 2>&1 &&
    cmake --build "$place" --target volta -j "${VOLTA_JOBS:-$(nproc)}" >>"$place/log" 2>&1
}
variants=() skipped=()
if [[ -n $existing ]]; then variants+=("$(dirname "$existing")"); fi
for compiler in gcc clang; do
  if ! command -v "$compiler" >/dev/null; then
    if [[ ,${VOLTA_REQUIRE-}, == *,$compiler,* ]]; then fail "no $compiler"; else skipped+=("$compiler"); fi
    continue
  fi
  mapfile -t levels < <(levels_of "$compiler")
  for level in "${levels[@]}"; do
    if build "$compiler" "$level"; then
      variants+=("$place")
    else
      fail "$compiler $level does not build:"
      tail -n 30 "$place/log"
    fi
  done
done
if [[ ${#variants[@]} == 0 ]]; then
  if [[ $failed != 0 ]]; then exit 1; fi
  echo "SKIPPED: neither gcc nor clang is here"
  exit 77
fi

# ---- the compared commands ----
# Each case is a file with the arguments of one command, one argument per line.
mkdir "$temporary/cases"
cases=()
add_case() {
  cases+=("$1")
  printf '%s\n' "${@:2}" >"$temporary/cases/$1"
}
add_case digest "${run[@]}" --digest
add_case plan "${run[@]}" --dump-plan -
for model in examples/*.vt; do add_case "fmt-$(basename "$model" .vt)" fmt "$model"; done

# same REFERENCE FILE MESSAGE: if the files differ, fails with this message and shows the first lines
# that differ.
same() {
  if ! cmp -s "$1" "$2"; then
    fail "$3"
    diff "$1" "$2" | head -n 10 || true
  fi
}
# compare_case VARIANT CASE: runs the command of a case twice and fails unless it succeeds and prints
# the same bytes as the first variant, at least one.
compare_case() {
  local variant=$1 name=$2 arguments process out
  mapfile -t arguments <"$temporary/cases/$name"
  for process in 1 2; do
    out=$temporary/$name.out
    if ! "$variant/volta" "${arguments[@]}" >"$out" 2>"$temporary/said"; then
      fail "$variant: volta ${arguments[*]}: $(head -n 3 "$temporary/said")"
      return
    fi
    if [[ ! -s $out ]]; then fail "$variant: volta ${arguments[*]} prints nothing"; fi
    [[ -e $temporary/$name.first ]] || cp "$out" "$temporary/$name.first"
    same "$temporary/$name.first" "$out" \
      "$variant, process $process: volta ${arguments[*]} differs from ${variants[0]}"
  done
}
for variant in "${variants[@]}"; do
  for case in "${cases[@]}"; do compare_case "$variant" "$case"; done
done

# ---- the published digests ----
# Each line has five words: DIGEST MODEL BIND seed=S inputs=S. The large model runs only in the long
# form and only with optimised builds, because it is slow.
count=0
while read -r digest model bind seed inputs; do
  if [[ -z $digest || $digest == '#'* ]]; then continue; fi
  if [[ $model == gpt2* && -z ${VOLTA_TEST_FULL-} ]]; then continue; fi
  count=$((count + 1))
  arguments=(run "examples/$model" --bind "$bind" --seed "${seed#seed=}"
    --random-inputs "${inputs#inputs=}" --digest)
  for variant in "${variants[@]}"; do
    if [[ $model == gpt2* && $variant != *-O3 ]]; then continue; fi
    if [[ $("$variant/volta" "${arguments[@]}" 2>/dev/null) != "$digest" ]]; then
      fail "$variant: volta ${arguments[*]} does not give the published $digest"
    fi
  done
done < <(cat "$published")
if [[ $count == 0 ]]; then fail "$published has no digest"; fi

if [[ $failed != 0 ]]; then exit 1; fi
echo "the same bytes from ${#variants[@]} builds: ${#cases[@]} commands, $count published digests"
if [[ ${#skipped[@]} != 0 ]]; then
  echo "SKIPPED: no ${skipped[*]} here, so its builds are not compared"
  exit 77
fi
