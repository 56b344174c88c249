/* SPDX-License-Identifier: Apache-2.0
 * cuda_norm.c - layer_norm, rms_norm, group_norm, instance_norm, batch_norm in training, var and
 * std. A plan has the lines to normalize as walks over x, y, gamma and beta. */
#include "cuda_rows.h"
#include "cuda_walk.h"

typedef struct norm_plan {
  vt_cuda_lines at; /* walks over the lines, and along a line, of operands x, y, gamma, beta */
  double eps;
  int centred;
} norm_plan;

/* ---- views: the lines, and the part of gamma that belongs to each ---- */

/* Returns a view of operand i with as many axes as x: the operand's axes become axes `first_axis`
 * and following, the others have length 1. The view's data is NULL if the operand is absent. */
static vt_view operand_with_axes_of_x(const vt_cuda_call *c, uint32_t i, uint32_t first_axis) {
  vt_view v = {.dtype = c->in[0].dtype, .rank = c->in[0].rank};
  for (uint32_t k = 0; k < v.rank; k++) v.dim[k] = 1;
  if (i >= c->n_in) return v;
  v.data = c->in[i].data;
  for (uint32_t k = 0; k < c->in[i].rank; k++) {
    v.dim[first_axis + k] = c->in[i].dim[k];
    v.stride[first_axis + k] = c->in[i].stride[k];
  }
  return v;
}

static norm_plan plan_of_axes(const vt_cuda_call *c, unsigned axes_mask, uint32_t first_axis) {
  const vt_view gamma = operand_with_axes_of_x(c, 1, first_axis),
                beta = operand_with_axes_of_x(c, 2, first_axis);
  const vt_view *const all[4] = {&c->in[0], c->out, &gamma, &beta};
  return (norm_plan){.at = vt_cuda_lines_of(all, 4, axes_mask), .centred = 1};
}

static norm_plan plan_of_last_axes(const vt_cuda_call *c) {
  const uint32_t lead = c->in[0].rank - (c->n_in > 1 ? c->in[1].rank : 1);
  norm_plan n = plan_of_axes(c, ~0u << lead, lead);
  n.eps = ((const vt_attr_norm *)c->attrs)->eps;
  n.centred = c->step->op == VT_OP_layer_norm;
  return n;
}

static norm_plan plan_of_batch_norm(const vt_cuda_call *c) {
  norm_plan n = plan_of_axes(c, ~2u, 1);
  n.eps = ((const vt_attr_batch_norm *)c->attrs)->eps;
  return n;
}

/* Appends an axis of `dim` elements to a view. */
static void append_axis(vt_view *v, int64_t dim, int64_t stride) {
  v->dim[v->rank] = dim;
  v->stride[v->rank++] = stride;
}

/* Views x [N, C, ...] as [N, groups][C/groups, ...]; the second half is a line. */
static norm_plan plan_of_groups(const vt_cuda_call *c) {
  const int by_group = c->step->op == VT_OP_group_norm;
  const vt_view *x = &c->in[0];
  const int64_t groups = by_group ? ((const vt_attr_groups *)c->attrs)->groups : x->dim[1];
  const int64_t channels = x->dim[1] / groups;
  vt_view lines[4], along[4];
  const vt_view *const all_lines[4] = {&lines[0], &lines[1], &lines[2], &lines[3]};
  const vt_view *const all_along[4] = {&along[0], &along[1], &along[2], &along[3]};
  for (uint32_t k = 0; k < 4; k++) {
    const vt_view v = k == 0 ? *x : k == 1 ? *c->out : operand_with_axes_of_x(c, k - 1, 1);
    lines[k] = along[k] = (vt_view){.dtype = v.dtype, .data = v.data};
    const int there = v.dim[1] == x->dim[1];
    append_axis(&lines[k], k < 2 ? v.dim[0] : 1, v.stride[0]);
    append_axis(&lines[k], there ? groups : 1, v.stride[1] * channels);
    append_axis(&along[k], there ? channels : 1, v.stride[1]);
    for (uint32_t i = 2; i < x->rank; i++) append_axis(&along[k], v.dim[i], v.stride[i]);
  }
  return (norm_plan){
      .at = {.lines = vt_cuda_walk(all_lines, 4), .along = vt_cuda_walk(all_along, 4)},
      .eps = by_group ? ((const vt_attr_groups *)c->attrs)->eps
                      : ((const vt_attr_norm *)c->attrs)->eps,
      .centred = 1};
}

static norm_plan norm_plan_of(const vt_cuda_call *c) {
  switch (c->step->op) {
    case VT_OP_group_norm:
    case VT_OP_instance_norm:
      return plan_of_groups(c);
    case VT_OP_batch_norm:
      return plan_of_batch_norm(c);
    default:
      return plan_of_last_axes(c);
  }
}

/* ---- rows in registers or shared memory ---- */

/* Returns 1 if x and y allow an axis of a line to be merged with the axis before it; gamma may need
 * the axes separate. */
static int merges_with_previous_axis(const vt_gpu_walk *w, uint32_t axis) {
  return w->stride[0][axis - 1] == w->stride[0][axis] * w->dim[axis] &&
         w->stride[1][axis - 1] == w->stride[1][axis] * w->dim[axis];
}
static vt_cuda_lines merged_lines_of(const norm_plan *n) {
  vt_cuda_lines l = n->at;
  while (l.along.rank > 1 && merges_with_previous_axis(&l.along, l.along.rank - 1)) {
    const uint32_t last = --l.along.rank;
    l.along.dim[last - 1] *= l.along.dim[last];
    l.along.stride[0][last - 1] = l.along.stride[0][last];
    l.along.stride[1][last - 1] = l.along.stride[1][last];
  }
  return l;
}

/* Returns 1 if the operand has one number for each element of a row, and the same numbers for all
 * rows. */
static int is_dense_along_row(const norm_plan *n, uint32_t operand) {
  const vt_gpu_walk *along = &n->at.along;
  int dense = along->n == 1 || (along->rank == 1 && along->stride[operand][0] == 1);
  for (uint32_t i = 0; i < n->at.lines.rank; i++) dense &= n->at.lines.stride[operand][i] == 0;
  return dense;
}
static int has_dense_gamma_and_beta(const vt_cuda_call *c, const norm_plan *n) {
  return c->n_in > 1 && is_dense_along_row(n, 2) && (c->n_in < 3 || is_dense_along_row(n, 3));
}
/* Returns 1 if all elements along the last axis of a line use the same number of the operand. */
static int is_shared_by_last_axis(const norm_plan *n, uint32_t operand) {
  const vt_gpu_walk *along = &n->at.along;
  return along->rank == 0 || (along->rank <= 2 && along->stride[operand][along->rank - 1] == 0);
}
static int has_shared_gamma_and_beta(const vt_cuda_call *c, const norm_plan *n) {
  return (c->n_in < 2 || is_shared_by_last_axis(n, 2)) &&
         (c->n_in < 3 || is_shared_by_last_axis(n, 3));
}

static vt_cuda_rows_variant choose_rows_variant(const vt_cuda_call *c, const norm_plan *n) {
  const vt_cuda_lines l = merged_lines_of(n);
  if (c->in[0].dtype != VT_DTYPE_F32 || c->step->op == VT_OP_batch_norm ||
      (!has_dense_gamma_and_beta(c, n) && !has_shared_gamma_and_beta(c, n)))
    return vt_cuda_rows_choose_any_layout(c, &l);
  return vt_cuda_rows_choose(c, &l);
}

static vt_gpu_rows rows_args(const vt_cuda_call *c, const norm_plan *n) {
  const vt_gpu_walk *along = &n->at.along;
  const int64_t each = along->rank == 0 ? 1 : along->dim[along->rank - 1];
  vt_gpu_rows a = {.x = c->in[0].data,
                   .y = c->out->data,
                   .gamma = c->n_in > 1 ? c->in[1].data : NULL,
                   .beta = c->n_in > 2 ? c->in[2].data : NULL,
                   .n = along->n,
                   .eps = n->eps,
                   .centred = (uint32_t)n->centred,
                   /* the limit changes nothing: rows of the kernels that use `each` are short */
                   .each = (uint32_t)vt_cuda_min(each, UINT32_MAX),
                   .lines = n->at.lines,
                   .along = *along};
  if (along->rank == 2) {
    a.gamma_step = along->stride[2][0];
    a.beta_step = along->stride[3][0];
  }
  return a;
}

/* ---- any tensor ---- */

/* Returns the arguments of the kernel that turns the statistics of lines into factors. Each channel
 * of batch_norm is a line and has its own running statistics. */
static vt_gpu_line_factors line_factors_of(const vt_cuda_call *c, const norm_plan *n,
                                           const vt_cuda_line_stats *at) {
  vt_gpu_line_factors e = {
      .sum = at->sum, .shift = at->shift, .n = n->at.along.n, .eps = n->eps, .lines = n->at.lines};
  if (c->step->op != VT_OP_batch_norm) return e;
  const vt_view *const all[4] = {&c->in[3], &c->out[1], &c->in[4], &c->out[2]};
  e.mean = c->in[3].data;
  e.new_mean = c->out[1].data;
  e.var = c->in[4].data;
  e.new_var = c->out[2].data;
  e.weight = ((const vt_attr_batch_norm *)c->attrs)->momentum;
  e.lines = vt_cuda_walk(all, 4);
  return e;
}

static vt_status run_line_factors(vt_cuda_call *c, const norm_plan *n,
                                  const vt_cuda_line_stats *at) {
  const vt_gpu_line_factors ends = line_factors_of(c, n, at);
  const uint32_t kernel =
      c->in[0].dtype == VT_DTYPE_F64 ? VT_GPU_norm_factors_f64 : VT_GPU_norm_factors_f32;
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, n->at.lines.n, 1, 128), &ends);
}

static vt_status run_in_separate_kernels(vt_cuda_call *c, const norm_plan *n) {
  const uint32_t dtype = c->in[0].dtype;
  const vt_cuda_line_stats at = vt_cuda_line_stats_in_scratch(c, n->at.lines.n, dtype);
  vt_gpu_rows a = rows_args(c, n);
  a.shift = n->centred ? at.shift : NULL;
  a.scale = at.sum;
  if (n->centred)
    VT_TRY(vt_cuda_line_stats_reduce(c, &n->at, VT_GPU_REDUCE_SUM, VT_GPU_TOUCH_DIVIDE, NULL,
                                     at.shift, at.rest));
  VT_TRY(vt_cuda_line_stats_reduce(c, &n->at, VT_GPU_REDUCE_SQUARES, 0, a.shift, at.sum, at.rest));
  VT_TRY(run_line_factors(c, n, &at));
  return vt_cuda_rows_launch_results(
      c, dtype == VT_DTYPE_F64 ? VT_GPU_norm_out_f64 : VT_GPU_norm_out_f32, &a);
}

/* ---- lines along any axis in shared memory ---- */

static vt_cuda_bundle_kernels bundle_kernels_of(const vt_cuda_call *c) {
  static const vt_cuda_bundle_kernels narrow = {VT_GPU_bundle_norm_f32, VT_GPU_short_norm_f32};
  static const vt_cuda_bundle_kernels wide = {VT_GPU_bundle_norm_f64, VT_GPU_short_norm_f64};
  return c->in[0].dtype == VT_DTYPE_F64 ? wide : narrow;
}

/* Runs a kernel of bundle.cu. For batch_norm that kernel stores its statistics, and a second kernel
 * updates the running statistics from them. */
static vt_status run_bundle(vt_cuda_call *c, const norm_plan *n) {
  const int has_running_stats = c->step->op == VT_OP_batch_norm;
  vt_cuda_line_stats at = {.rest = c->work};
  if (has_running_stats) at = vt_cuda_line_stats_in_scratch(c, n->at.lines.n, c->in[0].dtype);
  vt_gpu_bundle a = {.x = c->in[0].data,
                     .y = c->out->data,
                     .gamma = c->n_in > 1 ? c->in[1].data : NULL,
                     .beta = c->n_in > 2 ? c->in[2].data : NULL,
                     .shift = at.shift,
                     .sum = at.sum,
                     .eps = n->eps,
                     .kind = VT_GPU_BUNDLE_ROWS,
                     .centred = (uint32_t)n->centred};
  VT_TRY(vt_cuda_bundle_launch(c, bundle_kernels_of(c), &n->at, &a, at.rest));
  return has_running_stats ? run_line_factors(c, n, &at) : VT_OK;
}

/* Returns 1 if the step has nothing to compute. If x is empty, batch_norm may still have running
 * statistics to update. */
static int has_nothing_to_compute(const vt_cuda_call *c) {
  return vt_cuda_is_empty(c->out) && (c->n_out == 1 || vt_cuda_is_empty(&c->out[1]));
}

uint64_t vt_cuda_scratch_norm(const vt_cuda_call *c) {
  if (has_nothing_to_compute(c)) return 0;
  const norm_plan n = norm_plan_of(c);
  const vt_cuda_rows_variant variant = choose_rows_variant(c, &n);
  const int has_running_stats = variant == VT_CUDA_ROWS_BUNDLE && c->step->op == VT_OP_batch_norm;
  return vt_cuda_rows_scratch(c, variant, &n.at) +
         (has_running_stats ? vt_cuda_line_stats_bytes(n.at.lines.n, c->in[0].dtype) : 0);
}

vt_status vt_cuda_run_norm(vt_cuda_call *c) {
  if (has_nothing_to_compute(c)) return VT_OK;
  const norm_plan n = norm_plan_of(c);
  const vt_cuda_rows_variant variant = choose_rows_variant(c, &n);
  if (variant == VT_CUDA_ROWS_PARTS) return run_in_separate_kernels(c, &n);
  if (variant == VT_CUDA_ROWS_BUNDLE) return run_bundle(c, &n);
  vt_gpu_rows a = rows_args(c, &n);
  if (has_dense_gamma_and_beta(c, &n))
    return vt_cuda_rows_launch(c, variant, VT_CUDA_WARPS(norm), VT_GPU_norm_block, VT_GPU_norm_long,
                               &a);
  return vt_cuda_rows_launch(c, variant, VT_CUDA_WARPS(norm_shared), VT_GPU_norm_shared_block,
                             VT_GPU_norm_shared_long, &a);
}

/* ---- var and std ---- */

static vt_cuda_lines variance_lines(const vt_cuda_call *c) {
  const vt_view *x = &c->in[0];
  const unsigned mask = vt_cuda_axes_mask(&((const vt_attr_var *)c->attrs)->axes, x->rank);
  const vt_view y = vt_cuda_keepdims_view(c->out, x, mask);
  const vt_view *const all[2] = {x, &y};
  return vt_cuda_lines_of(all, 2, mask);
}

uint64_t vt_cuda_scratch_variance(const vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return 0;
  const vt_cuda_lines l = variance_lines(c);
  return vt_cuda_rows_scratch(c, vt_cuda_rows_choose_any_layout(c, &l), &l);
}

static vt_status run_variance_separately(vt_cuda_call *c, const vt_cuda_lines *l, int64_t divisor) {
  const vt_cuda_line_stats at = vt_cuda_line_stats_in_scratch(c, l->lines.n, c->in[0].dtype);
  const uint32_t root = c->step->op == VT_OP_std ? VT_GPU_TOUCH_ROOT : 0;
  const vt_cuda_reduction f = {.x = c->in[0].data,
                               .shift = at.shift,
                               .y = c->out->data,
                               .dtype = c->in[0].dtype,
                               .kind = VT_GPU_REDUCE_SQUARES,
                               .touch = VT_GPU_TOUCH_DIVIDE | root,
                               .divisor = divisor,
                               .at = *l};
  VT_TRY(vt_cuda_line_stats_reduce(c, l, VT_GPU_REDUCE_SUM, VT_GPU_TOUCH_DIVIDE, NULL, at.shift,
                                   at.rest));
  return vt_cuda_reduce(c, &f, at.rest);
}

vt_status vt_cuda_run_variance(vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return VT_OK;
  const vt_cuda_lines l = variance_lines(c);
  const int64_t divisor = l.along.n - ((const vt_attr_var *)c->attrs)->correction;
  if (vt_cuda_rows_choose_any_layout(c, &l) == VT_CUDA_ROWS_PARTS)
    return run_variance_separately(c, &l, divisor);
  vt_gpu_bundle a = {.x = c->in[0].data,
                     .y = c->out->data,
                     .divisor = divisor,
                     .kind = c->step->op == VT_OP_std ? VT_GPU_BUNDLE_ROOT : VT_GPU_BUNDLE_ONE,
                     .centred = 1};
  return vt_cuda_bundle_launch(c, bundle_kernels_of(c), &l, &a, c->work);
}
