#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gen_ops_refuses.sh [CC] - tests that gen_ops, and so the build, fails on a faulty op table: two ops
# with the same number, a stale src/emit/maps.def, or a formula for types that gen_ops does not know.
# It must accept the real table.
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=${1:-cc}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# build_with TABLE SED: builds gen_ops from a copy of the op tables in which SED has changed TABLE.
build_with() {
  cp src/op/*.def "$temporary"
  sed "$2" "src/op/$1" >"$temporary/$1"
  "$compiler" -std=c11 -I "$temporary" tools/gen_ops.c -o "$temporary/gen_ops"
}
# refuses WORDS ARGUMENT...: gen_ops must fail with a message that has these words.
refuses() {
  local words=$1
  shift
  if "$temporary/gen_ops" "$@" >/dev/null 2>"$temporary/said"; then
    echo "FAILED: gen_ops $*: accepted, expected: $words"
    exit 1
  fi
  grep -q "$words" "$temporary/said"
}

build_with ops.def ''
"$temporary/gen_ops" order | grep -q 'VT_ROW(literal)'
"$temporary/gen_ops" maps src/emit/maps.def

build_with ops_activation.def 's/^VT_OP(relu, [0-9]*,/VT_OP(relu, 14,/'
refuses "'add' and 'relu' both have the number 14\|'relu' and 'add' both have the number 14" header

build_with ops_activation.def '/^VT_OP(mish,/{n;s/pointwise/formula(900)/}'
refuses 'src/emit/maps.def is not what the op table says' maps src/emit/maps.def
"$temporary/gen_ops" maps | grep -q '^VT_MAP(mish,       1, same,  f32,   no,      no,    900)'

build_with ops_elementwise.def '/^VT_OP(cast,/{n;s/pointwise/formula(900)/}'
refuses "'cast' has a formula, and gen_ops.c does not know which types 'check_any' stands for" maps
