#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admit_check.sh VOLTA BACKEND... - tests that each backend passes the short form of admission. With
# VOLTA_TEST_FULL it also passes the full form twice, and both certificates must have the same bytes.
set -euo pipefail
volta=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for backend in "$@"; do
  "$volta" admit "$backend" --short --jobs 2 >said || { cat said && exit 1; }
  grep -q "^PASSED: $backend (short form" said || { cat said && exit 1; }
  if [[ -e volta-refusal-$backend ]]; then echo "$backend passed, but there is a reproducer" && exit 1; fi
  if [[ -z ${VOLTA_TEST_FULL:-} ]]; then continue; fi
  for n in 1 2; do
    "$volta" admit "$backend" --jobs $n -o "$n.json" >said || { cat said && exit 1; }
    grep -q "^ADMITTED: $backend" said || { cat said && exit 1; }
  done
  cmp 1.json 2.json
done
echo "admitted: $*"
