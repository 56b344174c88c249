/* SPDX-License-Identifier: Apache-2.0
 * gpu_gather.h - maps (k, n) of a convolution that is computed as matrix products to an element of
 * x or to padding: k numbers the taps of all channels, n the output positions. C and CUDA include
 * it. */
#ifndef VT_GPU_GATHER_H
#define VT_GPU_GATHER_H
#include "gpu_direct_conv.h"

/* The tap that a number k stands for, in a window at position 0: the distance of its element of x
 * from the element of k = 0, and its position along each axis. Kernels keep the taps of 256 values
 * of k in shared memory. */
typedef struct vt_gpu_tap {
  int32_t at, m[VT_GPU_AXES];
} vt_gpu_tap;

/* Fields mean the same as in vt_gpu_direct_conv. Every value computed from them fits in 31 bits. */
typedef struct vt_gpu_gather {
  int32_t x_channel, reserved;
  int32_t dim[VT_GPU_AXES], stride[VT_GPU_AXES], step[VT_GPU_AXES], base[VT_GPU_AXES];
  int32_t delta[VT_GPU_AXES], places[VT_GPU_AXES], taps[VT_GPU_AXES];
} vt_gpu_gather;
#endif
