#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the first thing a reader sees: one model, written as text, run by the reference, by the cpu
# backend with one thread and with two and, where there is one, by a GPU, and the same bits from all of
# them and from everybody else. The last line says so; where it does not, the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

volta=build/volta
model=examples/tiny_transformer.vt
"$volta" --version
echo
echo "The model, $model, without its comments:"
sed '/^ *#/d; /^$/d; s/^/    /' "$model"
echo
backends=reference,cpu by="the reference and by vectors in threads"
if [[ $("$volta" backends cuda 2>/dev/null) == *" available "* ]]; then
  backends+=,cuda by="the reference, by vectors in threads and by the GPU"
fi
echo "Its weights from seed 0 and its inputs from seed 7, by $by:"
"$volta" parity "$model" --bind B=2,T=16 --random-inputs 7 --backends "$backends" --threads 1,2 \
  --published examples/published.digests
