#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_kernels.sh IMAGE NVCC ARGUMENTS... - one .cu file into IMAGE (NAME.fatbin). Beside it stay what the
# audit reads: its PTX for each architecture (NAME.ptx/) and the registers and spills of each kernel
# (NAME.usage). An error shows what nvcc said.
set -euo pipefail
image=$1
shift
name=${image%.fatbin}
rm -rf "$name.ptx" "$name.keep"
mkdir -p "$name.keep"
if ! "$@" -fatbin -o "$image" --keep --keep-dir "$name.keep" -Xptxas -v >"$name.said" 2>&1; then
  cat "$name.said" >&2
  rm -rf "$name.keep" "$image"
  exit 1
fi
mv "$name.said" "$name.usage"
mkdir "$name.ptx"
mv "$name.keep"/*.ptx "$name.ptx"
rm -rf "$name.keep" # the rest is large
