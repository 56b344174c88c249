/* SPDX-License-Identifier: Apache-2.0
 * kern_conv.h - contractions whose columns are read in place: element k of column j is b[at[k] +
 * j]. Columns that overlap, such as windows of a convolution, need no copy. */
#ifndef VT_KERN_CONV_H
#define VT_KERN_CONV_H
#include <stdint.h>

/* t[i*row + j] = (first ? +0 : t[i*row + j]) + the fma chain over at most 256 k of a[k][i] *
 * b[at[k] + j], for the rows of this tile and `vectors` vectors of columns. */
typedef void vt_cpu_direct_conv_fn(int64_t k, const void *a, const void *b, const int64_t *at,
                                   void *t, int64_t row, int vectors, int first);

/* A tile of groups of one channel, where column j has its own weights: t[j] = (first ? +0 : t[j]) +
 * the fma chain over k of a[k*step + j] * b[at[k] + j]. */
typedef void vt_cpu_depthwise_fn(int64_t k, const void *a, int64_t step, const void *b,
                                 const int64_t *at, void *t, int vectors, int first);

/* Copies `rows` rows of n elements: to[i*to_row + j] = from[i*from_row + j*step]. */
typedef void vt_cpu_copy_rows_fn(void *to, int64_t to_row, const void *from, int64_t from_row,
                                 int64_t step, int64_t rows, int64_t n);

/* to[i] = to[i] + from[i] */
typedef void vt_cpu_add_fn(void *to, const void *from, int64_t n);

enum { VT_CPU_DIRECT_CONV_ROWS_MAX = 8 };
typedef struct vt_cpu_conv_type {
  int bytes, rows, lanes, columns; /* bytes of an element; rows and lanes of a tile; its columns, a
                                      multiple of `lanes` */
  /* kernels of r rows at [r - 1]; packed panels always have `rows` rows */
  vt_cpu_direct_conv_fn *tile[VT_CPU_DIRECT_CONV_ROWS_MAX];
  vt_cpu_depthwise_fn *depthwise;
  vt_cpu_copy_rows_fn *copy;
  /* to[i*step] = from[i] + *bias, or from[i] if bias is NULL */
  void (*store)(void *to, int64_t step, const void *from, int64_t n, const void *bias);
  vt_cpu_add_fn *add;
} vt_cpu_conv_type;

typedef struct vt_cpu_convs {
  const vt_cpu_conv_type *f32, *f64;
} vt_cpu_convs;
#endif
