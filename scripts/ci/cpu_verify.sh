#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_verify.sh [--part I/N] [--build FOLDER] - verifies that the cpu backend has the bits of the reference,
# on every instruction set of this processor. The checks:
#   suite        every case of the conformance suite, with 1, 2, 3 and 7 threads
#   functions    every function on all 2^32 inputs, against the digests that MPFR confirmed
#   parity       every example, against the reference and the published digest
#   batch        each row by itself and in batches of 1, 2, 3, 8 and 17, for every op and every example
#   again        one program run again, next to another, measured, cached, streamed
#   ways         processes, threads, metrics, traces, caches, files and fallback, which must not change digests
#   admission    volta admit cpu
# It prints a table with a row for each piece of a check, and exits with 0 if none failed. All of it takes about
# an hour on two cores. --part runs every Nth part, some minutes each for N = 12. An instruction set that this
# processor lacks is skipped; VOLTA_REQUIRE=avx2,avx512 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."

. scripts/ci/verdict.sh
options "cpu_verify.sh [--part I/N] [--build FOLDER]" "$@"
if [[ $build == build ]]; then
  scripts/configure.sh build
  cmake --build build -j "$(nproc)" --target volta cts batch_check again_check exhaustive_backend
fi
export VOLTA_TEST_FULL=1
unset VOLTA_BACKEND VOLTA_THREADS VOLTA_ISA
output=$work/suite

# ---- the instruction sets of this processor ----
isas=()
for isa in scalar sse2 avx2 avx512; do
  if [[ $(VOLTA_ISA=$isa "$build/volta" backends cpu) == *" available "* ]]; then
    isas+=("$isa")
  elif [[ ,${VOLTA_REQUIRE-}, == *,$isa,* ]]; then
    row FAILED "$isa" 0 "this processor lacks it, and VOLTA_REQUIRE names it"
  else
    row SKIPPED "$isa" 0 "this processor does not have it"
  fi
done
echo "instruction sets: ${isas[*]}; $("$build/volta" --version | head -n 1); part $part of $parts"

# ---- checks that are divided into parts ----
all=$(IFS=, && echo "${isas[*]}")
echo "== suite"
status=0 ran=0 begun=$SECONDS
"$build/cts" --backend cpu --isa "$all" --threads 1,2,3,7 --part "$part/$parts" >"$output" 2>&1 || status=$?
took=$((SECONDS - begun)) # seconds of all lanes together
grep -v '^ ' "$output" | tail -n 40
while IFS= read -r line; do
  [[ $line =~ ^([0-9a-f]{32})\ \ (cpu.*):\ (.*)$ ]] || continue
  verdict=ok ran=$((ran + 1))
  if [[ ${BASH_REMATCH[3]} != *", 0 failed" ]]; then verdict=FAILED; fi
  row $verdict "suite, ${BASH_REMATCH[2]}" "$took" "${BASH_REMATCH[1]} of ${BASH_REMATCH[3]}"
done <"$output"
if [[ $status != 0 ]]; then row FAILED suite "$took" "$(tail -n 1 "$output")"; fi
if ((ran != ${#isas[@]} * 4)); then row FAILED suite "$took" "$ran lanes, and not four for each of ${isas[*]}"; fi
run_check "suite, groups as one" " 0 runs failed" "$build/cts" --backend cpu --isa "$all" --threads 3 --fused --part "$part/$parts"
for isa in "${isas[@]}"; do
  run_check "functions, $isa" "functions on" "$build/exhaustive_backend" --against src/num/exhaustive.digests \
    --backend cpu --isa "$isa" --part "$part/$parts"
done

# ---- checks that are not: each piece runs in one of the parts ----
while read -r digest model bind seed inputs; do
  if [[ -z $digest || $digest == '#'* ]] || ! mine; then continue; fi
  run_check "parity, $model" "AGREES" "$build/volta" parity "examples/$model" --bind "$bind" --seed "${seed#seed=}" \
    --random-inputs "${inputs#inputs=}" --backends reference,cpu --threads 1,2,3 --published examples/published.digests
done < <(cat examples/published.digests)
for isa in "${isas[@]}"; do
  for threads in 1 3; do
    if mine; then run_check "batch, $isa x$threads" "^batch:" "$build/batch_check" . cpu "$isa" "$threads"; fi
    if mine; then run_check "again, $isa x$threads" "^again:" "$build/again_check" . cpu "$isa" "$threads"; fi
  done
done
if mine; then run_check "ways" "ways" python3 -B tests/reproducibility/reproduce.py --volta "$build/volta"; fi
if mine; then run_check "admission" "ADMITTED" "$build/volta" admit cpu; fi

echo
show_table
lanes=$(show_table | sed -n 's/^suite, cpu [^ ]* x[0-9]* *ok *[0-9]*  \([0-9a-f]\{32\}\).*/\1/p' | sort -u | wc -l)
if ((lanes > 1)); then
  echo "cpu: the lanes of the suite have $lanes digests"
  failed=1
fi
if [[ $failed != 0 ]]; then
  echo "cpu: FAILED, part $part of $parts"
  exit 1
fi
echo "cpu: the bits of the reference, part $part of $parts: ${isas[*]}"
