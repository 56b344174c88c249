/* SPDX-License-Identifier: Apache-2.0
 * gpu_combine.h - results of units added in the order T. Read by C and by CUDA. */
#ifndef VT_GPU_COMBINE_H
#define VT_GPU_COMBINE_H
#include <stdint.h>
#include "gpu_walk.h"

typedef struct vt_gpu_combine {
  const void *part; /* count of them, `apart` elements from one another */
  void *y;
  const void *bias; /* NULL: none */
  int64_t count, apart;
  vt_gpu_walk walk; /* of y, a part, the bias */
} vt_gpu_combine;
#endif
