#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the first thing a reader sees: one model, written as text, run by the reference and by the
# cpu backend with one thread and with two, and the same bits from all of them and from everybody
# else. The last line says so; where it does not, the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

volta=build/volta
model=examples/tiny_transformer.vt
"$volta" --version
echo
echo "The model, $model, without its comments:"
sed '/^ *#/d; /^$/d; s/^/    /' "$model"
echo
echo "Its weights from seed 0 and its inputs from seed 7, by the reference and by vectors in threads:"
"$volta" parity "$model" --bind B=2,T=16 --random-inputs 7 --backends reference,cpu --threads 1,2 \
  --published examples/published.digests
