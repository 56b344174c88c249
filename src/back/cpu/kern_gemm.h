/* SPDX-License-Identifier: Apache-2.0
 * kern_gemm.h - the kernels of contractions in the order fma256: tiles of a product whose operands
 * lie in panels, and the packing of panels. Written once for f32 and f64 (kern_gemm_type.inc). */
#ifndef VT_KERN_GEMM_H
#define VT_KERN_GEMM_H
#include <stdint.h>

/* The order: chains of VT_CPU_BLOCK products, added in groups of VT_CPU_GROUP. */
enum { VT_CPU_BLOCK = 256, VT_CPU_GROUP = 8, VT_CPU_MOST_ROWS = 14 };

/* c = (first ? +0 : c) + the chain of k <= VT_CPU_BLOCK products, for `width` columns of some rows.
 * `a` has `step` numbers for each k, of which the tile's rows are read; `b` has a tile's columns.
 */
typedef void vt_cpu_tile_fn(int64_t k, const void *a, int64_t step, const void *b, void *c,
                            int64_t row, int64_t width, int first);

typedef struct vt_cpu_gemm_type {
  int64_t bytes;         /* of a number */
  int64_t rows, columns; /* of the largest tile */
  int64_t near;          /* columns whose panels are passed by a panel of rows at a time */
  /* [rows - 1][1 when there are more columns than half of a tile's] */
  vt_cpu_tile_fn *tile[VT_CPU_MOST_ROWS][2];
  /* A panel of `count` <= tile rows (or columns), number i at k being from[i*across + k*along]:
   * panel[k][tile], those past `count` are +0. */
  void (*pack)(const void *from, int64_t across, int64_t along, int64_t count, int64_t tile,
               int64_t k, void *panel);
  /* to[i*step] = (first ? +0 : to[i*step]) + from[i*by] */
  void (*add)(void *to, int64_t step, const void *from, int64_t by, int64_t n, int first);
} vt_cpu_gemm_type;

typedef struct vt_cpu_gemms {
  const vt_cpu_gemm_type *f32, *f64;
} vt_cpu_gemms;
#endif
