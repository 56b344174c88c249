#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fused_audit.sh FUSED_PTX ARCH... - checks that the generated kernels of all formulas have only
# operations that the audit allows. Without VOLTA_TEST_FULL it checks the last architecture only.
set -eu
program=$1
shift
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ -z "${VOLTA_TEST_FULL-}" ]; then shift $(($# - 1)); fi
for arch in "$@"; do
  "$program" "$out" "$arch"
  python3 -B tools/check_ptx.py --fused '^functions=functions' --fused '^contraction=contraction' --fused '^wide=wide' "$out"/*.ptx
done
