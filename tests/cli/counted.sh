#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# counted.sh VOLTA - tests that every verb calls backends only through the gateway and frees all their
# objects. VOLTA is the command linked with counted.c, which counts the calls.
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

# counted RUNS ARGUMENTS...: the command must succeed with all calls through the gateway. RUNS says whether it must run
# programs (yes), must not (no), or may, to probe the capabilities that a device declares (any).
counted() {
  local runs=$1 line of same ran=no
  shift
  asked=$((asked + 1))
  rm -f "$VOLTA_COUNTED"
  if ! "$volta" "$@" >"$work/out" 2>"$work/said"; then fail "volta $*: $(tail -n 3 "$work/said")"; fi
  if [[ ! -s $VOLTA_COUNTED ]]; then
    fail "volta $*: no counts were written"
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
echo "$asked commands, all through the gateway"
