/* SPDX-License-Identifier: Apache-2.0
 * cuda_argreduce.c - argmax, argmin and cumsum: ops along one axis. */
#include "cuda_lines.h"

enum { THREADS = 256, CUMSUM_THREADS = 128 };

/* Returns the lines of x and y along the axes whose bits are set in `axes_mask`. In y these axes
 * have length 1. */
static vt_cuda_lines lines_along_axes(const vt_cuda_call *c, unsigned axes_mask) {
  const vt_view *x = &c->in[0];
  const vt_view y = vt_cuda_keepdims_view(c->out, x, axes_mask);
  const vt_view *const all[2] = {x, &y};
  return vt_cuda_lines_of(all, 2, axes_mask);
}

static vt_cuda_grid grid_for_threads(const vt_cuda_call *c, int64_t threads,
                                     uint32_t threads_per_block) {
  return vt_cuda_grid_over(c, threads, 1, threads_per_block);
}

/* ---- argmax, argmin ---- */

/* Cuts lines into spans if there are too few lines to keep the GPU busy. */
static vt_gpu_argreduce argreduce_args(const vt_cuda_call *c) {
  const vt_cuda_lines l = lines_along_axes(c, 1u << ((const vt_attr_axis *)c->attrs)->axis);
  vt_gpu_argreduce a = {.x = c->in[0].data,
                        .y = c->out->data,
                        .n = l.along.n,
                        .least = c->step->op == VT_OP_argmin,
                        .lines = l.lines,
                        .along = l.along};
  const int64_t wanted = (int64_t)1 << 15; /* this many threads, or warps, keep any GPU busy */
  const int64_t spans = vt_cuda_max(1, vt_cuda_min(wanted / a.lines.n, a.n / 256));
  a.span = vt_cuda_ceil_div(a.n, spans);
  a.spans = vt_cuda_ceil_div(a.n, a.span);
  return a;
}

static uint64_t span_array_bytes(const vt_gpu_argreduce *a) {
  return a->spans == 1 ? 0 : vt_cuda_align_up((uint64_t)(a->lines.n * a->spans) * 8);
}

uint64_t vt_cuda_scratch_argreduce(const vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return 0;
  const vt_gpu_argreduce a = argreduce_args(c);
  return 2 * span_array_bytes(&a);
}

vt_status vt_cuda_run_argreduce(vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return VT_OK;
  vt_gpu_argreduce a = argreduce_args(c);
  const vt_cuda_lines l = {a.lines, a.along};
  const int interleaved = vt_cuda_lines_are_interleaved(&l, 0);
  const uint32_t *types =
      interleaved ? VT_CUDA_TYPES(argreduce_columns) : VT_CUDA_TYPES(argreduce_lines);
  const int64_t items = a.lines.n * a.spans;
  a.key = c->work;
  a.place = a.spans == 1 ? NULL : (int64_t *)((char *)c->work + span_array_bytes(&a));
  VT_TRY(vt_cuda_launch(c, types[c->in[0].dtype],
                        grid_for_threads(c, interleaved ? items : items * VT_GPU_LANES, THREADS),
                        &a));
  if (a.spans == 1) return VT_OK;
  return vt_cuda_launch(c, VT_GPU_argreduce_spans,
                        grid_for_threads(c, a.lines.n * VT_GPU_LANES, THREADS), &a);
}

/* ---- cumsum ---- */

/* Returns the view with one axis reversed, so that index 0 names the last element. */
static vt_view view_with_reversed_axis(const vt_view *v, uint32_t axis) {
  vt_view t = *v;
  const int64_t last = (v->dim[axis] - 1) * v->stride[axis];
  if (v->data != NULL) t.data = (char *)v->data + last * (int64_t)vt_cuda_bytes_of(v->dtype);
  t.stride[axis] = -v->stride[axis];
  return t;
}

static vt_gpu_cumsum cumsum_args(const vt_cuda_call *c) {
  const vt_attr_cumsum *at = c->attrs;
  const uint32_t axis = (uint32_t)at->axis;
  const vt_view x = at->reverse ? view_with_reversed_axis(&c->in[0], axis) : c->in[0];
  const vt_view y = at->reverse ? view_with_reversed_axis(c->out, axis) : *c->out;
  const vt_view *const all[2] = {&x, &y};
  const vt_cuda_lines l = vt_cuda_lines_of(all, 2, 1u << axis);
  return (vt_gpu_cumsum){.x = x.data,
                         .y = y.data,
                         .n = l.along.n,
                         .chunks = vt_cuda_ceil_div(l.along.n, VT_GPU_CHUNK),
                         .late = at->exclusive != 0,
                         .lines = l.lines,
                         .along = l.along};
}

uint64_t vt_cuda_scratch_cumsum(const vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return 0;
  const vt_gpu_cumsum a = cumsum_args(c);
  if (a.chunks == 1) return 0;
  return (uint64_t)(a.lines.n * a.chunks) * vt_cuda_bytes_of(c->in[0].dtype);
}

vt_status vt_cuda_run_cumsum(vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return VT_OK;
  const uint32_t dtype = c->in[0].dtype;
  vt_gpu_cumsum a = cumsum_args(c);
  const vt_cuda_grid grid =
      grid_for_threads(c, a.lines.n * a.chunks * VT_GPU_LANES, CUMSUM_THREADS);
  if (a.chunks > 1) {
    a.carry = c->work;
    VT_TRY(vt_cuda_launch(c, VT_CUDA_TYPES(cumsum_chunks)[dtype], grid, &a));
    VT_TRY(vt_cuda_launch(c, VT_CUDA_TYPES(cumsum_carry)[dtype],
                          grid_for_threads(c, a.lines.n, 128), &a));
  }
  return vt_cuda_launch(c, VT_CUDA_TYPES(cumsum)[dtype], grid, &a);
}
