/* SPDX-License-Identifier: Apache-2.0
 * gpu_walk.h - the elements of tensors of one shape, counted row-major, and where each operand has
 * them: what a kernel over any strides is given. Axes that lie behind one another in all operands
 * are one axis, so that dense tensors have a single one. Read by C and by CUDA. */
#ifndef VT_GPU_WALK_H
#define VT_GPU_WALK_H
#include <stdint.h>

enum { VT_GPU_RANK = 8, VT_GPU_OPERANDS = 4 };
typedef struct vt_gpu_walk {
  int64_t n;      /* elements */
  uint32_t rank;  /* axes that are left; 0: n is 0 or 1 */
  uint32_t small; /* 1: n and every offset fit 31 bits, and so does the arithmetic */
  int64_t dim[VT_GPU_RANK], stride[VT_GPU_OPERANDS][VT_GPU_RANK]; /* elements */
} vt_gpu_walk;
#endif
