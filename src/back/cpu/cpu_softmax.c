/* SPDX-License-Identifier: Apache-2.0
 * cpu_softmax.c - the ops softmax, log_softmax and logsumexp: m = max x, then exp(x - m) chunk by
 * chunk, each summed while it is in cache. */
#include "cpu_rows.h"
#include "vt_num.h"

static float max_of_row(const vt_cpu_kernels *k, const float *x, int64_t n) {
  float m;
  k->reductions->reduce[VT_REDUCE_MAX][VT_DTYPE_F32].line(x, n, &m);
  return m;
}

/* Computes exp(x - m) of a chunk. The elements after it are the next chunk or row, so they are
 * prefetched meanwhile; prefetching an invalid address is harmless. */
static void exp_chunk_and_prefetch(const vt_cpu_kernels *k, const float *x, float m, int64_t n,
                                   float *y) {
  enum { BLOCK = 256, LINE = VT_CPU_LINE / sizeof(float) };
  for (int64_t i = 0; i < n; i += BLOCK) {
    const int64_t some = n - i < BLOCK ? n - i : BLOCK;
    for (int64_t j = i; j < i + some; j += LINE) __builtin_prefetch(x + n + j, 0, 2);
    k->maps->exp_sub(y + i, x + i, m, some);
  }
}

/* The ordered sum S of e = exp(x - m) over a row; e is stored in y unless y is NULL. */
static float store_exp_and_sum(const vt_cpu_kernels *k, const float *x, float m, int64_t n,
                               float *y) {
  float part[VT_REDUCE_CHUNK], sum;
  int64_t each = VT_REDUCE_CHUNK, count = 0;
  const vt_cpu_reduce *sum_kernel = &k->reductions->reduce[VT_REDUCE_SUM][VT_DTYPE_F32];
  if (n <= VT_REDUCE_CHUNK) {
    float *e = y == NULL ? part : y;
    exp_chunk_and_prefetch(k, x, m, n, e);
    sum_kernel->line(e, n, &sum);
    return sum;
  }
  while ((n - 1) / each >= VT_REDUCE_CHUNK) each *= VT_REDUCE_CHUNK;
  for (int64_t i = 0; i < n; i += each)
    part[count++] =
        store_exp_and_sum(k, x + i, m, n - i < each ? n - i : each, y == NULL ? NULL : y + i);
  sum_kernel->line(part, count, &sum);
  return sum;
}

/* The maximum m ignores NaN, but a NaN in x makes the sum NaN whatever m is. A row with +inf, or
 * with nothing but -inf, also becomes NaN: x - m is then inf - inf. */
static void softmax_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const vt_cpu_kernels *k = r->call->team->kernels;
  (void)line;
  k->reductions->divide(y, r->n, store_exp_and_sum(k, x, k->reductions->max(x, r->n), r->n, y));
}

static void log_softmax_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const vt_cpu_kernels *k = r->call->team->kernels;
  const float m = max_of_row(k, x, r->n);
  const float log_sum = vt_f32_log(store_exp_and_sum(k, x, m, r->n, NULL));
  (void)line;
  k->reductions->rows[VT_DTYPE_F32].log_softmax(x, r->n, &m, &log_sum, y);
}

/* If m is infinite the result is m; a NaN gives NaN either way. */
static void logsumexp_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const vt_cpu_kernels *k = r->call->team->kernels;
  const float m = max_of_row(k, x, r->n);
  (void)line;
  *(float *)y = m - m == 0.0f ? m + vt_f32_log(store_exp_and_sum(k, x, m, r->n, NULL)) : m;
}

static void init_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  const uint32_t op = c->step->op;
  const unsigned mask =
      op == VT_OP_logsumexp
          ? vt_cpu_axis_mask(&((const vt_attr_reduce *)c->attrs)->axes, c->in[0].rank)
          : 1u << ((const vt_attr_axis *)c->attrs)->axis;
  vt_cpu_rows_init(r, c, mask);
  r->cost = 1.0;
  r->one = op == VT_OP_logsumexp;
  r->row = op == VT_OP_softmax       ? softmax_row
           : op == VT_OP_log_softmax ? log_softmax_row
                                     : logsumexp_row;
}

uint64_t vt_cpu_scratch_softmax(const vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  return vt_cpu_rows_scratch_bytes(&r);
}

vt_status vt_cpu_run_softmax(vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  vt_cpu_rows_run(c, &r);
  return VT_OK;
}
