/* SPDX-License-Identifier: Apache-2.0
 * gpu_fused.h - what a kernel made of several pointwise steps is given: as gpu_map.h, for more
 * operands. Read by C and by CUDA. */
#ifndef VT_GPU_FUSED_H
#define VT_GPU_FUSED_H
#include "gpu_map.h"

enum { VT_FUSED_SOURCES = 23, VT_FUSED_OPERANDS = VT_FUSED_SOURCES + 1 };

/* The names are those of vt_gpu_walk. */
typedef struct vt_gpu_fused_walk {
  int64_t n;
  uint32_t rank, small;
  int64_t dim[VT_GPU_RANK], stride[VT_FUSED_OPERANDS][VT_GPU_RANK];
} vt_gpu_fused_walk;

typedef struct vt_gpu_fused {
  void *to;
  const void *from[VT_FUSED_SOURCES];
  uint32_t grouped; /* 0: the walk counts elements */
  uint32_t one;     /* bit k: from[k] has one element for a whole group */
  uint32_t rest;    /* elements behind the last group; the walk has one axis then */
  uint32_t reserved;
  vt_gpu_fused_walk walk; /* operand 0: to */
} vt_gpu_fused;
#endif
