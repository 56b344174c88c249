/* SPDX-License-Identifier: Apache-2.0
 * op_resize.c - resize and its gradient as ops. Each axis is resized by itself, from I to O
 * elements: source positions and weights are computed in f64 from an iota, then elements are
 * gathered, multiplied and added. The elements of x that a result reads along an axis are its
 * taps; a tap with weight 0 is absent. dy is the gradient of the result, dx that of x. */
#include <string.h>
#include "op_resize.h"
#include "op_rows.h"
#include "vt_window.h"

/* ---- shapes ---- */

static vt_status check_modes(const vt_resizing *z, vt_diag *d) {
  const int64_t c = z->coordinates, r = z->rounding;
  if (z->mode != VT_WORD_nearest && z->mode != VT_WORD_linear && z->mode != VT_WORD_cubic)
    return VT_FAIL(d, VT_VERIFY, "the mode is nearest, linear or cubic");
  if (c != VT_WORD_half_pixel && c != VT_WORD_pytorch_half_pixel && c != VT_WORD_align_corners &&
      c != VT_WORD_asymmetric)
    return VT_FAIL(d, VT_VERIFY,
                   "the coordinates are half_pixel, pytorch_half_pixel, align_corners or "
                   "asymmetric");
  if (r != VT_WORD_floor && r != VT_WORD_ceil && r != VT_WORD_round_prefer_floor &&
      r != VT_WORD_round_prefer_ceil)
    return VT_FAIL(d, VT_VERIFY,
                   "the rounding is floor, ceil, round_prefer_floor or round_prefer_ceil");
  if (!(z->a - z->a == 0.0)) return VT_FAIL(d, VT_VERIFY, "a must be finite");
  return VT_OK;
}

static vt_status check_resize_type(const vt_rule *r, const vt_resizing *z, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  VT_TRY(check_modes(z, d));
  VT_TRY(vt_window_check_rank(r, 0, d));
  if (z->mode == VT_WORD_nearest || r->in[0].dtype == VT_DTYPE_F32) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected f32: its weights are f32",
                 vt_type_text(r->dims, &r->in[0], text));
}

/* The length floor(I * scale) of a resized axis, a product of f64. A symbolic length I can only be
 * multiplied by a whole scale. */
static vt_status scaled_length(const vt_rule *r, uint32_t axis, int64_t length, double scale,
                               int64_t *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (!(scale > 0.0 && scale <= (double)VT_DIM_MAX))
    return VT_FAIL(d, VT_VERIFY, "the scale must be above 0 and at most 2^40");
  const int64_t whole = (int64_t)scale;
  if (vt_dim_is_symbolic(length)) {
    if ((double)whole == scale) return vt_dim_mul(r->dims, length, whole, out, d);
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s must be known: its scale is not a whole number",
                   axis, vt_type_text(r->dims, &r->in[0], text));
  }
  const double many = (double)length * scale;
  if (many >= (double)VT_DIM_MAX + 1.0)
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s would be longer than 2^40", axis,
                   vt_type_text(r->dims, &r->in[0], text));
  *out = (int64_t)many;
  return VT_OK;
}

/* Checks an axis that is resized from I to O elements: I is only 0 if O is, and with align_corners
 * the products i * (I-1) are exact in f64. */
static vt_status check_sizes(const vt_rule *r, const vt_resizing *z, uint32_t axis, int64_t in,
                             int64_t out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const int known = !vt_dim_is_symbolic(in) && !vt_dim_is_symbolic(out);
  for (int i = 0; i < 2; i++) {
    const int64_t n = i == 0 ? in : out;
    if (!vt_dim_is_symbolic(n) && (n < 0 || n > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "axis %u is resized from or to %lld: expected 0..2^40", axis,
                     (long long)n);
  }
  if (known && in == 0 && out > 0)
    return VT_FAIL(d, VT_VERIFY, "axis %u is resized from nothing to %lld elements: %s", axis,
                   (long long)out, vt_type_text(r->dims, &r->in[0], text));
  if (known && z->coordinates == VT_WORD_align_corners && in > 1 &&
      out - 1 > ((int64_t)1 << 53) / (in - 1))
    return VT_FAIL(d, VT_LIMIT, "axis %u: the product of its lengths is beyond 2^53", axis);
  return VT_OK;
}

vt_status shape_resize(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_resize *a = r->attrs;
  const vt_resizing z = vt_resizing_of(a);
  VT_TRY(check_resize_type(r, &z, d));
  const uint32_t axes = r->in[0].rank - 2;
  if ((a->to.n == 0) == (a->scale == 0.0))
    return VT_FAIL(d, VT_VERIFY, "expected either sizes, to=..., or a scale");
  if (a->to.n != 0 && a->to.n != (int64_t)axes)
    return VT_FAIL(d, VT_VERIFY, "to has %lld sizes, expected one for each of %u spatial axes",
                   (long long)a->to.n, axes);
  *out = r->in[0];
  for (uint32_t i = 2; i < out->rank; i++) {
    if (a->to.n == 0) {
      VT_TRY(scaled_length(r, i, r->in[0].dim[i], a->scale, &out->dim[i], d));
    } else {
      out->dim[i] = a->to.v[i - 2];
    }
    VT_TRY(check_sizes(r, &z, i, r->in[0].dim[i], out->dim[i], d));
  }
  return VT_OK;
}

vt_status shape_resize_grad(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_resize_grad *a = r->attrs;
  const vt_resizing z = vt_resizing_of_grad(a);
  char text[VT_TYPE_TEXT];
  VT_TRY(check_resize_type(r, &z, d));
  *out = r->in[0];
  if (a->from.n != (int64_t)out->rank - 2)
    return VT_FAIL(d, VT_VERIFY, "from has %lld sizes, expected one for each of %u spatial axes",
                   (long long)a->from.n, out->rank - 2);
  for (uint32_t i = 2; i < out->rank; i++) {
    int64_t made = r->in[0].dim[i];
    out->dim[i] = a->from.v[i - 2];
    VT_TRY(check_sizes(r, &z, i, out->dim[i], made, d));
    if (a->scale != 0.0) VT_TRY(scaled_length(r, i, out->dim[i], a->scale, &made, d));
    if (made != r->in[0].dim[i])
      return VT_FAIL(d, VT_VERIFY, "axis %u of %s is not what the scale gives", i,
                     vt_type_text(r->dims, &r->in[0], text));
  }
  return VT_OK;
}

/* ---- positions ---- */

typedef struct axis { /* an axis that is resized from `in` to `out` elements */
  int64_t in, out;
  vt_resizing z;
} axis;

static uint32_t build_f64(vt_builder *b, double x) { return vt_build_number(b, VT_DTYPE_F64, x); }
static uint32_t build_i64(vt_builder *b, int64_t x) { return vt_build_int(b, VT_DTYPE_I64, x); }

/* Writes the source position of every result along an axis: f64[out]. */
static uint32_t build_coordinates(vt_builder *b, const axis *x) {
  const int64_t one = 1, by = x->z.coordinates;
  const vt_attr_iota a = {
      .size = sizeof a, .shape = {.n = 1, .v = {x->out}}, .dtype = VT_DTYPE_F64};
  if (x->out == 1 && (by == VT_WORD_align_corners || by == VT_WORD_pytorch_half_pixel))
    return vt_build_broadcast(b, build_f64(b, 0.0), 1, &one);
  const uint32_t i = b->node(b, VT_OP_iota, NULL, 0, &a);
  const double ratio = x->z.scale == 0.0 ? (double)x->in / (double)x->out : 1.0 / x->z.scale;
  if (by == VT_WORD_align_corners) {
    const uint32_t far = vt_build2(b, VT_OP_mul, i, build_f64(b, (double)(x->in - 1)));
    return vt_build2(b, VT_OP_div, far, build_f64(b, (double)(x->out - 1)));
  }
  if (by == VT_WORD_asymmetric) return vt_build2(b, VT_OP_mul, i, build_f64(b, ratio));
  const uint32_t middle = vt_build2(b, VT_OP_add, i, build_f64(b, 0.5));
  const uint32_t scaled = vt_build2(b, VT_OP_mul, middle, build_f64(b, ratio));
  return vt_build2(b, VT_OP_sub, scaled, build_f64(b, 0.5));
}

/* Writes floor(c), or with `up` ceil(c), as i64. A cast truncates; a comparison with c then
 * corrects the number by 1 if needed. */
static uint32_t build_floor_or_ceil(vt_builder *b, uint32_t c, int up) {
  const uint32_t t = vt_build_cast(b, c, VT_DTYPE_I64);
  const uint32_t back = vt_build_cast(b, t, VT_DTYPE_F64);
  const uint32_t off =
      vt_build_cast(b, vt_build2(b, up ? VT_OP_lt : VT_OP_gt, back, c), VT_DTYPE_I64);
  return vt_build2(b, up ? VT_OP_add : VT_OP_sub, t, off);
}

/* Writes x clamped to 0 .. most, two literals of the type of x. */
static uint32_t build_clamp(vt_builder *b, uint32_t x, uint32_t dtype, int64_t most) {
  const uint32_t least = vt_build_int(b, dtype, 0), top = vt_build_int(b, dtype, most);
  return vt_build2(b, VT_OP_minimum, vt_build2(b, VT_OP_maximum, x, least), top);
}

static uint32_t build_nearest(vt_builder *b, uint32_t positions, int64_t rounding) {
  if (rounding == VT_WORD_round_prefer_floor)
    return build_floor_or_ceil(b, vt_build2(b, VT_OP_sub, positions, build_f64(b, 0.5)), 1);
  if (rounding == VT_WORD_round_prefer_ceil)
    return build_floor_or_ceil(b, vt_build2(b, VT_OP_add, positions, build_f64(b, 0.5)), 0);
  return build_floor_or_ceil(b, positions, rounding == VT_WORD_ceil);
}

/* ((((a + 2)*t) - (a + 3))*t)*t + 1 */
static uint32_t build_near_cubic_weight(vt_builder *b, uint32_t t, double a) {
  uint32_t v = vt_build2(b, VT_OP_mul, build_f64(b, a + 2), t);
  v = vt_build2(b, VT_OP_sub, v, build_f64(b, a + 3));
  v = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mul, v, t), t);
  return vt_build2(b, VT_OP_add, v, build_f64(b, 1.0));
}

/* ((((a*t) - (5*a))*t) + (8*a))*t - (4*a) */
static uint32_t build_far_cubic_weight(vt_builder *b, uint32_t t, double a) {
  uint32_t v = vt_build2(b, VT_OP_mul, build_f64(b, a), t);
  v = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_sub, v, build_f64(b, 5 * a)), t);
  v = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_add, v, build_f64(b, 8 * a)), t);
  return vt_build2(b, VT_OP_sub, v, build_f64(b, 4 * a));
}

/* The taps of each result along an axis: for each tap the values index i64[out] and weight
 * f32[out]; the mode nearest has no weights. */
enum { MOST_TAPS = 4 };
typedef struct tap_set {
  uint32_t n, index[MOST_TAPS], weight[MOST_TAPS];
} tap_set;

static tap_set cubic_taps(vt_builder *b, const axis *x, uint32_t positions) {
  tap_set r = {.n = 4};
  const double a = x->z.a;
  const uint32_t j = build_floor_or_ceil(b, positions, 0);
  const uint32_t f = vt_build2(b, VT_OP_sub, positions, vt_build_cast(b, j, VT_DTYPE_F64));
  uint32_t weight[4];
  weight[0] = build_far_cubic_weight(b, vt_build2(b, VT_OP_add, f, build_f64(b, 1.0)), a);
  weight[1] = build_near_cubic_weight(b, f, a);
  weight[2] = build_near_cubic_weight(b, vt_build2(b, VT_OP_sub, build_f64(b, 1.0), f), a);
  weight[3] = build_far_cubic_weight(b, vt_build2(b, VT_OP_sub, build_f64(b, 2.0), f), a);
  for (uint32_t t = 0; t < 4; t++) {
    const uint32_t at = vt_build2(b, VT_OP_add, j, build_i64(b, (int64_t)t - 1));
    r.index[t] = build_clamp(b, at, VT_DTYPE_I64, x->in - 1);
    r.weight[t] = vt_build_cast(b, weight[t], VT_DTYPE_F32);
  }
  return r;
}

static tap_set linear_taps(vt_builder *b, const axis *x, uint32_t positions) {
  const uint32_t last = build_i64(b, x->in - 1);
  const uint32_t inside = build_clamp(b, positions, VT_DTYPE_F64, x->in - 1);
  const uint32_t j = build_floor_or_ceil(b, inside, 0);
  const uint32_t f = vt_build2(b, VT_OP_sub, inside, vt_build_cast(b, j, VT_DTYPE_F64));
  const uint32_t next = vt_build2(b, VT_OP_add, j, build_i64(b, 1));
  tap_set r = {.n = 2, .index = {j, VT_NO_VALUE}};
  r.index[1] = vt_build2(b, VT_OP_minimum, next, last);
  r.weight[0] = vt_build_cast(b, vt_build2(b, VT_OP_sub, build_f64(b, 1.0), f), VT_DTYPE_F32);
  r.weight[1] = vt_build_cast(b, f, VT_DTYPE_F32);
  return r;
}

static tap_set taps_of(vt_builder *b, const axis *x) {
  const uint32_t positions = build_coordinates(b, x);
  if (x->z.mode == VT_WORD_cubic) return cubic_taps(b, x, positions);
  if (x->z.mode == VT_WORD_linear) return linear_taps(b, x, positions);
  const uint32_t j = build_nearest(b, positions, x->z.rounding);
  return (tap_set){.n = 1, .index = {build_clamp(b, j, VT_DTYPE_I64, x->in - 1)}};
}

/* ---- resize ---- */

static uint32_t build_is_present(vt_builder *b, uint32_t weight) {
  return vt_build2(b, VT_OP_ne, weight, vt_build_number(b, VT_DTYPE_F32, 0.0));
}

/* Reshapes a vector of n elements to [n, 1, ...], so that it runs along axis i of a tensor of
 * `rank` axes. */
static uint32_t align_to_axis(vt_builder *b, uint32_t v, uint32_t i, uint32_t rank, int64_t n) {
  int64_t dim[VT_MAX_RANK] = {n};
  for (uint32_t k = 1; k < rank - i; k++) dim[k] = 1;
  return vt_build_reshape(b, v, rank - i, dim);
}

static uint32_t resize_axis(vt_builder *b, uint32_t x, uint32_t i, const axis *z) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t rank = t->rank;
  const vt_attr_gather a = {.size = sizeof a, .axis = i};
  const tap_set r = taps_of(b, z);
  uint32_t y = VT_NO_VALUE, any = VT_NO_VALUE;
  for (uint32_t k = 0; k < r.n; k++) {
    const uint32_t in[2] = {x, r.index[k]};
    const uint32_t read = b->node(b, VT_OP_gather, in, 2, &a);
    if (z->z.mode == VT_WORD_nearest) return read;
    const uint32_t w = align_to_axis(b, r.weight[k], i, rank, z->out),
                   there = build_is_present(b, w);
    const uint32_t term = vt_build2(b, VT_OP_mul, w, read);
    if (k == 0) { /* the first tap: the sum starts with the first tap that is not absent */
      y = vt_build3(b, VT_OP_select, there, term, vt_build_number(b, VT_DTYPE_F32, 0.0));
      any = there;
      continue;
    }
    const uint32_t more = vt_build3(b, VT_OP_select, any, vt_build2(b, VT_OP_add, y, term), term);
    y = vt_build3(b, VT_OP_select, there, more, y);
    any = vt_build2(b, VT_OP_or, any, there);
  }
  return y;
}

/* Resizes one axis after the other, the last axis first. */
uint32_t lower_resize(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_type *t = b->type(b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type tx = *t;
  const vt_rule r = {.dims = b->dims, .in = &tx, .n_in = 1, .attrs = l->attrs};
  vt_type ty = {0};
  if (shape_resize(&r, &ty, NULL) != VT_OK) return VT_NO_VALUE;
  uint32_t y = l->in[0];
  for (uint32_t i = tx.rank; i-- > 2;) {
    const axis z = {tx.dim[i], ty.dim[i], vt_resizing_of(l->attrs)};
    y = resize_axis(b, y, i, &z);
  }
  return y;
}

/* ---- its gradient ---- */

/* What tap k adds to dx, as updates [before, out, 1, after] (the axes before and after axis i are
 * merged) at destinations [out, 1]. An absent tap goes to an element beyond the end, which is cut
 * off. */
static void tap_updates(vt_builder *b, const tap_set *r, const axis *z, uint32_t dy, uint32_t k,
                        uint32_t *out_index, uint32_t *out_update) {
  const int64_t column[2] = {z->out, 1}, wide[4] = {1, z->out, 1, 1};
  *out_index = vt_build_reshape(b, r->index[k], 2, column);
  *out_update = dy;
  if (z->z.mode == VT_WORD_nearest) return;
  const uint32_t there = vt_build_reshape(b, build_is_present(b, r->weight[k]), 2, column);
  *out_index = vt_build3(b, VT_OP_select, there, *out_index, build_i64(b, z->in));
  *out_update = vt_build2(b, VT_OP_mul, vt_build_reshape(b, r->weight[k], 4, wide), dy);
}

static uint32_t resize_axis_back(vt_builder *b, uint32_t dy, uint32_t i, const axis *z) {
  const vt_type *t = b->type(b, dy);
  if (t == NULL) return VT_NO_VALUE;
  vt_type want = *t;
  int64_t before = 1, after = 1;
  for (uint32_t k = 0; k < want.rank; k++) {
    before *= k < i ? want.dim[k] : 1;
    after *= k > i ? want.dim[k] : 1;
  }
  want.dim[i] = z->in;
  const tap_set r = taps_of(b, z);
  const int64_t taps = (int64_t)r.n * z->out, thin[4] = {before, z->out, 1, after};
  const int64_t line[3] = {before, taps, after}, padded[3] = {before, z->in + 1, after};
  const uint32_t shaped = vt_build_reshape(b, dy, 4, thin);
  uint32_t index[MOST_TAPS], update[MOST_TAPS];
  for (uint32_t k = 0; k < r.n; k++) tap_updates(b, &r, z, shaped, k, &index[k], &update[k]);
  const vt_attr_axis columns = {.size = sizeof columns, .axis = 1},
                     middle = {.size = sizeof middle, .axis = 2};
  const vt_attr_gather to = {.size = sizeof to, .axis = 1};
  uint32_t in[3];
  in[0] = vt_build_broadcast(b, vt_build_scalar_of_same_dtype(b, dy, 0.0), 3, padded);
  in[1] = vt_build_reshape(b, b->node(b, VT_OP_concat, index, r.n, &columns), 1, &taps);
  in[2] = vt_build_reshape(b, b->node(b, VT_OP_concat, update, r.n, &middle), 3, line);
  const uint32_t sums = b->node(b, VT_OP_scatter_add, in, 3, &to);
  const vt_attr_slice cut = {
      .size = sizeof cut, .start = {.n = 3}, .stop = {.n = 3, .v = {before, z->in, after}}};
  return vt_build_reshape(b, b->node(b, VT_OP_slice, &sums, 1, &cut), want.rank, want.dim);
}

/* Goes through the axes from first to last, the opposite order of resize. */
uint32_t lower_resize_grad(const vt_lowering *l) {
  const vt_attr_resize_grad *a = l->attrs;
  const vt_type *t = l->b->type(l->b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type ty = *t;
  uint32_t dx = l->in[0];
  for (uint32_t i = 2; i < ty.rank; i++) {
    const axis z = {a->from.v[i - 2], ty.dim[i], vt_resizing_of_grad(a)};
    dx = resize_axis_back(l->b, dx, i, &z);
  }
  return dx;
}

void grad_resize(const vt_gradient *g) {
  const vt_attr_resize *a = g->attrs;
  const vt_type *x = g->b->type(g->b, g->in[0]);
  if (x == NULL) return;
  vt_attr_resize_grad back = {.size = sizeof back,
                              .from = {.n = x->rank - 2},
                              .scale = a->scale,
                              .mode = a->mode,
                              .coordinates = a->coordinates,
                              .rounding = a->rounding,
                              .a = a->a};
  memcpy(back.from.v, x->dim + 2, (x->rank - 2) * sizeof *x->dim);
  g->d_in[0] = g->b->node(g->b, VT_OP_resize_grad, g->d_out, 1, &back);
}

/* resize_grad is linear in dy, so its gradient is resize. */
void grad_resize_grad(const vt_gradient *g) {
  const vt_attr_resize_grad *a = g->attrs;
  const vt_type *dy = g->b->type(g->b, g->in[0]);
  if (dy == NULL) return;
  vt_attr_resize forward = {.size = sizeof forward,
                            .scale = a->scale,
                            .mode = a->mode,
                            .coordinates = a->coordinates,
                            .rounding = a->rounding,
                            .a = a->a};
  if (a->scale == 0.0) {
    forward.to.n = dy->rank - 2;
    memcpy(forward.to.v, dy->dim + 2, (dy->rank - 2) * sizeof *dy->dim);
  }
  g->d_in[0] = g->b->node(g->b, VT_OP_resize, g->d_out, 1, &forward);
}
