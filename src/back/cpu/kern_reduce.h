/* SPDX-License-Identifier: Apache-2.0
 * kern_reduce.h - the reduction kernels of one instruction set. All of them have the shape of the
 * ordered sum S of docs/numerics.md: 32 lanes that take every 32nd element, a tree over the lanes,
 * and chunks of 1024 elements. Extremes and integers would give the same bits in any order.
 *
 *   S of a chunk   x[0]  x[1]  ..  x[31]     lane l: ((x[l] + x[l+32]) + x[l+64]) + ...
 *                  x[32] x[33] ..  x[63]     tree:   lanes l and l + 16, then l + 8, 4, 2, 1
 *                   ..                       more than 1024 elements: S of the chunks' results
 *
 * A line is a run of contiguous elements that become one number. Several lines side by side are
 * reduced together: row i has element i of all lines, and the lanes of S are 32 rows of
 * accumulators. */
#ifndef VT_KERN_REDUCE_H
#define VT_KERN_REDUCE_H
#include <stdint.h>
#include "kern_row.h"
#include "kern_types.h"

enum {
  VT_REDUCE_LANES = 32,
  VT_REDUCE_CHUNK = 1024,   /* elements that are reduced without a further level */
  VT_REDUCE_ROW_BYTES = 512 /* most bytes of one row of accumulators */
};

typedef enum vt_cpu_reduction_kind {
  VT_REDUCE_SUM,
  VT_REDUCE_PROD,
  VT_REDUCE_MAX,
  VT_REDUCE_MIN,
  VT_REDUCE_SQUARES, /* sum of x*x */
  VT_REDUCE_ABS,     /* sum of |x| */
  VT_REDUCTION_KINDS
} vt_cpu_reduction_kind;

typedef struct vt_cpu_reduce {
  /* Reduces n elements to one, at most 1024 if the order matters. For n = 0 the result is the
   * initial value of the reduction. */
  void (*line)(const void *x, int64_t n, void *y);
  /* Reduce `width` lines at once. `lanes` holds up to 32 rows of accumulators, each of `width`
   * elements. `start` initialises them, `rows` adds rows `first` .. `first` + n - 1, which are
   * `stride` elements apart, and `finish` writes one row of results when all `total` rows were
   * added. The accumulators are then undefined. */
  void (*start)(void *lanes, int64_t width, int64_t total);
  void (*rows)(void *lanes, int64_t width, const void *x, int64_t stride, int64_t first, int64_t n);
  void (*finish)(void *lanes, int64_t width, int64_t total, void *y);
} vt_cpu_reduce;

/* Finds the first position of an extreme whose value is already known. */
typedef struct vt_cpu_argreduce {
  int64_t (*line)(const void *x, int64_t n, const void *extreme);
  void (*rows)(const void *x, int64_t stride, int64_t n, int64_t width, const void *extremes,
               int64_t *index);
} vt_cpu_argreduce;

/* Running sums of a line of at most 1024 elements. `carry` holds the sum of the chunks before, and
 * is updated. */
typedef void vt_cpu_running_fn(const void *x, int64_t n, void *carry, void *y);

typedef struct vt_cpu_reductions {
  /* By type; f16 and bf16 are never reduced, and have no entry. */
  vt_cpu_reduce reduce[VT_REDUCTION_KINDS][VT_CPU_TYPES];
  vt_cpu_argreduce argreduce[VT_CPU_TYPES];
  vt_cpu_running_fn *running[VT_CPU_TYPES];
  void (*divide)(float *y, int64_t n, float sum); /* divides y by sum in place; 0 <= y[i] <= 1 */
  /* The maximum of x, ignoring NaN; either zero may be returned. */
  float (*max)(const float *x, int64_t n);
  vt_cpu_rows rows[VT_CPU_TYPES]; /* by type, only f32 and f64 */
} vt_cpu_reductions;
#endif
