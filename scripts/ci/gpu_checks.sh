# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# gpu_checks.sh - the checks that need a GPU, and the sources of each. owed.sh reads this table.
# `check GROUP/NAME PATH...`: scripts/ci/cuda_GROUP_verify.sh runs it as its check NAME. Its sources are what could
# change its verdict on a GPU although every test without a GPU passes. A folder stands for all files below it
# but unit tests (*_test.*). A pattern is quoted. Each check has a row in the table of docs/gpu-verification.md.

# What decides about the bits of one kernel: its text, what calls it, and how it is compiled.
kernel=(src/back/cuda src/emit src/num src/op include cmake/cuda.cmake tools/compile_kernels.sh)
# What decides which kernels a program runs, and in which memory.
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
check infer/parity "${program[@]}" "${examples[@]}"
check infer/batch "${program[@]}" "${examples[@]}" 'tests/reproducibility/batch*'
check infer/again "${program[@]}" "${examples[@]}" tests/reproducibility/again_check.c
check infer/baseline "${program[@]}" "${examples[@]}" bench/baselines/cuda_infer.py bench/baselines/cuda-infer-parity.json
check infer/admission "${program[@]}" "${suite[@]}"
check infer/planted "${program[@]}" "${suite[@]}" tests/cuda_violations
