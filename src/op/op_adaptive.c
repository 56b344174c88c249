/* SPDX-License-Identifier: Apache-2.0
 * op_adaptive.c - adaptive pools, whose attribute is the number of windows. Window p of O along
 * an axis of length I is floor(p*I/O) .. ceil((p+1)*I/O) - 1, so windows differ in size and may
 * overlap. As ops: each window is gathered along a new axis, in row-major order and padded at
 * its end to the size of the largest window, and that axis is reduced. The elements of a window
 * are its taps; the spatial elements of one channel are a plane; a position is the place of a
 * window in the result. A field called a value holds the id of a graph value. */
#include <string.h>
#include "op_float.h"
#include "op_move.h"
#include "op_pool.h"

/* ---- shapes ---- */

static const vt_attr_list *sizes_of(const void *attrs) {
  return &((const vt_attr_adaptive *)attrs)->to;
}

/* Checks that (p + 1)*I + O fits i64 for every window p. */
static vt_status check_product_fits(int64_t in, int64_t out, vt_diag *d) {
  int64_t all;
  if (vt_dim_is_symbolic(in) || vt_dim_is_symbolic(out)) return VT_OK;
  if (vt_i64_mul(in + 1, out, &all) && all < INT64_MAX / 2) return VT_OK;
  return VT_FAIL(d, VT_LIMIT, "%lld windows over %lld elements: their product is beyond 2^62",
                 (long long)out, (long long)in);
}

vt_status shape_adaptive_avg_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_list *to = sizes_of(r->attrs);
  VT_TRY(vt_window_check_rank(r, 0, d));
  const uint32_t axes = r->in[0].rank - 2;
  if (to->n != 1 && to->n != (int64_t)axes)
    return VT_FAIL(d, VT_VERIFY, "to has %lld entries where x has %u spatial axes",
                   (long long)to->n, axes);
  *out = r->in[0];
  for (uint32_t i = 0; i < axes; i++) {
    const int64_t size = vt_window_entry(to, i, 1);
    if (!vt_dim_is_symbolic(size) && (size < 0 || size > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "to=%lld: expected 0..2^40", (long long)size);
    VT_TRY(check_product_fits(r->in[0].dim[2 + i], size, d));
    out->dim[2 + i] = size;
  }
  return VT_OK;
}

vt_status shape_adaptive_max_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  VT_TRY(shape_adaptive_avg_pool(r, out, d));
  for (uint32_t i = 2; i < out->rank; i++)
    if (r->in[0].dim[i] == 0 && out->dim[i] != 0)
      return VT_FAIL(d, VT_VERIFY, "a maximum of nothing: axis %u of %s is empty", i,
                     vt_type_text(r->dims, &r->in[0], text));
  return VT_OK;
}

/* ---- as ops ---- */

/* Which element of a plane of x each tap of each window reads, for a pool from `in` to `out`
 * elements along each axis. */
typedef struct tap_map {
  uint32_t axes, dtype;
  int64_t n, c, in[VT_SPATIAL_MAX], out[VT_SPATIAL_MAX];
  /* number of elements of a plane of x, of windows, and of taps of the largest window */
  int64_t length, positions, taps;
  uint32_t index; /* a value i64 [positions, taps]: the element that each tap reads; `length`, which
                     is padding, for a tap past the end of its window */
  uint32_t count; /* a value i64 [positions, 1]: the number of taps of each window */
} tap_map;

static uint32_t build_i64(vt_builder *b, int64_t x) { return vt_build_int(b, VT_DTYPE_I64, x); }

/* Writes op(x, y), where y is an i64 literal. */
static uint32_t build_i64_op(vt_builder *b, uint32_t op, uint32_t x, int64_t y) {
  return vt_build2(b, op, x, build_i64(b, y));
}

/* Writes two values i64 [positions, 1] for axis i: the first element of each window and its
 * length. */
static void build_window_edges(vt_builder *b, const tap_map *f, uint32_t i, uint32_t *first,
                               uint32_t *length) {
  const int64_t inner = vt_count_elements(f->out + i + 1, f->axes - i - 1);
  uint32_t p = vt_build_iota(b, 2, 0, f->positions);
  p = build_i64_op(b, VT_OP_mod, build_i64_op(b, VT_OP_div, p, inner), f->out[i]);
  const uint32_t start = build_i64_op(b, VT_OP_mul, p, f->in[i]);
  const uint32_t end = build_i64_op(b, VT_OP_add, start, f->in[i] + f->out[i] - 1);
  *first = build_i64_op(b, VT_OP_div, start, f->out[i]);
  *length = vt_build2(b, VT_OP_sub, build_i64_op(b, VT_OP_div, end, f->out[i]), *first);
}

/* Sets f->index and f->count. Taps are numbered in row-major order within their window. A tap past
 * the end of its window reads element f->length, which is padding. */
static void build_tap_index(vt_builder *b, tap_map *f) {
  uint32_t rest = vt_build_iota(b, 2, 1, f->taps), flat = VT_NO_VALUE, first, length;
  f->count = VT_NO_VALUE;
  const uint32_t tap = rest;
  for (uint32_t i = f->axes; i-- > 0;) {
    build_window_edges(b, f, i, &first, &length);
    uint32_t at = vt_build2(b, VT_OP_add, first, vt_build2(b, VT_OP_mod, rest, length));
    at = build_i64_op(b, VT_OP_mul, at, vt_count_elements(f->in + i + 1, f->axes - i - 1));
    flat = flat == VT_NO_VALUE ? at : vt_build2(b, VT_OP_add, flat, at);
    f->count = f->count == VT_NO_VALUE ? length : vt_build2(b, VT_OP_mul, f->count, length);
    rest = vt_build2(b, VT_OP_div, rest, length);
  }
  const uint32_t inside = vt_build2(b, VT_OP_lt, tap, f->count);
  f->index = vt_build3(b, VT_OP_select, inside, flat, build_i64(b, f->length));
}

/* A bound for the longest window along an axis: I/O elements if that is a whole number, otherwise
 * up to two more. */
static int64_t bound_of_longest_window(int64_t in, int64_t out) {
  if (out == 0) return 0;
  const int64_t most = in % out == 0 ? in / out : in / out + 2;
  return most < in ? most : in;
}

static int build_tap_map(vt_builder *b, uint32_t x, const void *attrs, tap_map *out) {
  vt_type t;
  if (!vt_build_read_type(b, x, &t)) return 0;
  tap_map f = {.axes = t.rank - 2, .dtype = t.dtype, .n = t.dim[0], .c = t.dim[1]};
  int64_t window[VT_SPATIAL_MAX];
  for (uint32_t i = 0; i < f.axes; i++) {
    f.in[i] = t.dim[2 + i];
    f.out[i] = vt_window_entry(sizes_of(attrs), i, 1);
    window[i] = bound_of_longest_window(f.in[i], f.out[i]);
  }
  f.length = vt_count_elements(f.in, f.axes);
  f.positions = vt_count_elements(f.out, f.axes);
  f.taps = vt_count_elements(window, f.axes);
  /* argmax and max refuse an axis of length 0: give it one tap, which reads padding */
  if (f.taps == 0) f.taps = 1;
  build_tap_index(b, &f);
  *out = f;
  return 1;
}

/* The taps of all windows of x as [n, c, positions, taps], with `fill` for the taps past the end of
 * a window. */
static uint32_t gather_windows(vt_builder *b, const tap_map *f, uint32_t x, uint32_t fill) {
  const vt_attr_pad one = {.size = sizeof one, .low = {.n = 3}, .high = {3, {0, 0, 1}}};
  const vt_attr_gather along = {.size = sizeof along, .axis = 2};
  const int64_t dim[3] = {f->n, f->c, f->length};
  const uint32_t line[2] = {vt_build_reshape(b, x, 3, dim), fill};
  const uint32_t in[2] = {b->node(b, VT_OP_pad, line, 2, &one), f->index};
  return b->node(b, VT_OP_gather, in, 2, &along);
}

/* Reshapes x to [n, c, spatial...]. */
static uint32_t reshape_to_spatial(vt_builder *b, const tap_map *f, uint32_t x,
                                   const int64_t *spatial) {
  int64_t dim[2 + VT_SPATIAL_MAX] = {f->n, f->c};
  memcpy(dim + 2, spatial, f->axes * sizeof *dim);
  return vt_build_reshape(b, x, f->axes + 2, dim);
}

/* The number of taps of each window in the type of x: [1, 1, positions]. */
static uint32_t taps_per_window(vt_builder *b, const tap_map *f) {
  const int64_t dim[3] = {1, 1, f->positions};
  return vt_build_cast(b, vt_build_reshape(b, f->count, 3, dim), f->dtype);
}

uint32_t lower_adaptive_avg_pool(const vt_lowering *l) {
  vt_builder *b = l->b;
  tap_map f;
  if (!build_tap_map(b, l->in[0], l->attrs, &f)) return VT_NO_VALUE;
  const uint32_t w =
      gather_windows(b, &f, l->in[0], vt_build_scalar_of_same_dtype(b, l->in[0], 0.0));
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, w, 3, 0);
  return reshape_to_spatial(b, &f, vt_build2(b, VT_OP_div, sum, taps_per_window(b, &f)), f.out);
}

uint32_t lower_adaptive_max_pool(const vt_lowering *l) {
  vt_builder *b = l->b;
  tap_map f;
  if (!build_tap_map(b, l->in[0], l->attrs, &f)) return VT_NO_VALUE;
  const uint32_t w = gather_windows(b, &f, l->in[0], vt_pooling_least_value(b, f.dtype));
  return reshape_to_spatial(b, &f, vt_build_reduce(b, VT_OP_max, w, 3, 0), f.out);
}

/* ---- gradients: scatter_add adds the contributions to an element, windows ascending ---- */

/* Every window passes dy/count to all its taps. Taps that are padding go to one element past the
 * end of x, which is cut off. */
void grad_adaptive_avg_pool(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_gather along = {.size = sizeof along, .axis = 2};
  tap_map f;
  if (!build_tap_map(b, g->in[0], g->attrs, &f)) return;
  const int64_t total = vt_count_elements((int64_t[2]){f.positions, f.taps}, 2);
  const int64_t row[3] = {f.n, f.c, f.positions}, column[4] = {f.n, f.c, f.positions, 1};
  const int64_t all[4] = {f.n, f.c, f.positions, f.taps}, line[3] = {f.n, f.c, total};
  const int64_t flat[3] = {f.n, f.c, f.length + 1};
  const uint32_t dy = vt_build_reshape(b, g->d_out[0], 3, row);
  const uint32_t q = vt_build2(b, VT_OP_div, dy, taps_per_window(b, &f));
  const uint32_t each = vt_build_broadcast(b, vt_build_reshape(b, q, 4, column), 4, all);
  uint32_t in[3] = {vt_build_broadcast(b, vt_build_scalar_of_same_dtype(b, q, 0.0), 3, flat)};
  in[1] = vt_build_reshape(b, f.index, 1, &total);
  in[2] = vt_build_reshape(b, each, 3, line);
  const uint32_t dx = b->node(b, VT_OP_scatter_add, in, 3, &along);
  g->d_in[0] = reshape_to_spatial(b, &f, vt_build_slice(b, dx, 2, 0, f.length), f.in);
}

/* dy of a window goes to its first tap that holds the maximum. That tap is never padding, which
 * comes last and holds the least value. */
void grad_adaptive_max_pool(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_axis last = {.size = sizeof last, .axis = 3};
  const vt_attr_gather within = {.size = sizeof within, .axis = 1, .batch = 1};
  tap_map f;
  if (!build_tap_map(b, g->in[0], g->attrs, &f)) return;
  const int64_t planes = vt_count_elements((int64_t[2]){f.n, f.c}, 2);
  const int64_t rows[2] = {planes, f.positions}, flat[2] = {planes, f.length};
  const uint32_t swap[2] = {1, 0};
  const uint32_t w = gather_windows(b, &f, g->in[0], vt_pooling_least_value(b, f.dtype));
  const uint32_t tap = vt_build_reshape(b, b->node(b, VT_OP_argmax, &w, 1, &last), 2, rows);
  uint32_t in[3] = {f.index, vt_build_transpose(b, tap, swap, 2), VT_NO_VALUE};
  /* element of the maximum: [positions, planes] */
  const uint32_t found = b->node(b, VT_OP_gather, in, 2, &within);
  in[1] = vt_build_transpose(b, found, swap, 2);
  in[0] = vt_build_broadcast(b, vt_build_scalar_of_same_dtype(b, g->d_out[0], 0.0), 2, flat);
  in[2] = vt_build_reshape(b, g->d_out[0], 2, rows);
  g->d_in[0] = reshape_to_spatial(b, &f, b->node(b, VT_OP_scatter_add, in, 3, &within), f.in);
}

/* ---- second implementation: one window at a time ---- */

typedef struct window { /* the window of one result: first element and length along each spatial
                           axis */
  int64_t start[VT_SPATIAL_MAX], size[VT_SPATIAL_MAX];
} window;

static window window_at(const vt_view *x, const vt_view *y, const int64_t *p) {
  window w;
  for (uint32_t i = 0; i + 2 < x->rank; i++) {
    const int64_t in = x->dim[2 + i], out = y->dim[2 + i], next = (p[i] + 1) * in;
    w.start[i] = p[i] * in / out;
    w.size[i] = next / out + (next % out != 0) - w.start[i];
  }
  return w;
}

/* Starts a walk over the elements of window w in the plane that `at` is in; returns the offset in x
 * of the window's first element. */
static int64_t start_walk_of_window(const vt_view *x, const vt_walk *at, const window *w,
                                    vt_walk *out) {
  vt_view spatial = vt_view_drop_axis(x, 0);
  spatial = vt_view_drop_axis(&spatial, 0);
  int64_t base = at->index[0] * x->stride[0] + at->index[1] * x->stride[1];
  for (uint32_t i = 0; i < spatial.rank; i++) {
    base += w->start[i] * spatial.stride[i];
    spatial.dim[i] = w->size[i];
  }
  vt_walk_init(out, spatial.rank, spatial.dim);
  vt_walk_view(out, &spatial);
  return base;
}

vt_status kernel_adaptive_avg_pool(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  vt_walk w, t;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const window here = window_at(x, y, w.index + 2);
    const int64_t base = start_walk_of_window(x, &w, &here, &t);
    vt_float_sum sum;
    vt_float_sum_init(&sum, x->dtype);
    for (int64_t j = 0; j < t.count; j++, vt_walk_next(&t))
      vt_float_sum_add(&sum, vt_float_load(x, base + t.at[0]));
    vt_float_store(y, w.at[0], vt_float_divide(x->dtype, vt_float_sum_done(&sum), t.count));
  }
  return VT_OK;
}

vt_status kernel_adaptive_max_pool(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  vt_walk w, t;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const window here = window_at(x, y, w.index + 2);
    const int64_t base = start_walk_of_window(x, &w, &here, &t);
    int64_t best = base;
    for (int64_t j = 0; j < t.count; j++, vt_walk_next(&t))
      if (vt_view_is_above(x, base + t.at[0], best)) best = base + t.at[0];
    memcpy((char *)y->data + w.at[0] * size, (const char *)x->data + best * size, (size_t)size);
  }
  return VT_OK;
}
