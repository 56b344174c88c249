#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fused_audit.sh FUSED_PTX ARCH... - every formula as it is compiled while a program is built: the operations that
# the audit allows, and no others. Without VOLTA_TEST_FULL for the last architecture alone.
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
