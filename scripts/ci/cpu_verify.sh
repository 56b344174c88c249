#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_verify.sh [--part I/N] [--build FOLDER] - everything that shows that the cpu backend has the bits
# of the reference, on every instruction set that this processor has:
#   suite        every case of the conformance suite, threads 1, 2, 3 and 7
#   functions    every function on all 2^32 inputs, against the digests that MPFR confirmed
#   parity       every example, beside the reference and the published digest
#   batch        a row alone and in batches of 1, 2, 3, 8 and 17, every op and every example
#   again        one program run again, beside another, measured, cached, streamed
#   ways         processes, threads, metrics, traces, caches, files, fallback: one digest a model
#   admission    volta admit cpu
# It ends in a table with a line each, and 0 when all of them agree. Alone it takes about an hour on two
# cores; --part does every Nth part of it, some minutes each for N = 12. A processor without an instruction set is
# said in the table; VOLTA_REQUIRE=avx2,avx512 makes that a failure.
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
said=$work/suite

# ---- what this processor has ----
isas=()
for isa in scalar sse2 avx2 avx512; do
  if [[ $(VOLTA_ISA=$isa "$build/volta" backends cpu) == *" available "* ]]; then
    isas+=("$isa")
  elif [[ ,${VOLTA_REQUIRE-}, == *,$isa,* ]]; then
    row FAILED "$isa" 0 "not here, and VOLTA_REQUIRE names it"
  else
    row SKIPPED "$isa" 0 "this processor does not have it"
  fi
done
echo "instruction sets: ${isas[*]}; $("$build/volta" --version | head -n 1); part $part of $parts"

# ---- what is divided ----
all=$(IFS=, && echo "${isas[*]}")
echo "== suite"
status=0 ran=0 begun=$SECONDS
"$build/cts" --backend cpu --isa "$all" --threads 1,2,3,7 --part "$part/$parts" >"$said" 2>&1 || status=$?
took=$((SECONDS - begun)) # of all lanes together
grep -v '^ ' "$said" | tail -n 40
while IFS= read -r line; do
  [[ $line =~ ^([0-9a-f]{32})\ \ (cpu.*):\ (.*)$ ]] || continue
  verdict=ok ran=$((ran + 1))
  if [[ ${BASH_REMATCH[3]} != *", 0 failed" ]]; then verdict=FAILED; fi
  row $verdict "suite, ${BASH_REMATCH[2]}" "$took" "${BASH_REMATCH[1]} of ${BASH_REMATCH[3]}"
done <"$said"
if [[ $status != 0 ]]; then row FAILED suite "$took" "$(tail -n 1 "$said")"; fi
if ((ran != ${#isas[@]} * 4)); then row FAILED suite "$took" "$ran lanes, and not four for each of ${isas[*]}"; fi
judge "suite, groups as one" " 0 runs failed" "$build/cts" --backend cpu --isa "$all" --threads 3 --fused --part "$part/$parts"
for isa in "${isas[@]}"; do
  judge "functions, $isa" "functions on" "$build/exhaustive_backend" --against src/num/exhaustive.digests \
    --backend cpu --isa "$isa" --part "$part/$parts"
done

# ---- what is not ----
while read -r digest model bind seed inputs; do
  if [[ -z $digest || $digest == '#'* ]] || ! mine; then continue; fi
  judge "parity, $model" "AGREES" "$build/volta" parity "examples/$model" --bind "$bind" --seed "${seed#seed=}" \
    --random-inputs "${inputs#inputs=}" --backends reference,cpu --threads 1,2,3 --published examples/published.digests
done < <(cat examples/published.digests)
for isa in "${isas[@]}"; do
  for threads in 1 3; do
    if mine; then judge "batch, $isa x$threads" "^batch:" "$build/batch_check" . cpu "$isa" "$threads"; fi
    if mine; then judge "again, $isa x$threads" "^again:" "$build/again_check" . cpu "$isa" "$threads"; fi
  done
done
if mine; then judge "ways" "ways" python3 -B tests/reproducibility/reproduce.py --volta "$build/volta"; fi
if mine; then judge "admission" "ADMITTED" "$build/volta" admit cpu; fi

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
