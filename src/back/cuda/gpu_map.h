/* SPDX-License-Identifier: Apache-2.0
 * gpu_map.h - what a pointwise kernel is given. Read by C and by CUDA. */
#ifndef VT_GPU_MAP_H
#define VT_GPU_MAP_H
#include "gpu_walk.h"

/* Elements are taken in groups of neighbours where all operands allow it: along the last axis of
 * the walk each lies without gaps, its groups aligned as a whole, or has one element for all. The
 * walk then counts groups, and its strides are still those of elements. */
typedef struct vt_gpu_map {
  void *to;
  const void *from[3];
  uint32_t grouped; /* 0: the walk counts elements */
  uint32_t one;     /* bit k: from[k] has one element for a whole group */
  uint32_t rest;    /* elements behind the last group; the walk has one axis then */
  uint32_t reserved;
  vt_gpu_walk walk; /* operand 0: to */
} vt_gpu_map;

/* Elements of a group, by the bytes of the largest element that takes part: 16 bytes of it, and
 * never more than four elements, whose formulas stand side by side. */
#define VT_GPU_GROUP(bytes) ((bytes) > 4 ? 16 / (bytes) : 4)
#endif
