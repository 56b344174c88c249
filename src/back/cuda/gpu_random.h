/* SPDX-License-Identifier: Apache-2.0
 * gpu_random.h - a tensor of random numbers. Read by C and by CUDA. */
#ifndef VT_GPU_RANDOM_H
#define VT_GPU_RANDOM_H
#include "gpu_walk.h"

typedef struct vt_gpu_random {
  void *to;
  const uint64_t *seed, *step;
  uint32_t stream, reserved;
  vt_gpu_walk walk; /* of the result alone */
} vt_gpu_random;
#endif
