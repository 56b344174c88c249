/* SPDX-License-Identifier: Apache-2.0
 * gpu_canonical.h - the argument struct of the kernels that write the canonical NaN over every NaN
 * of a result before the host reads it. C and CUDA include it. */
#ifndef VT_GPU_CANONICAL_H
#define VT_GPU_CANONICAL_H
#include <stdint.h>

typedef struct vt_gpu_canonical {
  void *data; /* the result: a contiguous array of n elements */
  int64_t n;
  uint32_t infinity, reserved; /* bits of +inf in f16 or bf16, for the kernel fix_nan_half */
} vt_gpu_canonical;
#endif
