/* SPDX-License-Identifier: Apache-2.0
 * op_statistics.c - compositions that reduce: sum_square, norm_l1, norm_l2, var, std, logsumexp,
 * any, all. Each is written twice: as ops (the definition) and line by line; a line is the
 * elements that are reduced to one result. S is the ordered sum of docs/numerics.md, n the
 * length of a line, m its maximum, d = x - S(x)/n, dy the gradient of the result y; the formula
 * of a gradient is that of x. */
#include "op_reduction.h"
#include "vt_num.h"

/* ---- shapes ---- */

vt_status shape_var(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_var *a = r->attrs;
  const vt_attr_reduce over = {.size = sizeof over, .axes = a->axes, .keep = a->keep};
  vt_rule plain = *r;
  plain.attrs = &over;
  if (a->correction < 0 || a->correction > VT_DIM_MAX)
    return VT_FAIL(d, VT_VERIFY, "correction=%lld: it is a count of elements, 0..2^40",
                   (long long)a->correction);
  return shape_reduce(&plain, out, d);
}

/* ---- as ops ---- */

/* Removes the reduced axes, which have length 1, from y, unless `keep` is set. */
static uint32_t drop_axes_unless_keep(vt_builder *b, uint32_t y, unsigned mask, int64_t keep) {
  const vt_type *t = b->type(b, y);
  int64_t dim[VT_MAX_RANK];
  uint32_t rank = 0;
  if (t == NULL) return VT_NO_VALUE;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!(mask >> i & 1)) dim[rank++] = t->dim[i];
  return keep ? y : vt_build_reshape(b, y, rank, dim);
}

static uint32_t square_of(vt_builder *b, uint32_t x) { return vt_build2(b, VT_OP_mul, x, x); }

uint32_t lower_sum_square(const vt_lowering *l) {
  const uint32_t square = square_of(l->b, l->in[0]);
  return l->b->node(l->b, VT_OP_sum, &square, 1, l->attrs);
}

uint32_t lower_norm_l1(const vt_lowering *l) {
  const uint32_t size = vt_build1(l->b, VT_OP_abs, l->in[0]);
  return l->b->node(l->b, VT_OP_sum, &size, 1, l->attrs);
}

uint32_t lower_norm_l2(const vt_lowering *l) {
  return vt_build1(l->b, VT_OP_sqrt, lower_sum_square(l));
}

/* x - S(x)/n */
static uint32_t build_deviation(vt_builder *b, uint32_t x, unsigned mask) {
  return vt_build2(b, VT_OP_sub, x, vt_build_mean(b, x, mask));
}

/* The divisor of a variance: n - correction, as a literal of the type of x. */
static uint32_t build_degrees_of_freedom(vt_builder *b, uint32_t x, unsigned mask,
                                         int64_t correction) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  return vt_build_int(b, t->dtype, vt_axes_element_count(t->rank, t->dim, mask) - correction);
}

uint32_t lower_var(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_var *a = l->attrs;
  const vt_type *t = b->type(b, l->in[0]);
  unsigned mask;
  if (t == NULL || vt_axes_mask(&a->axes, t->rank, &mask, NULL) != VT_OK) return VT_NO_VALUE;
  const uint32_t dev = build_deviation(b, l->in[0], mask);
  const uint32_t sum = vt_build_reduce_over(b, VT_OP_sum, square_of(b, dev), mask);
  const uint32_t n = build_degrees_of_freedom(b, l->in[0], mask, a->correction);
  return drop_axes_unless_keep(b, vt_build2(b, VT_OP_div, sum, n), mask, a->keep);
}

uint32_t lower_std(const vt_lowering *l) { return vt_build1(l->b, VT_OP_sqrt, lower_var(l)); }

/* m + log(S(exp(x - m))), or m itself if m is infinite */
uint32_t lower_logsumexp(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_reduce *a = l->attrs;
  const vt_type *t = b->type(b, l->in[0]);
  unsigned mask;
  if (t == NULL || vt_axes_mask(&a->axes, t->rank, &mask, NULL) != VT_OK) return VT_NO_VALUE;
  const uint32_t m = vt_build_reduce_over(b, VT_OP_max, l->in[0], mask);
  const uint32_t e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, l->in[0], m));
  const uint32_t log_sum = vt_build1(b, VT_OP_log, vt_build_reduce_over(b, VT_OP_sum, e, mask));
  const uint32_t y = vt_build2(b, VT_OP_add, m, log_sum);
  const uint32_t size = vt_build1(b, VT_OP_abs, m);
  const uint32_t infinite =
      vt_build2(b, VT_OP_eq, size, vt_build_bits(b, VT_DTYPE_F32, 0x7f800000u));
  return drop_axes_unless_keep(b, vt_build3(b, VT_OP_select, infinite, m, y), mask, a->keep);
}

/* The number of true elements of each line of x; a sum of bools cannot overflow an i64. */
static uint32_t count_true(const vt_lowering *l, uint32_t x) {
  const uint32_t whole = vt_build_cast(l->b, x, VT_DTYPE_I64);
  return l->b->node(l->b, VT_OP_sum, &whole, 1, l->attrs);
}

uint32_t lower_any(const vt_lowering *l) {
  const uint32_t n = count_true(l, l->in[0]);
  return vt_build2(l->b, VT_OP_ne, n, vt_build_int(l->b, VT_DTYPE_I64, 0));
}

uint32_t lower_all(const vt_lowering *l) {
  const uint32_t n = count_true(l, vt_build1(l->b, VT_OP_not, l->in[0]));
  return vt_build2(l->b, VT_OP_eq, n, vt_build_int(l->b, VT_DTYPE_I64, 0));
}

/* ---- gradients ---- */

/* Reads the reduced axes as a bit mask, and dy reshaped to have these axes with length 1; returns 0
 * if an earlier node failed. */
static int read_dy_and_mask(const vt_gradient *g, const vt_attr_list *axes, uint32_t *dy,
                            unsigned *mask) {
  const vt_type *x = g->b->type(g->b, g->in[0]);
  if (x == NULL || vt_axes_mask(axes, x->rank, mask, NULL) != VT_OK) return 0;
  *dy = vt_build_restore_axes(g->b, g->d_out[0], g->in[0], *mask);
  return 1;
}

static int read_reduce_dy_and_mask(const vt_gradient *g, uint32_t *dy, unsigned *mask) {
  return read_dy_and_mask(g, &((const vt_attr_reduce *)g->attrs)->axes, dy, mask);
}

/* (2*x)*dy */
void grad_sum_square(const vt_gradient *g) {
  vt_builder *b = g->b;
  uint32_t dy;
  unsigned mask;
  if (!read_reduce_dy_and_mask(g, &dy, &mask)) return;
  const uint32_t twice =
      vt_build2(b, VT_OP_mul, vt_build_scalar_of_same_dtype(b, g->in[0], 2.0), g->in[0]);
  g->d_in[0] = vt_build2(b, VT_OP_mul, twice, dy);
}

/* x > 0 ? dy : x < 0 ? -dy : +0 */
void grad_norm_l1(const vt_gradient *g) {
  uint32_t dy;
  unsigned mask;
  if (read_reduce_dy_and_mask(g, &dy, &mask))
    g->d_in[0] = vt_build_y_times_sign_of_x(g->b, g->in[0], dy);
}

/* y == 0 ? +0 : (x*dy)/y */
void grad_norm_l2(const vt_gradient *g) {
  vt_builder *b = g->b;
  uint32_t dy;
  unsigned mask;
  if (!read_reduce_dy_and_mask(g, &dy, &mask)) return;
  const uint32_t y = vt_build_restore_axes(b, g->out[0], g->in[0], mask);
  const uint32_t zero = vt_build_scalar_of_same_dtype(b, y, 0.0);
  const uint32_t none_there = vt_build2(b, VT_OP_eq, y, zero);
  const uint32_t scaled = vt_build2(b, VT_OP_mul, g->in[0], dy);
  const uint32_t part = vt_build2(b, VT_OP_div, scaled, y);
  g->d_in[0] = vt_build3(b, VT_OP_select, none_there, zero, part);
}

/* d * (numerator / f32(n - correction)) */
static void grad_variance(const vt_gradient *g, uint32_t numerator, unsigned mask) {
  vt_builder *b = g->b;
  const int64_t correction = ((const vt_attr_var *)g->attrs)->correction;
  const uint32_t dev = build_deviation(b, g->in[0], mask);
  const uint32_t n = build_degrees_of_freedom(b, g->in[0], mask, correction);
  g->d_in[0] = vt_build2(b, VT_OP_mul, dev, vt_build2(b, VT_OP_div, numerator, n));
}

void grad_var(const vt_gradient *g) {
  uint32_t dy;
  unsigned mask;
  if (!read_dy_and_mask(g, &((const vt_attr_var *)g->attrs)->axes, &dy, &mask)) return;
  const uint32_t twice =
      vt_build2(g->b, VT_OP_mul, vt_build_scalar_of_same_dtype(g->b, dy, 2.0), dy);
  grad_variance(g, twice, mask);
}

void grad_std(const vt_gradient *g) {
  uint32_t dy;
  unsigned mask;
  if (!read_dy_and_mask(g, &((const vt_attr_var *)g->attrs)->axes, &dy, &mask)) return;
  const uint32_t y = vt_build_restore_axes(g->b, g->out[0], g->in[0], mask);
  grad_variance(g, vt_build2(g->b, VT_OP_div, dy, y), mask);
}

/* dy * (e/S(e)), e = exp(x - m) */
void grad_logsumexp(const vt_gradient *g) {
  vt_builder *b = g->b;
  uint32_t dy;
  unsigned mask;
  if (!read_reduce_dy_and_mask(g, &dy, &mask)) return;
  const uint32_t m = vt_build_reduce_over(b, VT_OP_max, g->in[0], mask);
  const uint32_t e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, g->in[0], m));
  const uint32_t share = vt_build2(b, VT_OP_div, e, vt_build_reduce_over(b, VT_OP_sum, e, mask));
  g->d_in[0] = vt_build2(b, VT_OP_mul, dy, share);
}

/* ---- second implementation: line by line ---- */

#define T float
#define SUM vt_sum_f32
#define SUM_(verb) vt_sum_f32_##verb
#define ROOT vt_f32_sqrt
#define GREATER vt_f32_max
#define NAME(name) name##_f32
#include "statistics.inc"
#undef T
#undef SUM
#undef SUM_
#undef ROOT
#undef GREATER
#undef NAME
#define T double
#define SUM vt_sum_f64
#define SUM_(verb) vt_sum_f64_##verb
#define ROOT vt_f64_sqrt
#define GREATER vt_f64_max
#define NAME(name) name##_f64
#include "statistics.inc"

static const vt_attr_list *axes_of(const vt_kernel *k) {
  return &((const vt_attr_reduce *)k->attrs)->axes;
}

vt_status kernel_sum_square(vt_kernel *k) {
  static const vt_reduction f = {sum_square_f32, sum_square_f64, NULL};
  return vt_reduce_run(k, axes_of(k), &f);
}

vt_status kernel_norm_l1(vt_kernel *k) {
  static const vt_reduction f = {norm_l1_f32, norm_l1_f64, NULL};
  return vt_reduce_run(k, axes_of(k), &f);
}

vt_status kernel_norm_l2(vt_kernel *k) {
  static const vt_reduction f = {norm_l2_f32, norm_l2_f64, NULL};
  return vt_reduce_run(k, axes_of(k), &f);
}

/* The kernel of var, or with `root` of std: first all sums of squared deviations, then each of them
 * is divided by n - correction. */
static vt_status run_variance(const vt_kernel *k, int root) {
  static const vt_reduction f = {squared_deviations_f32, squared_deviations_f64, NULL};
  const vt_attr_var *a = k->attrs;
  int64_t n = vt_view_count(&k->in[0]);
  VT_TRY(vt_reduce_run(k, &a->axes, &f));
  if (a->axes.n > 0) n = 1;
  for (int64_t i = 0; i < a->axes.n; i++) n *= k->in[0].dim[a->axes.v[i]];
  if (k->out->dtype == VT_DTYPE_F32) {
    divide_all_f32(k->out, n - a->correction, root);
  } else {
    divide_all_f64(k->out, n - a->correction, root);
  }
  return VT_OK;
}

vt_status kernel_var(vt_kernel *k) { return run_variance(k, 0); }
vt_status kernel_std(vt_kernel *k) { return run_variance(k, 1); }

static void logsumexp_f32(vt_walk w, const float *x, float *y) {
  vt_walk again = w;
  float m = x[0];
  vt_sum_f32 s;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) m = vt_f32_max(m, x[w.at[0]]);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&again))
    vt_sum_f32_add(&s, vt_f32_exp(x[again.at[0]] - m));
  /* m - m is 0 unless m is infinite or NaN; for a NaN both branches give NaN */
  *y = m - m == 0.0f ? m + vt_f32_log(vt_sum_f32_done(&s)) : m;
}

vt_status kernel_logsumexp(vt_kernel *k) {
  static const vt_reduction f = {logsumexp_f32, NULL, NULL};
  return vt_reduce_run(k, axes_of(k), &f);
}

/* Whether some element of a line of bools is `sought`, 0 or 1. */
static int64_t line_contains(vt_walk w, const void *x, int64_t sought) {
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    if (((const uint8_t *)x)[w.at[0]] == sought) return 1;
  return 0;
}

static int64_t any_of(vt_walk w, const void *x, uint32_t dtype) {
  (void)dtype;
  return line_contains(w, x, 1);
}

static int64_t all_of(vt_walk w, const void *x, uint32_t dtype) {
  (void)dtype;
  return !line_contains(w, x, 0);
}

vt_status kernel_any(vt_kernel *k) {
  static const vt_reduction f = {NULL, NULL, any_of};
  return vt_reduce_run(k, axes_of(k), &f);
}

vt_status kernel_all(vt_kernel *k) {
  static const vt_reduction f = {NULL, NULL, all_of};
  return vt_reduce_run(k, axes_of(k), &f);
}
