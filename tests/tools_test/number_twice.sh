#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# number_twice.sh [CC] - a number that two operations have fails the build: gen_ops refuses the
# table, says which two, and accepts the table as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=${1:-cc}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cp src/op/*.def "$temporary"

"$compiler" -std=c11 -I "$temporary" tools/gen_ops.c -o "$temporary/plain"
"$temporary/plain" order | grep -q 'VT_ROW(literal)'

sed 's/^VT_OP(relu, [0-9]*,/VT_OP(relu, 14,/' src/op/ops_activation.def >"$temporary/ops_activation.def"
"$compiler" -std=c11 -I "$temporary" tools/gen_ops.c -o "$temporary/twice"
if "$temporary/twice" header >/dev/null 2>"$temporary/said"; then
  echo "FAILED: two operations with the number 14 were accepted"
  exit 1
fi
grep -q "'add' and 'relu' both have the number 14\|'relu' and 'add' both have the number 14" "$temporary/said"
