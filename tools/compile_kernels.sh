#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_kernels.sh NVCC ARCH SOURCE.cu OUT FLAGS... - compiles the kernels of one file for one architecture. Paths
# are absolute. It writes OUT.cubin, OUT.d with the headers that were read, and for the audit OUT.ptx, and OUT.usage
# with each kernel's registers and spills.
# All build folders of one source tree share their compiled kernels, so that nvcc runs only for what changed:
# build-kernels/ stores them under a hash of the compiler, the flags and the content of every file that was read.
# VOLTA_KERNELS names another folder; if it is empty, nothing is stored.
set -euo pipefail
nvcc=$1 arch=$2 source=$3 out=$4
shift 4
root=$(cd "$(dirname "$0")/.." && pwd)
kept=${VOLTA_KERNELS-$root/build-kernels}
name=$(basename "$source" .cu).$arch

compile() {
  "$nvcc" "$@" -arch="compute_$arch" -ptx "$source" -o "$out.ptx" -MD -MF "$out.d" -MT "$out.cubin"
  if ! "$nvcc" "$@" -arch="sm_$arch" -cubin "$out.ptx" -o "$out.cubin" -Xptxas -v >"$out.usage" 2>&1; then
    cat "$out.usage" >&2
    exit 1
  fi
}
# Prints the files of the source tree that a depfile names. The compiler's version stands for the toolkit's headers.
read_files() { sed '1s/^[^:]*://' "$1" | tr ' \\' '\n\n' | grep "^$root/" | sort -u; }
# key DEPFILE FLAGS...: prints the hash; fails if a file no longer exists.
key() {
  local files
  mapfile -t files < <(read_files "$1")
  shift
  { "$nvcc" --version && echo "$arch" "${@//"$root"/}" && sha256sum -- "${files[@]#"$root"/}"; } |
    sha256sum | cut -c1-32
}

if [[ -z $kept ]]; then
  compile "$@"
  exit 0
fi
cd "$root"
last=$kept/$name.d # the depfile of the last compilation
if [[ -e $last ]] && found=$(key "$last" "$@" 2>/dev/null) && [[ -d $kept/$name.$found ]]; then
  for part in cubin ptx usage; do cp "$kept/$name.$found/$part" "$out.$part"; done
  sed "1s|^[^:]*:|$out.cubin:|" "$last" >"$out.d"
  exit 0
fi
compile "$@"
mkdir -p "$kept"
made=$(mktemp -d "$kept/.new-XXXXXX") # renamed below, so that a folder is complete or absent
for part in cubin ptx usage; do cp "$out.$part" "$made/$part"; done
found=$(key "$out.d" "$@")
rm -rf "$kept/$name".????????????????????????????????
mv -T "$made" "$kept/$name.$found" 2>/dev/null || rm -rf "$made" # another build stored it first
cp "$out.d" "$last.$$" && mv "$last.$$" "$last"
