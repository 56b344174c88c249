/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.h - lines that become lines: what the kernels of softmax.cu and norm.cu are given. Read
 * by C and by CUDA. */
#ifndef VT_GPU_ROWS_H
#define VT_GPU_ROWS_H
#include "gpu_reduce.h"

/* Of a row that a block has in registers: a chunk a warp. */
enum { VT_GPU_ROW_CHUNKS = 7, VT_GPU_ROW_THREADS = VT_GPU_ROW_CHUNKS * VT_GPU_LANES };
/* Of blocks that have longer rows: the warps of all those on a processor at once. A block may have
 * all of them, so that there are registers for them. */
enum { VT_GPU_LONG_WARPS = 32, VT_GPU_LONG_THREADS = VT_GPU_LONG_WARPS * VT_GPU_LANES };

typedef struct vt_gpu_rows {
  const void *x;
  void *y;
  const void *gamma, *beta;  /* NULL: none */
  const void *shift, *scale; /* a number a line: m and S(e) or its logarithm; u and r */
  int64_t n;                 /* of a line */
  double eps;
  uint32_t centred, logs;        /* layer_norm; log_softmax */
  int64_t gamma_step, beta_step; /* where elements share a number of gamma: `each` of them do, */
  uint32_t each;                 /* and the next number is a step further */
  uint32_t beside;               /* 1: neighbours in memory are of neighbouring lines */
  uint32_t blocks, chunks, keep; /* of a long row; of each block; of these, what stays on chip */
  void *rooms, *arrived;         /* where teams meet: two rooms of a chunk and a counter each */
  vt_gpu_walk lines, along;      /* operand 0: x, 1: y, 2: gamma, 3: beta */
} vt_gpu_rows;

/* What is made of the folds of a line: `sum` has S(e) or S(d*d), and afterwards its logarithm or
 * 1/sqrt(sum/n + eps). */
typedef struct vt_gpu_ends {
  void *sum;
  const void *shift;      /* m or u */
  void *y;                /* of logsumexp */
  const void *mean, *var; /* of batch_norm: the running statistics, and what they become */
  void *new_mean, *new_var;
  int64_t n;
  double eps, weight;
  vt_gpu_walk lines; /* operand 1: y; of batch_norm 0: mean, 1: new_mean, 2: var, 3: new_var */
} vt_gpu_ends;
#endif
