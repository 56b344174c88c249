#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu_lanes.sh CTS - the conformance suite on the cpu backend, whose bits may depend neither on the
# instruction set nor on the number of threads. In short form avx2 with threads 1 and 3 and scalar
# with 1; with VOLTA_TEST_FULL every case, every instruction set, threads 1, 2, 3 and 7. Both with
# groups run as one too.
# What the processor lacks is skipped and said, or fails where VOLTA_REQUIRE names it.
set -euo pipefail
cts=${1:?usage: cpu_lanes.sh CTS}
cd "$(dirname "$0")/../.."
status=0

# lanes ISAS THREADS [more]
lanes() {
  local isas=$1 threads=$2 said=0
  shift 2
  "$cts" --backend cpu --isa "$isas" --threads "$threads" --jobs 2 "$@" || said=$?
  if [[ $said == 77 && $status == 0 ]]; then status=77; fi
  if [[ $said != 77 && $said != 0 ]]; then status=$said; fi
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
