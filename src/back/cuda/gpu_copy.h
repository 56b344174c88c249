/* SPDX-License-Identifier: Apache-2.0
 * gpu_copy.h - the elements of one tensor into those of another. Read by C and by CUDA. */
#ifndef VT_GPU_COPY_H
#define VT_GPU_COPY_H
#include "gpu_walk.h"

typedef struct vt_gpu_copy {
  void *to;
  const void *from;
  vt_gpu_walk walk; /* operand 0: to, 1: from */
} vt_gpu_copy;
#endif
