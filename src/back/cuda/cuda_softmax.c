/* SPDX-License-Identifier: Apache-2.0
 * cuda_softmax.c - softmax, log_softmax and logsumexp. */
#include "cuda_rows.h"

static vt_cuda_lines softmax_lines(const vt_cuda_call *c) {
  const vt_view *x = &c->in[0];
  const unsigned mask = c->step->op == VT_OP_logsumexp
                            ? vt_cuda_axes_mask(&((const vt_attr_reduce *)c->attrs)->axes, x->rank)
                            : 1u << ((const vt_attr_axis *)c->attrs)->axis;
  const vt_view y = vt_cuda_keepdims_view(c->out, x, mask);
  const vt_view *const all[2] = {x, &y};
  return vt_cuda_lines_of(all, 2, mask);
}

static vt_cuda_rows_variant choose_rows_variant(const vt_cuda_call *c, const vt_cuda_lines *l) {
  return c->step->op == VT_OP_logsumexp ? vt_cuda_rows_choose_any_layout(c, l)
                                        : vt_cuda_rows_choose(c, l);
}

uint64_t vt_cuda_scratch_softmax(const vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return 0;
  const vt_cuda_lines l = softmax_lines(c);
  return vt_cuda_rows_scratch(c, choose_rows_variant(c, &l), &l);
}

static vt_status run_in_separate_kernels(vt_cuda_call *c, const vt_cuda_lines *l, vt_gpu_rows *a) {
  const vt_cuda_line_stats at = vt_cuda_line_stats_in_scratch(c, l->lines.n, VT_DTYPE_F32);
  const int one = c->step->op == VT_OP_logsumexp;
  const vt_gpu_line_factors ends = {
      .sum = at.sum, .shift = at.shift, .y = one ? c->out->data : NULL, .lines = l->lines};
  VT_TRY(vt_cuda_line_stats_reduce(c, l, VT_GPU_REDUCE_MAX, 0, NULL, at.shift, at.rest));
  VT_TRY(vt_cuda_line_stats_reduce(c, l, VT_GPU_REDUCE_EXP, 0, at.shift, at.sum, at.rest));
  if (c->step->op != VT_OP_softmax)
    VT_TRY(vt_cuda_launch(c, VT_GPU_softmax_logs, vt_cuda_grid_over(c, l->lines.n, 1, 128), &ends));
  if (one) return VT_OK;
  a->shift = at.shift;
  a->scale = at.sum;
  return vt_cuda_rows_launch_results(c, VT_GPU_softmax_out, a);
}

static vt_status run_bundle(vt_cuda_call *c, const vt_cuda_lines *l) {
  vt_gpu_bundle a = {.x = c->in[0].data, .y = c->out->data, .kind = VT_GPU_BUNDLE_ROWS};
  if (c->step->op == VT_OP_log_softmax) a.kind = VT_GPU_BUNDLE_LOGS;
  if (c->step->op == VT_OP_logsumexp) a.kind = VT_GPU_BUNDLE_ONE;
  const vt_cuda_bundle_kernels k = {VT_GPU_bundle_softmax, VT_GPU_short_softmax};
  return vt_cuda_bundle_launch(c, k, l, &a, c->work);
}

vt_status vt_cuda_run_softmax(vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return VT_OK;
  const vt_cuda_lines l = softmax_lines(c);
  const vt_cuda_rows_variant variant = choose_rows_variant(c, &l);
  const int logs = c->step->op == VT_OP_log_softmax;
  vt_gpu_rows a = {.x = c->in[0].data,
                   .y = c->out->data,
                   .n = l.along.n,
                   .logs = (uint32_t)logs,
                   .lines = l.lines,
                   .along = l.along};
  if (variant == VT_CUDA_ROWS_PARTS) return run_in_separate_kernels(c, &l, &a);
  if (variant == VT_CUDA_ROWS_BUNDLE) return run_bundle(c, &l);
  return vt_cuda_rows_launch(c, variant, logs ? VT_CUDA_WARPS(log_softmax) : VT_CUDA_WARPS(softmax),
                             logs ? VT_GPU_log_softmax_block : VT_GPU_softmax_block,
                             VT_GPU_softmax_long, &a);
}
