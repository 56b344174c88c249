#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cuda_lanes.sh CTS DRIVER ROWS - the conformance suite on the cuda backend behind the driver in the folder
# DRIVER, which runs kernels on this processor (tests/fake_cuda): the threads of a block forwards and
# backwards, and work that is done only when it is waited for. In short form; with VOLTA_TEST_FULL every
# case, and shuffled threads too, and rows (the test ROWS) on cards that have less shared memory, many
# processors, or no blocks that may wait for each other.
set -euo pipefail
cts=${1:?usage: cuda_lanes.sh CTS DRIVER ROWS}
export LD_LIBRARY_PATH=${2:?usage: cuda_lanes.sh CTS DRIVER ROWS}
rows=$(realpath "${3:?usage: cuda_lanes.sh CTS DRIVER ROWS}")
cd "$(dirname "$0")/../.."

# lane ORDER STREAMS
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
