/* SPDX-License-Identifier: Apache-2.0
 * gpu_conv.h - a convolution as products of matrices, one for each image and group: rows are those
 * of the weight, columns the places, and column k of x is gathered as it is read. Read by C and by
 * CUDA. */
#ifndef VT_GPU_CONV_H
#define VT_GPU_CONV_H
#include "gpu_gather.h"
#include "gpu_gemm.h"

typedef struct vt_gpu_conv {
  vt_gpu_gemm g;            /* b is not set; leading axes are images and groups */
  const void *x;            /* that of the first image and group */
  int64_t x_image, x_group; /* elements */
  vt_gpu_gather gather;
} vt_gpu_conv;
#endif
