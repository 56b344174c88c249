#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda_lanes.sh CTS DRIVER ROWS - runs the conformance suite on the cuda backend with the emulated driver
# (tests/fake_cuda) in the folder DRIVER. The emulator runs the threads of a block forwards or backwards,
# and work of streams at once or as late as possible. With VOLTA_TEST_FULL every case runs, also with
# threads in shuffled order, and the program ROWS runs on emulated cards with less shared memory, with
# many processors, or whose blocks cannot wait for each other.
set -euo pipefail
cts=${1:?usage: cuda_lanes.sh CTS DRIVER ROWS}
export LD_LIBRARY_PATH=${2:?usage: cuda_lanes.sh CTS DRIVER ROWS}
rows=$(realpath "${3:?usage: cuda_lanes.sh CTS DRIVER ROWS}")
cd "$(dirname "$0")/../.."

# lane ORDER STREAMS: runs the suite with threads in this order and streams that work late or at_once.
lane() {
  echo "threads $1, streams $2:"
  FAKE_CUDA_ORDER=$1 FAKE_CUDA_STREAMS=$2 "$cts" --backend cuda --jobs 2 --short=env
}
lane forward late
lane reverse at_once
if [[ -z ${VOLTA_TEST_FULL-} ]]; then exit 0; fi
lane shuffle at_once
for card in FAKE_CUDA_SHARED=101376 FAKE_CUDA_PROCESSORS=132 FAKE_CUDA_AT_ONCE=0; do
  env "$card" "$rows"
  echo "rows with $card: right"
done
