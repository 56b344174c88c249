/* SPDX-License-Identifier: Apache-2.0
 * gpu_fill.h - one pattern put into a place. Read by C and by CUDA. */
#ifndef VT_GPU_FILL_H
#define VT_GPU_FILL_H
#include <stdint.h>

typedef struct vt_gpu_fill {
  void *to;
  uint64_t bits;
  uint32_t bytes, reserved; /* of the element: 1, 2, 4 or 8 */
} vt_gpu_fill;
#endif
