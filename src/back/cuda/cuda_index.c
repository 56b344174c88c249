/* SPDX-License-Identifier: Apache-2.0
 * cuda_index.c - gathers and nonzero. Every gather is one walk over the result, which gives the
 * offsets of the operand and of the index as well. */
#include <string.h>
#include "cuda_lookup.h"
#include "cuda_sort.h"
#include "cuda_walk.h"

/* ---- lookups ---- */

vt_gpu_lookup vt_cuda_lookup_of(const vt_view *index, int64_t coordinate_step) {
  return (vt_gpu_lookup){.index = index->data,
                         .wide = index->dtype == VT_DTYPE_I64,
                         .coordinate_step = coordinate_step};
}

void vt_cuda_lookup_add_axis(vt_gpu_lookup *l, int64_t limit, int64_t stride) {
  l->limit[l->depth] = limit;
  l->stride[l->depth++] = stride;
}

vt_status vt_cuda_lookup_check_range(vt_cuda_call *c, const vt_gpu_lookup *l) {
  const vt_view *index = &c->in[1];
  const vt_gpu_check args = {.lookup = *l, .fault = c->fault, .walk = vt_cuda_walk(&index, 1)};
  if (args.walk.n == 0) return VT_OK;
  VT_TRY(vt_cuda_launch(c, VT_GPU_index_check, vt_cuda_grid_over(c, args.walk.n, 1, 256), &args));
  return vt_cuda_record_fault(c, index);
}

/* ---- gathers ---- */

/* Views of the operands with the axes of the result: `x` has stride 0 along axes that come from the
 * index, and `index` has stride 0 along axes that come from x. */
typedef struct gather_views {
  vt_view x, index;
  vt_gpu_lookup lookup;
} gather_views;

static gather_views gather_views_without_strides(const vt_cuda_call *c, int64_t coordinate_step) {
  gather_views g = {
      .x = c->out[0], .index = c->out[0], .lookup = vt_cuda_lookup_of(&c->in[1], coordinate_step)};
  memset(g.x.stride, 0, sizeof g.x.stride);
  memset(g.index.stride, 0, sizeof g.index.stride);
  return g;
}

/* Merges elements into pieces of up to 16 bytes if one index applies to all elements of a piece;
 * returns the bytes of a piece. */
static uint32_t merge_pieces(vt_gpu_gather *a, uint32_t bytes) {
  const void *const data[2] = {a->to, a->from};
  vt_gpu_walk wide = a->walk;
  const uint32_t rank = wide.rank;
  if (rank == 0 || wide.stride[2][rank - 1] != 0) return bytes;
  const uint32_t joined = vt_cuda_merge_pieces(&wide, 2, data, bytes), times = joined / bytes;
  for (uint32_t i = 0; i < a->lookup.depth; i++)
    if (a->lookup.stride[i] % times != 0) return bytes;
  for (uint32_t i = 0; i < a->lookup.depth; i++) a->lookup.stride[i] /= times;
  a->walk = wide;
  return joined;
}

static vt_status launch_gather(vt_cuda_call *c, const gather_views *g) {
  const vt_view *const all[3] = {c->out, &g->x, &g->index};
  VT_TRY(vt_cuda_lookup_check_range(c, &g->lookup));
  if (vt_cuda_element_count(&c->in[0]) == 0)
    return VT_OK; /* x is empty, so every index is out of range */
  vt_gpu_gather args = {
      .to = c->out->data, .from = c->in[0].data, .lookup = g->lookup, .walk = vt_cuda_walk(all, 3)};
  const uint32_t bytes = merge_pieces(&args, vt_cuda_bytes_of(c->out->dtype));
  return vt_cuda_launch(c, VT_CUDA_SIZES_TO_16(gather)[bytes],
                        vt_cuda_grid_over(c, args.walk.n, 2, 256), &args);
}

/* Shapes: x (B..., M..., axis, R...), index (B..., I...), result (B..., M..., I..., R...). */
static vt_status gather_along(vt_cuda_call *c, uint32_t axis, uint32_t batch_axes) {
  const vt_view *x = &c->in[0], *index = &c->in[1];
  const uint32_t inner = index->rank - batch_axes;
  gather_views g = gather_views_without_strides(c, 0);
  for (uint32_t i = 0; i < axis; i++) {
    g.x.stride[i] = x->stride[i];
    if (i < batch_axes) g.index.stride[i] = index->stride[i];
  }
  for (uint32_t i = 0; i < inner; i++) g.index.stride[axis + i] = index->stride[batch_axes + i];
  for (uint32_t i = axis + 1; i < x->rank; i++) g.x.stride[inner + i - 1] = x->stride[i];
  vt_cuda_lookup_add_axis(&g.lookup, x->dim[axis], x->stride[axis]);
  return launch_gather(c, &g);
}

vt_status vt_cuda_run_gather(vt_cuda_call *c) {
  const vt_attr_gather *a = c->attrs;
  return gather_along(c, (uint32_t)a->axis, (uint32_t)a->batch);
}

vt_status vt_cuda_run_embedding(vt_cuda_call *c) { return gather_along(c, 0, 0); }

/* Shapes: x (B..., D..., R...), index (B..., I..., depth), result (B..., I..., R...). */
vt_status vt_cuda_run_gather_nd(vt_cuda_call *c) {
  const uint32_t batch = (uint32_t)((const vt_attr_gather_nd *)c->attrs)->batch;
  const vt_view *x = &c->in[0], *index = &c->in[1];
  const uint32_t lead = index->rank - 1, depth = (uint32_t)index->dim[lead];
  gather_views g = gather_views_without_strides(c, index->stride[lead]);
  for (uint32_t i = 0; i < lead; i++) {
    g.index.stride[i] = index->stride[i];
    if (i < batch) g.x.stride[i] = x->stride[i];
  }
  for (uint32_t i = batch + depth; i < x->rank; i++)
    g.x.stride[lead + i - batch - depth] = x->stride[i];
  for (uint32_t i = batch; i < batch + depth; i++)
    vt_cuda_lookup_add_axis(&g.lookup, x->dim[i], x->stride[i]);
  return launch_gather(c, &g);
}

/* Shapes: index and result have the same shape; x is at least as long along all axes other than
 * `axis`. */
vt_status vt_cuda_run_gather_elements(vt_cuda_call *c) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)c->attrs)->axis;
  const vt_view *x = &c->in[0], *index = &c->in[1];
  gather_views g = gather_views_without_strides(c, 0);
  for (uint32_t i = 0; i < index->rank; i++) {
    g.index.stride[i] = index->stride[i];
    if (i != axis) g.x.stride[i] = x->stride[i];
  }
  vt_cuda_lookup_add_axis(&g.lookup, x->dim[axis], x->stride[axis]);
  return launch_gather(c, &g);
}

/* ---- nonzero: blocks count, prefix sums of counts give each block its first row ---- */

static int64_t count_nonzero_blocks(const vt_cuda_call *c) {
  return vt_cuda_ceil_div(vt_cuda_element_count(&c->in[0]), VT_GPU_LISTED);
}

uint64_t vt_cuda_scratch_nonzero(const vt_cuda_call *c) {
  return (uint64_t)count_nonzero_blocks(c) * sizeof(int64_t);
}

/* Returns the bits that make an element nonzero if any of them is set: all bits of an integer, all
 * but the sign of a float. */
static uint64_t nonzero_mask_of(uint32_t dtype) {
  const int is_float = dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
                       dtype == VT_DTYPE_BF16;
  const uint64_t all = UINT64_MAX >> (64 - 8 * vt_cuda_bytes_of(dtype));
  return is_float ? all >> 1 : all;
}

vt_status vt_cuda_run_nonzero(vt_cuda_call *c) {
  const vt_view *x = &c->in[0], *y = &c->out[0];
  const uint32_t bytes = vt_cuda_bytes_of(x->dtype);
  vt_gpu_list args = {.x = x->data,
                      .before = c->work,
                      .total = c->out[1].data,
                      .places = y->data,
                      .mask = nonzero_mask_of(x->dtype),
                      .bound = y->dim[0],
                      .row = y->stride[0],
                      .column = y->stride[1],
                      .walk = vt_cuda_walk(&x, 1),
                      .rank = x->rank};
  memcpy(args.dim, x->dim, sizeof args.dim);
  const vt_cuda_grid grid = vt_cuda_grid_over(c, count_nonzero_blocks(c) * 256, 1, 256);
  VT_TRY(vt_cuda_launch(c, VT_CUDA_SIZES(nonzero_count)[bytes], grid, &args));
  VT_TRY(vt_cuda_exclusive_prefix_sums(c, c->work, 1, count_nonzero_blocks(c), c->out[1].data));
  VT_TRY(vt_cuda_launch(c, VT_CUDA_SIZES(nonzero_list)[bytes], grid, &args));
  return vt_cuda_launch(c, VT_GPU_nonzero_rest,
                        vt_cuda_grid_over(c, args.bound * args.rank, 1, 256), &args);
}
