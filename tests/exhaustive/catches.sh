#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# catches.sh BINARY - the exhaustive checker passes a right slice and finds one planted bit.
set -euo pipefail
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
"$1" --func log --slices 63..63 --jobs 1 --state "$state/right" 2>/dev/null | grep -q ' 16777216 inputs, 0 mismatches'
if "$1" --func log --slices 63..63 --jobs 1 --state "$state/wrong" --plant >"$state/out" 2>/dev/null; then
  echo "a planted wrong result was not found"
  exit 1
fi
grep -q ' 1 mismatches' "$state/out"
echo "one planted bit in 2^24 results was found"
