#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [--full] [LANE...] - runs these lanes, by default all lanes of the form, then prints one closing line:
# N passed, N failed, N skipped.
#   gcc    build-test/   every test; without --full not those labelled long, nor the few slow ones of `once` below,
#                        which the lane asan runs
#   asan   build-asan/   clang with the address and undefined-behaviour sanitizers: unit tests and corpora; without
#                        --full only those that read files, manage memory or compute on the CPU
#   clang  build-clang/  --full only: every test but those that check sources or build the project again
#   tsan   build-tsan/   --full only: clang with the thread sanitizer: the unit tests labelled threads
# No lane touches build/, which belongs to the user. A lane that cannot run here is skipped and says why. It fails
# instead if VOLTA_REQUIRE, a comma list of gcc, clang, g++, tsan, nvcc, avx2 and avx512, names what is missing. The
# word `packages` in that list fails every test that is skipped for a reason other than hardware or nvcc.
# --full sets VOLTA_TEST_FULL=1 in the lane gcc, which makes tests choose their long forms: more cases of the same
# kinds. One compiler is enough for them, and a sanitizer would take hours. Only the lane gcc compiles GPU kernels, for
# the architectures that are audited and with --full for all; the other lanes use stand-ins.
set -euo pipefail
cd "$(dirname "$0")/.."

full=no timeout=900 known=(gcc asan clang tsan) lanes=()
for word in "$@"; do
  case $word in
    --full) full=yes timeout=3600 ;;
    gcc | asan | clang | tsan) lanes+=("$word") ;;
    *)
      echo "usage: test.sh [--full] [LANE...], and the lanes are ${known[*]}" >&2
      exit 2
      ;;
  esac
done
if [[ ${#lanes[@]} == 0 && $full == yes ]]; then lanes=("${known[@]}"); fi
if [[ ${#lanes[@]} == 0 ]]; then lanes=(gcc asan); fi
wanted() { [[ " ${lanes[*]} " == *" $1 "* ]]; }

unset VOLTA_TEST_FULL
jobs=${VOLTA_JOBS:-$(nproc)}
failed_lanes=() skipped_lanes=() reports=()

required() { [[ ,${VOLTA_REQUIRE-}, == *,$1,* ]]; }

# without NEED LANE WHY: records that the lane is skipped, or failed if VOLTA_REQUIRE names NEED.
without() {
  if required "$1"; then
    echo "FAILED: lane $2: $3, and VOLTA_REQUIRE names $1"
    failed_lanes+=("$2")
  else
    echo "SKIPPED: lane $2: $3"
    skipped_lanes+=("$2")
  fi
}

# build FOLDER [CTEST-SELECTION]: builds everything in the lane gcc; in other lanes only what the chosen tests need.
build() {
  local folder=$1 named=()
  shift
  if [[ $folder != build-test ]]; then
    mapfile -t named < <(python3 -B tools/test_targets.py "$folder" "$@")
  fi
  cmake --build "$folder" -j "$jobs" ${named[@]+--target "${named[@]}"}
}

# lane NAME FOLDER COMPILER CTEST-SELECTION [CMake arguments]: configures and builds a lane, and runs its tests.
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
  # CTest's exit status is ignored: its report distinguishes a test that never started from a skipped one.
  ctest --test-dir "$folder" --output-on-failure --no-tests=error --timeout "$timeout" -j "$jobs" \
    --output-junit junit.xml "${selection[@]}" || true
}

# sanitizer_works SANITIZERS: tries a program, because the runtime may be missing or not support the system's kernel.
sanitizer_works() {
  local probe status=0
  probe=$(mktemp)
  echo 'int main(void) { return 0; }' | clang "-fsanitize=$1" -x c - -o "$probe" 2>/dev/null &&
    "$probe" 2>/dev/null || status=1
  rm -f "$probe"
  return $status
}

# sanitizer_lane NAME NEED SANITIZERS CTEST-SELECTION: runs a lane with clang and these sanitizers. NEED is the word
# that VOLTA_REQUIRE may have for them.
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

# In lanes with sanitizers, --full makes only the replay of corpora longer.
if [[ $full == yes ]]; then export VOLTA_CORPUS_FULL=1; fi
export ASAN_OPTIONS=${ASAN_OPTIONS-allocator_may_return_null=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}

# watched: the tests of the lane asan. Without --full they are the tests of code that reads files, manages memory or
# computes on the CPU. once: tests among them that the lane gcc leaves out, because they are slow in every lane.
watched="-L ^(unit|corpus)$" once="plugins/refused|unit/(cache_hostile|oom|parse)_test" asan=address,undefined
if [[ $full == no ]]; then
  reads="case_run|cli_text|csv|file|form|golden|graph|idx|lex|model|npy|npz|old_models|plan_pack|safetensors|suite|text"
  keeps="alloc|arena|gate|guard|memory|passes|plan|planned|program|record|region|results|sealed|poison|stream|epilogue"
  watched+=" -R ^($once|corpus/.*|cts/.*|cli/.*|unit/($reads|$keeps|attr|reference|verify.*|.*hostile.*|cpu_.*)_test)$"
  watched+=" -E ^cli/(counted|exact)$" # they repeat code that the other tests run
fi

gcc_lane() {
  local architectures=audited chosen="-LE ^long$"
  if ! command -v gcc >/dev/null; then
    without gcc gcc "no gcc"
    return
  fi
  if wanted asan && command -v clang >/dev/null && sanitizer_works $asan; then chosen+=" -E ^($once)$"; fi
  if [[ $full == yes ]]; then
    export VOLTA_TEST_FULL=1
    architectures=all chosen=
  fi
  lane gcc build-test gcc "$chosen" -DVOLTA_CUDA=TEST "-DVOLTA_CUDA_ARCHS=$architectures"
  unset VOLTA_TEST_FULL
  if ! grep -q "^VOLTA_NVCC_WORKS:INTERNAL=." build-test/CMakeCache.txt; then
    without nvcc kernels "no nvcc that works: kernels for GPUs are neither compiled nor audited"
  fi
  if [[ ! -e build-test/fake_cuda/libcuda.so.1 ]]; then
    without g++ emulator "no C++ compiler: kernels for GPUs are not run on this processor"
  fi
}
clang_lane() {
  if command -v clang >/dev/null; then
    lane clang build-clang clang "-LE ^(tools|build|bench|long)$" -DVOLTA_CUDA=FAKE
  else
    without clang clang "no clang"
  fi
}

if wanted gcc; then gcc_lane; fi
if wanted asan; then sanitizer_lane asan clang $asan "$watched"; fi
if wanted clang; then clang_lane; fi
if wanted tsan; then sanitizer_lane tsan tsan thread "-L ^threads$"; fi

grep -h -e "^spills: " -e "^registers: " build-test/Testing/Temporary/LastTest.log 2>/dev/null || true
echo
strict=()
if required packages; then strict=(--packages); fi
python3 -B tools/sum_tests.py "${strict[@]}" --failed-lanes "${failed_lanes[*]-}" --skipped-lanes "${skipped_lanes[*]-}" \
  "${reports[@]}"
