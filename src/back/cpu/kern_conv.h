/* SPDX-License-Identifier: Apache-2.0
 * kern_conv.h - contractions whose columns are read where they lie: number k of column j is
 * b[at[k] + j], so that what overlaps need not be copied apart. */
#ifndef VT_KERN_CONV_H
#define VT_KERN_CONV_H
#include <stdint.h>

/* t[i*row + j] = (first ? +0 : t[i*row + j]) + the chain of a[k][i] * b[at[k] + j] over at most 256
 * k, for the rows of this tile and `vectors` vectors of columns. */
typedef void vt_cpu_direct_conv_fn(int64_t k, const void *a, const void *b, const int64_t *at,
                                   void *t, int64_t row, int vectors, int first);

/* The same with one row of columns of a: t[j] = (first ? +0 : t[j]) + the chain of
 * a[k*step + j] * b[at[k] + j]. */
typedef void vt_cpu_pairs_fn(int64_t k, const void *a, int64_t step, const void *b,
                             const int64_t *at, void *t, int vectors, int first);

/* to[i*to_row + j] = from[i*from_row + j*step] for i < rows, j < n. */
typedef void vt_cpu_sheet_fn(void *to, int64_t to_row, const void *from, int64_t from_row,
                             int64_t step, int64_t rows, int64_t n);

/* to[i] = to[i] + from[i] */
typedef void vt_cpu_add_fn(void *to, const void *from, int64_t n);

enum { VT_CPU_DIRECT_CONV_ROWS_MAX = 8 };
typedef struct vt_cpu_conv_type {
  int bytes, rows, lanes, columns; /* of an element; of a tile: columns is a number of lanes */
  vt_cpu_direct_conv_fn
      *tile[VT_CPU_DIRECT_CONV_ROWS_MAX]; /* [r - 1], r = 1 .. rows; panels have all rows */
  vt_cpu_pairs_fn *pairs;
  vt_cpu_sheet_fn *copy;
  /* to[i*step] = from[i] + *bias; NULL: without it */
  void (*give)(void *to, int64_t step, const void *from, int64_t n, const void *bias);
  vt_cpu_add_fn *add;
} vt_cpu_conv_type;

typedef struct vt_cpu_convs {
  const vt_cpu_conv_type *f32, *f64;
} vt_cpu_convs;
#endif
