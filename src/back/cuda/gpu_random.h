/* SPDX-License-Identifier: Apache-2.0
 * gpu_random.h - the argument struct of the kernels that fill a tensor with random numbers. C and
 * CUDA include it. */
#ifndef VT_GPU_RANDOM_H
#define VT_GPU_RANDOM_H
#include "gpu_walk.h"

typedef struct vt_gpu_random {
  void *to;
  const uint64_t *seed, *step;
  uint32_t stream, reserved;
  vt_gpu_walk walk; /* walk over the elements of the result */
} vt_gpu_random;
#endif
