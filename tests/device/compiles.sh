#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compiles.sh [ARCH]... - the numerics compile as device code for each architecture (default: 75 80
# 86 89 90). Every function and text has its kernels, and none of them has a contracted,
# approximate or flushing operation. Exit 77 without nvcc.
set -euo pipefail
cd "$(dirname "$0")/../.."
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [[ -z $nvcc ]]; then
  echo "SKIPPED: no nvcc here"
  exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [[ $# -eq 0 ]]; then set -- 75 80 86 89 90; fi
flags=(-std=c++17 -O3 -fmad=false -Werror all-warnings -Isrc/num -Itests/device)

# Checks the PTX, before the assembler expands division and square root. Functions may have fused
# operations in their quick phases only, and in f32 only. Among the texts, the summation order D
# and the primitive fma may have them.
for unit in functions texts; do
  "$nvcc" "${flags[@]}" -arch="compute_$1" -ptx "tests/device/${unit}_device.cu" -o "$out/$unit.ptx"
done
python3 -B tools/check_ptx.py --fused '=functions' "$out/functions.ptx"
python3 -B tools/check_ptx.py --fused 'fma_word|dot_f=wide' "$out/texts.ptx"

# kernels_of UNIT WANTED: checks that the PTX of UNIT has WANTED kernels
kernels=0
kernels_of() {
  local here
  here=$(grep -cE '^\.(visible|weak) \.entry|^\.entry' "$out/$1.ptx")
  if [[ $here -ne $2 ]]; then
    echo "$1_device.cu: $here kernels, and not $2"
    exit 1
  fi
  kernels=$((kernels + here))
}
ways=$(($(grep -c '^VT_FUNCTION(' src/num/functions.def) + $(grep -c '^VT_FF_FUNCTION(' src/num/ff_functions.def)))
kernels_of functions $((2 * ways + 1))                          # plus pow
kernels_of texts $(($(grep -c '^VT_TEXT(' src/num/texts.def) + 8)) # plus casts, random numbers, S, D

gencode=()
for arch in "$@"; do gencode+=(-gencode "arch=compute_$arch,code=sm_$arch"); done
for unit in functions texts; do
  "$nvcc" "${flags[@]}" "${gencode[@]}" -fatbin "tests/device/${unit}_device.cu" -o "$out/$unit.fatbin"
done
echo "$kernels kernels compiled for $*"
