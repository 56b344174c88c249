#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# catches.sh EXHAUSTIVE EXHAUSTIVE_POW DIGESTS - the checkers pass what is right and notice what is
# planted: a wrong bit in each function, a wrong digest, an estimate beyond its bound.
set -euo pipefail
check=$1 check_pow=$2 digests=$3
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
seed=${VOLTA_SEED:-1}

fail() {
  echo "$* (seed $seed)"
  cat "$state/out"
  exit 1
}
run() { "$@" --jobs 2 --state "$state/s$((++runs))" >"$state/out" 2>&1; }
runs=0
functions=$(cut -d ' ' -f 1 "$digests" | uniq)
n_functions=$(wc -l <<<"$functions")

# What is right passes.
run "$check" --func log --slices 63..63 || fail "a right slice was not passed"
grep -q '^log 16777216 inputs, 0 mismatches' "$state/out" || fail "a right slice was not counted"
run "$check" --func log --slices 63..63 --against "$digests" || fail "a right digest was not passed"
grep -q '0 of 1 digests differ' "$state/out" || fail "a right digest was not compared"

# One bit of one result in each function.
run "$check" --slices 63..63 --plant "$seed" && fail "no planted bit was found"
[[ $(grep -c ' inputs, 1 mismatches' "$state/out") == "$n_functions" ]] ||
  fail "a planted bit was not found in each of $n_functions functions"
run "$check_pow" --part random --pairs 20 --plant "$seed" && fail "a planted bit of pow was not found"
grep -q '^pow, random: 1048576 pairs, 1 mismatches' "$state/out" || fail "pow: not exactly one was found"

# One digit of a digest.
sed '/^log  63 /s/.$/x/' "$digests" >"$state/wrong.digests"
run "$check" --func log --slices 63..63 --against "$state/wrong.digests" && fail "a wrong digest was passed"
grep -q '1 of 1 digests differ' "$state/out" || fail "a wrong digest was not counted"

# Estimates beyond their bound end the run.
for name in $functions; do
  run "$check" --func "$name" --slices 63..64 --plant-estimate && fail "$name: a wrong estimate was passed"
  grep -q 'the estimate is beyond its bound\|the estimate settles' "$state/out" || fail "$name: not by its estimate"
done
run "$check_pow" --part random --pairs 20 --plant-estimate && fail "pow: a wrong estimate was passed"
grep -q 'the estimate is beyond its bound\|the estimate settles' "$state/out" || fail "pow: not by its estimate"

# A line that a killed run left half written is not taken as done, and its unit is done again.
ledger=$state/s1/log.checked
head -c -5 "$ledger" >"$state/torn" && cp "$state/torn" "$ledger"
"$check" --func log --slices 63..63 --jobs 2 --state "$state/s1" >"$state/out" 2>&1 || fail "a torn ledger was not mended"
grep -q '1 of 1 units' "$state/out" || fail "a torn line was taken as done"
sed -i '1s/^./x/' "$ledger"
"$check" --func log --slices 63..63 --jobs 2 --state "$state/s1" >"$state/out" 2>&1 || fail "another build's ledger"
grep -q 'of another build' "$state/out" || fail "a ledger of another build was believed"
echo "a wrong bit in each of $n_functions functions and pow, a wrong digest, wrong estimates and a torn ledger were noticed"
