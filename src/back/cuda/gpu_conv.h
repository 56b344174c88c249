/* SPDX-License-Identifier: Apache-2.0
 * gpu_conv.h - a convolution as products of matrices, one for each image and group: rows are those
 * of the weight, columns the places, and column k of x is gathered as it is read. Read by C and by
 * CUDA. */
#ifndef VT_GPU_CONV_H
#define VT_GPU_CONV_H
#include "gpu_gemm.h"
#include "gpu_slide.h"

/* A number of the contraction: how far its element of x is from that of number 0 with all taps 0,
 * and how far along each axis. In shared memory, for a block of them. */
typedef struct vt_gpu_conv_tap {
  int32_t at, m[VT_GPU_AXES];
} vt_gpu_conv_tap;

typedef struct vt_gpu_conv {
  vt_gpu_gemm g;               /* b is not set; leading axes are images and groups */
  const void *x;               /* that of the first image and group */
  int64_t x_image, x_group;    /* elements */
  int64_t bias_group;          /* elements */
  int32_t x_channel, reserved; /* what follows fits 31 bits, whatever is done with it */
  int32_t dim[VT_GPU_AXES], stride[VT_GPU_AXES], step[VT_GPU_AXES], base[VT_GPU_AXES];
  int32_t delta[VT_GPU_AXES], places[VT_GPU_AXES], taps[VT_GPU_AXES];
} vt_gpu_conv;
#endif
