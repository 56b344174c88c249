/* SPDX-License-Identifier: Apache-2.0
 * cuda_ints.c - matmul_int, linear_int and conv_int, exact in i32. */
#include "cuda_conv.h"
#include "cuda_walk.h"
#include "gpu_ints.h"

static uint32_t sign_flip_of(const vt_view *v) { return v->dtype == VT_DTYPE_I8 ? 0x80 : 0; }

/* Returns the data of operand i, a zero point or bias, or NULL if it is absent. *step gets its
 * stride, which is 0 if one number serves all columns. */
static const void *find_column_operand(const vt_cuda_call *c, uint32_t i, int64_t *step) {
  if (c->n_in <= i) return NULL;
  const vt_view *v = &c->in[i];
  *step = v->rank == 0 || v->dim[0] == 1 ? 0 : v->stride[0];
  return v->data;
}

static vt_gpu_ints ints_args(const vt_cuda_call *c) {
  const vt_view *a = &c->in[0], *b = &c->in[1], *y = c->out;
  vt_view lead[3] = {*y, *a, *b};
  for (int i = 0; i < 3; i++) lead[i].rank -= 2;
  const vt_view *const all[3] = {&lead[0], &lead[1], &lead[2]};
  int64_t unused;
  vt_gpu_ints p = {.a = a->data,
                   .b = b->data,
                   .y = y->data,
                   .m = y->dim[y->rank - 2],
                   .n = y->dim[y->rank - 1],
                   .k = a->dim[a->rank - 1],
                   .a_row = a->stride[a->rank - 2],
                   .a_step = a->stride[a->rank - 1],
                   .b_step = b->stride[b->rank - 2],
                   .b_column = b->stride[b->rank - 1],
                   .y_row = y->stride[y->rank - 2],
                   .y_column = y->stride[y->rank - 1],
                   .a_flip = sign_flip_of(a),
                   .b_flip = sign_flip_of(b),
                   .lead = vt_cuda_walk(all, 3)};
  p.za = find_column_operand(c, 2, &unused);
  p.zb = find_column_operand(c, 3, &p.zb_step);
  p.bias = find_column_operand(c, 4, &p.bias_step);
  return p;
}

/* ---- tiles ---- */

static int strides_are_multiples(const vt_gpu_walk *w, uint32_t operand, int64_t divisor) {
  for (uint32_t i = 0; i < w->rank; i++)
    if (w->stride[operand][i] % divisor != 0) return 0;
  return 1;
}

/* Returns 1 if a matrix can be loaded in pieces of `bytes` bytes: elements are contiguous along one
 * axis (`near_stride`), and lines along the other (`far_stride`) begin at aligned addresses. */
static int allows_wide_loads(const void *data, int64_t near_stride, int64_t far_stride,
                             int64_t bytes) {
  return near_stride == 1 && far_stride % bytes == 0 && (uintptr_t)data % (uintptr_t)bytes == 0;
}

typedef struct tile_size {
  int64_t m, n;
} tile_size;
static const tile_size large = {128, 128}, small = {64, 64};
enum { LEAST_K = 16 }; /* fewest products per result that make a tiled kernel worthwhile */

static vt_gpu_ints_tile tile_args(const vt_gpu_ints *p, tile_size size) {
  vt_gpu_ints_tile t = {.p = *p,
                        .tiles_m = (uint32_t)vt_cuda_ceil_div(p->m, size.m),
                        .tiles_n = (uint32_t)vt_cuda_ceil_div(p->n, size.n)};
  t.a_wide =
      allows_wide_loads(p->a, p->a_step, p->a_row, 16) && strides_are_multiples(&p->lead, 1, 16);
  t.b_squares = p->b_column == 1 && p->b_step != 1;
  t.b_wide = t.b_squares ? allows_wide_loads(p->b, p->b_column, p->b_step, 4) &&
                               strides_are_multiples(&p->lead, 2, 4)
                         : allows_wide_loads(p->b, p->b_step, p->n == 1 ? 0 : p->b_column, 16) &&
                               strides_are_multiples(&p->lead, 2, 16);
  return t;
}

static int64_t count_tiles(const vt_gpu_ints *p, tile_size size) {
  return vt_cuda_ceil_div(p->m, size.m) * vt_cuda_ceil_div(p->n, size.n) * p->lead.n;
}

/* Returns 1 if the skinny kernels can compute the product: it has few rows, a can be loaded four
 * elements at a time, and b is contiguous along or across k. */
static int suits_skinny_kernels(const vt_gpu_ints_tile *t) {
  const vt_gpu_ints *p = &t->p;
  return p->m <= 16 && (t->b_squares || p->b_step == 1) && strides_are_multiples(&p->lead, 1, 4) &&
         allows_wide_loads(p->a, p->a_step, p->m == 1 ? 0 : p->a_row, 4);
}

static vt_status run_skinny(vt_cuda_call *c, const vt_gpu_ints_tile *t) {
  const vt_cuda_grid grid = {(uint32_t)(t->tiles_m * t->tiles_n * t->p.lead.n), 1, 1, 256, 0};
  return vt_cuda_launch(c, t->b_squares ? VT_GPU_ints_skinny_across : VT_GPU_ints_skinny_along,
                        grid, t);
}

/* Returns the bytes of shared memory of a tile: two stages of both operands. */
static uint32_t shared_bytes_of(tile_size size) {
  return (uint32_t)(size.m + size.n) * 2 * VT_GPU_INTS_PITCH;
}

/* Returns 1 if the larger of the two tiles should be used. It reads less, but needs enough tiles
 * for every multiprocessor. */
static int uses_large_tiles(const vt_cuda_call *c, const vt_gpu_ints *p) {
  return count_tiles(p, large) >= c->traits->processors;
}

vt_status vt_cuda_run_matmul_int(vt_cuda_call *c) {
  static const tile_size skinny = {VT_GPU_INTS_SKINNY_ROWS, VT_GPU_INTS_SKINNY_COLUMNS};
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_ints p = ints_args(c);
  if (p.k < LEAST_K || count_tiles(&p, skinny) > INT32_MAX)
    return vt_cuda_launch(c, VT_GPU_ints_each,
                          vt_cuda_grid_over(c, vt_cuda_element_count(c->out), 1, 256), &p);
  const vt_gpu_ints_tile f = tile_args(&p, skinny);
  if (suits_skinny_kernels(&f)) return run_skinny(c, &f);
  const tile_size size = uses_large_tiles(c, &p) ? large : small;
  const vt_gpu_ints_tile t = tile_args(&p, size);
  const vt_cuda_grid grid = {(uint32_t)count_tiles(&p, size), 1, 1, 256, shared_bytes_of(size)};
  return vt_cuda_launch(c, uses_large_tiles(c, &p) ? VT_GPU_ints_128_128 : VT_GPU_ints_64_64, grid,
                        &t);
}

/* ---- conv_int ---- */

static vt_gpu_direct_conv_int conv_int_args(const vt_cuda_call *c) {
  const vt_attr_conv_int *a = c->attrs;
  const vt_window_lists l = {
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
  vt_gpu_direct_conv_int p = {.conv = vt_cuda_direct_conv(c, &l, a->groups),
                              .x_flip = sign_flip_of(&c->in[0]),
                              .w_flip = sign_flip_of(&c->in[1])};
  int64_t unused;
  p.x_zero = find_column_operand(c, 2, &unused);
  p.w_zero = find_column_operand(c, 3, &p.w_zero_step);
  p.conv.bias = find_column_operand(c, 4, &p.conv.bias_step);
  return p;
}

/* Returns a walk over images and groups, with the offsets of y, x and the weight. */
static vt_gpu_walk image_and_group_walk(const vt_gpu_direct_conv *s) {
  const int64_t step[3][2] = {{s->y_image, s->y_group}, {s->x_image, s->x_group}, {0, s->w_group}};
  vt_view v[3];
  for (int i = 0; i < 3; i++)
    v[i] = (vt_view){.rank = 2, .dim = {s->images, s->groups}, .stride = {step[i][0], step[i][1]}};
  const vt_view *const all[3] = {&v[0], &v[1], &v[2]};
  return vt_cuda_walk(all, 3);
}

/* Describes the convolution as a product: rows are output positions, columns are rows of the
 * weight. Returns 0 if tiled kernels cannot or should not compute it. */
static int describe_conv_as_product(const vt_cuda_call *c, const vt_gpu_direct_conv_int *s,
                                    vt_gpu_ints_conv *out) {
  vt_gpu_conv v;
  if (s->conv.length < LEAST_K || !vt_cuda_conv_describe_tiled(c, &s->conv, &v)) return 0;
  *out = (vt_gpu_ints_conv){.t.p = {.a = v.x,
                                    .b = v.g.a.data,
                                    .za = s->x_zero,
                                    .zb = s->w_zero,
                                    .bias = v.g.bias,
                                    .y = v.g.y,
                                    .m = v.g.n,
                                    .n = v.g.m,
                                    .k = v.g.k,
                                    .b_step = v.g.a.along,
                                    .b_column = v.g.a.across,
                                    .y_row = v.g.y_column,
                                    .y_column = v.g.y_row,
                                    .zb_step = s->w_zero_step,
                                    .bias_step = v.g.bias_row,
                                    .a_flip = s->x_flip,
                                    .b_flip = s->w_flip,
                                    .lead = image_and_group_walk(&s->conv)},
                            .gather = v.gather,
                            .groups = s->conv.groups};
  return count_tiles(&out->t.p, small) <= INT32_MAX;
}

static vt_status run_tiled_conv(vt_cuda_call *c, vt_gpu_ints_conv *v) {
  const int use_large = uses_large_tiles(c, &v->t.p);
  const tile_size size = use_large ? large : small;
  const uint32_t taps = 2 * VT_GPU_INTS_STEP * (uint32_t)sizeof(vt_gpu_tap);
  v->t = tile_args(&v->t.p, size);
  const vt_cuda_grid grid = {(uint32_t)count_tiles(&v->t.p, size), 1, 1, 256,
                             shared_bytes_of(size) + taps};
  return vt_cuda_launch(c, use_large ? VT_GPU_ints_conv_128_128 : VT_GPU_ints_conv_64_64, grid, v);
}

vt_status vt_cuda_run_conv_int(vt_cuda_call *c) {
  vt_gpu_ints_conv v;
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_direct_conv_int p = conv_int_args(c);
  if (describe_conv_as_product(c, &p, &v)) return run_tiled_conv(c, &v);
  const int64_t total = vt_cuda_direct_conv_output_count(&p.conv);
  const uint32_t kernel = p.conv.small ? VT_GPU_conv_int_each : VT_GPU_conv_int_huge;
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, total, 1, p.conv.small ? 256 : 128), &p);
}
