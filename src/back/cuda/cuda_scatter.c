/* SPDX-License-Identifier: Apache-2.0
 * cuda_scatter.c - scatters: rows of updates go to positions that an index names. Rows are sorted
 * by position, those of one position in ascending order; then the first row of each position
 * applies all of them. S is the summation order of docs/numerics.md, in chunks of 1024 rows. */
#include <string.h>
#include "cuda_lookup.h"
#include "cuda_sort.h"
#include "cuda_walk.h"

/* Shapes: base and result (B..., D..., R...), index (B..., I..., depth), updates (B..., I...,
 * R...). A row is the R... part of the updates, a position is one of B..., D.... */
typedef struct scatter_plan {
  uint32_t batch, lead, depth; /* numbers of axes: of B, of B and I, of D */
  int64_t rows, slice;         /* rows of the updates, and elements per row */
  int64_t places;              /* positions that a row may go to */
  vt_cuda_records records;
} scatter_plan;

static int bit_length(int64_t most) {
  int bits = 0;
  while (bits < 63 && most >> bits != 0) bits++;
  return bits;
}

static scatter_plan scatter_plan_of(const vt_cuda_call *c) {
  const vt_view *y = c->out, *index = &c->in[1], *updates = &c->in[2];
  scatter_plan s = {.batch = (uint32_t)((const vt_attr_gather_nd *)c->attrs)->batch,
                    .lead = index->rank - 1,
                    .rows = 1,
                    .slice = 1,
                    .places = 1};
  s.depth = (uint32_t)index->dim[s.lead];
  for (uint32_t i = 0; i < s.lead; i++) s.rows *= index->dim[i];
  for (uint32_t i = s.lead; i < updates->rank; i++) s.slice *= updates->dim[i];
  for (uint32_t i = 0; i < s.batch + s.depth; i++) s.places *= y->dim[i];
  const int bits = bit_length(s.places - 1);
  s.records = (vt_cuda_records){.count = 1, .n = s.rows, .bits = bits};
  s.records.wide = vt_cuda_records_are_wide(bits, s.rows);
  return s;
}

static int plan_is_empty(const scatter_plan *s) {
  return s->rows == 0 || s->slice == 0 || s->places == 0;
}

static int is_float_add(const vt_cuda_call *c) {
  return c->step->op == VT_OP_scatter_nd_add &&
         (c->out->dtype == VT_DTYPE_F32 || c->out->dtype == VT_DTYPE_F64);
}

/* Returns the bytes for sums of chunks, for positions with more than one chunk: two rows for every
 * 1024 sorted rows suffice. */
static uint64_t partial_sums_bytes(const vt_cuda_call *c, const scatter_plan *s) {
  if (!is_float_add(c) || s->rows <= VT_GPU_CHUNK) return 0;
  return 2 * (uint64_t)vt_cuda_ceil_div(s->rows, VT_GPU_CHUNK) * (uint64_t)s->slice *
         vt_cuda_bytes_of(c->out->dtype);
}

uint64_t vt_cuda_scratch_scatter(const vt_cuda_call *c) {
  const scatter_plan s = scatter_plan_of(c);
  if (plan_is_empty(&s)) return 0;
  return vt_cuda_align_up(vt_cuda_records_scratch(&s.records)) + partial_sums_bytes(c, &s);
}

/* ---- the position of each row ---- */

/* Returns a lookup that turns coordinates into the number of a position, row-major along B and D.
 * *batch_offsets is a view whose offsets are the part of that number that the batch axes
 * contribute. */
static vt_gpu_lookup position_lookup(const vt_cuda_call *c, const scatter_plan *s,
                                     vt_view *batch_offsets) {
  const vt_view *y = c->out, *index = &c->in[1];
  vt_gpu_lookup l = vt_cuda_lookup_of(index, index->stride[s->lead]);
  int64_t step[VT_MAX_RANK] = {0}, next = 1;
  for (uint32_t i = s->batch + s->depth; i-- > 0; next *= y->dim[i]) step[i] = next;
  *batch_offsets = *index;
  batch_offsets->rank = s->lead;
  for (uint32_t i = 0; i < s->lead; i++) batch_offsets->stride[i] = i < s->batch ? step[i] : 0;
  for (uint32_t i = s->batch; i < s->batch + s->depth; i++)
    vt_cuda_lookup_add_axis(&l, y->dim[i], step[i]);
  return l;
}

static vt_status make_position_records(vt_cuda_call *c, const scatter_plan *s,
                                       const vt_gpu_lookup *l, const vt_view *batch_offsets) {
  vt_view index = c->in[1];
  index.rank = s->lead;
  const vt_view *const all[2] = {batch_offsets, &index};
  const vt_gpu_find args = {.records = c->work,
                            .lookup = *l,
                            .walk = vt_cuda_walk(all, 2),
                            .wide = (uint32_t)s->records.wide};
  return vt_cuda_launch(c, VT_GPU_scatter_find, vt_cuda_grid_over(c, s->rows, 1, 256), &args);
}

/* ---- scattering ---- */

/* Returns a view with n of a tensor's axes, beginning with axis `first`. */
static vt_view view_of_axes(const vt_view *v, uint32_t first, uint32_t n) {
  vt_view some = {.dtype = v->dtype, .rank = n, .data = v->data};
  memcpy(some.dim, v->dim + first, n * sizeof *some.dim);
  memcpy(some.stride, v->stride + first, n * sizeof *some.stride);
  return some;
}

static vt_gpu_scatter scatter_args(const vt_cuda_call *c, const scatter_plan *s) {
  const vt_view *y = c->out, *updates = &c->in[2];
  const uint32_t named = s->batch + s->depth, rest = y->rank - named;
  const vt_view places = view_of_axes(y, 0, named), rows = view_of_axes(updates, 0, s->lead);
  const vt_view to = view_of_axes(y, named, rest), from = view_of_axes(updates, s->lead, rest);
  const vt_view *const place[1] = {&places}, *const row[1] = {&rows};
  const vt_view *const element[2] = {&to, &from};
  return (vt_gpu_scatter){.to = y->data,
                          .from = updates->data,
                          .n = s->rows,
                          .slice = s->slice,
                          .places = vt_cuda_walk(place, 1),
                          .rows = vt_cuda_walk(row, 1),
                          .element = vt_cuda_walk(element, 2),
                          .wide = (uint32_t)s->records.wide};
}

/* Returns the kernel of a scatter for a type. *more gets a second kernel, which adds the sums of
 * several chunks, or keeps its value if there is none. */
typedef uint32_t kernel_fn(uint32_t dtype, uint32_t *more);

static vt_status launch_scatter(vt_cuda_call *c, kernel_fn *kernel) {
  const scatter_plan s = scatter_plan_of(c);
  vt_view own;
  const vt_gpu_lookup l = position_lookup(c, &s, &own);
  void *sorted = NULL;
  VT_TRY(vt_cuda_lookup_check_range(c, &l));
  if (c->out->data != c->in[0].data) /* else it is in place */
    VT_TRY(vt_cuda_copy_view(c, c->out, &c->in[0]));
  if (plan_is_empty(&s)) return VT_OK;
  VT_TRY(make_position_records(c, &s, &l, &own));
  VT_TRY(vt_cuda_records_sort(c, &s.records, c->work, &sorted));
  vt_gpu_scatter args = scatter_args(c, &s);
  args.records = sorted;
  args.partial = (char *)c->work + vt_cuda_align_up(vt_cuda_records_scratch(&s.records));
  uint32_t more = VT_GPU_TOTAL;
  const uint32_t first = kernel(c->out->dtype, &more);
  const vt_cuda_grid grid = vt_cuda_grid_over(c, s.rows * s.slice, 1, 128);
  VT_TRY(vt_cuda_launch(c, first, grid, &args));
  return more == VT_GPU_TOTAL || s.rows <= VT_GPU_CHUNK ? VT_OK
                                                        : vt_cuda_launch(c, more, grid, &args);
}

/* ---- ops ---- */

static uint32_t kernel_for_last_row(uint32_t dtype, uint32_t *second_kernel) {
  (void)second_kernel;
  return VT_CUDA_SIZES(scatter)[vt_cuda_bytes_of(dtype)];
}

static uint32_t kernel_for_sum(uint32_t dtype, uint32_t *second_kernel) {
  switch (dtype) {
    case VT_DTYPE_F32:
      *second_kernel = VT_GPU_scatter_add_long_f32;
      return VT_GPU_scatter_add_f32;
    case VT_DTYPE_F64:
      *second_kernel = VT_GPU_scatter_add_long_f64;
      return VT_GPU_scatter_add_f64;
    case VT_DTYPE_I32:
      return VT_GPU_scatter_add_32;
    case VT_DTYPE_I64:
      return VT_GPU_scatter_add_64;
    default:
      return VT_GPU_scatter_add_8;
  }
}

static uint32_t kernel_for_greatest(uint32_t dtype, uint32_t *second_kernel) {
  (void)second_kernel;
  return VT_CUDA_TYPES(scatter_max)[dtype];
}

static uint32_t kernel_for_least(uint32_t dtype, uint32_t *second_kernel) {
  (void)second_kernel;
  return VT_CUDA_TYPES(scatter_min)[dtype];
}

vt_status vt_cuda_run_scatter_nd(vt_cuda_call *c) { return launch_scatter(c, kernel_for_last_row); }
vt_status vt_cuda_run_scatter_nd_add(vt_cuda_call *c) { return launch_scatter(c, kernel_for_sum); }
vt_status vt_cuda_run_scatter_nd_max(vt_cuda_call *c) {
  return launch_scatter(c, kernel_for_greatest);
}
vt_status vt_cuda_run_scatter_nd_min(vt_cuda_call *c) {
  return launch_scatter(c, kernel_for_least);
}
