/* SPDX-License-Identifier: Apache-2.0
 * gpu_ints.h - products of matrices of i8 and u8, exact in i32:
 *   y[m, n] = sum over k of (a[m, k] - za) * (b[k, n] - zb[n]),  + bias[n].
 * Read by C and by CUDA. */
#ifndef VT_GPU_INTS_H
#define VT_GPU_INTS_H
#include "gpu_gather.h"
#include "gpu_walk.h"

typedef struct vt_gpu_ints {
  const void *a, *b, *za, *zb, *bias; /* the last three may be NULL: 0 */
  int32_t *y;
  int64_t m, n, k;
  int64_t a_row, a_step, b_step, b_column, y_row, y_column; /* strides in elements */
  int64_t zb_step, bias_step;
  uint32_t a_flip, b_flip; /* 0x80 for i8, 0 for u8 */
  vt_gpu_walk lead;        /* the products: where y, a and b of each begin */
} vt_gpu_ints;

/* Of few rows, a block has so many of them, and so many columns. */
enum { VT_GPU_INTS_FEW_ROWS = 4, VT_GPU_INTS_FEW_COLUMNS = 32 };

/* Of tiles: k that come at a time, and how far lines of them are apart in shared memory. */
enum { VT_GPU_INTS_STEP = 64, VT_GPU_INTS_PITCH = VT_GPU_INTS_STEP + 16 };

/* By tiles, gridDim.x of them. */
typedef struct vt_gpu_ints_tile {
  vt_gpu_ints p;
  uint32_t tiles_m, tiles_n; /* of a product */
  uint32_t a_wide, b_wide;   /* 1: sixteen bytes along k, or four across, may be read at once */
  uint32_t b_squares;        /* 1: columns lie closer together than what follows along k */
  uint32_t reserved;
} vt_gpu_ints_tile;

/* A convolution: the rows of `a` are places of x, the products are its images and groups, and b is
 * the weight. */
typedef struct vt_gpu_ints_conv {
  vt_gpu_ints_tile t;
  vt_gpu_gather gather;
  int64_t groups;
} vt_gpu_ints_conv;
#endif
