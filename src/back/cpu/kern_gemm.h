/* SPDX-License-Identifier: Apache-2.0
 * kern_gemm.h - the kernels of contractions in the order fma256: tiles of a product whose operands
 * lie in panels, and the packing of panels. Written once for f32 and f64 (kern_gemm_type.inc). */
#ifndef VT_KERN_GEMM_H
#define VT_KERN_GEMM_H
#include <stdint.h>

/* The order: chains of VT_CPU_BLOCK products, added in groups of VT_CPU_GROUP. */
enum { VT_CPU_BLOCK = 256, VT_CPU_GROUP = 8, VT_CPU_MOST_ROWS = 14 };
/* Levels of groups of groups that suffice for every length. */
enum { VT_CPU_LEVELS = 20 };

/* c = (first ? +0 : c) + the chain of k <= VT_CPU_BLOCK products, for `width` columns of some rows.
 * `a` has `step` numbers for each k, of which the tile's rows are read; `b` has a tile's columns.
 */
typedef void vt_cpu_tile_fn(int64_t k, const void *a, int64_t step, const void *b, void *c,
                            int64_t row, int64_t width, int first);

/* The same for a few rows and all columns of several panels, which lie `next` numbers apart: enough
 * chains side by side to hide how long an fma takes. */
typedef void vt_cpu_wide_fn(int64_t k, const void *a, int64_t step, const void *b, int64_t next,
                            void *c, int64_t row, int first);

/* p[i][j] = the chain of k products for n columns, `row` numbers from one i to the next; b[k][j] is
 * b[k*along + j]. */
typedef void vt_cpu_stream_fn(int64_t k, const void *a, int64_t step, const void *b, int64_t along,
                              int64_t n, void *p, int64_t row);

/* One row of a product in which some k are absent: y[j*y_step] = D over the k that are present of
 * a[k*a_step] * b[k*b_row + j]. */
typedef struct vt_cpu_masked {
  const void *a, *b;
  const uint8_t *present;
  int64_t a_step, b_row, present_step, k, n;
  void *y;
  int64_t y_step;
} vt_cpu_masked;

enum { VT_CPU_FEW = 4 }; /* rows of the widest tiles */

typedef struct vt_cpu_gemm_type {
  int64_t bytes;         /* of a number */
  int64_t rows, columns; /* of the largest tile */
  int64_t near;          /* columns whose panels are passed by a panel of rows at a time */
  /* [rows - 1][1 when there are more columns than half of a tile's] */
  vt_cpu_tile_fn *tile[VT_CPU_MOST_ROWS][2];
  /* [rows - 1]: for this many panels at a time; 1: the tile is as good */
  vt_cpu_wide_fn *wide[VT_CPU_FEW];
  int64_t panels[VT_CPU_FEW];
  vt_cpu_stream_fn *stream[VT_CPU_FEW]; /* [rows - 1] */
  void (*masked)(const vt_cpu_masked *m);
  /* `count` rows (or columns), number i at k being from[i*across + k*along], as panels one after
   * the other: panel[k][tile]; in the last one those past `count` are +0. */
  void (*pack)(const void *from, int64_t across, int64_t along, int64_t count, int64_t tile,
               int64_t k, void *panel);
  /* to[i*step] = (first ? +0 : to[i*step]) + from[i*by] */
  void (*add)(void *to, int64_t step, const void *from, int64_t by, int64_t n, int first);
} vt_cpu_gemm_type;

typedef struct vt_cpu_gemms {
  const vt_cpu_gemm_type *f32, *f64;
} vt_cpu_gemms;
#endif
