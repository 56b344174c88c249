/* SPDX-License-Identifier: Apache-2.0
 * gpu_epilogue.h - pointwise steps behind a product of matrices, done where its results are stored:
 * what a kernel made of both is given. Read by C and by CUDA. */
#ifndef VT_GPU_EPILOGUE_H
#define VT_GPU_EPILOGUE_H
#include "gpu_conv.h"

enum { VT_GPU_EPILOGUE_SOURCES = 8 }; /* the first is the product */

/* A tensor of the product's shape: where it has element (i, j) of product z. */
typedef struct vt_gpu_epilogue_side {
  void *data;
  int64_t row, column, step[VT_GPU_BATCH]; /* elements */
  uint32_t wide;                           /* 1: 16 bytes' worth of results lie side by side */
  uint32_t reserved;
} vt_gpu_epilogue_side;

typedef struct vt_gpu_epilogue {
  vt_gpu_epilogue_side
      side[VT_GPU_EPILOGUE_SOURCES]; /* 0: the result, since the product is nowhere */
} vt_gpu_epilogue;

typedef struct vt_gpu_tailed {
  vt_gpu_gemm product;
  vt_gpu_epilogue tail;
} vt_gpu_tailed;

typedef struct vt_gpu_tailed_conv {
  vt_gpu_conv product;
  vt_gpu_epilogue tail;
} vt_gpu_tailed_conv;
#endif
