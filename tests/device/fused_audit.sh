#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fused_audit.sh FUSED_PTX ARCH... - every formula as it is compiled while a program is built: the operations that
# the audit allows, and no others.
set -eu
program=$1
shift
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for arch in "$@"; do
  "$program" "$out" "$arch"
  python3 -B tools/check_ptx.py --fused '^functions=functions' --fused '^contraction=contraction' --fused '^wide=wide' "$out"/*.ptx
done
