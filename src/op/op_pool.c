/* SPDX-License-Identifier: Apache-2.0
 * op_pool.c - pools over one to three spatial axes and their gradients. As ops a pool pads x,
 * gathers its windows along a new axis and reduces that axis; the kernels of op_pool_kernels.c
 * walk each window instead. A tap is an element of a window, on x or on padding; a position is
 * the place of a window in the result; a plane is the spatial elements of one channel. dy is the
 * gradient of the result. */
#include <string.h>
#include "op_move.h"
#include "op_pool.h"
#include "op_rows.h"

/* ---- shapes ---- */

/* The length of an axis of x with its padding, and at least up to the end of the last window, which
 * with `ceil` can be beyond the padding `high`. */
static int64_t padded_length(const vt_window *w, int64_t in, int64_t out) {
  const int64_t least = in + w->low + w->high;
  const int64_t reach = (out - 1) * w->stride + vt_window_extent(w);
  return reach > least ? reach : least;
}

/* Multiplies a count that becomes a dimension of the decomposition, and fails beyond 2^40. A factor
 * of 0 is skipped, so that the result does not depend on the order of the factors. */
static vt_status multiply_limited(int64_t *count, int64_t by, const char *what, vt_diag *d) {
  if (vt_i64_mul(*count, by > 0 ? by : 1, count) && *count <= VT_DIM_MAX) return VT_OK;
  return VT_FAIL(d, VT_LIMIT, "the pool has more than 2^40 %s", what);
}

/* Checks that the tensors of the decomposition (padded x, windows with their taps) are within the
 * limits of tensors. The kernels need no such tensors, but must not accept more than the
 * definition. */
static vt_status check_decomposition_sizes(const vt_type *x, const vt_pooling *p, const vt_type *y,
                                           vt_diag *d) {
  int64_t planes = 1, padded = 1, taps = 1;
  uint64_t unused, bytes;
  VT_TRY(multiply_limited(&planes, x->dim[0], "planes", d));
  VT_TRY(multiply_limited(&planes, x->dim[1], "planes", d));
  for (uint32_t i = 2; i < x->rank; i++) {
    const vt_window w = vt_pooling_axis(p, i - 2);
    VT_TRY(multiply_limited(&padded, padded_length(&w, x->dim[i], y->dim[i]),
                            "elements in a padded plane", d));
    VT_TRY(multiply_limited(&taps, w.kernel, "taps in the windows of a plane", d));
    VT_TRY(multiply_limited(&taps, y->dim[i], "taps in the windows of a plane", d));
  }
  const vt_type around = {VT_DTYPE_I64, 2, {planes, padded}},
                met = {VT_DTYPE_I64, 2, {planes, taps}};
  VT_TRY(vt_type_size(&around, &unused, &bytes, d));
  return vt_type_size(&met, &unused, &bytes, d);
}

static int is_bound_type(const vt_type *t) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (vt_dim_is_symbolic(t->dim[i])) return 0;
  return 1;
}

static vt_status pool_shape(const vt_rule *r, const vt_pooling *p, vt_type *out, vt_diag *d) {
  int64_t kernel[VT_SPATIAL_MAX];
  VT_TRY(vt_window_check_rank(r, 0, d));
  const uint32_t axes = r->in[0].rank - 2;
  if (p->l.kernel->n == 0) return VT_FAIL(d, VT_VERIFY, "kernel has no entries");
  VT_TRY(vt_window_check_list(p->l.kernel, "kernel", axes, 1, d));
  for (uint32_t i = 0; i < axes; i++) kernel[i] = vt_window_entry(p->l.kernel, i, 1);
  VT_TRY(vt_window_check(&p->l, kernel, axes, d));
  *out = r->in[0];
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window w = vt_pooling_axis(p, i);
    VT_TRY(vt_window_count(r, i, &w, p->ceil, &out->dim[2 + i], d));
  }
  if (!is_bound_type(&r->in[0])) return VT_OK; /* checked again once the symbols are bound */
  return check_decomposition_sizes(&r->in[0], p, out, d);
}

/* Whether a window along one axis of x has a tap on an element. If the window starts before the
 * axis, its first tap at or after 0 must be on the axis: with a dilation larger than the axis, the
 * taps may step over it. */
static int window_has_element(const vt_window *w, int64_t start, int64_t length) {
  if (start >= 0) return start < length;
  const int64_t first = (start % w->dilation + w->dilation) % w->dilation;
  return start + vt_window_extent(w) - 1 >= first && first < length;
}

/* Checks that every window along an axis has a tap on an element. The starts of windows ascend: the
 * first and the last window are checked, and the other windows that start before the axis one by
 * one, but only if the dilation can step over the axis. */
static vt_status check_no_empty_window(const vt_rule *r, uint32_t i, const vt_window *w,
                                       int64_t count, vt_diag *d) {
  enum { MOST = 1 << 20 };
  char text[VT_TYPE_TEXT];
  const int64_t length = r->in[0].dim[2 + i];
  if (vt_dim_is_symbolic(length) || count == 0) return VT_OK;
  int full = window_has_element(w, -w->low, length) &&
             window_has_element(w, (count - 1) * w->stride - w->low, length);
  if (full && w->dilation > length && w->low / w->stride > MOST)
    return VT_FAIL(d, VT_LIMIT, "axis %u of %s: too much padding for its dilation", i + 2,
                   vt_type_text(r->dims, &r->in[0], text));
  for (int64_t p = 0; full && w->dilation > length && p < count && p * w->stride < w->low; p++)
    full = window_has_element(w, p * w->stride - w->low, length);
  if (full) return VT_OK;
  return VT_FAIL(d, VT_VERIFY,
                 "a window along axis %u of %s has no element: its maximum is of nothing", i + 2,
                 vt_type_text(r->dims, &r->in[0], text));
}

vt_status shape_max_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_pooling p = vt_pooling_max(r->attrs);
  VT_TRY(pool_shape(r, &p, out, d));
  for (uint32_t i = 0; i + 2 < out->rank; i++) {
    const vt_window w = vt_pooling_axis(&p, i);
    VT_TRY(check_no_empty_window(r, i, &w, out->dim[2 + i], d));
  }
  return VT_OK;
}

vt_status shape_max_pool_index(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(shape_max_pool(r, out, d));
  out->dtype = VT_DTYPE_I64;
  return VT_OK;
}

vt_status shape_avg_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_pooling p = vt_pooling_avg(r->attrs);
  return pool_shape(r, &p, out, d);
}

static vt_status check_dy(const vt_rule *r, const vt_type *dy, const vt_type *want, vt_diag *d) {
  char have[VT_TYPE_TEXT], expected[VT_TYPE_TEXT];
  if (vt_type_equal(dy, want)) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "dy is %s where the pool gives %s", vt_type_text(r->dims, dy, have),
                 vt_type_text(r->dims, want, expected));
}

vt_status shape_max_pool_grad(const vt_rule *r, vt_type *out, vt_diag *d) {
  vt_type y = {0};
  VT_TRY(shape_max_pool(r, &y, d));
  VT_TRY(check_dy(r, &r->in[1], &y, d));
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_avg_pool_grad(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_avg_pool_grad *a = r->attrs;
  const vt_pooling p = vt_pooling_avg_grad(a);
  vt_type x = r->in[0], y;
  VT_TRY(vt_window_check_rank(r, 0, d));
  if (a->from.n != (int64_t)x.rank - 2)
    return VT_FAIL(d, VT_VERIFY, "from has %lld sizes, expected one for each of %u spatial axes",
                   (long long)a->from.n, x.rank - 2);
  for (uint32_t i = 0; i + 2 < x.rank; i++) {
    x.dim[2 + i] = a->from.v[i];
    if (!vt_dim_is_symbolic(x.dim[2 + i]) && (x.dim[2 + i] < 0 || x.dim[2 + i] > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "from=%lld: expected 0..2^40", (long long)x.dim[2 + i]);
  }
  const vt_rule forward = {.dims = r->dims, .in = &x, .n_in = 1};
  VT_TRY(pool_shape(&forward, &p, &y, d));
  VT_TRY(check_dy(r, &r->in[0], &y, d));
  *out = x;
  return VT_OK;
}

static vt_status global_pool_shape(const vt_rule *r, vt_type *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (r->in[0].rank < 3)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected [N, C, ...] with a spatial axis",
                   vt_type_text(r->dims, &r->in[0], text));
  *out = r->in[0];
  for (uint32_t i = 2; i < out->rank; i++) out->dim[i] = 1;
  return VT_OK;
}

vt_status shape_global_avg_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  return global_pool_shape(r, out, d);
}

vt_status shape_global_max_pool(const vt_rule *r, vt_type *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  VT_TRY(global_pool_shape(r, out, d));
  for (uint32_t i = 2; i < r->in[0].rank; i++)
    if (r->in[0].dim[i] == 0)
      return VT_FAIL(d, VT_VERIFY, "a maximum of nothing: axis %u of %s is empty", i,
                     vt_type_text(r->dims, &r->in[0], text));
  return VT_OK;
}

/* ---- as ops ---- */

/* The sizes of a pool whose dimensions are known. Along each spatial axis, `in` is the length of x,
 * `padded` that of x with padding, `out` that of the result. */
typedef struct pool_sizes {
  uint32_t axes, dtype;
  vt_window w[VT_SPATIAL_MAX];
  int64_t n, c, in[VT_SPATIAL_MAX], padded[VT_SPATIAL_MAX], out[VT_SPATIAL_MAX];
} pool_sizes;

static pool_sizes pool_sizes_of(const vt_pooling *p, const vt_type *x, const vt_type *y) {
  pool_sizes f = {.axes = x->rank - 2, .dtype = x->dtype, .n = x->dim[0], .c = x->dim[1]};
  for (uint32_t i = 0; i < f.axes; i++) {
    f.w[i] = vt_pooling_axis(p, i);
    f.in[i] = x->dim[2 + i];
    f.out[i] = y->dim[2 + i];
    f.padded[i] = padded_length(&f.w[i], f.in[i], f.out[i]);
  }
  return f;
}

/* Pads x with `value` along its spatial axes up to the sizes f->padded: `low` before the elements,
 * the rest after them. With `already_padded`, x has its `low` and `high` padding already. */
static uint32_t pad_spatial(vt_builder *b, const pool_sizes *f, uint32_t x, uint32_t value,
                            int already_padded) {
  const uint32_t in[2] = {x, value};
  vt_attr_pad a = {.size = sizeof a, .low = {.n = f->axes + 2}, .high = {.n = f->axes + 2}};
  int any = 0;
  for (uint32_t i = 0; i < f->axes; i++) {
    const int64_t covered = f->in[i] + f->w[i].low + (already_padded ? f->w[i].high : 0);
    a.low.v[2 + i] = already_padded ? 0 : f->w[i].low;
    a.high.v[2 + i] = f->padded[i] - covered;
    any |= a.low.v[2 + i] > 0 || a.high.v[2 + i] > 0;
  }
  return any ? b->node(b, VT_OP_pad, in, 2, &a) : x;
}

/* Writes the numbers 0 .. n-1, each times `step`, along axis `axis` of `rank` axes. */
static uint32_t build_scaled_iota(vt_builder *b, uint32_t rank, uint32_t axis, int64_t n,
                                  int64_t step) {
  vt_attr_iota a = {.size = sizeof a, .shape = {.n = rank}, .axis = axis, .dtype = VT_DTYPE_I64};
  for (uint32_t i = 0; i < rank; i++) a.shape.v[i] = i == axis ? n : 1;
  const uint32_t count = b->node(b, VT_OP_iota, NULL, 0, &a);
  return vt_build2(b, VT_OP_mul, count, vt_build_int(b, VT_DTYPE_I64, step));
}

/* A product that may wrap. It only wraps if a stride or dilation is longer than the padded axis;
 * then there is only one window, or one tap or no window, and the product is only multiplied by
 * 0. */
static int64_t wrapping_product(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* The element of a padded plane that each tap reads, as a row-major position: [positions, taps]. */
static uint32_t build_tap_index(vt_builder *b, const pool_sizes *f) {
  const uint32_t rank = 2 * f->axes;
  int64_t kernel[VT_SPATIAL_MAX];
  uint32_t sum = VT_NO_VALUE;
  for (uint32_t i = 0; i < f->axes; i++) {
    const int64_t step = vt_count_elements(f->padded + i + 1, f->axes - i - 1);
    const uint32_t p =
        build_scaled_iota(b, rank, i, f->out[i], wrapping_product(f->w[i].stride, step));
    const uint32_t k = build_scaled_iota(b, rank, f->axes + i, f->w[i].kernel,
                                         wrapping_product(f->w[i].dilation, step));
    const uint32_t at = vt_build2(b, VT_OP_add, p, k);
    sum = i == 0 ? at : vt_build2(b, VT_OP_add, sum, at);
    kernel[i] = f->w[i].kernel;
  }
  const int64_t dim[2] = {vt_count_elements(f->out, f->axes), vt_count_elements(kernel, f->axes)};
  return vt_build_reshape(b, sum, 2, dim);
}

/* Writes the taps of all windows of a padded x: [n, c, positions, taps]. */
static uint32_t gather_windows(vt_builder *b, const pool_sizes *f, uint32_t padded, uint32_t index,
                               int64_t n, int64_t c) {
  const int64_t dim[3] = {n, c, vt_count_elements(f->padded, f->axes)};
  const uint32_t in[2] = {vt_build_reshape(b, padded, 3, dim), index};
  const vt_attr_gather a = {.size = sizeof a, .axis = 2};
  return b->node(b, VT_OP_gather, in, 2, &a);
}

/* Reshapes x to [n, c, positions...], the shape of the result. */
static uint32_t reshape_to_positions(vt_builder *b, const pool_sizes *f, uint32_t x) {
  int64_t dim[2 + VT_SPATIAL_MAX] = {f->n, f->c};
  memcpy(dim + 2, f->out, f->axes * sizeof *dim);
  return vt_build_reshape(b, x, f->axes + 2, dim);
}

uint32_t vt_pooling_least_value(vt_builder *b, uint32_t dtype) {
  static const uint64_t bits[] = {
      [VT_DTYPE_F32] = 0xff800000, [VT_DTYPE_F64] = UINT64_C(0xfff0000000000000),
      [VT_DTYPE_I8] = 0x80,        [VT_DTYPE_U8] = 0,
      [VT_DTYPE_I32] = 0x80000000, [VT_DTYPE_I64] = UINT64_C(1) << 63};
  return vt_build_bits(b, dtype, bits[dtype]);
}

/* Whether a tensor with these spatial sizes is empty. The decomposition then writes zeros and forms
 * no windows, because their number and padding may be large. */
static int is_empty(const pool_sizes *f, const int64_t *spatial) {
  int empty = f->n == 0 || f->c == 0;
  for (uint32_t i = 0; i < f->axes; i++) empty |= spatial[i] == 0;
  return empty;
}

static uint32_t build_zeros(vt_builder *b, const pool_sizes *f, uint32_t dtype,
                            const int64_t *spatial) {
  vt_type t = {dtype, f->axes + 2, {f->n, f->c}};
  memcpy(t.dim + 2, spatial, f->axes * sizeof *spatial);
  return vt_build_full(b, dtype, 0.0, &t);
}

static int read_max_pool_sizes(vt_builder *b, uint32_t x, const void *attrs, pool_sizes *out) {
  const vt_type *t = b->type(b, x);
  const vt_pooling p = vt_pooling_max(attrs);
  if (t == NULL) return 0;
  const vt_type tx = *t;
  vt_type y = {0};
  const vt_rule r = {.dims = b->dims, .in = &tx, .n_in = 1, .attrs = attrs};
  if (shape_max_pool(&r, &y, NULL) != VT_OK) return 0;
  *out = pool_sizes_of(&p, &tx, &y);
  return 1;
}

uint32_t lower_max_pool(const vt_lowering *l) {
  pool_sizes f;
  if (!read_max_pool_sizes(l->b, l->in[0], l->attrs, &f)) return VT_NO_VALUE;
  if (is_empty(&f, f.out)) return build_zeros(l->b, &f, f.dtype, f.out);
  const uint32_t padded = pad_spatial(l->b, &f, l->in[0], vt_pooling_least_value(l->b, f.dtype), 0);
  const uint32_t w = gather_windows(l->b, &f, padded, build_tap_index(l->b, &f), f.n, f.c);
  return reshape_to_positions(l->b, &f, vt_build_reduce(l->b, VT_OP_max, w, 3, 0));
}

/* Writes for each tap 1 if it is on x and 0 if it is on padding: [1, 1, positions, taps]. With
 * `count_padding`, the padding `low` and `high` counts as x, and only taps beyond it are 0. */
static uint32_t build_tap_presence(vt_builder *b, const pool_sizes *f, uint32_t index,
                                   int count_padding) {
  int64_t dim[2 + VT_SPATIAL_MAX] = {1, 1};
  for (uint32_t i = 0; i < f->axes; i++)
    dim[2 + i] = f->in[i] + (count_padding ? f->w[i].low + f->w[i].high : 0);
  const uint32_t ones = vt_build_broadcast(b, vt_build_int(b, VT_DTYPE_I64, 1), f->axes + 2, dim);
  const uint32_t padded = pad_spatial(b, f, ones, vt_build_int(b, VT_DTYPE_I64, 0), count_padding);
  return gather_windows(b, f, padded, index, 1, 1);
}

/* Turns the number of a tap in its window into the row-major index of its element in a plane of x;
 * `tap` is [n, c, positions...]. */
static uint32_t tap_to_plane_position(vt_builder *b, const pool_sizes *f, uint32_t tap) {
  uint32_t flat = VT_NO_VALUE;
  int64_t inner = 1;
  for (uint32_t i = f->axes; i-- > 0;) { /* the last axis is the innermost in the number of a tap */
    const int64_t step = vt_count_elements(f->in + i + 1, f->axes - i - 1);
    const vt_window *w = &f->w[i];
    uint32_t k = vt_build2(b, VT_OP_div, tap, vt_build_int(b, VT_DTYPE_I64, inner));
    k = vt_build2(b, VT_OP_mod, k, vt_build_int(b, VT_DTYPE_I64, w->kernel));
    k = vt_build2(b, VT_OP_mul, k, vt_build_int(b, VT_DTYPE_I64, w->dilation));
    const uint32_t p = build_scaled_iota(b, f->axes + 2, i + 2, f->out[i], w->stride);
    uint32_t at = vt_build2(b, VT_OP_add, k, p);
    at = vt_build2(b, VT_OP_sub, at, vt_build_int(b, VT_DTYPE_I64, w->low));
    at = vt_build2(b, VT_OP_mul, at, vt_build_int(b, VT_DTYPE_I64, step));
    flat = i + 1 == f->axes ? at : vt_build2(b, VT_OP_add, flat, at);
    inner *= w->kernel;
  }
  return flat;
}

/* argmax over padded windows, in which padding holds the least value of the type. A tap on padding
 * can only be the first with the maximum if the maximum is the least value. All elements of the
 * window hold it then, and the answer is the first tap that is on x. */
uint32_t lower_max_pool_index(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_axis last = {.size = sizeof last, .axis = 3};
  pool_sizes f;
  if (!read_max_pool_sizes(b, l->in[0], l->attrs, &f)) return VT_NO_VALUE;
  if (is_empty(&f, f.out)) return build_zeros(b, &f, VT_DTYPE_I64, f.out);
  const uint32_t least = vt_pooling_least_value(b, f.dtype), index = build_tap_index(b, &f);
  const uint32_t w = gather_windows(b, &f, pad_spatial(b, &f, l->in[0], least, 0), index, f.n, f.c);
  const uint32_t there = build_tap_presence(b, &f, index, 0);
  const uint32_t first = b->node(b, VT_OP_argmax, &there, 1, &last);
  const uint32_t best = b->node(b, VT_OP_argmax, &w, 1, &last);
  const uint32_t lowest = vt_build2(b, VT_OP_eq, vt_build_reduce(b, VT_OP_max, w, 3, 0), least);
  return tap_to_plane_position(
      b, &f, reshape_to_positions(b, &f, vt_build3(b, VT_OP_select, lowest, first, best)));
}

/* The number of taps of each window that count in an average, in the type of x: [1, 1,
 * positions]. */
static uint32_t taps_per_window(vt_builder *b, const pool_sizes *f, uint32_t index,
                                int count_padding) {
  const uint32_t there = build_tap_presence(b, f, index, count_padding);
  return vt_build_cast(b, vt_build_reduce(b, VT_OP_sum, there, 3, 0), f->dtype);
}

uint32_t lower_avg_pool(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_pooling p = vt_pooling_avg(l->attrs);
  const vt_type *t = b->type(b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type tx = *t;
  const vt_rule r = {.dims = b->dims, .in = &tx, .n_in = 1, .attrs = l->attrs};
  vt_type y = {0};
  if (shape_avg_pool(&r, &y, NULL) != VT_OK) return VT_NO_VALUE;
  const pool_sizes f = pool_sizes_of(&p, &tx, &y);
  if (is_empty(&f, f.out)) return build_zeros(b, &f, f.dtype, f.out);
  const uint32_t index = build_tap_index(b, &f);
  const uint32_t padded =
      pad_spatial(b, &f, l->in[0], vt_build_scalar_of_same_dtype(b, l->in[0], 0.0), 0);
  const uint32_t sum =
      vt_build_reduce(b, VT_OP_sum, gather_windows(b, &f, padded, index, f.n, f.c), 3, 0);
  return reshape_to_positions(
      b, &f, vt_build2(b, VT_OP_div, sum, taps_per_window(b, &f, index, p.count_padding)));
}

static uint32_t reduce_spatial(const vt_lowering *l, uint32_t op) {
  const vt_type *t = l->b->type(l->b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  vt_attr_reduce a = {.size = sizeof a, .axes = {.n = t->rank - 2}, .keep = 1};
  for (uint32_t i = 2; i < t->rank; i++) a.axes.v[i - 2] = i;
  return l->b->node(l->b, op, l->in, 1, &a);
}

uint32_t lower_global_max_pool(const vt_lowering *l) { return reduce_spatial(l, VT_OP_max); }
uint32_t lower_global_avg_pool(const vt_lowering *l) { return reduce_spatial(l, VT_OP_mean); }

/* ---- gradients as ops: scatter_add adds the contributions to an element ---- */

/* Writes a tensor of zeros of shape `dim` and adds the updates to it, by scatter_add at the
 * positions of `index` along `axis`. */
static uint32_t scatter_add_to_zeros(vt_builder *b, uint32_t index, uint32_t updates, uint32_t rank,
                                     const int64_t *dim, uint32_t axis, uint32_t batch) {
  const vt_attr_gather a = {.size = sizeof a, .axis = axis, .batch = batch};
  const uint32_t zeros =
      vt_build_broadcast(b, vt_build_scalar_of_same_dtype(b, updates, 0.0), rank, dim);
  const uint32_t in[3] = {zeros, index, updates};
  return b->node(b, VT_OP_scatter_add, in, 3, &a);
}

uint32_t lower_max_pool_grad(const vt_lowering *l) {
  vt_builder *b = l->b;
  pool_sizes f;
  if (!read_max_pool_sizes(b, l->in[0], l->attrs, &f)) return VT_NO_VALUE;
  const int64_t rows[2] = {f.n * f.c, vt_count_elements(f.out, f.axes)};
  const int64_t flat[2] = {f.n * f.c, vt_count_elements(f.in, f.axes)};
  int64_t dim[2 + VT_SPATIAL_MAX] = {f.n, f.c};
  memcpy(dim + 2, f.in, f.axes * sizeof *dim);
  const uint32_t where = b->node(b, VT_OP_max_pool_index, l->in, 1, l->attrs);
  const uint32_t index = vt_build_reshape(b, where, 2, rows);
  const uint32_t dy = vt_build_reshape(b, l->in[1], 2, rows);
  return vt_build_reshape(b, scatter_add_to_zeros(b, index, dy, 2, flat, 1, 1), f.axes + 2, dim);
}

/* Removes the padding of the spatial axes from a padded plane. */
static uint32_t remove_padding(vt_builder *b, const pool_sizes *f, uint32_t padded) {
  const uint32_t rank = f->axes + 2;
  int64_t dim[2 + VT_SPATIAL_MAX] = {f->n, f->c};
  vt_attr_slice a = {.size = sizeof a, .start = {.n = rank}, .stop = {.n = rank}};
  memcpy(dim + 2, f->padded, f->axes * sizeof *dim);
  memcpy(a.stop.v, dim, 2 * sizeof *dim);
  for (uint32_t i = 0; i < f->axes; i++) {
    a.start.v[2 + i] = f->w[i].low;
    a.stop.v[2 + i] = f->w[i].low + f->in[i];
  }
  const uint32_t shaped = vt_build_reshape(b, padded, rank, dim);
  return b->node(b, VT_OP_slice, &shaped, 1, &a);
}

/* Every window passes dy/count to all its taps; what goes to padding is cut off. */
uint32_t lower_avg_pool_grad(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_avg_pool_grad *a = l->attrs;
  const vt_pooling p = vt_pooling_avg_grad(a);
  const vt_type *t = b->type(b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type y = *t;
  vt_type x = y;
  memcpy(x.dim + 2, a->from.v, (x.rank - 2) * sizeof *x.dim);
  const pool_sizes f = pool_sizes_of(&p, &x, &y);
  if (is_empty(&f, f.in) || is_empty(&f, f.out)) return build_zeros(b, &f, f.dtype, f.in);
  const uint32_t index = build_tap_index(b, &f);
  const vt_type *ti = b->type(b, index);
  if (ti == NULL) return VT_NO_VALUE;
  const int64_t n_out = ti->dim[0], n_taps = ti->dim[1], total = n_out * n_taps;
  const int64_t column[4] = {f.n, f.c, n_out, 1}, all[4] = {f.n, f.c, n_out, n_taps};
  const int64_t line[3] = {f.n, f.c, total},
                flat[3] = {f.n, f.c, vt_count_elements(f.padded, f.axes)};
  const int64_t divisor[4] = {1, 1, n_out, 1};
  const uint32_t count =
      vt_build_reshape(b, taps_per_window(b, &f, index, p.count_padding), 4, divisor);
  const uint32_t q = vt_build2(b, VT_OP_div, vt_build_reshape(b, l->in[0], 4, column), count);
  const uint32_t updates = vt_build_reshape(b, vt_build_broadcast(b, q, 4, all), 3, line);
  const uint32_t places = vt_build_reshape(b, index, 1, &total);
  return remove_padding(b, &f, scatter_add_to_zeros(b, places, updates, 3, flat, 2, 0));
}

/* ---- gradients ---- */

void grad_max_pool(const vt_gradient *g) {
  const uint32_t in[2] = {g->in[0], g->d_out[0]};
  g->d_in[0] = g->b->node(g->b, VT_OP_max_pool_grad, in, 2, g->attrs);
}

/* The gradient of max_pool_grad by its operand dy. max_pool_grad moves elements of dy to positions
 * in x, so its gradient gathers from the same positions. */
void grad_max_pool_grad(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_gather along = {.size = sizeof along, .axis = 1, .batch = 1};
  pool_sizes f;
  if (!read_max_pool_sizes(b, g->in[0], g->attrs, &f)) return;
  const int64_t rows[2] = {f.n * f.c, vt_count_elements(f.out, f.axes)};
  const int64_t flat[2] = {f.n * f.c, vt_count_elements(f.in, f.axes)};
  const uint32_t where = b->node(b, VT_OP_max_pool_index, g->in, 1, g->attrs);
  uint32_t in[2] = {vt_build_reshape(b, g->d_out[0], 2, flat), VT_NO_VALUE};
  in[1] = vt_build_reshape(b, where, 2, rows);
  g->d_in[1] = reshape_to_positions(b, &f, b->node(b, VT_OP_gather, in, 2, &along));
}

void grad_avg_pool(const vt_gradient *g) {
  const vt_attr_avg_pool *a = g->attrs;
  const vt_type *x = g->b->type(g->b, g->in[0]);
  if (x == NULL) return;
  vt_attr_avg_pool_grad back = {.size = sizeof back,
                                .kernel = a->kernel,
                                .stride = a->stride,
                                .dilation = a->dilation,
                                .low = a->low,
                                .high = a->high,
                                .ceil = a->ceil,
                                .count_padding = a->count_padding,
                                .from = {.n = x->rank - 2}};
  memcpy(back.from.v, x->dim + 2, (x->rank - 2) * sizeof *x->dim);
  g->d_in[0] = g->b->node(g->b, VT_OP_avg_pool_grad, g->d_out, 1, &back);
}

void grad_avg_pool_grad(const vt_gradient *g) {
  const vt_attr_avg_pool_grad *a = g->attrs;
  const vt_attr_avg_pool forward = {.size = sizeof forward,
                                    .kernel = a->kernel,
                                    .stride = a->stride,
                                    .dilation = a->dilation,
                                    .low = a->low,
                                    .high = a->high,
                                    .ceil = a->ceil,
                                    .count_padding = a->count_padding};
  g->d_in[0] = g->b->node(g->b, VT_OP_avg_pool, g->d_out, 1, &forward);
}

/* dx is that of a max_pool over all spatial axes merged into one axis, with one window of the
 * length of this axis. */
void grad_global_max_pool(const vt_gradient *g) {
  const vt_type *t = g->b->type(g->b, g->in[0]);
  if (t == NULL) return;
  const vt_type x = *t;
  const int64_t length = vt_count_elements(x.dim + 2, x.rank - 2);
  const int64_t flat[3] = {x.dim[0], x.dim[1], length}, one[3] = {x.dim[0], x.dim[1], 1};
  const vt_attr_max_pool a = {.size = sizeof a, .kernel = {.n = 1, .v = {length}}};
  uint32_t in[2] = {vt_build_reshape(g->b, g->in[0], 3, flat), VT_NO_VALUE};
  in[1] = vt_build_reshape(g->b, g->d_out[0], 3, one);
  const uint32_t dx = g->b->node(g->b, VT_OP_max_pool_grad, in, 2, &a);
  g->d_in[0] = vt_build_reshape(g->b, dx, x.rank, x.dim);
}

/* dx = dy/n, broadcast to the shape of x, where n is the number of elements of a plane */
void grad_global_avg_pool(const vt_gradient *g) {
  const vt_type *t = g->b->type(g->b, g->in[0]);
  if (t == NULL) return;
  const vt_type x = *t;
  const uint32_t n = vt_build_int(g->b, x.dtype, vt_count_elements(x.dim + 2, x.rank - 2));
  const uint32_t q = vt_build2(g->b, VT_OP_div, g->d_out[0], n);
  g->d_in[0] = vt_build_broadcast(g->b, q, x.rank, x.dim);
}
