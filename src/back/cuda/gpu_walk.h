/* SPDX-License-Identifier: Apache-2.0
 * gpu_walk.h - a walk over the elements of tensors of one shape, in row-major order, which gives
 * the offset of each operand's element. Kernels for tensors with any strides take one. Adjacent
 * axes that are contiguous in all operands are merged, so a walk over dense tensors has one axis. C
 * and CUDA include it. */
#ifndef VT_GPU_WALK_H
#define VT_GPU_WALK_H
#include <stdint.h>

enum { VT_GPU_RANK = 8, VT_GPU_OPERANDS = 4 };
typedef struct vt_gpu_walk {
  int64_t n;      /* number of elements */
  uint32_t rank;  /* number of axes after merging; 0 if n is 0 or 1 */
  uint32_t small; /* 1 if n, every offset and every step of computing them fit in 31 bits */
  /* extents, and strides of each operand in elements */
  int64_t dim[VT_GPU_RANK], stride[VT_GPU_OPERANDS][VT_GPU_RANK];
} vt_gpu_walk;
#endif
