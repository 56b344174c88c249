#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda_infer_verify.sh [--part I/N] [--build FOLDER] [--checks A,B] [--rows FILE] - verifies that inference on this
# machine's GPU has the bits of the reference. The checks:
#   suite       every case of the conformance suite, each step by itself
#   fused       the same cases with steps fused into groups
#   functions   every function on all 2^32 inputs, against the digests that MPFR confirmed
#   memcheck, racecheck   compute-sanitizer over the short form of the suite
#   numerics    the numerics library as device code: types, casts, random numbers, sums, contractions, functions
#   kernels     the unit tests of the kernels, over the sizes at which each kernel is chosen
#   state       states between runs, weights that programs share, decoding with a cache
#   parity      every example, against the reference, the cpu backend and the published digest
#   batch       each row by itself and in batches of 1 to 17, for every op and every example
#   again       one program run again, next to another, measured, streamed; memory does not grow in 2,000 runs
#   baseline    digest and device memory of every example, against bench/baselines/cuda-infer-parity.json
#   admission   volta admit cuda
#   planted     volta admit refuses the same backend with one kernel that is not deterministic
# It prints a table with a row for each piece of a check, and exits with 0 if none failed. --part runs every Nth part
# of the checks, under eight minutes each for N = 6. --checks runs only the checks that it names. FOLDER is a build
# folder, which is not built again; without --build, build/ is built first. A check whose tool is missing is skipped;
# VOLTA_REQUIRE=compute-sanitizer makes that a failure. gpu_verify.sh calls this script with --rows: then FILE gets the
# rows and a last line `end`, and no table is printed. Exit 5 without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/verdict.sh
options "cuda_infer_verify.sh [--part I/N] [--build FOLDER] [--checks A,B] [--rows FILE]" "$@"

kernels=(cuda_attention cuda_chain cuda_conv cuda_reduce cuda_gemm cuda_index cuda_ints cuda_move cuda_pool cuda_rows cuda_epilogue)
programs=(state shared_weights decode)
if [[ $build == build ]]; then
  scripts/configure.sh build
  cmake --build build -j "$(nproc)" --target volta cts batch_check again_check exhaustive_backend cuda_atomic \
    "${kernels[@]/%/_test}" "${programs[@]/%/_test}"
fi
find_gpu
version=$("$build/volta" --version | head -n 1)
echo "$device; driver $driver"
echo "$version; part $part of $parts"
unset VOLTA_BACKEND VOLTA_THREADS VOLTA_ISA
export VOLTA_TEST_FULL=1

# ---- checks that are divided into parts ----
if wanted suite; then run_check suite ", 0 runs failed" "$build/cts" --backend cuda --part "$part/$parts"; fi
if wanted fused; then run_check fused ", 0 runs failed" "$build/cts" --backend cuda --fused --part "$part/$parts"; fi
if wanted functions; then
  run_check functions "functions on" "$build/exhaustive_backend" --against src/num/exhaustive.digests --backend cuda \
    --part "$part/$parts"
fi
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
# sanitize TOOL: runs the suite under a tool of compute-sanitizer, with one job, because the sanitizer loses launches
# of concurrent threads, or hangs.
sanitize() {
  if [[ -n $sanitizer ]]; then
    run_check "$1" "ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards" env -u VOLTA_TEST_FULL "$sanitizer" \
      --tool "$1" --error-exitcode 9 "$build/cts" --backend cuda --short --jobs 1 --part "$part/$parts"
  elif [[ ,${VOLTA_REQUIRE-}, == *,compute-sanitizer,* ]]; then
    row FAILED "$1" 0 "no compute-sanitizer is installed, and VOLTA_REQUIRE names it"
  else
    row SKIPPED "$1" 0 "no compute-sanitizer is installed"
  fi
}
if wanted memcheck; then sanitize memcheck; fi
if wanted racecheck; then sanitize racecheck; fi

# ---- checks that are not: each piece runs in one of the parts ----
if wanted kernels; then
  for name in "${kernels[@]}"; do
    if mine; then run_check kernels "^$name: right" bash -c "'$build/${name}_test' && echo '$name: right'"; fi
  done
fi
if wanted state; then
  for name in "${programs[@]}"; do
    if mine; then run_check state "^$name: right" bash -c "'$build/${name}_test' cuda && echo '$name: right'"; fi
  done
fi
if wanted parity; then
  while read -r digest model bind seed inputs; do
    if [[ -z $digest || $digest == '#'* ]] || ! mine; then continue; fi
    run_check parity "AGREES" "$build/volta" parity "examples/$model" --bind "$bind" --seed "${seed#seed=}" \
      --random-inputs "${inputs#inputs=}" --backends reference,cpu,cuda --published examples/published.digests
  done <examples/published.digests
  if mine; then
    run_check parity " = cuda:0: " "$build/volta" parity examples/gpt2_124m.vt --bind B=2,T=128 \
      --random-inputs 7 --backends cpu,cuda
  fi
fi
if wanted batch && mine; then run_check batch "^batch:" "$build/batch_check" . cuda; fi
if wanted again && mine; then run_check again "^again:" "$build/again_check" . cuda - 0 2000; fi
if wanted baseline && mine; then
  run_check baseline "baseline" python3 -B bench/baselines/cuda_infer.py --volta "$build/volta" --check
fi
if wanted admission && mine; then run_check admission "ADMITTED" "$build/volta" admit cuda; fi
if wanted planted && mine; then
  run_check planted "^planted kernel: refused" tests/cuda_violations/planted_kernel.sh "$build/volta" \
    "$build/cuda_violations/cuda_atomic.so"
fi
if wanted numerics && mine; then
  if [[ $build != build && -x $build/dev/functions_device ]]; then
    run_check numerics "^all equal" "$build/dev/functions_device"
  else
    arch=${device##*sm_}
    run_check numerics "^all equal" env VOLTA_ARCHS="${arch%%,*}" tests/device/run.sh
  fi
fi

if [[ -n $rows ]]; then
  echo end >>"$rows"
  exit $failed
fi
verdict="the bits of the reference"
if [[ $failed != 0 ]]; then verdict=FAILED; fi
echo
show_table
echo "cuda: $verdict, part $part of $parts"
exit $failed
