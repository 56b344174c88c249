/* SPDX-License-Identifier: Apache-2.0
 * gpu_gemm.h - products of matrices: y[i, j] = D over k of a[i, k] * b[k, j], for every product of
 * a batch. Read by C and by CUDA. */
#ifndef VT_GPU_GEMM_H
#define VT_GPU_GEMM_H
#include <stdint.h>

enum {
  VT_GPU_BATCH = 6,   /* leading axes at most */
  VT_GPU_BLOCK = 256, /* products of a chain: order fma256 */
  VT_GPU_GROUP = 8,   /* blocks, and groups of them, that meet in one sum */
  VT_GPU_FEW = 16,    /* rows at most of the kernels few_... and band_..., and of thin tiles */
  VT_GPU_FEW_COLUMNS = 32,
  VT_GPU_FEW_THREADS = 128,
  VT_GPU_FEW_PITCH = VT_GPU_BLOCK + 4,  /* of a column whose k are neighbours, in shared memory */
  VT_GPU_STREAM = 4,                    /* rows at most of the kernels stream_... */
  VT_GPU_STREAM_THREADS = 64,           /* of theirs and of band_along, which has as many columns */
  VT_GPU_STREAM_ROOM = 2 * 4 * 32 * 36, /* floats on chip where neighbours lie along k */
  VT_GPU_BAND_ROOM = 16 * 260 + 2 * 3 * 32 * 36
};

/* An operand: element (i, k) of product z is at data[i * across + k * along + its leading axes]. */
typedef struct vt_gpu_side {
  const void *data;
  int64_t across, along, step[VT_GPU_BATCH]; /* elements */
  uint32_t by_k; /* 1: neighbours along k lie closer than neighbours across */
  uint32_t wide; /* 1: the closer ones may be read 16 bytes at a time, from every multiple of it; b
                  * turned over has such lines, longer than it is */
} vt_gpu_side;

typedef struct vt_gpu_gemm {
  vt_gpu_side a, b;
  void *y;
  int64_t y_row, y_column, y_step[VT_GPU_BATCH];
  int64_t y_unit;   /* between the results of two units: of `part`, that is all of them */
  const void *bias; /* NULL: none; else element (i, j) has bias[i * bias_row + j * bias_column] */
  int64_t bias_row, bias_column, bias_group; /* group: along the last leading axis */
  int64_t m, n, k;
  int64_t products, dim[VT_GPU_BATCH];
  int64_t first; /* number of the first block of this launch */
  int64_t unit;  /* k that one unit has; each leaves a result of its own */
  void *levels;  /* sums of groups of groups, where k is that long */
  /* Of few_..., stream_..., band_... and parts_...: results of units, dense, NULL where there is
   * one unit; and how many units of a tile have come so far, 0 before and after a launch, NULL
   * where another kernel adds them. */
  void *part;
  uint32_t *arrived;
  uint32_t tiles_m, tiles_n; /* of a product */
  uint32_t rank, y_wide;     /* y_wide: 16 bytes along j may be written at a time */
} vt_gpu_gemm;

/* The same with products that are absent: present[i, k] is 0. */
typedef struct vt_gpu_masked {
  vt_gpu_gemm g;
  const uint8_t *present;
  int64_t p_row, p_column, p_step[VT_GPU_BATCH];
} vt_gpu_masked;
#endif
