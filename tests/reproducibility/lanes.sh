#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lanes.sh VOLTA PROGRAM - a check of this folder on the cpu backend, with avx2 and 3 threads. With
# VOLTA_TEST_FULL the long form of that, and the short form on the other device of the reference, on
# every instruction set that this processor has, and with 1 thread. What the processor lacks is
# skipped and said, or fails where VOLTA_REQUIRE names it.
set -euo pipefail
volta=${1:?usage: lanes.sh VOLTA PROGRAM} program=${2:?usage: lanes.sh VOLTA PROGRAM}
root=$(cd "$(dirname "$0")/../.." && pwd)
status=0

# on ISA THREADS [NAME=VALUE]: one run of the check on the cpu backend, with that in its environment.
on() {
  if [[ $(VOLTA_ISA=$1 "$volta" backends cpu) != *" available "* ]]; then
    if [[ ,${VOLTA_REQUIRE-}, == *,$1,* ]]; then
      echo "FAILED: no $1 here, and VOLTA_REQUIRE names it"
      status=1
    else
      echo "SKIPPED: no $1 here"
      if [[ $status == 0 ]]; then status=77; fi
    fi
    return
  fi
  env "${@:3}" "$program" "$root" cpu "$1" "$2" || status=1
}

if [[ -z ${VOLTA_TEST_FULL-} ]]; then
  on avx2 3
  exit $status
fi
unset VOLTA_TEST_FULL
"$program" "$root" reference:1 || status=1
on scalar 3
on sse2 3
on avx512 3
on avx2 1
on avx2 3 VOLTA_TEST_FULL=1
exit $status
