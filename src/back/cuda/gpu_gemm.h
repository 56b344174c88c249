/* SPDX-License-Identifier: Apache-2.0
 * gpu_gemm.h - the argument struct of matrix products: y[i, j] = D over k of a[i, k] * b[k, j], for
 * every product of a batch. D is the order of docs/numerics.md: fma chains of 256 products
 * (blocks), whose sums are added in the order T: groups of 8 blocks, groups of 8 groups, and so on.
 * A slice of k is a range of blocks whose results are added later. C and CUDA include it. */
#ifndef VT_GPU_GEMM_H
#define VT_GPU_GEMM_H
#include <stdint.h>

enum {
  VT_GPU_BATCH = 6,   /* most leading axes of a product */
  VT_GPU_BLOCK = 256, /* products in an fma chain */
  VT_GPU_GROUP = 8,   /* blocks per group, and groups per group of groups, in the order T */
  VT_GPU_SKINNY = 16, /* most rows of the kernels skinny_... and band_..., and of thin tiles */
  VT_GPU_SKINNY_COLUMNS = 32,
  VT_GPU_SKINNY_THREADS = 128,
  /* floats per column of b in shared memory in the kernels skinny_..., if b is contiguous along
   * k */
  VT_GPU_SKINNY_PITCH = VT_GPU_BLOCK + 4,
  VT_GPU_STREAM = 4, /* most rows of the kernels stream_... */
  /* threads of stream_... and of band_along, which computes as many columns */
  VT_GPU_STREAM_THREADS = 64,
  /* floats of shared memory of the kernels stream_..., if b is contiguous along k */
  VT_GPU_STREAM_FLOATS = 2 * 4 * 32 * 36,
  VT_GPU_BAND_FLOATS = 16 * 260 + 2 * 3 * 32 * 36
};

/* An operand: element (i, k) of product z is at data[i * across + k * along] plus the offsets of
 * the leading axes; `across` is the stride across k. For b, i is the column. */
typedef struct vt_gpu_side {
  const void *data;
  int64_t across, along, step[VT_GPU_BATCH]; /* strides in elements */
  uint32_t by_k; /* 1 if the stride along k is smaller than the stride across k */
  /* `wide` is 1 if 16-byte loads along the smaller stride are allowed at every multiple of 16
   * bytes. Lines of a transposed copy of b are padded for that. */
  uint32_t wide;
} vt_gpu_side;

typedef struct vt_gpu_gemm {
  vt_gpu_side a, b;
  void *y;
  int64_t y_row, y_column, y_step[VT_GPU_BATCH];
  /* elements from the results of one slice of k to those of the next slice */
  int64_t y_slice;
  /* bias of element (i, j) is bias[i * bias_row + j * bias_column]; NULL if none */
  const void *bias;
  /* strides; bias_group is that of the last leading axis */
  int64_t bias_row, bias_column, bias_group;
  int64_t m, n, k;
  int64_t products, dim[VT_GPU_BATCH];
  int64_t first; /* number of the first thread block of this launch */
  int64_t slice; /* values of k per slice; each slice has a partial result of its own */
  /* scratch for sums of groups of groups of blocks, if k is long enough to need them */
  void *levels;
  /* For the kernels skinny_..., stream_..., band_... and sum_slices_...: dense results of the
   * slices of k, NULL if there is one slice; and a counter per tile of the slices that are done.
   * Counters are 0 before and after a launch, NULL if another kernel adds the slices. */
  void *partials;
  uint32_t *arrived;
  uint32_t tiles_m, tiles_n; /* tiles of one product along rows and columns */
  /* number of leading axes; y_wide is 1 if 16-byte stores to y along j are allowed */
  uint32_t rank, y_wide;
} vt_gpu_gemm;

/* A masked product: the product of a[i, k] and b[k, j] is skipped if present[i, k] is 0. */
typedef struct vt_gpu_masked {
  vt_gpu_gemm g;
  const uint8_t *present;
  int64_t p_row, p_column, p_step[VT_GPU_BATCH];
} vt_gpu_masked;
#endif
