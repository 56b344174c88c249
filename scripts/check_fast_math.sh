#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_fast_math.sh - fast-math cannot get in: CMake refuses the flags, the headers refuse
# __FAST_MATH__, and the self-test hears contraction in its own object code.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CFLAGS

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# ---- CMake refuses ----
# configure FLAGS: what CMake says, on one line, because it wraps its messages.
configure() {
  rm -rf "$temporary/tree"
  cmake -S . -B "$temporary/tree" -DVOLTA_TESTS=OFF -DVOLTA_CUDA=OFF "$@" 2>&1 | tr -s ' \n' ' ' || true
}
# refuses FLAG CMake-arguments
refuses() {
  local flag=$1
  shift
  if configure "$@" | grep -qF -- "Volta does not build with $flag: it changes results"; then
    echo "ok: CMake refuses $flag"
  else
    fail "CMake does not refuse $flag"
  fi
}
refuses -Ofast -DCMAKE_C_FLAGS=-Ofast
refuses -ffp-contract=fast "-DCMAKE_C_FLAGS=-ffp-contract=fast -mfma"
refuses -ffast-math -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-ffast-math
CFLAGS=-funsafe-math-optimizations refuses -funsafe-math-optimizations
if configure | grep -qF "Volta does not build with"; then fail "CMake refuses the project's own flags"; fi

# ---- the object code is heard ----
cat >"$temporary/main.c" <<'PROGRAM'
#include <stdio.h>
#include "vt_num.h"
int main(void) {
  const char *broken = vt_num_self_test();
  puts(broken == NULL ? "keeps the numerics" : broken);
  return broken != NULL;
}
PROGRAM
plain=(-std=c11 -D_POSIX_C_SOURCE=200809L -O2 -fno-math-errno -Iinclude -Isrc/base -Isrc/num)

# build COMPILER FLAGS: the self-test as a program of its own.
build() {
  local compiler=$1
  shift
  "$compiler" "${plain[@]}" "$@" src/num/selftest.c "$temporary/main.c" -o "$temporary/self" -lm
}
# says COMPILER SENTENCE FLAGS: what the self-test compiled with these flags must report.
says() {
  local compiler=$1 sentence=$2 heard
  shift 2
  build "$compiler" "$@" || {
    fail "$compiler $*: selftest.c does not compile"
    return
  }
  heard=$("$temporary/self" || true)
  if [[ $heard == *"$sentence"* ]]; then
    echo "ok: $compiler $*: $heard"
  else
    fail "$compiler $*: the self-test says '$heard', not '$sentence'"
  fi
}
does_not_compile() {
  local compiler=$1 said
  shift
  if said=$(build "$compiler" "$@" 2>&1); then
    fail "$compiler $* compiles"
  elif [[ $said == *"#error"*"fast-math"* || $said == *"error: "*"fast-math"* ]]; then
    echo "ok: $compiler $*: refused by the header"
  else
    fail "$compiler $* fails for another reason: $said"
  fi
}
# The instruction that contraction turns a*b+c into.
case $(uname -m) in
  x86_64)
    fma=(-mfma)
    if grep -qw fma /proc/cpuinfo; then has_fma=yes; else has_fma=no; fi
    ;;
  aarch64) fma=() has_fma=yes ;;
  *) fma=() has_fma=no ;;
esac

for compiler in gcc clang; do
  if ! command -v "$compiler" >/dev/null; then
    if [[ ,${VOLTA_REQUIRE-}, == *,$compiler,* ]]; then fail "no $compiler"; else echo "SKIPPED: no $compiler"; fi
    continue
  fi
  says "$compiler" "keeps the numerics" -ffp-contract=off
  says "$compiler" "keeps the numerics" -ffp-contract=off -O0
  if [[ $has_fma == yes ]]; then
    says "$compiler" "keeps the numerics" -ffp-contract=off -O3 "${fma[@]}"
    says "$compiler" "contract" -ffp-contract=fast "${fma[@]}"
  else
    echo "SKIPPED: this processor has no fma instruction, so contracted code cannot run here"
  fi
  does_not_compile "$compiler" -ffast-math
  does_not_compile "$compiler" -Ofast
done
exit $failed
