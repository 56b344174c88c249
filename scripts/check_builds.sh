#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_builds.sh [FOLDER [VOLTA]] - the same bits from any compiler at any level of optimisation.
# Builds the binary in variants (below FOLDER, build/variants unless told), then compares what each
# prints for the examples, byte by byte: digests against the published ones, formatted models,
# plans. Every command runs in two processes of each binary. VOLTA, a binary that is there already,
# is one of them, and saves building one by gcc; VOLTA_TEST_FULL=1 builds more variants.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build/variants}
there=${2-}
# Levels of optimisation, a line each: in the short form far from that of the binary that is there.
levels_of() {
  if [[ -n ${VOLTA_TEST_FULL-} ]]; then
    printf '%s\n' -O0 -O1 -O2 -O3 -Os "-O3 -march=native"
  elif [[ $1 == gcc ]]; then
    if [[ -z $there ]]; then echo -O0; fi
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
# build COMPILER LEVEL: leaves the folder in `place`.
build() {
  local compiler=$1 level=$2
  place=$folder/$compiler${level// /}
  mkdir -p "$place"
  scripts/configure.sh "$place" -c "$compiler" -DVOLTA_TESTS=OFF -DVOLTA_CUDA=OFF -DCMAKE_BUILD_TYPE=None \
    "-DCMAKE_C_FLAGS=$level" >"$place/log" 2>&1 &&
    cmake --build "$place" --target volta -j "${VOLTA_JOBS:-$(nproc)}" >>"$place/log" 2>&1
}
variants=() skipped=()
if [[ -n $there ]]; then variants+=("$(dirname "$there")"); fi
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

# ---- what is compared ----
# Each case is a file that holds the arguments of one command, one a line.
mkdir "$temporary/cases"
cases=()
add_case() {
  cases+=("$1")
  printf '%s\n' "${@:2}" >"$temporary/cases/$1"
}
add_case digest "${run[@]}" --digest
add_case plan "${run[@]}" --dump-plan -
for model in examples/*.vt; do add_case "fmt-$(basename "$model" .vt)" fmt "$model"; done

# same REFERENCE FILE WHAT: fails and shows the first lines that differ.
same() {
  if ! cmp -s "$1" "$2"; then
    fail "$3"
    diff "$1" "$2" | head -n 10 || true
  fi
}
# one VARIANT CASE: both processes agree with the first variant, and nothing fails or is empty.
one() {
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
  for case in "${cases[@]}"; do one "$variant" "$case"; done
done

# ---- the published digests ----
# Lines of five words: DIGEST MODEL BIND seed=S inputs=S. The large model waits for the long form,
# and for optimised builds.
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
if [[ $count == 0 ]]; then fail "$published holds no digest"; fi

if [[ $failed != 0 ]]; then exit 1; fi
echo "the same bytes from ${#variants[@]} builds: ${#cases[@]} commands, $count published digests"
if [[ ${#skipped[@]} != 0 ]]; then
  echo "SKIPPED: no ${skipped[*]} here, so its builds are not compared"
  exit 77
fi
