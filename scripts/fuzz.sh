#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET] - runs one fuzz target, or one after the other, each for SECONDS, with
# clang's address and undefined-behaviour sanitizers. New inputs are stored in
# build-fuzz/corpus/TARGET. An input that fails is stored as build-fuzz/TARGET-crash-HASH.
#   --minimise TARGET   adds a minimal set of inputs with the same coverage to
#                       tests/fuzz/corpus/TARGET; the files in it are kept
#   --seed              converts the models of examples, golden tests and the conformance suite into
#                       inputs of the target graph, in build-fuzz/corpus/graph
#   --pack FOLDER       copies the fuzzers, stripped and with few shared libraries, their seeds and
#                       the dictionary to FOLDER, for machines without clang
#   --packed FOLDER SECONDS WORKERS OUT
#                       runs all targets of such a folder at the same time, each with WORKERS
#                       processes. WORKERS may be a list such as graph=8,parse=3,1, whose last number
#                       is for all other targets. OUT gets a TARGET.tar for each target with the
#                       inputs that failed, their messages and a minimal set of the inputs found.
#                       Exit 1 if any input failed.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  echo "usage: fuzz.sh SECONDS [TARGET] | --minimise TARGET | --seed | --pack FOLDER |" \
    "--packed FOLDER SECONDS WORKERS OUT" >&2
  exit 2
}
all=()
for source in tests/fuzz/fuzz_*.c; do
  name=${source##*/fuzz_}
  all+=("${name%.c}")
done
folder=build-fuzz
options=(-max_len=4096 -timeout=25 -report_slow_units=25 -rss_limit_mb=3000)
# check_printf=0: the compiler checks formats already, and checking them at run time takes a third of the time.
export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1:check_printf=0}

# seeds TARGET: prints further folders with inputs for a target, in addition to its corpus.
seeds() {
  case $1 in
    parse) echo examples tests/golden tests/golden/old ;;
    npy | npz | idx) echo tests/golden/files ;;
  esac
}

# ---- the libFuzzer dictionary of the target parse: words of the text form, from the tables ----
first_names() { sed -n "s/^$1(\([A-Za-z0-9_]*\).*/\1/p" "$2"; }
field_names() { grep -o "$1([^()]*)" "$2" | sed "s/^.*(//; s/)//" | cut -d, -f"$3" | tr -d ' '; }
dictionary() {
  {
    for word in model dim input param output repeat give else in from true false fma256 in_out out_in '(i, t) {' \
      '_0: f32[2] = ' '0..1' 'f32[2, 3]' 'f32(1.0)' 'count=2, carried=1, each=1' '} else {' \
      'cond(p, x, x, first=1) (a) {' 'loop(x, y, count=2) (i, a, b) {' '9223372036854775807'; do
      echo "$word"
    done
    for table in src/op/ops_*.def; do first_names VT_OP "$table"; done | sed 's/$/(/'
    first_names VT_WORD src/op/words.def
    first_names VT_DTYPE src/op/dtypes.def
    first_names VT_INIT src/op/inits.def
    first_names VT_LAYER src/front/layers.def
    field_names 'VT_[RFL]' src/op/attrs.def 2 | sed 's/$/=/'
    grep -o 'VT_\(NEED\|MAY\)([^{}()]*' src/front/layers.def | cut -d, -f3 | tr -d ' )' | sed 's/$/=/'
  } | sort -u | sed 's/.*/"&"/'
}

build() {
  if ! command -v clang >/dev/null; then
    echo "SKIPPED: fuzzing needs clang"
    exit 77
  fi
  scripts/configure.sh $folder -c clang -DVOLTA_FUZZ=ON -DVOLTA_TESTS=ON -DVOLTA_CUDA=OFF -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS=-O1 -DVOLTA_SANITIZE=fuzzer-no-link,address,undefined
  cmake --build $folder -j "${VOLTA_JOBS:-$(nproc)}" --target "${@/#/fuzz_}"
  dictionary >$folder/parse.dict
}
dictionary_of() { if [[ -f $2/$1.dict ]]; then echo "-dict=$2/$1.dict"; fi; }

# ---- runs in the build folder, one target after the other ----
run_in_turn() {
  local what=$1 failed=()
  shift
  build "$@"
  for target in "$@"; do
    local own=tests/fuzz/corpus/$target grown=$folder/corpus/$target
    mkdir -p "$grown"
    read -ra more <<<"$(seeds "$target")"
    if [[ -d $own ]]; then more+=("$own"); fi
    if [[ $what == --minimise ]]; then
      rm -rf "$folder/minimal" && mkdir -p "$folder/minimal" "$own"
      $folder/fuzz_"$target" -merge=1 -use_counters=0 "${options[@]}" "$folder/minimal" "$grown" "${more[@]}"
      cp -n "$folder"/minimal/* "$own"/
      continue
    fi
    read -ra words <<<"$(dictionary_of "$target" $folder)"
    $folder/fuzz_"$target" "${options[@]}" "${words[@]}" -max_total_time="$what" \
      -print_final_stats=1 -artifact_prefix="$folder/$target-" "$grown" "${more[@]}" ||
      failed+=("$target")
  done
  if [[ ${#failed[@]} != 0 ]]; then
    echo "FAILED: ${failed[*]}"
    exit 1
  fi
}

seed() {
  local models
  models=$(mktemp -d)
  build graph
  cmake --build $folder -j "${VOLTA_JOBS:-$(nproc)}" --target cts seed_graph
  mkdir -p $folder/corpus/graph
  $folder/cts --cases tests/cts --short --dump "$models"
  find "$models" examples tests/golden -name '*.vt' -print0 |
    xargs -0 $folder/seed_graph $folder/corpus/graph | grep 'models whole'
  rm -rf "$models"
}

# ---- packed fuzzers, all targets at the same time ----
pack() {
  local to=$1
  build "${all[@]}"
  rm -rf "$to" && mkdir -p "$to"
  cp $folder/parse.dict "$to"
  for target in "${all[@]}"; do
    strip -o "$to/fuzz_$target" "$folder/fuzz_$target"
    mkdir "$to/seeds_$target"
    read -ra more <<<"$(seeds "$target")"
    for place in "tests/fuzz/corpus/$target" "${more[@]}"; do
      if [[ -d $place ]]; then find "$place" -maxdepth 1 -type f -exec cp {} "$to/seeds_$target" \;; fi
    done
  done
  du -sh "$to"
}

workers_of() {
  local rest=1
  for part in ${2//,/ }; do
    if [[ $part == "$1="* ]]; then
      echo "${part#*=}"
      return
    fi
    if [[ $part != *=* ]]; then rest=$part; fi
  done
  echo "$rest"
}

# work TARGET FOLDER END OUT ID: runs fuzzer processes one after the other until the time END. A process ends when an
# input fails, and the next process goes on.
work() {
  local target=$1 from=$2 end=$3 out=$4 id=$5 status=0
  read -ra words <<<"$(dictionary_of "$target" "$from")"
  for try in {1..20}; do
    local left=$((end - SECONDS))
    if [[ $left -le 0 ]]; then break; fi
    "$from/fuzz_$target" "${options[@]}" "${words[@]}" -max_total_time=$left -print_final_stats=1 \
      -artifact_prefix="$out/failed/" "$out/grown" "$from/seeds_$target" \
      >"$out/log.$id.$try" 2>&1 || status=1
  done
  return $status
}

# collect TARGET FOLDER OUT TO: packs the results of a target into TO/TARGET.tar: the failing inputs,
# the messages, and a minimal corpus (or all new inputs if minimising takes too long).
collect() {
  local target=$1 from=$2 out=$3 to=$4 name=corpus
  mkdir "$out/corpus"
  timeout "${VOLTA_MERGE_SECONDS:-120}" "$from/fuzz_$target" -merge=1 "${options[@]}" \
    "$out/corpus" "$from/seeds_$target" "$out/grown" >"$out/log.merge" 2>&1 || name=grown
  tail -q -n 12 "$out"/log.*.* >"$out/stats"
  find "$out" -name 'log.*' -size +200k -delete
  (cd "$out" && tar -cf "$target.tar" "$name" failed stats log.*)
  mv "$out/$target.tar" "$to"
}

run_packed() {
  local from=$1 seconds=$2 workers=$3 to=$4 end failed=()
  local -A pids=()
  mkdir -p "$to"
  local scratch
  scratch=$(mktemp -d)
  end=$((SECONDS + seconds))
  for target in "${all[@]}"; do
    mkdir -p "$scratch/$target/grown" "$scratch/$target/failed"
    for ((id = 1; id <= $(workers_of "$target" "$workers"); id++)); do
      work "$target" "$from" $end "$scratch/$target" $id &
      pids["$target $id"]=$!
    done
  done
  for key in "${!pids[@]}"; do wait "${pids[$key]}" || failed+=("${key% *}"); done
  local merging=()
  for target in "${all[@]}"; do
    collect "$target" "$from" "$scratch/$target" "$to" &
    merging+=($!)
  done
  for pid in "${merging[@]}"; do wait "$pid"; done
  for target in "${all[@]}"; do
    echo "$target: $(find "$scratch/$target/grown" -type f | wc -l) new inputs," \
      "$(find "$scratch/$target/failed" -type f | wc -l) failed," \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$target/stats" |
        awk '{ n += $1 } END { print n + 0 }') runs"
  done
  rm -rf "$scratch"
  if [[ ${#failed[@]} != 0 ]]; then
    echo "FAILED: $(printf '%s\n' "${failed[@]}" | sort -u | tr '\n' ' ')"
    exit 1
  fi
}

case ${1-} in
  --packed)
    [[ $# == 5 && $3 =~ ^[0-9]+$ ]] || usage
    run_packed "${@:2}"
    ;;
  --seed)
    [[ $# == 1 ]] || usage
    seed
    ;;
  --pack)
    [[ $# == 2 ]] || usage
    pack "$2"
    ;;
  --minimise | [0-9]*)
    [[ $1 == --minimise || $1 =~ ^[0-9]+$ ]] || usage
    if [[ $# -ge 2 && ! -f tests/fuzz/fuzz_$2.c ]]; then
      echo "there is no fuzz target '$2'; there are ${all[*]}" >&2
      exit 2
    fi
    if [[ $# -ge 2 ]]; then run_in_turn "$1" "$2"; else run_in_turn "$1" "${all[@]}"; fi
    ;;
  *) usage ;;
esac
