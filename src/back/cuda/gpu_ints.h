/* SPDX-License-Identifier: Apache-2.0
 * gpu_ints.h - argument structs of products of i8 and u8 matrices, exact in i32: za, zb are zero
 * points.
 *   y[m, n] = sum over k of (a[m, k] - za) * (b[k, n] - zb[n]),  + bias[n].
 * C and CUDA include it. */
#ifndef VT_GPU_INTS_H
#define VT_GPU_INTS_H
#include "gpu_gather.h"
#include "gpu_walk.h"

typedef struct vt_gpu_ints {
  /* operands, zero points and bias; the last three may be NULL, which means 0 */
  const void *a, *b, *za, *zb, *bias;
  int32_t *y;
  int64_t m, n, k;
  /* strides in elements: *_row and *_column as named, *_step along k */
  int64_t a_row, a_step, b_step, b_column, y_row, y_column;
  int64_t zb_step, bias_step;
  uint32_t a_flip, b_flip; /* 0x80 if the operand is i8, 0 if it is u8 */
  vt_gpu_walk lead;        /* walk over the products of a batch: offsets of y, a and b */
} vt_gpu_ints;

/* Most rows of the skinny kernels, and columns per thread block. */
enum { VT_GPU_INTS_SKINNY_ROWS = 4, VT_GPU_INTS_SKINNY_COLUMNS = 32 };

/* Tiled kernels: k per step, and bytes from a line of k to the next in shared memory. */
enum { VT_GPU_INTS_STEP = 64, VT_GPU_INTS_PITCH = VT_GPU_INTS_STEP + 16 };

/* Arguments of tiled kernels; gridDim.x is the number of tiles. */
typedef struct vt_gpu_ints_tile {
  vt_gpu_ints p;
  uint32_t tiles_m, tiles_n; /* tiles of one product along rows and columns */
  /* 1 if 16-byte loads of a (b) along k, or 4-byte loads across k, are allowed */
  uint32_t a_wide, b_wide;
  /* 1 if neighbouring columns of b are closer together in memory than neighbouring elements
   * along k, so that 4 x 4 squares of b are loaded and transposed */
  uint32_t b_squares;
  uint32_t reserved;
} vt_gpu_ints_tile;

/* A convolution: rows of `a` are output positions gathered from x, products are images and groups,
 * and b is the weight. */
typedef struct vt_gpu_ints_conv {
  vt_gpu_ints_tile t;
  vt_gpu_gather gather;
  int64_t groups;
} vt_gpu_ints_conv;
#endif
