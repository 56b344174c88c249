#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the first thing a reader sees: one model, written as text, run on every backend of this
# machine, and the same bits from all of them and from everybody else.
set -euo pipefail
cd "$(dirname "$0")/.."

volta=build/volta
"$volta" --version
echo
echo "A transformer of 30 lines: examples/tiny_transformer.vt"
"$volta" info examples/tiny_transformer.vt --bind B=2,T=16 | sed -n '1,12p'
echo
echo "The same weights and inputs on every backend here, and the digest that was published:"
"$volta" parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 \
  --published examples/published.digests
