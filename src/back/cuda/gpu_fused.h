/* SPDX-License-Identifier: Apache-2.0
 * gpu_fused.h - the argument struct of a generated kernel for a chain of pointwise steps: like
 * gpu_map.h, with more operands. C and CUDA include it. */
#ifndef VT_GPU_FUSED_H
#define VT_GPU_FUSED_H
#include "gpu_map.h"

enum { VT_FUSED_SOURCES = 23, VT_FUSED_OPERANDS = VT_FUSED_SOURCES + 1 };

/* A vt_gpu_walk with more operands; the fields mean the same. */
typedef struct vt_gpu_fused_walk {
  int64_t n;
  uint32_t rank, small;
  int64_t dim[VT_GPU_RANK], stride[VT_FUSED_OPERANDS][VT_GPU_RANK];
} vt_gpu_fused_walk;

typedef struct vt_gpu_fused {
  void *to;
  const void *from[VT_FUSED_SOURCES];
  uint32_t grouped; /* 0 if the walk counts elements, 1 if it counts groups */
  uint32_t one;     /* bit k is set if from[k] has a single element for all elements of a group */
  /* number of elements after the last complete group; if it is not 0, the walk has one axis */
  uint32_t rest;
  uint32_t reserved;
  vt_gpu_fused_walk walk; /* operand 0 is `to`, operand k + 1 is from[k] */
} vt_gpu_fused;
#endif
