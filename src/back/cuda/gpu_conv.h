/* SPDX-License-Identifier: Apache-2.0
 * gpu_conv.h - the argument struct of a convolution that is computed as matrix products, one for
 * each image and group. Rows are those of the weight, columns are output positions, and column
 * entries are gathered from x while they are loaded. C and CUDA include it. */
#ifndef VT_GPU_CONV_H
#define VT_GPU_CONV_H
#include "gpu_gather.h"
#include "gpu_gemm.h"

typedef struct vt_gpu_conv {
  /* the product: operand a is the weight, b is unused; leading axes are images and groups */
  vt_gpu_gemm g;
  const void *x;            /* x of the first image and group */
  int64_t x_image, x_group; /* strides of images and of groups in x, in elements */
  vt_gpu_gather gather;
} vt_gpu_conv;
#endif
