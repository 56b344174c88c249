/* SPDX-License-Identifier: Apache-2.0
 * gpu_pool.h - the argument struct of pools: windows over the spatial axes of x. C and CUDA
 * include it. A tap is one element of a window. */
#ifndef VT_GPU_POOL_H
#define VT_GPU_POOL_H
#include <stdint.h>

enum { VT_GPU_POOL_AXES = 3 };
typedef struct vt_gpu_pool_axis {
  int64_t dim, places, kernel, step, dilation,
      low;          /* tap t of window p is x at p*step + t*dilation - low */
  int64_t x, y;     /* strides in x and in y, in elements */
  int64_t from, to; /* taps at positions from .. to-1 of x count for an average */
} vt_gpu_pool_axis;

typedef struct vt_gpu_pool {
  const void *x;
  void *y;
  int64_t images, channels, x_image, x_channel, y_image, y_channel;
  int64_t taps, total; /* taps of a window; number of results */
  uint32_t small;      /* 1 if the numbers of results and of taps fit in 31 bits */
  uint32_t reserved;
  vt_gpu_pool_axis axis[VT_GPU_POOL_AXES];
} vt_gpu_pool;
#endif
