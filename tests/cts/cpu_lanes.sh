#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_lanes.sh CTS - runs the conformance suite on the cpu backend, whose bits must depend neither on
# the instruction set nor on the number of threads. The short form runs avx2 with 1 and 3 threads and
# scalar with 1. With VOLTA_TEST_FULL every case runs on every instruction set with 1, 2, 3 and 7
# threads. Both also run with fused groups. Instruction sets that the processor lacks are skipped with
# a message, or fail if VOLTA_REQUIRE names them.
set -euo pipefail
cts=${1:?usage: cpu_lanes.sh CTS}
cd "$(dirname "$0")/../.."
status=0

# lanes ISAS THREADS [OPTION...]: runs the suite and keeps the worst exit code in `status`.
lanes() {
  local isas=$1 threads=$2 code=0
  shift 2
  "$cts" --backend cpu --isa "$isas" --threads "$threads" --jobs 2 "$@" || code=$?
  if [[ $code == 77 && $status == 0 ]]; then status=77; fi
  if [[ $code != 77 && $code != 0 ]]; then status=$code; fi
}

if [[ -n ${VOLTA_TEST_FULL-} ]]; then
  lanes scalar,sse2,avx2,avx512 1,2,3,7
  lanes scalar,avx2,avx512 1,3 --fused
else
  lanes avx2 1,3 --short
  lanes scalar 1 --short
  lanes avx2 3 --short --fused
fi
exit $status
