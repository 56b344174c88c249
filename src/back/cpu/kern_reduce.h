/* SPDX-License-Identifier: Apache-2.0
 * kern_reduce.h - many numbers into one: the kernels of an instruction set. All of them have the
 * shape of the ordered sum S: 32 lanes that take every 32nd element, a tree over the lanes at the
 * end, chunks of 1024 elements. Where the order cannot show (extremes, integers) it is one order
 * among many.
 *
 * A line is numbers that lie one after the other and become one. Rows are lines that lie side by
 * side: element i of all of them is row i, and the lanes of S are 32 rows of accumulators. */
#ifndef VT_KERN_REDUCE_H
#define VT_KERN_REDUCE_H
#include <stdint.h>
#include "kern_row.h"
#include "kern_types.h"

enum {
  VT_REDUCE_LANES = 32,
  VT_REDUCE_CHUNK = 1024,   /* elements that are folded without a level above them */
  VT_REDUCE_ROW_BYTES = 512 /* of one row of accumulators at most */
};

typedef enum vt_cpu_folding {
  VT_REDUCE_SUM,
  VT_REDUCE_PROD,
  VT_REDUCE_MAX,
  VT_REDUCE_MIN,
  VT_REDUCE_SQUARES, /* the sum of x*x */
  VT_REDUCE_SIZES,   /* the sum of abs x */
  VT_FOLDINGS
} vt_cpu_folding;

typedef struct vt_cpu_reduce {
  /* The fold of n elements, 1024 at most where the order matters; of none, what it starts from. */
  void (*line)(const void *x, int64_t n, void *y);
  /* `width` lines at once. Accumulators, 32 rows of them, are as wide as elements: first they are
   * made ready, then given rows `first` .. `first` + n - 1, which lie `stride` elements apart, and
   * when `total` rows were given they become one row of results and are spent. */
  void (*start)(void *lanes, int64_t width, int64_t total);
  void (*rows)(void *lanes, int64_t width, const void *x, int64_t stride, int64_t first, int64_t n);
  void (*finish)(void *lanes, int64_t width, int64_t total, void *y);
} vt_cpu_reduce;

/* Where an extreme, which was found before, stands first. */
typedef struct vt_cpu_argreduce {
  int64_t (*line)(const void *x, int64_t n, const void *extreme);
  void (*rows)(const void *x, int64_t stride, int64_t n, int64_t width, const void *extremes,
               int64_t *index);
} vt_cpu_argreduce;

/* Running sums of a line: up to 1024 elements, `carry` the sum of the chunks before, and after. */
typedef void vt_cpu_running_fn(const void *x, int64_t n, void *carry, void *y);

typedef struct vt_cpu_reductions {
  /* By type; storage types are never folded. */
  vt_cpu_reduce fold[VT_FOLDINGS][VT_CPU_TYPES];
  vt_cpu_argreduce seek[VT_CPU_TYPES];
  vt_cpu_running_fn *running[VT_CPU_TYPES];
  /* y / sum in place, y from 0 to 1; the greatest of x, but for NaN and for the sign of a zero. */
  void (*share)(float *y, int64_t n, float sum);
  float (*top)(const float *x, int64_t n);
  vt_cpu_rows rows[VT_CPU_TYPES]; /* of floats */
} vt_cpu_reductions;
#endif
