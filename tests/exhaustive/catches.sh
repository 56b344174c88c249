#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# catches.sh EXHAUSTIVE EXHAUSTIVE_POW DIGESTS - the exhaustive checkers pass right results and notice
# planted faults: a wrong bit in each function, a wrong digest, an estimate beyond its bound. They
# continue where an earlier run stopped, even one that was killed, and check again every unit whose
# line in the ledger is missing or damaged.
set -euo pipefail
check=$1 check_pow=$2 digests=$3
state=$(mktemp -d)
killed=
trap '[[ -z $killed ]] || kill -9 "$killed" || true; rm -rf "$state"' EXIT
seed=${VOLTA_SEED:-1}

fail() {
  echo "$* (seed $seed)"
  cat "$state/out"
  exit 1
}
run() { again "s$((++runs))" "$@"; }
again() { "${@:2}" --jobs 2 --state "$state/$1" >"$state/out" 2>&1; }
says() { grep -q -- "$1" "$state/out" || fail "$2"; }
runs=0
functions=$(cut -d ' ' -f 1 "$digests" | uniq)
n_functions=$(wc -l <<<"$functions")

# Right results pass.
run "$check" --func log --slices 63..63 || fail "a right slice was not passed"
grep -q '^log 16777216 inputs, 0 mismatches' "$state/out" || fail "a right slice was not counted"
run "$check" --func log --slices 63..63 --against "$digests" || fail "a right digest was not passed"
grep -q '0 of 1 digests differ' "$state/out" || fail "a right digest was not compared"

# A wrong bit of one result in each function is noticed.
run "$check" --slices 63..63 --plant "$seed" && fail "no planted bit was found"
[[ $(grep -c ' inputs, 1 mismatches' "$state/out") == "$n_functions" ]] ||
  fail "a planted bit was not found in each of $n_functions functions"
run "$check_pow" --part random --pairs 20 --plant "$seed" && fail "a planted bit of pow was not found"
grep -q '^pow, random: 1048576 pairs, 1 mismatches' "$state/out" || fail "pow: not exactly one was found"

# A wrong digit of a digest is noticed.
sed '/^log  63 /s/.$/x/' "$digests" >"$state/wrong.digests"
run "$check" --func log --slices 63..63 --against "$state/wrong.digests" && fail "a wrong digest was passed"
grep -q '1 of 1 digests differ' "$state/out" || fail "a wrong digest was not counted"

# An estimate beyond its bound ends the run.
for name in $functions; do
  run "$check" --func "$name" --slices 63..64 --plant-estimate && fail "$name: a wrong estimate was passed"
  grep -q 'the estimate is beyond its bound\|the estimate decides' "$state/out" || fail "$name: the message does not name the estimate"
done
run "$check_pow" --part random --pairs 20 --plant-estimate && fail "pow: a wrong estimate was passed"
grep -q 'the estimate is beyond its bound\|the estimate decides' "$state/out" || fail "pow: the message does not name the estimate"

# Runs with planted faults never continue an earlier run.
again planted "$check" --func log --slices 63..63 --plant "$seed" && fail "a planted bit was passed"
again planted "$check" --func log --slices 63..63 --plant "$((seed + 1))" && fail "a second seed was passed"
says '^1 of 1 units' "a planted run continued an earlier one"
again planted "$check" --func log --slices 63..63 --plant-estimate && fail "an estimate behind a planted bit was passed"
says 'the estimate is beyond its bound\|the estimate decides' "the message does not name the estimate"

# Finished slices are not checked again, and the report has the requested slices only.
run "$check" --func log --slices 62..63 || fail "two right slices were not passed"
two=s$runs
cp "$state/$two/log.checked" "$state/before"
again "$two" "$check" --func log --slices 62..63 || fail "two finished slices were not passed"
! grep -q ' units' "$state/out" || fail "finished slices were checked again"
says '^log 33554432 inputs, 0 mismatches' "finished slices were not counted"
again "$two" "$check" --func log --slices 62..62 || fail "one of two slices was not passed"
says '^log 16777216 inputs' "a slice that was not requested was counted"
again "$two" "$check" --func log --slices 62..62 --table || fail "one of two slices was not passed"
says "^| .log. | 16777216 | 0 " "a slice that was not requested is in the table"
cmp "$state/before" "$state/$two/log.checked" || fail "the ledger of finished slices was written to"
again "$two" "$check" --func log --slices 62..63 --against "$digests" || fail "two right digests were not passed"
again "$two" "$check" --func log --slices 62..62 --against "$digests" || fail "one of two digests was not passed"
says '^log 16777216 inputs, 0 of 1 digests differ' "a digest that was not requested was counted"
run "$check_pow" --part random --pairs 21 || fail "pow: right pairs were not passed"
again "s$runs" "$check_pow" --part random --pairs 20 || fail "pow: half of the pairs were not passed"
says '^pow, random: 1048576 pairs, 0 mismatches' "pow: pairs that were not requested were counted"

# A killed run: a single worker checks the slices in order, beginning with slice 60, so that the ledger has the first
# few slices when the run is killed.
ledger=$state/killed/log.checked
"$check" --func log --slices 60..255 --jobs 1 --state "$state/killed" >"$state/out" 2>&1 &
killed=$!
for ((i = 0; i < 6000; i++)); do
  [[ ! -f $ledger || $(wc -l <"$ledger") -lt 4 ]] || break
  kill -0 "$killed" 2>/dev/null || fail "the run to be killed ended by itself"
  sleep 0.05
done
{ kill -9 "$killed" && ! wait "$killed"; } 2>/dev/null || fail "the run was not killed"
killed=
left=$(($(wc -l <"$ledger") - 1)) # finished slices
[[ $left -ge 3 && $left -lt 195 ]] || fail "a killed run left $left of 196 slices"
again killed "$check" --func log --slices "60..$((60 + left))" || fail "a killed run was not continued"
says '^1 of 1 units' "a killed run was not continued after its $left slices"
says "^log $(((left + 1) << 24)) inputs, 0 mismatches" "the slices of a killed run were not counted"

# If a line in the middle was changed, only its slice is checked again.
[[ $(sed -n 3p "$ledger") == "61 "* ]] || fail "the second slice of the ledger is not 61"
sed -i '3s/^61 16777216 0 /61 16777216 1 /' "$ledger"
again killed "$check" --func log --slices "60..$((60 + left))" || fail "a changed line was believed"
says '^1 of 1 units' "the slice of a changed line was not checked again"
[[ $(tail -n 1 "$ledger") == "61 16777216 0 "* ]] || fail "another slice than that of the changed line was checked"

# If a killed run left an incomplete line, its unit is checked again.
ledger=$state/s1/log.checked
head -c -5 "$ledger" >"$state/torn" && cp "$state/torn" "$ledger"
again s1 "$check" --func log --slices 63..63 || fail "an incomplete line was not repaired"
says '^1 of 1 units' "an incomplete line was counted as done"
sed -i '1s/^./x/' "$ledger"
again s1 "$check" --func log --slices 63..63 || fail "the ledger of another build was not replaced"
says 'of another build' "a ledger of another build was believed"

# The checkers refuse files that they cannot read, and refuse to write a file with only some of the digests.
run "$check" --func log --slices 63..63 --against "$state/none" && fail "digests that are not there were passed"
says 'cannot read .*/none: ' "an unreadable file was not named"
echo old >"$state/some.digests"
run "$check" --func log --digests "$state/some.digests" && fail "the digests of one function were written"
says 'for all functions and slices' "no reason to refuse --digests was given"
run "$check" --slices 63..63 --digests "$state/some.digests" && fail "the digests of one slice were written"
[[ $(cat "$state/some.digests") == old ]] || fail "a refused --digests changed the file"
echo "a wrong bit in each of $n_functions functions and pow, a wrong digest, wrong estimates, a killed run, a changed and an incomplete ledger were noticed"
