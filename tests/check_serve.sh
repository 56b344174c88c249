#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_serve.sh VOLTA SERVE - tests that the threads of examples/serve.c, which share weights, get the digests that
# the command prints for each length alone.
set -euo pipefail
volta=$(realpath "$1") serve=$(realpath "$2")
model=$(realpath "$(dirname "$0")/../examples/tiny_transformer.vt")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
failed=0
"$volta" run "$model" -q --backend cpu --bind B=1,T=1 --random-inputs 1 --seed 3 --save-params "$temporary/w.safetensors"
for backend in reference cpu island:1; do
  "$serve" "$model" "$temporary/w.safetensors" "$backend" >"$temporary/answers"
  for length in 5 9 13 17; do
    digest=$("$volta" run "$model" -q --backend reference --params "$temporary/w.safetensors" --bind "B=1,T=$length" \
      --random-inputs 7 --digest)
    grep -qx "$digest  length $length" "$temporary/answers" || {
      echo "FAILED: $backend, length $length: $digest is not among these answers:"
      cat "$temporary/answers"
      failed=1
    }
  done
done
if "$serve" "$model" "$temporary/missing.safetensors" cpu >"$temporary/answers" 2>"$temporary/error"; then
  echo "FAILED: a missing file of weights is not an error"
  failed=1
fi
grep -q "^error: " "$temporary/error" || failed=1
exit $failed
