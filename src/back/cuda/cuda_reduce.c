/* SPDX-License-Identifier: Apache-2.0
 * cuda_reduce.c - reductions: sum, prod, max and min, and the compositions that add a final step
 * to one of them: mean, sum_square, norm_l1, norm_l2, any, all. A line longer than a chunk is
 * reduced in levels, as S requires: the results of its chunks form a new line. S is the order of
 * docs/numerics.md: a chunk is 1024 elements, a level is the reduction of all chunks of all
 * lines. */
#include "cuda_lines.h"

enum { THREADS = 256, WARPS = THREADS / VT_GPU_LANES };
/* from this number of lines on, one thread per line keeps the GPU busy */
enum { LEAST_LINES = 1024 };

/* ---- levels ---- */

/* Returns the number of chunks of a line; an empty line is one empty chunk. */
static int64_t count_chunks(int64_t n) { return n == 0 ? 1 : vt_cuda_ceil_div(n, VT_GPU_CHUNK); }

uint64_t vt_cuda_reduce_scratch(int64_t lines, int64_t n, uint32_t dtype) {
  uint64_t bytes = 0;
  for (n = count_chunks(n); n > 1; n = count_chunks(n))
    bytes += vt_cuda_align_up((uint64_t)(lines * n) * vt_cuda_bytes_of(dtype));
  return bytes;
}

static vt_cuda_grid grid_for_blocks(const vt_cuda_call *c, int64_t blocks) {
  const int64_t most = 32 * (int64_t)c->traits->processors;
  return (vt_cuda_grid){(uint32_t)vt_cuda_min(blocks, most), 1, 1, THREADS, 0};
}

/* Issues the kernel that reduces every chunk of all lines to one number. */
static vt_status reduce_level(vt_cuda_call *c, const vt_gpu_reduce *a, uint32_t dtype,
                              int interleaved) {
  const int exp = a->kind == VT_GPU_REDUCE_EXP;
  const int64_t tiles = vt_cuda_ceil_div(a->lines.n, VT_GPU_LANES);
  if (!exp && a->n <= VT_GPU_SHORT && a->along.rank <= 1 && a->lines.n >= LEAST_LINES)
    return vt_cuda_launch(c, VT_CUDA_TYPES(reduce_short)[dtype],
                          grid_for_blocks(c, vt_cuda_ceil_div(a->lines.n, THREADS)), a);
  if (interleaved)
    return vt_cuda_launch(c, exp ? VT_GPU_reduce_columns_exp : VT_CUDA_TYPES(reduce_columns)[dtype],
                          grid_for_blocks(c, tiles * a->chunks), a);
  return vt_cuda_launch(c, exp ? VT_GPU_reduce_lines_exp : VT_CUDA_TYPES(reduce_lines)[dtype],
                        grid_for_blocks(c, vt_cuda_ceil_div(a->lines.n * a->chunks, WARPS)), a);
}

/* Makes the chunk results of a level the lines of the next one. */
static void make_next_level(vt_gpu_reduce *a) {
  if (a->kind >= VT_GPU_REDUCE_SQUARES) a->kind = VT_GPU_REDUCE_SUM;
  a->x = a->y;
  a->shift = NULL;
  a->n = a->chunks;
  vt_cuda_lines_set_consecutive(&a->lines, 0, a->n);
  a->along = (vt_gpu_walk){.n = a->n, .rank = 1, .small = a->n < INT32_MAX};
  a->along.dim[0] = a->n;
  a->along.stride[0][0] = 1;
}

vt_status vt_cuda_reduce(vt_cuda_call *c, const vt_cuda_reduction *f, void *work) {
  int interleaved = vt_cuda_lines_are_interleaved(&f->at, 0);
  vt_gpu_reduce a = {.x = f->x,
                     .shift = f->shift,
                     .n = f->at.along.n,
                     .divisor = f->divisor,
                     .kind = f->kind,
                     .touch = f->touch,
                     .lines = f->at.lines,
                     .along = f->at.along};
  char *scratch = work;
  for (a.chunks = count_chunks(a.n); a.chunks > 1; a.chunks = count_chunks(a.n), interleaved = 0) {
    a.y = scratch;
    scratch += vt_cuda_align_up((uint64_t)(a.lines.n * a.chunks) * vt_cuda_bytes_of(f->dtype));
    VT_TRY(reduce_level(c, &a, f->dtype, interleaved));
    make_next_level(&a);
  }
  a.y = f->y;
  return reduce_level(c, &a, f->dtype, interleaved);
}

/* ---- ops ---- */

typedef struct op_kind {
  uint32_t op, kind, touch;
} op_kind;

static const op_kind op_kinds[] = {
    {VT_OP_sum, VT_GPU_REDUCE_SUM, 0},
    {VT_OP_prod, VT_GPU_REDUCE_PROD, 0},
    {VT_OP_max, VT_GPU_REDUCE_MAX, 0},
    {VT_OP_min, VT_GPU_REDUCE_MIN, 0},
    {VT_OP_mean, VT_GPU_REDUCE_SUM, VT_GPU_TOUCH_DIVIDE},
    {VT_OP_sum_square, VT_GPU_REDUCE_SQUARES, 0},
    {VT_OP_norm_l1, VT_GPU_REDUCE_SIZES, 0},
    {VT_OP_norm_l2, VT_GPU_REDUCE_SQUARES, VT_GPU_TOUCH_ROOT},
    {VT_OP_any, VT_GPU_REDUCE_MAX, VT_GPU_TOUCH_TRUTH},
    {VT_OP_all, VT_GPU_REDUCE_MIN, VT_GPU_TOUCH_TRUTH},
};

static const op_kind *op_kind_of(uint32_t op) {
  const op_kind *w = op_kinds;
  /* the loop ends, because cuda_handlers.def names this handler only for ops of the table */
  while (w->op != op) w++;
  return w;
}

static vt_cuda_reduction reduction_of(const vt_cuda_call *c) {
  const op_kind *w = op_kind_of(c->step->op);
  const vt_view *x = &c->in[0];
  const unsigned mask = vt_cuda_axes_mask(&((const vt_attr_reduce *)c->attrs)->axes, x->rank);
  const vt_view y = vt_cuda_keepdims_view(c->out, x, mask);
  const vt_view *const all[2] = {x, &y};
  vt_cuda_reduction f = {.x = x->data,
                         .y = c->out->data,
                         .dtype = x->dtype,
                         .kind = w->kind,
                         .touch = w->touch,
                         .at = vt_cuda_lines_of(all, 2, mask)};
  f.divisor = f.at.along.n;
  return f;
}

uint64_t vt_cuda_scratch_reduce(const vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return 0;
  const vt_cuda_reduction f = reduction_of(c);
  return vt_cuda_reduce_scratch(f.at.lines.n, f.at.along.n, f.dtype);
}

vt_status vt_cuda_run_reduce(vt_cuda_call *c) {
  if (vt_cuda_is_empty(c->out)) return VT_OK;
  const vt_cuda_reduction f = reduction_of(c);
  return vt_cuda_reduce(c, &f, c->work);
}
