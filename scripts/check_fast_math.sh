#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_fast_math.sh - tests that Volta cannot be built with fast-math: CMake refuses the flags, the
# headers refuse __FAST_MATH__, and the self-test of the numerics detects contraction in its own code.
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
# configure [CMake arguments]: prints the output of CMake on one line, because CMake wraps messages.
configure() {
  rm -rf "$temporary/tree"
  cmake -S . -B "$temporary/tree" -DVOLTA_TESTS=OFF -DVOLTA_CUDA=OFF "$@" 2>&1 | tr -s ' \n' ' ' || true
}
# refuses FLAG CMake-arguments: configuring with these arguments must fail because of FLAG.
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

# ---- the self-test and the headers detect wrong flags ----
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

# build COMPILER FLAGS: builds the self-test of the numerics as a program.
build() {
  local compiler=$1
  shift
  "$compiler" "${plain[@]}" "$@" src/num/selftest.c "$temporary/main.c" -o "$temporary/self" -lm
}
# reports COMPILER SENTENCE FLAGS: the self-test compiled with these flags must print SENTENCE.
reports() {
  local compiler=$1 sentence=$2 output
  shift 2
  build "$compiler" "$@" || {
    fail "$compiler $*: selftest.c does not compile"
    return
  }
  output=$("$temporary/self" || true)
  if [[ $output == *"$sentence"* ]]; then
    echo "ok: $compiler $*: $output"
  else
    fail "$compiler $*: the self-test prints '$output', not '$sentence'"
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
# fma: compiler flags for the instruction that contraction turns a*b+c into; has_fma: whether this processor has it.
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
  reports "$compiler" "keeps the numerics" -ffp-contract=off
  reports "$compiler" "keeps the numerics" -ffp-contract=off -O0
  if [[ $has_fma == yes ]]; then
    reports "$compiler" "keeps the numerics" -ffp-contract=off -O3 "${fma[@]}"
    reports "$compiler" "contract" -ffp-contract=fast "${fma[@]}"
  else
    echo "SKIPPED: this processor has no fma instruction, so contracted code cannot run here"
  fi
  does_not_compile "$compiler" -ffast-math
  does_not_compile "$compiler" -Ofast
done
exit $failed
