#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--build] [ARGUMENT]... - builds build/dev/functions_device and runs it: every function on all
# 2^32 inputs on the device (device_check.c). --build stops after building. Exit 77 without nvcc or
# without a device. VOLTA_ARCHS names the architectures (default: 75 80 86 89 90). libsodium and the CUDA
# runtime are linked statically, so that the program runs on another machine with a driver.
set -euo pipefail
cd "$(dirname "$0")/../.."
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [[ -z $nvcc ]]; then
  echo "SKIPPED: no nvcc here"
  exit 77
fi
out=build/dev objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
mkdir -p "$out"

archs=()
for arch in ${VOLTA_ARCHS:-75 80 86 89 90}; do archs+=(-gencode "arch=compute_$arch,code=sm_$arch"); done
"$nvcc" -std=c++17 -O3 -fmad=false "${archs[@]}" -Isrc/num -Itests/device \
  -c tests/device/functions_device.cu -o "$objects/kernels.o"

# The host's half: the hash, the floating-point environment and the functions of this processor.
sources=(tests/device/device_check.c src/base/hash.c src/base/fpenv.c src/num/functions.c src/num/order.c)
for source in "${sources[@]}"; do
  ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra \
    -Isrc/num -Isrc/base -Iinclude -Iinclude/volta -Itests/device \
    -c "$source" -o "$objects/$(basename "$source" .c).o"
done
sodium=$(ls /usr/lib/*/libsodium.a /usr/lib/libsodium.a 2>/dev/null | head -n 1 || true)
"$nvcc" -cudart static -Xcompiler -static-libstdc++,-static-libgcc "$objects"/*.o "${sodium:--lsodium}" \
  -lpthread -o "$out/functions_device"

if [[ ${1-} == --build ]]; then
  echo "built $out/functions_device"
  exit 0
fi
exec "$out/functions_device" "$@"
