#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_same_process.sh BINARY - tests that the output of BINARY depends only on its arguments. Printed
# graphs, passes, plans and digests must have the same bytes in another process, folder, environment or
# locale, with memory that is not zero at first, and at other addresses.
set -euo pipefail
binary=$(realpath "${1:?usage: check_same_process.sh BINARY}")
models=$(realpath "$(dirname "$0")/../examples")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# ---- the compared commands ----
# run_all FOLDER PREFIX...: runs every command with PREFIX in front and stores its output in FOLDER.
run_all() {
  local out=$1
  shift
  mkdir -p "$out/passes"
  local tiny=("$models/tiny_transformer.vt" --bind "B=2,T=7" --random-inputs 5 -q)
  local mlp=("$models/mlp.vt" --bind B=3 --random-inputs 6 --seed 9 -q)
  "$@" "$binary" fmt "$models/tiny_transformer.vt" >"$out/graph"
  "$@" "$binary" fmt "$models/mlp.vt" >"$out/graph_mlp"
  "$@" "$binary" info "$models/tiny_transformer.vt" >"$out/info"
  "$@" "$binary" run "${tiny[@]}" --backend reference:0 --dump-plan - >"$out/plan_prims"
  "$@" "$binary" run "${tiny[@]}" --backend reference:1 --dump-plan - >"$out/plan_whole"
  "$@" "$binary" run "${tiny[@]}" --backend reference:0 --digest --dump-passes "$out/passes" >"$out/digest"
  "$@" "$binary" run "${tiny[@]}" --backend reference:1 --digest >"$out/digest_whole"
  "$@" "$binary" run "${mlp[@]}" --backend reference:0 --digest >"$out/digest_mlp"
}

# same NAME PREFIX...: runs all commands with PREFIX in front and compares the output with the first run.
tried=()
same() {
  local name=$1
  shift
  if ! run_all "$temporary/$name" "$@" 2>"$temporary/errors"; then
    fail "$name: $(head -3 "$temporary/errors")"
  elif ! diff -r "$temporary/first" "$temporary/$name" >"$temporary/differs"; then
    fail "$name: other bytes: $(head -5 "$temporary/differs")"
  fi
  tried+=("$name")
}

unset VOLTA_BACKEND
cd "$temporary"
run_all "$temporary/first" env -i "PATH=$PATH" LC_ALL=C
for file in "$temporary"/first/*; do
  if [[ ! -s $file && ! -d $file ]]; then fail "$(basename "$file") is empty"; fi
done
if ! cmp -s "$temporary/first/digest" "$temporary/first/digest_whole"; then
  fail "the two devices of the reference disagree"
fi
if cmp -s "$temporary/first/digest" "$temporary/first/digest_mlp"; then
  fail "two models have one digest: nothing was computed"
fi

# ---- other circumstances ----
same process env -i "PATH=$PATH" LC_ALL=C
wide=$(printf 'x%.0s' {1..5000}) # moves the stack
same environment env HOME=/nowhere TZ=Pacific/Chatham COLUMNS=20 TERM=dumb NO_COLOR=1 SEED=3 OMP_NUM_THREADS=7 "WIDE=$wide"
for locale in de_DE.UTF-8 tr_TR.UTF-8 C.UTF-8; do # the first that is installed; a decimal comma would show
  if [[ -n $(locale -a 2>/dev/null | grep -ixF "${locale/UTF-8/utf8}" || true) ]]; then
    same "locale_$locale" env LC_ALL="$locale" LANG="$locale" LC_NUMERIC="$locale"
    break
  fi
done
mkdir -p "$temporary/another folder/ä"
cd "$temporary/another folder/ä"
same folder env
cd /
same memory env MALLOC_PERTURB_=165 # malloc returns memory that is not zero
same memory_arena env MALLOC_PERTURB_=90 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1
if command -v setarch >/dev/null && setarch -R true 2>/dev/null; then
  same addresses_fixed setarch -R
  same addresses_again setarch -R env "WIDE=$wide"
else
  echo "setarch cannot fix addresses on this system, so they vary at random"
fi
(ulimit -s 512 && exec true) && same stack bash -c 'ulimit -s 512; exec "$0" "$@"'

if ((failed)); then exit 1; fi
echo "the same bytes in every process: ${tried[*]}"
