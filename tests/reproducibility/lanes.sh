#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lanes.sh VOLTA PROGRAM - runs PROGRAM, a check of this folder, on the cpu backend with avx2 and 3
# threads. With VOLTA_TEST_FULL it runs the long form of that, and the short form on reference:1, with
# every instruction set of this processor, and with 1 thread. Instruction sets that the processor lacks
# are skipped with a message, or fail if VOLTA_REQUIRE names them.
set -euo pipefail
volta=${1:?usage: lanes.sh VOLTA PROGRAM} program=${2:?usage: lanes.sh VOLTA PROGRAM}
root=$(cd "$(dirname "$0")/../.." && pwd)
status=0

# run_on ISA THREADS [NAME=VALUE]: runs the check on the cpu backend, with this variable in its environment.
run_on() {
  if [[ $(VOLTA_ISA=$1 "$volta" backends cpu) != *" available "* ]]; then
    if [[ ,${VOLTA_REQUIRE-}, == *,$1,* ]]; then
      echo "FAILED: this processor has no $1, and VOLTA_REQUIRE names it"
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
  run_on avx2 3
  exit $status
fi
unset VOLTA_TEST_FULL
"$program" "$root" reference:1 || status=1
run_on scalar 3
run_on sse2 3
run_on avx512 3
run_on avx2 1
run_on avx2 3 VOLTA_TEST_FULL=1
exit $status
