#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compiles.sh [ARCH]... - the functions compile as device code for each architecture (default: 75 80 86 89
# 90); every function has its kernels, and none has a contracted, approximate or flushing operation.
# Exit 77 without nvcc.
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

# What the text says, before an assembler expands division and root: the only fused operation is f32's,
# which the short ways ask for by name.
"$nvcc" "${flags[@]}" -arch="compute_$1" -ptx tests/device/functions_device.cu -o "$out/functions.ptx"
forbidden='fma\.[a-z.]*f64|mad\.[a-z.]*f(32|64)|\.approx|\.ftz|\.full\.f32'
if grep -nE "$forbidden" "$out/functions.ptx" >"$out/found"; then
  head -n 5 "$out/found"
  echo "operations that the numerics do not allow: $(wc -l <"$out/found")"
  exit 1
fi
kernels=$(grep -cE '^\.(visible|weak) \.entry|^\.entry' "$out/functions.ptx")
ways=$(($(grep -c '^VT_FUNCTION(' src/num/functions.def) + $(grep -c '^VT_SHORT(' src/num/shorts.def)))
if [[ $kernels -ne $((2 * ways + 1)) ]]; then
  echo "$kernels kernels for $ways ways and pow"
  exit 1
fi

gencode=()
for arch in "$@"; do gencode+=(-gencode "arch=compute_$arch,code=sm_$arch"); done
"$nvcc" "${flags[@]}" "${gencode[@]}" -fatbin tests/device/functions_device.cu -o "$out/functions.fatbin"
echo "$kernels kernels compiled for $*"
