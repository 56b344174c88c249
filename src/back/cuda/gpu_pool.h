/* SPDX-License-Identifier: Apache-2.0
 * gpu_pool.h - windows over the spatial axes of x, for pools. Read by C and by CUDA. */
#ifndef VT_GPU_POOL_H
#define VT_GPU_POOL_H
#include <stdint.h>

enum { VT_GPU_POOL_AXES = 3 };
typedef struct vt_gpu_pool_axis {
  int64_t dim, places, kernel, step, dilation,
      low;          /* window p has x at p*step + t*dilation - low */
  int64_t x, y;     /* strides, in elements */
  int64_t from, to; /* taps at places from .. to-1 of x count for an average */
} vt_gpu_pool_axis;

typedef struct vt_gpu_pool {
  const void *x;
  void *y;
  int64_t images, channels, x_image, x_channel, y_image, y_channel;
  int64_t taps, total; /* of a window; results */
  uint32_t small;      /* 1: the number of results and of taps fit 31 bits */
  uint32_t reserved;
  vt_gpu_pool_axis axis[VT_GPU_POOL_AXES];
} vt_gpu_pool;
#endif
