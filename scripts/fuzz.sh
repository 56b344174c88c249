#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET] - runs a fuzz target, or each in turn, for that long, with clang's
# address and undefined-behaviour sanitizers. What is found grows below build-fuzz/corpus/TARGET;
# an input that fails is left as build-fuzz/TARGET-crash-HASH. --minimise TARGET puts the smallest
# set of inputs with the same coverage into tests/fuzz/corpus/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  echo "usage: fuzz.sh SECONDS [TARGET] | fuzz.sh --minimise TARGET" >&2
  exit 2
}
all=()
for source in tests/fuzz/fuzz_*.c; do
  name=${source##*/fuzz_}
  all+=("${name%.c}")
done
[[ ${1-} == --minimise || ${1-} =~ ^[0-9]+$ ]] || usage
what=$1
targets=("${2:-${all[@]}}")
if [[ $# -lt 2 ]]; then targets=("${all[@]}"); fi
for target in "${targets[@]}"; do
  if [[ ! -f tests/fuzz/fuzz_$target.c ]]; then
    echo "there is no fuzz target '$target'; there are ${all[*]}" >&2
    exit 2
  fi
done
if ! command -v clang >/dev/null; then
  echo "SKIPPED: fuzzing needs clang"
  exit 77
fi

folder=build-fuzz
export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1}
scripts/configure.sh $folder -c clang -DVOLTA_FUZZ=ON -DVOLTA_TESTS=ON -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_C_FLAGS=-O1 -DVOLTA_SANITIZE=fuzzer-no-link,address,undefined

# Where inputs like those of a target lie besides its corpus.
seeds() {
  case $1 in
    parse) echo examples tests/golden tests/golden/old ;;
    npy | npz | idx) echo tests/golden/files ;;
  esac
}

failed=()
for target in "${targets[@]}"; do
  cmake --build $folder -j "${VOLTA_JOBS:-$(nproc)}" --target "fuzz_$target"
  own=tests/fuzz/corpus/$target grown=$folder/corpus/$target
  mkdir -p "$grown"
  read -ra more <<<"$(seeds "$target")"
  if [[ -d $own ]]; then more+=("$own"); fi
  options=(-max_len=4096 -timeout=25 -rss_limit_mb=3000)
  if [[ $what == --minimise ]]; then
    rm -rf "$folder/minimal" && mkdir -p "$folder/minimal"
    $folder/fuzz_"$target" -merge=1 "${options[@]}" "$folder/minimal" "$grown" "${more[@]}"
    mkdir -p "$own"
    cp -n "$folder"/minimal/* "$own"/
    continue
  fi
  $folder/fuzz_"$target" "${options[@]}" -max_total_time="$what" -print_final_stats=1 \
    -artifact_prefix="$folder/$target-" "$grown" "${more[@]}" || failed+=("$target")
done
if [[ ${#failed[@]} != 0 ]]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
