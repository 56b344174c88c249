/* SPDX-License-Identifier: Apache-2.0
 * gpu_gather.h - a convolution as products of matrices, one for each image and group: what number k
 * of the contraction and place n stand for, an element of x or padding. Read by C and by CUDA. */
#ifndef VT_GPU_GATHER_H
#define VT_GPU_GATHER_H
#include "gpu_direct_conv.h"

/* A number of the contraction: how far its element of x is from that of number 0 with all taps 0,
 * and how far along each axis. In shared memory, for a block of them. */
typedef struct vt_gpu_tap {
  int32_t at, m[VT_GPU_AXES];
} vt_gpu_tap;

/* The names are those of vt_gpu_direct_conv. All of it fits 31 bits, whatever is done with it. */
typedef struct vt_gpu_gather {
  int32_t x_channel, reserved;
  int32_t dim[VT_GPU_AXES], stride[VT_GPU_AXES], step[VT_GPU_AXES], base[VT_GPU_AXES];
  int32_t delta[VT_GPU_AXES], places[VT_GPU_AXES], taps[VT_GPU_AXES];
} vt_gpu_gather;
#endif
