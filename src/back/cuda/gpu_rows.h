/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.h - the argument struct of softmax.cu and norm.cu: ops that turn a line into a line. C
 * and CUDA include it. S is the summation order of docs/numerics.md. */
#ifndef VT_GPU_ROWS_H
#define VT_GPU_ROWS_H
#include "gpu_reduce.h"

/* Limits for a row that a thread block holds in registers: a warp holds one chunk. */
enum { VT_GPU_ROW_CHUNKS = 7, VT_GPU_ROW_THREADS = VT_GPU_ROW_CHUNKS * VT_GPU_LANES };
/* Limits for longer rows: LONG_WARPS is the number of warps of all resident blocks of a
 * multiprocessor. One block may have all of them; the register budget is set for that. */
enum { VT_GPU_LONG_WARPS = 32, VT_GPU_LONG_THREADS = VT_GPU_LONG_WARPS * VT_GPU_LANES };

typedef struct vt_gpu_rows {
  const void *x;
  void *y;
  const void *gamma, *beta; /* gain and bias of a norm, or NULL */
  /* statistics of each line; for softmax the maximum m and S(e) or its logarithm, for norms the
   * mean u and the factor r */
  const void *shift, *scale;
  int64_t n; /* elements of a line */
  double eps;
  uint32_t centred, logs; /* centred: 1 to subtract the mean; logs: 1 for log_softmax */
  /* Element i of a row uses number i / each of gamma and of beta; neighbouring numbers are
   * gamma_step (beta_step) elements apart. */
  int64_t gamma_step, beta_step;
  uint32_t each;
  /* 1 if neighbouring lines are interleaved: neighbours in memory belong to different lines */
  uint32_t interleaved;
  /* blocks of a long row; chunks per block; chunks of these that stay in shared memory */
  uint32_t blocks, chunks, keep;
  /* for each team of blocks two exchange buffers, with a number per chunk, and a counter */
  void *exchange, *arrived;
  vt_gpu_walk lines, along; /* walks over the lines and along a line; operands x, y, gamma, beta */
} vt_gpu_rows;

/* Arguments of the kernels that turn the sum of each line into a factor. `sum` holds S(e) of
 * softmax or S(d*d) of a norm, with e = exp(x - m), d = x - u; the kernel replaces it by its
 * logarithm or by 1/sqrt(sum/n + eps). */
typedef struct vt_gpu_line_factors {
  void *sum;
  const void *shift; /* the maximum m or the mean u of each line */
  void *y;           /* where the results of logsumexp are stored; NULL for other ops */
  /* batch_norm: the running statistics, and where the updated ones are stored; else NULL */
  const void *mean, *var;
  void *new_mean, *new_var;
  int64_t n;
  double eps, weight;
  /* walk over lines; operand 1 is y; for batch_norm 0 to 3 are mean, new_mean, var, new_var */
  vt_gpu_walk lines;
} vt_gpu_line_factors;
#endif
