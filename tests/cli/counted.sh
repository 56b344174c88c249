#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# counted.sh VOLTA - every verb reaches backends through the gateway alone, and gives back what it took.
# VOLTA is the command linked with counted.c, which writes down what its backends saw.
set -euo pipefail
cd "$(dirname "$0")/../.."
volta=$(realpath "${1:?usage: counted.sh VOLTA}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VOLTA_COUNTED=$work/counts
unset VOLTA_BACKEND VOLTA_THREADS VOLTA_ISA
failed=0 asked=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# counted RUNS ARGUMENTS...: it succeeds; all went through the gateway, and there were runs (yes), none (no),
# or some of trying out what a device declares (any).
counted() {
  local runs=$1 line of same ran=no
  shift
  asked=$((asked + 1))
  rm -f "$VOLTA_COUNTED"
  if ! "$volta" "$@" >"$work/out" 2>"$work/said"; then fail "volta $*: $(tail -n 3 "$work/said")"; fi
  if [[ ! -s $VOLTA_COUNTED ]]; then
    fail "volta $*: nothing was written down"
    return
  fi
  while read -r line; do
    same=yes
    for of in $line; do
      if [[ $of == *=* && ${of%=*} != "${of#*=}" ]]; then same=no; fi
    done
    if [[ $line != "outside 0 modes 0 held 0 "* || $same == no ]]; then fail "volta $*: $line"; fi
    if [[ $line != *" runs 0=0 "* ]]; then ran=yes; fi
  done <"$VOLTA_COUNTED"
  if [[ $runs != any && $ran != "$runs" ]]; then fail "volta $*: were there runs? $ran, not $runs: $(cat "$VOLTA_COUNTED")"; fi
}

model=examples/mlp.vt
how=(--bind B=2 --random-inputs 7)
for backend in reference island:1 fake; do
  counted yes run $model "${how[@]}" --digest --backend $backend
  counted any plan $model --bind B=2 --backend $backend
  counted no ops --backend $backend
done
counted yes run $model "${how[@]}" --json
counted yes run $model "${how[@]}" --metrics "$work/metrics" --trace "$work/trace" --out "$work/outputs"
counted yes run $model "${how[@]}" --digest --plan-cache "$work/plans"
counted yes run $model "${how[@]}" --digest --plan-cache "$work/plans"
counted yes parity $model "${how[@]}" --backends reference,island
counted yes admit reference --short --jobs 1
counted no backends
counted no info $model
counted no fmt $model -o "$work/printed.vt"

if ((failed)); then exit 1; fi
echo "$asked commands, each through the gateway"
