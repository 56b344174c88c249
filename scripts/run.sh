#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the first thing a reader sees: one model on every backend, and the same bits.
set -euo pipefail
cd "$(dirname "$0")/.."

build/volta parity examples/tiny_transformer.vt --bind B=2,T=16 --random-inputs 7 --published
