/* SPDX-License-Identifier: Apache-2.0
 * gpu_epilogue.h - argument structs of generated kernels that compute a matrix product or a
 * convolution and then run an epilogue on its results. C and CUDA include it. A side is a tensor
 * of the product's shape that an epilogue reads or writes. */
#ifndef VT_GPU_EPILOGUE_H
#define VT_GPU_EPILOGUE_H
#include "gpu_conv.h"

/* most sources (operands) of an epilogue; source 0 is the product */
enum { VT_GPU_EPILOGUE_SOURCES = 8 };

/* Memory of a tensor of the product's shape: strides that lead to element (i, j) of product z. */
typedef struct vt_gpu_epilogue_side {
  void *data;
  /* strides of rows, columns and leading axes, in elements */
  int64_t row, column, step[VT_GPU_BATCH];
  uint32_t wide; /* 1 if the elements for 16 bytes of results are contiguous and aligned */
  uint32_t reserved;
} vt_gpu_epilogue_side;

typedef struct vt_gpu_epilogue {
  /* sides of the sources; side 0 is the result, because the product is not stored */
  vt_gpu_epilogue_side side[VT_GPU_EPILOGUE_SOURCES];
} vt_gpu_epilogue;

typedef struct vt_gpu_gemm_epilogue {
  vt_gpu_gemm product;
  vt_gpu_epilogue epilogue;
} vt_gpu_gemm_epilogue;

typedef struct vt_gpu_conv_epilogue {
  vt_gpu_conv product;
  vt_gpu_epilogue epilogue;
} vt_gpu_conv_epilogue;
#endif
