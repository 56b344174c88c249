#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gemm_bench.sh [FOLDER [few]] - builds gemm_bench.cu in FOLDER (default: a temporary one) with
# nvcc and runs it. With `few` it times skinny products only.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$(mktemp -d)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
room=$root/src/back/cuda
mkdir -p "$out/volta"
cc -I"$root/src/op" "$root/tools/gen_ops.c" -o "$out/gen_ops"
"$out/gen_ops" >"$out/volta/volta_ops.h"
includes=(-I"$here" -I"$room" -I"$root/src/num" -I"$root/src/base" -I"$root/src/op" -I"$root/src/emit"
  -I"$root/include" -I"$root/include/volta" -I"$out" -I"$out/volta")
for source in "$here/gemm_variants.c" "$room/cuda_gemm.c" "$room/cuda_copy.c" "$room/cuda_walk.c"; do
  cc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 "${includes[@]}" -c "$source" -o "$out/$(basename "$source" .c).o"
done
options=$(sed -n 's/.*VT_CUDA_OPTIONS "\([^"]*\)".*/\1/p' "$room/cuda_options.h")
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -O3 $options -arch="${ARCH:-sm_90}" "${includes[@]}" -o "$out/gemm_bench" \
  "$here/gemm_bench.cu" "$out"/{gemm_variants,cuda_gemm,cuda_copy,cuda_walk}.o -lcublas
"$out/gemm_bench" "${@:2}"
