#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_installed.sh BUILD - tests that an installed Volta works without the tree and can be removed.
# It installs BUILD into temporary folders, with and without DESTDIR. Outside of the tree it builds
# examples/run_model.c through pkg-config and CMake with the shared and the static library. These
# programs and the installed command must give a published digest. It builds, runs and admits the
# example plug-in, compiles the headers as C++, and repeats a run after moving the installation.
# Uninstalling must remove every file.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
VOLTA_BUILD=$(realpath "${1:?usage: check_installed.sh BUILD}")
export VOLTA_BUILD
unset DESTDIR PREFIX LD_LIBRARY_PATH MAKEFLAGS MAKELEVEL CFLAGS LDFLAGS

for tool in make cmake pkg-config cc; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: no $tool here"
    exit 77
  fi
done
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
outside=$(realpath "$(mktemp -d)")
trap 'rm -rf "$outside"' EXIT

model=tiny_transformer.vt
digest=$(awk -v m="$model" '$2 == m && $3 == "B=2,T=16" && $4 == "seed=0" && $5 == "inputs=7" { print $1 }' \
  examples/published.digests)
[[ ${#digest} == 64 ]] || fail "no published digest of $model"

# gives NAME COMMAND: the command must print the published digest.
gives() {
  local what=$1 said
  shift
  said=$("$@" 2>&1) || fail "$what: exit status $?: $said"
  if [[ " $said " == *"$digest"* ]]; then echo "ok: $what"; else fail "$what prints no published digest: $said"; fi
}
# compiles NAME COMMAND: the command, a compiler or a build tool, must succeed.
compiles() {
  local what=$1
  shift
  "$@" >"$outside/log" 2>&1 || fail "$what does not compile: $(tail -n 15 "$outside/log")"
}
needs() { readelf -d "$1" | grep -q 'NEEDED.*libvolta\.so\.0\]'; }

# ---- install ----
at=$outside/'stage one'/opt/volta # the space tests quoting
make -s install PREFIX=/opt/volta DESTDIR="$outside/stage one" || fail "make install with DESTDIR"
for file in bin/volta lib/libvolta.so.0 lib/libvolta.a lib/pkgconfig/volta.pc lib/cmake/volta/voltaConfig.cmake \
  include/volta/volta.h include/volta/volta_ops.h include/volta/status.def share/man/man1/volta.1 \
  share/bash-completion/completions/volta share/zsh/site-functions/_volta share/fish/vendor_completions.d/volta.fish \
  share/doc/volta/README.md share/doc/volta/docs/installing.md share/doc/volta/examples/$model; do
  [[ -f $at/$file ]] || fail "$file is not installed"
done
if [[ -n $(find "$at" -name '*_test*' -o -name '*.o') ]]; then fail "parts of the build are installed"; fi
# Installed files may not contain the paths of this tree. Only absolute paths count: if the checkout is in /volta,
# /opt/volta does not name it.
if LC_ALL=C grep -arlP "(?<![\w.-])(\Q$top\E|\Q$VOLTA_BUILD\E|\Q$outside\E)(?![\w.-])" "$at" --exclude-dir=doc; then
  fail "these files name the folder of the sources, of the build or of DESTDIR"
fi
# From here on only the installation is used; it has the example and its model too.
from=$at/share/doc/volta/examples
mkdir "$outside/work"
cd "$outside/work"
if command -v readelf >/dev/null; then has_readelf=yes; else has_readelf=no; fi

# ---- the command ----
gives "the installed command" "$at/bin/volta" run "$from/$model" --bind "B=2,T=16" --random-inputs 7 --digest
version=$("$at/bin/volta" --version | head -n 1)

# ---- pkg-config ----
# flags OPTIONS: prints the flags of pkg-config one per line, because the path has a space.
flags() { PKG_CONFIG_PATH=$at/lib/pkgconfig pkg-config "$@" volta | xargs printf '%s\n'; }
if [[ $version != *"$(PKG_CONFIG_PATH=$at/lib/pkgconfig pkg-config --modversion volta)"* ]]; then
  fail "volta.pc has another version than the command: $version"
fi
mapfile -t shared < <(flags --cflags --libs)
mapfile -t static < <(flags --static --cflags --libs)
warnings=(-std=c11 -Wall -Wextra -Wpedantic -Werror)
compiles "run_model.c with the shared library" cc "${warnings[@]}" "$from/run_model.c" "${shared[@]}" -o pc_shared
gives "pkg-config, shared" env LD_LIBRARY_PATH="$at/lib" ./pc_shared "$from/$model"
if [[ $has_readelf == yes ]]; then
  needs pc_shared || fail "the program through pkg-config does not use libvolta.so.0"
fi
awk '/^```/ { inside = $0 == "```c"; next } inside' "$from/../docs/state.md" >decode.c
compiles "the program of docs/state.md" cc "${warnings[@]}" decode.c "${shared[@]}" -o decode
tokens=$(cd "$from/.." && LD_LIBRARY_PATH=$at/lib "$OLDPWD/decode" | wc -l) || fail "the program of docs/state.md"
if [[ $tokens == 20 ]]; then echo "ok: docs/state.md"; else fail "docs/state.md decodes $tokens tokens, not 20"; fi
if echo 'int main(void) { return 0; }' | cc -static -x c - -o /dev/null 2>/dev/null; then
  compiles "run_model.c with everything static" cc "${warnings[@]}" "$from/run_model.c" "${static[@]}" -static -o pc_static
  gives "pkg-config, static" ./pc_static "$from/$model"
  if [[ $has_readelf == yes ]] && needs pc_static; then fail "the static program uses libvolta.so.0"; fi
  # Such a program cannot load the driver of a GPU, so its default is the CPU.
  if [[ -e $VOLTA_BUILD/fake_cuda/libcuda.so.1 ]]; then
    gives "static, with a driver" env LD_LIBRARY_PATH="$VOLTA_BUILD/fake_cuda" ./pc_static "$from/$model"
    said=$(LD_LIBRARY_PATH="$VOLTA_BUILD/fake_cuda" ./pc_static "$from/$model" cuda 2>&1) || true
    [[ $said == *"linked statically"* ]] || fail "the static program on cuda says: $said"
    gives "shared, with a driver" env LD_LIBRARY_PATH="$at/lib:$VOLTA_BUILD/fake_cuda" ./pc_shared "$from/$model" cuda
  fi
else
  echo "SKIPPED: no C library to link statically with"
fi

# ---- CMake ----
compiles "the CMake project" cmake -S "$top/tests/installed" -B project "-DEXAMPLE=$from/run_model.c" \
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$at"
compiles "the CMake project" cmake --build project
if ! grep -qF "volta_DIR:PATH=$at/lib/cmake/volta" project/CMakeCache.txt; then fail "CMake found another volta"; fi
gives "CMake, volta::volta" ./project/with_volta "$from/$model"
gives "CMake, volta::volta_static" ./project/with_volta_static "$from/$model"
if [[ $has_readelf == yes ]]; then
  needs project/with_volta || fail "volta::volta is not the shared library"
  if needs project/with_volta_static; then fail "volta::volta_static is the shared library"; fi
fi
if cmake -S "$top/tests/installed" -B wrong "-DEXAMPLE=$from/run_model.c" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
  >/dev/null 2>&1; then
  fail "CMake finds a volta without CMAKE_PREFIX_PATH, so this test may have used another installation"
fi

# ---- a plug-in ----
cp -r "$from/plugin" plugin
compiles "the example plug-in" make -C plugin CC=cc VOLTA_INCLUDE="$at/include" CFLAGS="-O2 -Werror"
plugged=(run plugin/pointwise.vt --bind B=7 --random-inputs 3 --digest -q)
reference=$("$at/bin/volta" "${plugged[@]}" --backend reference)
said=$("$at/bin/volta" "${plugged[@]}" --backend ./plugin/libpointwise.so --allow-unadmitted 2>&1) || true
if [[ ${#reference} == 64 && $said == "$reference" ]]; then
  echo "ok: the example plug-in"
else
  fail "the example plug-in gives '$said', the reference '$reference'"
fi
if ! "$at/bin/volta" admit ./plugin/libpointwise.so --short >"$outside/log" 2>&1; then
  fail "the example plug-in is refused: $(tail -n 5 "$outside/log")"
fi

# ---- C++ ----
cplusplus=
for compiler in g++ clang++; do
  if ! command -v "$compiler" >/dev/null; then continue; fi
  cplusplus=yes
  compiles "header_user.cc with $compiler" "$compiler" -std=c++17 -Wall -Wextra -Wpedantic -Werror \
    "$top/tests/installed/header_user.cc" "${shared[@]}" -o "with_$compiler"
  if ! LD_LIBRARY_PATH=$at/lib "./with_$compiler" | grep -q ' m [0-9]'; then fail "the program of $compiler"; fi
done
if [[ -z $cplusplus ]]; then echo "SKIPPED: no C++ compiler for the headers"; fi

# ---- the installation moved to another folder ----
mv "$outside/stage one" "$outside/moved"
at=$outside/moved/opt/volta from=$outside/moved/opt/volta/share/doc/volta/examples
mapfile -t shared < <(flags --cflags --libs)
compiles "run_model.c after a move" cc "$from/run_model.c" "${shared[@]}" -o moved
gives "pkg-config, after a move" env LD_LIBRARY_PATH="$at/lib" ./moved "$from/$model"

# ---- uninstall ----
uninstall() { make -s -C "$top" uninstall PREFIX=/opt/volta DESTDIR="$outside/moved"; }
echo mine >"$at/lib/mine"
uninstall >/dev/null || fail "make uninstall"
left=$(cd "$at" && find . ! -type d)
if [[ $left != ./lib/mine ]]; then fail "after uninstalling there is: $left"; fi
if [[ -d $at/include || -d $at/share ]]; then fail "uninstalling leaves empty folders"; fi
if said=$(uninstall 2>&1); then fail "uninstalling twice does not fail"; fi
if [[ $said != *"nothing is removed"* ]]; then fail "uninstalling without a manifest says: $said"; fi

# Installs twice without DESTDIR into a folder that exists and has a file of an earlier version.
mkdir -p "$outside/home/bin" "$outside/home/lib"
make -s -C "$top" install PREFIX="$outside/home" >/dev/null || fail "make install with PREFIX"
touch "$outside/home/lib/libvolta.so.0.0.9"
echo lib/libvolta.so.0.0.9 >>"$outside/home/share/volta/install_manifest.txt"
make -s -C "$top" install PREFIX="$outside/home" >/dev/null || fail "make install over another"
make -s -C "$top" uninstall PREFIX="$outside/home" >/dev/null || fail "make uninstall with PREFIX"
if [[ $(cd "$outside/home" && find . | LC_ALL=C sort | tr '\n' ' ') != ". ./bin ./lib " ]]; then
  fail "uninstalling changed folders that existed before: $(find "$outside/home")"
fi
# Uninstalling refuses a manifest with a path outside of the prefix.
mkdir -p "$outside/home/share/volta"
echo ../work/pc_shared >"$outside/home/share/volta/install_manifest.txt"
if make -s -C "$top" uninstall PREFIX="$outside/home" >/dev/null 2>&1; then fail "a path with .. is accepted"; fi
[[ -e $outside/work/pc_shared ]] || fail "a file outside of the prefix was removed"
if make -s -C "$top" install PREFIX=relative >/dev/null 2>&1; then fail "a relative PREFIX is accepted"; fi

exit $failed
