#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [--full] - every lane, then one closing line: N passed, N failed, N skipped.
#   gcc    build/        all tests; without --full all but those that are labelled long, and but a few slow ones
#                        that the lane asan runs as well, where that can run
#   asan   build-asan/   clang with the address and undefined-behaviour sanitizers: unit, corpus; without
#                        --full what reads files, keeps memory, or computes on the CPU
#   clang  build-clang/  --full: all tests but those that look at sources or build by themselves
#   tsan   build-tsan/   --full: clang with the thread sanitizer: unit
# A lane that cannot run here is skipped and says why, unless VOLTA_REQUIRE (a comma list of gcc,
# clang, g++, tsan, nvcc, and of instructions, avx2, avx512) names what it lacks: then it fails. --full
# sets VOLTA_TEST_FULL=1 for the lane gcc, by which a test chooses its long form: more cases of the same
# kinds, which need no second compiler and would take hours under a sanitizer. Kernels for GPUs are compiled once, in the lane gcc: for the lowest
# and the highest architecture, with --full for all; the other lanes have stand-ins for them.
set -euo pipefail
cd "$(dirname "$0")/.."

full=no timeout=900
case ${1-} in
  '') ;;
  --full)
    full=yes timeout=3600
    ;;
  *)
    echo "usage: test.sh [--full]" >&2
    exit 2
    ;;
esac

unset VOLTA_TEST_FULL
jobs=${VOLTA_JOBS:-$(nproc)}
failed_lanes=() skipped_lanes=() reports=()

required() { [[ ,${VOLTA_REQUIRE-}, == *,$1,* ]]; }

# without NEED LANE WHY: the lane is skipped, or fails where the need is required.
without() {
  if required "$1"; then
    echo "FAILED: lane $2: $3, and VOLTA_REQUIRE names $1"
    failed_lanes+=("$2")
  else
    echo "SKIPPED: lane $2: $3"
    skipped_lanes+=("$2")
  fi
}

# build FOLDER [CTEST-SELECTION]: all of it, or without --full and with a sanitizer what the chosen tests name.
build() {
  local folder=$1 named=()
  shift
  if [[ $full == no && $folder != build ]]; then
    mapfile -t named < <(python3 -B tools/test_targets.py "$folder" "$@")
  fi
  cmake --build "$folder" -j "$jobs" ${named[@]+--target "${named[@]}"}
}

# lane NAME FOLDER COMPILER CTEST-SELECTION [CMake arguments]
lane() {
  local name=$1 folder=$2 compiler=$3 selection
  read -ra selection <<<"$4"
  shift 4
  echo "== $name: $folder"
  rm -f "$folder/junit.xml"
  if ! scripts/configure.sh "$folder" -c "$compiler" -DVOLTA_WERROR=ON -DVOLTA_TESTS=ON "$@" ||
    ! build "$folder" "${selection[@]}"; then
    echo "FAILED: lane $name does not build"
    failed_lanes+=("$name")
    return
  fi
  reports+=("$name=$folder/junit.xml")
  # CTest's verdict is read from its report, where a test that never started is told from a skip.
  ctest --test-dir "$folder" --output-on-failure --no-tests=error --timeout "$timeout" -j "$jobs" \
    --output-junit junit.xml "${selection[@]}" || true
}

# A sanitizer's runtime may be missing, or refuse the kernel it runs on.
sanitizer_works() {
  local probe status=0
  probe=$(mktemp)
  echo 'int main(void) { return 0; }' | clang "-fsanitize=$1" -x c - -o "$probe" 2>/dev/null &&
    "$probe" 2>/dev/null || status=1
  rm -f "$probe"
  return $status
}

# sanitizer_lane NAME NEED SANITIZERS CTEST-SELECTION
sanitizer_lane() {
  if ! command -v clang >/dev/null; then
    without clang "$1" "no clang"
  elif ! sanitizer_works "$3"; then
    without "$2" "$1" "clang's $3 sanitizer does not run here"
  else
    lane "$1" "build-$1" clang "$4" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 "-DVOLTA_SANITIZE=$3" -DVOLTA_CUDA=FAKE \
      "-DVOLTA_SANITIZE_KERNELS=$([[ $full == yes ]] && echo ON || echo OFF)"
  fi
}

# Under the sanitizers only the corpora are longer with --full.
if [[ $full == yes ]]; then export VOLTA_CORPUS_FULL=1; fi
export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}

# What the lane asan runs: all, or without --full what is from outside, what keeps memory, and the kernels of the
# CPU. Of these, `once` need not be run by gcc too: they are slow, and no shorter under a sanitizer.
watched="-L ^(unit|corpus)$" once="plugins/refused|unit/(cache_hostile|oom|parse)_test" asan=address,undefined
if [[ $full == no ]]; then
  reads="case_run|cli_text|csv|file|form|golden|graph|idx|lex|model|npy|npz|old_models|plan_pack|safetensors|suite|text"
  keeps="alloc|arena|gate|guard|memory|passes|plan|planned|program|record|region|results|sealed|spoil|stream|tail"
  watched+=" -R ^($once|corpus/.*|cts/.*|cli/.*|unit/($reads|$keeps|attr|reference|verify.*|.*hostile|cpu_.*)_test)$"
  watched+=" -E ^cli/(counted|exact)$" # many runs of what the others run once
fi

if command -v gcc >/dev/null; then
  architectures=ends chosen="-LE ^long$"
  if command -v clang >/dev/null && sanitizer_works $asan; then chosen+=" -E ^($once)$"; fi
  if [[ $full == yes ]]; then
    export VOLTA_TEST_FULL=1
    architectures=all chosen=
  fi
  lane gcc build gcc "$chosen" -DVOLTA_CUDA=TEST "-DVOLTA_CUDA_ARCHS=$architectures"
  unset VOLTA_TEST_FULL
  if ! grep -q "^VOLTA_NVCC_WORKS:INTERNAL=." build/CMakeCache.txt; then
    without nvcc kernels "no nvcc that works: kernels for GPUs are neither compiled nor audited"
  fi
  if [[ ! -e build/fake_cuda/libcuda.so.1 ]]; then
    without g++ emulator "no C++ compiler: kernels for GPUs are not run on this processor"
  fi
else
  without gcc gcc "no gcc"
fi
sanitizer_lane asan clang $asan "$watched"
if [[ $full == yes ]]; then
  if command -v clang >/dev/null; then
    lane clang build-clang clang "-LE ^(tools|build)$" -DVOLTA_CUDA=FAKE
  else
    without clang clang "no clang"
  fi
  sanitizer_lane tsan tsan thread "-L ^unit$"
fi

grep -h -e "^spills: " -e "^registers: " build/Testing/Temporary/LastTest.log 2>/dev/null || true
echo
python3 -B tools/sum_tests.py --failed-lanes "${failed_lanes[*]-}" --skipped-lanes "${skipped_lanes[*]-}" \
  "${reports[@]}"
