/* SPDX-License-Identifier: Apache-2.0
 * gpu_reduce.h - argument structs of reductions, arg-reductions and cumulative sums. A line is the
 * elements that are reduced to one number, in the order S: 32 lanes, each of which adds every 32nd
 * element; a tree over the lanes; chunks of 1024. Lines are numbered by the walk over them. C and
 * CUDA include it. */
#ifndef VT_GPU_REDUCE_H
#define VT_GPU_REDUCE_H
#include "gpu_walk.h"

enum { VT_GPU_LANES = 32, VT_GPU_CHUNK = 1024 };
/* The longest line that one thread reduces. */
enum { VT_GPU_SHORT = 16 };

enum {
  VT_GPU_REDUCE_SUM,
  VT_GPU_REDUCE_PROD,
  VT_GPU_REDUCE_MAX,
  VT_GPU_REDUCE_MIN,
  VT_GPU_REDUCE_SQUARES, /* the sum of d*d, with d = x - shift, or d = x if shift is NULL */
  VT_GPU_REDUCE_SIZES,   /* the sum of |x| */
  VT_GPU_REDUCE_EXP      /* the sum of exp(x - shift) */
};

enum { VT_GPU_TOUCH_DIVIDE = 1, VT_GPU_TOUCH_ROOT = 2, VT_GPU_TOUCH_TRUTH = 4 };

typedef struct vt_gpu_reduce {
  const void *x;
  /* The results; if lines have several chunks, the results of chunks: that of chunk c of line l is
   * at l*chunks + c. */
  void *y;
  const void *shift; /* one number per line for the kinds that use a shift, or NULL */
  int64_t n, chunks; /* elements and chunks of a line */
  int64_t divisor;
  /* kind is VT_GPU_REDUCE_*; touch has bits VT_GPU_TOUCH_*: final steps that are applied, lowest
   * bit first, to results, but not to results of chunks */
  uint32_t kind, touch;
  vt_gpu_walk lines; /* walk over the lines; operand 0 is x, 1 is y */
  vt_gpu_walk along; /* walk along a line; operand 0 is x */
} vt_gpu_reduce;

/* argmin and argmax: the first position of the extreme. If a line is cut into several spans, the
 * best element of each span is left as a key and a position, and argreduce_spans finds the best of
 * those. */
typedef struct vt_gpu_argreduce {
  const void *x;
  int64_t *y;
  uint64_t *key; /* key of the best element of span s of line l, at l*spans + s */
  int64_t *place;
  int64_t n, span, spans;
  uint32_t least, reserved; /* 1 for argmin, 0 for argmax */
  vt_gpu_walk lines, along; /* walks over lines and along one; operand 0 is x, 1 is y */
} vt_gpu_argreduce;

/* Cumulative sums. `carry` has a number for each chunk of each line: first the sum of the chunk,
 * then the sum of all chunks before it. */
typedef struct vt_gpu_cumsum {
  const void *x;
  void *y, *carry; /* the results; `carry`, NULL if a line is one chunk */
  int64_t n, chunks;
  /* 1 for exclusive sums: each sum is stored one position later, and the last sum is not stored */
  uint32_t late, reserved;
  vt_gpu_walk lines, along; /* walks over lines and along one; operand 0 is x, 1 is y */
} vt_gpu_cumsum;
#endif
