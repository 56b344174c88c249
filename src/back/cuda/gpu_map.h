/* SPDX-License-Identifier: Apache-2.0
 * gpu_map.h - the argument struct of a pointwise kernel. C and CUDA include it. */
#ifndef VT_GPU_MAP_H
#define VT_GPU_MAP_H
#include "gpu_walk.h"

/* A thread processes groups of neighbouring elements (VT_GPU_GROUP) if all operands allow it: along
 * the last axis of the walk each operand is either contiguous with aligned groups, or has one
 * element for all. The walk then counts groups, but its strides are still in elements. */
typedef struct vt_gpu_map {
  void *to;
  const void *from[3];
  uint32_t grouped; /* 0 if the walk counts elements, 1 if it counts groups */
  uint32_t one;     /* bit k is set if from[k] has a single element for all elements of a group */
  /* number of elements after the last complete group; if it is not 0, the walk has one axis */
  uint32_t rest;
  uint32_t reserved;
  vt_gpu_walk walk; /* operand 0 is `to`, operand k + 1 is from[k] */
} vt_gpu_map;

/* Elements per group, by the bytes of the largest element type of result and operands: as many as
 * fill 16 bytes, but at most four, because their formulas are computed side by side in registers.
 */
#define VT_GPU_GROUP(bytes) ((bytes) > 4 ? 16 / (bytes) : 4)
#endif
