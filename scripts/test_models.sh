#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_models.sh - runs published models with their published weights (tests/models). Each test downloads its weights
# once, checks their hash and keeps them in VOLTA_MODELS, by default build-models/. The program must have been built.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(scripts/python.sh numpy) || { echo "test_models.sh: no Python here has NumPy" >&2; exit 1; }
failed=()
for test in tests/models/*.py; do
  [[ $test == */fetch.py ]] && continue
  echo "== $test"
  "$python" -B "$test" build/volta || failed+=("$test")
done
if [[ ${#failed[@]} != 0 ]]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
echo "all models: ok"
