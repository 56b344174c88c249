/* SPDX-License-Identifier: Apache-2.0
 * gpu_fill.h - the argument struct of the kernel that stores one element. C and CUDA include it. */
#ifndef VT_GPU_FILL_H
#define VT_GPU_FILL_H
#include <stdint.h>

typedef struct vt_gpu_fill {
  void *to;
  uint64_t bits;
  uint32_t bytes, reserved; /* bytes of the element: 1, 2, 4 or 8 */
} vt_gpu_fill;
#endif
