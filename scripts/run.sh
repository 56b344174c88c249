#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the first thing a reader sees: one model, written as text, run on every backend of this
# machine, and the same bits from all of them and from everybody else.
set -euo pipefail
cd "$(dirname "$0")/.."

volta=build/volta
model=examples/tiny_transformer.vt
"$volta" --version
echo
echo "The model, $model, without its comments:"
sed '/^ *#/d; /^$/d; s/^/    /' "$model"
echo
echo "Its weights from seed 0 and its inputs from seed 7, on every backend here:"
"$volta" parity "$model" --bind B=2,T=16 --random-inputs 7 --published examples/published.digests
