#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--build] [--fault NAME] [ARGUMENT]... - builds build/dev/functions_device and runs it:
# the numerics on the device (device_check.c), every function on all 2^32 inputs. --build stops
# after building. Exit 77 without nvcc or without a device. VOLTA_ARCHS names the architectures
# (default: 75 80 86 89 90). libsodium and the CUDA runtime are linked statically, so that the
# program runs on another machine with a driver. VOLTA_BUILD names another folder than build/ for
# the program.
#   --fault NAME   plants one fault in the source that the device gets, but not in the CPU's, builds
#                  build/dev/functions_device_NAME and runs it with --texts; it must find the fault.
#                  --fault all: one after the other; exit 0 if each was found.
set -euo pipefail
cd "$(dirname "$0")/../.."

# name:file:sed command for the copy of src/num from which the kernels are compiled
faults=(
  'sum:sum.inc:s/s\[l\] \+ s\[l \+ h\]/s[l + h] + s[h - 1 - l]/'
  'dot:vt_dot.h:s/VT_DOT_GROUP = 8/VT_DOT_GROUP = 4/'
  'fma:fma.inc:s/(vt_sel_w\(far, high, low\)) \| sticky/\1/'
  'fma32:fma.inc:s/return vt_s_narrow\(vt_of_bits\(.*/return vt_s_narrow(s);/'
  'cast:vt_core.h:s/(odd = m >> by) & 1/\1 \& 0/'
  'philox:philox.inc:s/round < 10/round < 9/'
  'normal:philox.inc:s/\(even_word >> 8\) \+ 1/even_word >> 8/'
  'order:order.inc:s/vt_u_num\(UINT32_MAX\)/vt_u_num(0)/'
  'integer:integer.inc:s/vt_i_mul\(a, b\), a/vt_int(0), a/'
  'canonical:canonical.inc:s/(VT_INF_BF16\), u) & 0x7fffu/\1/'
)

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [[ -z $nvcc ]]; then
  echo "SKIPPED: no nvcc here"
  exit 77
fi
build=no fault=
while [[ ${1-} == --build || ${1-} == --fault ]]; do
  if [[ $1 == --build ]]; then build=yes; else fault=${2?a fault is named} && shift; fi
  shift
done
out=${VOLTA_BUILD:-build}/dev objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
mkdir -p "$out"
archs=()
for arch in ${VOLTA_ARCHS:-75 80 86 89 90}; do archs+=(-gencode "arch=compute_$arch,code=sm_$arch"); done

# kernels UNIT FOLDER: compiles tests/device/UNIT_device.cu with the numerics in FOLDER
kernels() {
  "$nvcc" -std=c++17 -O3 -fmad=false "${archs[@]}" "-I$2" -Itests/device \
    -c "tests/device/$1_device.cu" -o "$objects/$1_device.o"
}

# host: compiles the host's part: the hash, the floating-point environment and the numerics for the
# CPU.
host() {
  local source name flags
  mkdir -p "$objects/include/volta"
  ${CC:-cc} -Isrc/op tools/gen_ops.c -o "$objects/gen_ops"
  "$objects/gen_ops" header >"$objects/include/volta/volta_ops.h"
  for source in tests/device/device_*.c tests/device/texts_check.c src/base/hash.c src/base/fpenv.c src/base/cpu.c src/num/*.c; do
    name=$(basename "$source" .c) flags=()
    if [[ $name == *_test ]]; then continue; fi
    if [[ $name == dot_fma && $(uname -m) == x86_64 ]]; then flags=(-mavx2 -mfma); fi
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra \
      "${flags[@]}" -Isrc/num -Isrc/base -Iinclude -Iinclude/volta "-I$objects/include" -Itests/device \
      -c "$source" -o "$objects/$name.o"
  done
}

# linked NAME: links the objects into the program build/dev/NAME
linked() {
  local sodium
  sodium=$(ls /usr/lib/*/libsodium.a /usr/lib/libsodium.a 2>/dev/null | head -n 1 || true)
  "$nvcc" -cudart static -Xcompiler -static-libstdc++,-static-libgcc "$objects"/*.o "${sodium:--lsodium}" \
    -lpthread -o "$out/$1"
}

host
kernels functions src/num
if [[ -z $fault ]]; then
  kernels texts src/num
  linked functions_device
  if [[ $build == yes ]]; then
    echo "built $out/functions_device"
    exit 0
  fi
  exec "$out/functions_device" "$@"
fi

# ---- faults ----

missed=0 found=0
for row in "${faults[@]}"; do
  IFS=: read -r name file change <<<"$row"
  if [[ $fault != all && $fault != "$name" ]]; then continue; fi
  rm -rf "$objects/num"
  cp -r src/num "$objects/num"
  sed -E -i "$change" "$objects/num/$file"
  if cmp -s "src/num/$file" "$objects/num/$file"; then
    echo "src/num/$file has no place for the fault $name"
    exit 1
  fi
  kernels texts "$objects/num"
  linked "functions_device_$name"
  if [[ $build == yes ]]; then
    echo "built $out/functions_device_$name"
    continue
  fi
  status=0
  "$out/functions_device_$name" --texts >"$objects/said" || status=$?
  if [[ $status == 77 ]]; then
    cat "$objects/said"
    exit 77
  fi
  if [[ $status == 1 ]] && grep -q '^DIFFERENT' "$objects/said"; then
    found=$((found + 1))
    echo "fault $name found:" $(awk '/ differ / && $0 !~ / 0 differ / { sub(/ +[0-9]+ results.*/, ""); print $0 ";" }' "$objects/said")
  else
    missed=1
    echo "fault $name NOT found"
  fi
done
if [[ $build == yes ]]; then exit 0; fi
if [[ $missed != 0 || $found == 0 ]]; then exit 1; fi
echo "$found faults found"
