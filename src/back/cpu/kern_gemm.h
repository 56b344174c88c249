/* SPDX-License-Identifier: Apache-2.0
 * kern_gemm.h - the kernels of floating-point contractions in the order D of docs/numerics.md
 * (fma256): tiles of a product that read packed panels, and the packing itself. Written once for
 * f32 and f64 (kern_gemm_type.inc). Panels are drawn in cpu_gemm.h. */
#ifndef VT_KERN_GEMM_H
#define VT_KERN_GEMM_H
#include <stdint.h>

/* The order D: fma chains of VT_CPU_BLOCK products, whose results are added in groups of
 * VT_CPU_GROUP. An fma chain of a[k] * b[k] is p = fma(a[k], b[k], p) for k in ascending order,
 * starting with p = +0. */
enum { VT_CPU_BLOCK = 256, VT_CPU_GROUP = 8, VT_CPU_MAX_ROWS = 14 };
/* Levels of groups that suffice for every length. */
enum { VT_CPU_LEVELS = 20 };

/* c = (first ? +0 : c) + the fma chain of k <= VT_CPU_BLOCK products, for `width` columns of the
 * rows of a tile. `a` has `step` numbers for each k, of which the tile reads its rows. `b` is
 * one panel. */
typedef void vt_cpu_tile_fn(int64_t k, const void *a, int64_t step, const void *b, void *c,
                            int64_t row, int64_t width, int first);

/* Computes what vt_cpu_tile_fn computes, for a skinny product and all columns of several panels,
 * which are `next` numbers apart: several fma chains run at once, which hides the latency of an
 * fma. */
typedef void vt_cpu_wide_fn(int64_t k, const void *a, int64_t step, const void *b, int64_t next,
                            void *c, int64_t row, int first);

/* p[i][j] = the fma chain of k products for n columns, reading b in place: b[k][j] is b[k*along
 * + j]. `row` is the distance from p[i] to p[i + 1]. */
typedef void vt_cpu_stream_fn(int64_t k, const void *a, int64_t step, const void *b, int64_t along,
                              int64_t n, void *p, int64_t row);

/* One row of a product in which some k are absent: y[j*y_step] = D over the present k of
 * a[k*a_step] * b[k*b_row + j]. */
typedef struct vt_cpu_masked {
  const void *a, *b;
  const uint8_t *present;
  int64_t a_step, b_row, present_step, k, n;
  void *y;
  int64_t y_step;
} vt_cpu_masked;

enum { VT_CPU_SKINNY_ROWS = 4 }; /* most rows of the kernels for skinny products */

typedef struct vt_cpu_gemm_type {
  int64_t bytes;         /* bytes of a number */
  int64_t rows, columns; /* rows and columns of the largest tile */
  /* How many columns of b have panels that stay in the second cache while panels of a pass by. */
  int64_t cached_columns;
  /* Tiles by [rows - 1][1 if the width is more than half of `columns`]. */
  vt_cpu_tile_fn *tile[VT_CPU_MAX_ROWS][2];
  /* Wide kernels by [rows - 1], each for panels[rows - 1] panels at once; if this number is 1, the
   * tile is as fast. */
  vt_cpu_wide_fn *wide[VT_CPU_SKINNY_ROWS];
  int64_t panels[VT_CPU_SKINNY_ROWS];
  vt_cpu_stream_fn *stream[VT_CPU_SKINNY_ROWS]; /* by [rows - 1] */
  void (*masked)(const vt_cpu_masked *m);
  /* Packs `count` rows (or columns) into panels of `tile` of them, one panel after the other, each
   * panel[k][tile]. Element k of row i is from[i*across + k*along]; rows past `count` are +0. */
  void (*pack)(const void *from, int64_t across, int64_t along, int64_t count, int64_t tile,
               int64_t k, void *panel);
  /* to[i*step] = (first ? +0 : to[i*step]) + from[i*by] */
  void (*add)(void *to, int64_t step, const void *from, int64_t by, int64_t n, int first);
} vt_cpu_gemm_type;

typedef struct vt_cpu_gemms {
  const vt_cpu_gemm_type *f32, *f64;
} vt_cpu_gemms;
#endif
