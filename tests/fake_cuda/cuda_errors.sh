#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda_errors.sh VOLTA DRIVER - what `volta run --backend cuda` reports when the GPU fails, with
# the emulated driver in the folder DRIVER, which can be told to fail; which backend runs if none is
# named; and that runs without a failure give the right digest.
set -euo pipefail
volta=${1:?usage: cuda_errors.sh VOLTA DRIVER} driver=${2:?usage: cuda_errors.sh VOLTA DRIVER}
cd "$(dirname "$0")/../.."
unset VOLTA_BACKEND
failed=0 asked=0
run=(run examples/mlp.vt --bind B=3 --random-inputs 7 --digest)
right=$("$volta" "${run[@]}" --backend reference)

# expect EXIT PATTERN [VARIABLE=VALUE]... [-- ARGUMENTS]: checks the exit code and a pattern in the
# output
expect() {
  local want=$1 pattern=$2 said code=0 settings=()
  shift 2
  while [[ $# -gt 0 && $1 != -- ]]; do
    settings+=("$1")
    shift
  done
  if [[ $# -gt 0 ]]; then shift; fi
  asked=$((asked + 1))
  said=$(env LD_LIBRARY_PATH="$driver" "${settings[@]}" "$volta" "${run[@]}" --backend "${on-cuda}" "$@" 2>&1) || code=$?
  if [[ $code != "$want" || ! $said =~ $pattern ]]; then
    echo "FAILED: ${settings[*]-} $*: exit $code and not $want, or no '$pattern' in: $said"
    failed=1
  fi
}

expect 0 "^$right\$"
expect 0 "^$right\$" FAKE_CUDA_ORDER=reverse FAKE_CUDA_STREAMS=late
expect 5 "no CUDA device is visible" FAKE_CUDA_DEVICES=0
expect 5 "compute capability 7.5, and kernels need 8.0" FAKE_CUDA_CC=7.5
on=cuda:1 expect 5 "has 1 device, there is no number 1"
on=cuda:1 expect 0 "^$right\$" FAKE_CUDA_DEVICES=2
expect 6 "needs [0-9]+ bytes .* which has 81920 left" FAKE_CUDA_MEMORY=98304
expect 6 "error: the program needs [0-9]+ bytes .* which has [0-9]+ left" FAKE_CUDA_MEMORY=524288
expect 6 "cannot allocate memory for a device: out of memory" FAKE_CUDA_MEMORY=8192
expect 6 "cannot allocate memory for a device: out of memory" FAKE_CUDA_FAIL=cuMemAlloc:1=2
expect 6 "cannot allocate memory for a program: out of memory" FAKE_CUDA_FAIL=cuMemAlloc:3=2
expect 6 "has no [0-9]+ bytes for .*: [0-9]+ bytes are needed on the GPU, and [0-9]+ of its [0-9]+ are free" \
  FAKE_CUDA_FAIL=cuMemAlloc:4=2
expect 5 "cannot launch a kernel" FAKE_CUDA_FAIL=cuLaunchKernel:2=719
expect 5 "GPU 0 cannot load the kernels of 'base': .*; they are for" FAKE_CUDA_FAIL=cuModuleLoadData:1=209
# Kernels are loaded before a run, when another backend can still be chosen.
expect 6 "cannot build the program: GPU 0 cannot load the kernels of 'reduce': out of memory" FAKE_CUDA_FAIL=cuModuleLoadData:2=2
expect 0 "FALLBACK.*$right" FAKE_CUDA_FAIL=cuModuleLoadData:2=2 -- --fallback cpu
expect 6 "cannot load the kernels of 'random': out of memory.*tensors need [0-9]+ more bytes, and 'cuda:0' has [0-9]+ left" \
  FAKE_CUDA_FAIL=cuModuleLoadData:9=2
# Initial values of parameters are drawn when the device is chosen.
expect 6 "cannot load the kernels of 'random': out of memory" FAKE_CUDA_FAIL=cuModuleLoadData:9=2 -- --fallback cpu
expect 5 "GPU 0 cannot be used" FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain:1=101
expect 5 "cannot finish a run|cannot upload a tensor|cannot download a tensor" FAKE_CUDA_FAIL=cuStreamSynchronize:1=700
expect 0 "FALLBACK.*$right" FAKE_CUDA_DEVICES=0 -- --fallback cpu
expect 0 "FALLBACK.*$right" FAKE_CUDA_CC=7.5 -- --fallback cpu

# chosen BACKEND MESSAGE [VARIABLE=VALUE]... [-- ARGUMENTS]: checks which backend runs if none is
# named, that its digest is right, and what is on standard error, where MESSAGE is a pattern
chosen() {
  local want=$1 message=$2 report code=0 settings=()
  shift 2
  while [[ $# -gt 0 && $1 != -- ]]; do
    settings+=("$1")
    shift
  done
  if [[ $# -gt 0 ]]; then shift; fi
  asked=$((asked + 1))
  report=$(env LD_LIBRARY_PATH="$driver" "${settings[@]}" "$volta" "${run[@]:0:${#run[@]}-1}" --json "$@" 2>"$said") || code=$?
  if [[ $code != 0 || $report != *"\"backend\": \"$want\""* || $report != *"\"digest\": \"$right\""* ||
    ! $(<"$said") =~ ^$message$ ]]; then
    echo "FAILED: not $want without --backend, ${settings[*]-} $*: exit $code, $(<"$said")"
    grep -E '"(backend|digest)"' <<< "$report"
    failed=1
  fi
}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
chosen cuda:0 ""
chosen cuda:0 "" VOLTA_BACKEND=
chosen cuda:0 "" FAKE_CUDA_DEVICES=2
chosen cuda:1 "" FAKE_CUDA_DEVICES=2 VOLTA_BACKEND=cuda:1
chosen reference:0 "" VOLTA_BACKEND=reference
chosen cpu:0 "" VOLTA_BACKEND=reference -- --backend cpu
# Without a GPU the CPU is the choice and no fallback.
chosen cpu:0 "" FAKE_CUDA_DEVICES=0
# A GPU that cannot run the model is reported.
chosen cpu:0 "volta: FALLBACK to cpu:0: .*compute capability 7.5, and kernels need 8.0" FAKE_CUDA_CC=7.5
chosen cpu:0 "volta: FALLBACK to cpu:0: .*cannot load the kernels of 'base'.*" FAKE_CUDA_FAIL=cuModuleLoadData:1=209
chosen cpu:0 "volta: FALLBACK to cpu:0: .*GPU 0 cannot be used.*" FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain:1=101
chosen cpu:0 "volta: FALLBACK to cpu:0: the program needs [0-9]+ bytes.*" FAKE_CUDA_MEMORY=524288

asked=$((asked + 1))
listed=$(LD_LIBRARY_PATH="$driver" FAKE_CUDA_FAIL=cuModuleLoadData:1=209 "$volta" backends)
if ! grep -q "^cuda:0 *unavailable.*no kernel image" <<< "$listed"; then
  echo "FAILED: 'volta backends' does not say that there are no kernels for this GPU: $listed"
  failed=1
fi
# tells PATTERN [VARIABLE=VALUE]...: checks that a line of what `volta doctor` prints matches
# PATTERN.
tells() {
  local pattern=$1 said
  shift
  asked=$((asked + 1))
  said=$(env LD_LIBRARY_PATH="$driver" "$@" "$volta" doctor 2>&1) || true
  if ! grep -qE "$pattern" <<<"$said"; then
    echo "FAILED: 'volta doctor' with $* has no line '$pattern': $said"
    failed=1
  fi
}
tells "^cuda.devices +0 Fake GPU \(9.0, [0-9]+ GiB\)$" FAKE_CUDA_CC=9.0
tells "^cuda.devices +0 Fake GPU \(7.5, [0-9]+ GiB\), too old: kernels need 8.0$" FAKE_CUDA_CC=7.5
tells "^cuda.driver +unavailable: no CUDA device is visible here$" FAKE_CUDA_DEVICES=0
# A missing compiler is no failure: it is reported once and changes no result.
run=(run examples/lstm.vt --bind B=1,T=4 --random-inputs 7 --digest)
right=$("$volta" "${run[@]}" --backend reference)
warned="volta: warning: a group of steps runs step by step: NVRTC does not compile it: [^:]*: error: planted"
expect 0 "^$warned"$'\n'"$right\$" FAKE_NVRTC=refuse
expect 0 "^$right\$" FAKE_NVRTC=compile
run=(run examples/mlp.vt --bind B=3 --random-inputs 7 --digest)
right=$("$volta" "${run[@]}" --backend reference)
# The result of a passed probe is cached for other processes that use the same driver and GPU, in a
# file that no other user can write.
kept=$(mktemp -d)
trap 'rm -rf "$kept" "$said"' EXIT

# trial found|made [VARIABLE=VALUE]...: checks whether declared capabilities are probed again,
# which takes extra launches
trial() {
  local want=$1 said launches seen=made
  shift
  asked=$((asked + 1))
  rm -f "$kept.log"
  said=$(env LD_LIBRARY_PATH="$driver" FAKE_CUDA_LOG="$kept.log" "$@" "$volta" "${run[@]}" --backend cuda \
    --plan-cache "$kept" -v 2>&1) || true
  launches=$(grep -c cuLaunchKernel "$kept.log")
  rm -f "$kept.log"
  if [[ $said == *"trial: found on disk"* && $launches -lt 30 ]]; then seen=found; fi
  if [[ $said != *"$right"* || $seen != "$want" || ($seen == made && $launches -lt 60) ]]; then
    echo "FAILED: a probe is not $want with ${*:-nothing else}, $launches launches: $said"
    failed=1
  fi
}
trial made
trial found
trial made FAKE_CUDA_VERSION=12080
trial found FAKE_CUDA_VERSION=12080
trial made FAKE_CUDA_PROCESSORS=5
trial found
chmod g+w "$kept"/*.trial
trial made
trial found
chmod o+w "$kept"
trial made
chmod o-w "$kept"
trial found
# Another driver library: one without entry points, and a file that is no library.
driver=$(mktemp -d)
trap 'rm -rf "$driver" "$kept" "$said"' EXIT
echo 'int too_old;' | "${CC:-cc}" -shared -fPIC -x c - -o "$driver/libcuda.so.1"
expect 5 "the CUDA driver is older than 12.0"
expect 0 "FALLBACK.*$right" -- --fallback cpu
chosen cpu:0 ""
echo "not a library" > "$driver/libcuda.so.1"
expect 5 "there is no CUDA driver here: .*libcuda.so.1"
chosen cpu:0 ""
echo "$asked commands, failed: $failed"
exit $failed
