#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda_infer_verify.sh [--part I/N] [--build FOLDER] [--report FILE] - everything that shows that inference
# on this machine's GPU has the bits of the reference:
#   suite        every case of the conformance suite, steps alone and groups as one
#   functions    every function on all 2^32 inputs, against the digests that MPFR confirmed
#   sanitizer    compute-sanitizer memcheck and racecheck over the short form of the suite
#   kernels      the kernels' own tests, which take each of them over the sizes where it is chosen
#   parity       every example, beside the reference, the cpu backend and the published digest
#   batch        a row alone and in batches of 1 to 17, every op and every example
#   again        one program run again, beside another, measured, streamed; 2,000 runs without growth
#   baseline     digests and bytes on the device of every example: bench/baselines/cuda-infer-parity.json
#   admission    volta admit cuda
#   planted      volta admit of the same backend with one kernel that is not deterministic: it is refused
# It ends in a table with a line each, and 0 when all of them agree. --part does every Nth part of it, under
# eight minutes each for N = 6. FOLDER is a build with its programs; without it build/ is made. What is
# missing is said in the table; VOLTA_REQUIRE=compute-sanitizer makes that a failure. Exit 77 without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."

part=1 parts=1 build=build report=
while [[ $# -gt 0 ]]; do
  case ${2+$1} in # a flag without its value is none
    --part) IFS=/ read -r part parts <<<"$2" ;;
    --build) build=$2 ;;
    --report) report=$2 ;;
    *)
      echo "usage: cuda_infer_verify.sh [--part I/N] [--build FOLDER] [--report FILE]" >&2
      exit 2
      ;;
  esac
  shift 2
done
if ! [[ $part =~ ^[1-9][0-9]*$ && $parts =~ ^[1-9][0-9]*$ ]] || ((part > parts)); then
  echo "cuda_infer_verify.sh: --part takes I/N, I from 1 to N" >&2
  exit 2
fi
kernels=(cuda_attention cuda_chain cuda_conv cuda_fold cuda_gemm cuda_index cuda_ints cuda_move cuda_pool cuda_rows cuda_tail)
if [[ $build == build ]]; then
  scripts/configure.sh build
  cmake --build build -j "$(nproc)" --target volta cts batch_check again_check exhaustive_backend cuda_atomic \
    "${kernels[@]/%/_test}"
fi
if [[ ! -x $build/volta ]]; then
  echo "cuda_infer_verify.sh: $build has no volta" >&2
  exit 2
fi
device=$("$build/volta" backends cuda:0 2>&1 | head -n 1) || true # it fails where there is none
if [[ $device != *" available "* ]]; then
  echo "SKIPPED: $device"
  exit 77
fi
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
version=$("$build/volta" --version | head -n 1)
echo "$device; driver ${driver:=not known}"
echo "$version; part $part of $parts"
unset VOLTA_BACKEND VOLTA_THREADS VOLTA_ISA
export VOLTA_TEST_FULL=1
said=$(mktemp)
trap 'rm -f "$said"' EXIT
table=() failed=0 number=0

# row VERDICT WHAT WORDS
row() {
  table+=("$(printf '%-8s %-28s %s' "$1" "$2" "$3")")
  if [[ $1 == FAILED ]]; then failed=1; fi
}
# judge WHAT PATTERN COMMAND...: runs it; the last line that has the pattern goes into the table.
judge() {
  local what=$1 pattern=$2 status=0 begun=$SECONDS words
  shift 2
  echo "== $what"
  "$@" 2>&1 | tee "$said" | tail -n 12 || status=1
  words=$(grep -E -- "$pattern" "$said" | tail -n 1) || status=1
  if [[ $status == 0 ]]; then row ok "$what" "$words ($((SECONDS - begun)) s)"; else row FAILED "$what" "$(tail -n 1 "$said")"; fi
}
# mine: whether the next piece that is not divided is this part's.
mine() {
  number=$((number + 1))
  ((number % parts == part - 1))
}

# ---- what is divided ----
judge "suite" ", 0 runs failed" "$build/cts" --backend cuda --part "$part/$parts"
judge "suite, groups as one" ", 0 runs failed" "$build/cts" --backend cuda --fused --part "$part/$parts"
judge "functions" "functions on" "$build/exhaustive_backend" --against src/num/exhaustive.digests --backend cuda \
  --part "$part/$parts"

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
for tool in memcheck racecheck; do
  if [[ -n $sanitizer ]]; then # one thread: of launches by several at once it loses some, or waits for ever
    judge "$tool" "ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards" env -u VOLTA_TEST_FULL "$sanitizer" \
      --tool "$tool" --error-exitcode 9 "$build/cts" --backend cuda --short --jobs 1 --part "$part/$parts"
  elif [[ ,${VOLTA_REQUIRE-}, == *,compute-sanitizer,* ]]; then
    row FAILED "$tool" "no compute-sanitizer here, and VOLTA_REQUIRE names it"
  else
    row SKIPPED "$tool" "no compute-sanitizer here"
  fi
done

# ---- what is not ----
for name in "${kernels[@]}"; do
  if mine; then judge "kernels, $name" "^$name: right" bash -c "'$build/${name}_test' && echo '$name: right'"; fi
done
while read -r digest model bind seed inputs; do
  if [[ -z $digest || $digest == '#'* ]] || ! mine; then continue; fi
  judge "parity, $model" "AGREES" "$build/volta" parity "examples/$model" --bind "$bind" --seed "${seed#seed=}" \
    --random-inputs "${inputs#inputs=}" --backends reference,cpu,cuda --published examples/published.digests
done <examples/published.digests
if mine; then
  judge "parity, gpt2 B=2 T=128" " = cuda:0: " "$build/volta" parity examples/gpt2_124m.vt --bind B=2,T=128 \
    --random-inputs 7 --backends cpu,cuda
fi
if mine; then judge "batch" "^batch:" "$build/batch_check" . cuda; fi
if mine; then judge "again" "^again:" "$build/again_check" . cuda - 0 2000; fi
if mine; then judge "baseline" "baseline" python3 -B bench/baselines/cuda_infer.py --volta "$build/volta" --check; fi
if mine; then judge "admission" "ADMITTED" "$build/volta" admit cuda; fi
if mine; then
  judge "planted kernel" "^planted kernel: refused" tests/cuda_violations/planted_kernel.sh "$build/volta" \
    "$build/cuda_violations/cuda_atomic.so"
fi

show() {
  echo "$device; driver $driver"
  echo "$version"
  printf '%s\n' "${table[@]}"
  if [[ $failed != 0 ]]; then
    echo "cuda: FAILED, part $part of $parts"
  else
    echo "cuda: the bits of the reference, part $part of $parts"
  fi
}
echo
show
if [[ -n $report ]]; then show >"$report"; fi
exit $failed
