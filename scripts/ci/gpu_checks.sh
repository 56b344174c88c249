# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# gpu_checks.sh - the table of checks that need a GPU, with the sources of each. owed.sh reads it.
# `check GROUP/NAME PATH...` is the check NAME of scripts/ci/cuda_GROUP_verify.sh. The PATHs are its sources: files
# that could change its result on a GPU although every test without a GPU passes. A folder means all files below it
# except unit tests (*_test.*). A pattern is quoted. Each check has a row in the table of docs/gpu-verification.md.

# Sources that can change the bits of one kernel: its text, the code that launches it, and the way it is compiled.
kernel=(src/back/cuda src/emit src/num src/op include cmake/cuda.cmake tools/compile_kernels.sh)
# Sources that can change which kernels a program runs, and in which memory.
program=("${kernel[@]}" src/base src/ir src/pass src/plan src/gate src/api)
suite=(src/admit 'tests/cts/*.cts' 'tests/cts/*.[ch]' tests/cts/cts.digests)
examples=('examples/*.vt' examples/published.digests)

check infer/suite "${kernel[@]}" "${suite[@]}"
check infer/fused "${kernel[@]}" "${suite[@]}" src/pass
check infer/functions "${kernel[@]}" tests/exhaustive/exhaustive_backend.c
check infer/memcheck "${kernel[@]}" "${suite[@]}"
check infer/racecheck "${kernel[@]}" "${suite[@]}"
check infer/numerics src/num tests/device
check infer/kernels "${kernel[@]}" 'src/back/cuda/*_test.*'
check infer/state "${program[@]}" src/front 'src/api/*_test.c'
check infer/parity "${program[@]}" "${examples[@]}"
check infer/batch "${program[@]}" "${examples[@]}" 'tests/reproducibility/batch*'
check infer/again "${program[@]}" "${examples[@]}" tests/reproducibility/again_check.c
check infer/baseline "${program[@]}" "${examples[@]}" bench/baselines/cuda_infer.py bench/baselines/cuda-infer-parity.json
check infer/admission "${program[@]}" "${suite[@]}"
check infer/planted "${program[@]}" "${suite[@]}" tests/cuda_violations
