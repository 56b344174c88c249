#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_kernels.sh NVCC ARCH SOURCE.cu OUT FLAGS... - the kernels of one file for one architecture: OUT.cubin, and
# what the audit reads: OUT.ptx, and OUT.usage with the registers and spills of each. OUT.d names
# the headers.
set -euo pipefail
nvcc=$1 arch=$2 source=$3 out=$4
shift 4
"$nvcc" "$@" -arch="compute_$arch" -ptx "$source" -o "$out.ptx" -MD -MF "$out.d" -MT "$out.cubin"
if ! "$nvcc" "$@" -arch="sm_$arch" -cubin "$out.ptx" -o "$out.cubin" -Xptxas -v >"$out.usage" 2>&1; then
  cat "$out.usage" >&2
  exit 1
fi
