/* SPDX-License-Identifier: Apache-2.0
 * gpu_reduce.h - many numbers into one: what the kernels of reduce.cu are given. A line is what
 * becomes one number, in the order S: 32 lanes that take every 32nd element, a tree over the lanes,
 * chunks of 1024. Lines have numbers, in which the walk over them counts. Read by C and by CUDA. */
#ifndef VT_GPU_REDUCE_H
#define VT_GPU_REDUCE_H
#include "gpu_walk.h"

enum { VT_GPU_LANES = 32, VT_GPU_CHUNK = 1024 };
/* Elements of a line that a thread has all by itself. */
enum { VT_GPU_SHORT = 16 };

enum {
  VT_GPU_REDUCE_SUM,
  VT_GPU_REDUCE_PROD,
  VT_GPU_REDUCE_MAX,
  VT_GPU_REDUCE_MIN,
  VT_GPU_REDUCE_SQUARES, /* the sum of d*d, d = x - shift, or x where there is no shift */
  VT_GPU_REDUCE_SIZES,   /* the sum of abs x */
  VT_GPU_REDUCE_EXP      /* the sum of exp(x - shift) */
};

enum { VT_GPU_TOUCH_DIVIDE = 1, VT_GPU_TOUCH_ROOT = 2, VT_GPU_TOUCH_TRUTH = 4 };

typedef struct vt_gpu_reduce {
  const void *x;
  void *y; /* the results; or those of chunks, that of chunk c of line l at l*chunks + c */
  const void *shift; /* one number a line; NULL: none */
  int64_t n, chunks; /* of a line */
  int64_t divisor;
  uint32_t kind, touch; /* touch: what is done to a result, in ascending order; not to chunks */
  vt_gpu_walk lines;    /* operand 0: x, 1: y */
  vt_gpu_walk along;    /* operand 0: x */
} vt_gpu_reduce;

/* Where the extreme of a line stands first. With several spans a line, the best of each is left as
 * a key and a place; a last kernel finds the best of them. */
typedef struct vt_gpu_argreduce {
  const void *x;
  int64_t *y;
  uint64_t *key; /* that of span s of line l at l*spans + s */
  int64_t *place;
  int64_t n, span, spans;
  uint32_t least, reserved; /* 1: the least is sought */
  vt_gpu_walk lines, along; /* operand 0: x, 1: y */
} vt_gpu_argreduce;

/* Running sums. `carry` has a number for each chunk of each line: first the sum of the chunk by
 * itself, then that of all the chunks before. */
typedef struct vt_gpu_running {
  const void *x;
  void *y, *carry; /* carry NULL: lines are one chunk */
  int64_t n, chunks;
  uint32_t late, reserved;  /* late: each sum goes one place further, the last one nowhere */
  vt_gpu_walk lines, along; /* operand 0: x, 1: y */
} vt_gpu_running;
#endif
