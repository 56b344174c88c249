#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the demonstration behind `make run`. It prints a model and runs it on the reference, on the
# cpu backend with one and with two threads, and on a GPU if there is one. All must give the bits of the
# published digest. The last line says whether they do; if not, the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

volta=build/volta
model=examples/tiny_transformer.vt
"$volta" --version
echo
echo "The model, $model, without its comments:"
sed '/^ *#/d; /^$/d; s/^/    /' "$model"
echo
backends=reference,cpu on="the reference and the cpu backend"
if [[ $("$volta" backends cuda 2>/dev/null) == *" available "* ]]; then
  backends+=,cuda on="the reference, the cpu backend and the GPU"
fi
echo "With weights from seed 0 and inputs from seed 7, on $on:"
"$volta" parity "$model" --bind B=2,T=16 --random-inputs 7 --backends "$backends" --threads 1,2 \
  --published examples/published.digests
