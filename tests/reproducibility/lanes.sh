#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lanes.sh VOLTA PROGRAM - a check of this folder on the cpu backend: in short form with avx2 and 3
# threads; with VOLTA_TEST_FULL on every instruction set that this processor has, avx2 with 1 thread
# too, and on the other device of the reference. What the processor lacks is skipped and said, or fails
# where VOLTA_REQUIRE names it.
set -euo pipefail
volta=${1:?usage: lanes.sh VOLTA PROGRAM} program=${2:?usage: lanes.sh VOLTA PROGRAM}
root=$(cd "$(dirname "$0")/../.." && pwd)
isas=(avx2) status=0
if [[ -n ${VOLTA_TEST_FULL-} ]]; then
  isas=(scalar sse2 avx2 avx512)
  "$program" "$root" reference:1 || status=1
fi
for isa in "${isas[@]}"; do
  if [[ $(VOLTA_ISA=$isa "$volta" backends cpu) != *" available "* ]]; then
    if [[ ,${VOLTA_REQUIRE-}, == *,$isa,* ]]; then
      echo "FAILED: no $isa here, and VOLTA_REQUIRE names it"
      status=1
    else
      echo "SKIPPED: no $isa here"
      if [[ $status == 0 ]]; then status=77; fi
    fi
    continue
  fi
  "$program" "$root" cpu "$isa" 3 || status=1
  if [[ $isa == avx2 && -n ${VOLTA_TEST_FULL-} ]]; then "$program" "$root" cpu "$isa" 1 || status=1; fi
done
exit $status
