/* SPDX-License-Identifier: Apache-2.0
 * op_piecewise.c - compositions of one operand that need no elementary function: clamp,
 * leaky_relu, the hard and shrinking activations, softsign, square, reciprocal, and the tests
 * is_nan, is_inf, is_finite. They accept f32 and f64 and are written as ops and as C functions.
 * dy is the gradient of the result. */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

/* ---- attributes ---- */

/* Checks that a coefficient is finite after it is rounded to the type. */
static vt_status check_finite(const vt_rule *r, const char *name, double x, vt_diag *d) {
  const double most = r->in[0].dtype == VT_DTYPE_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  if (x >= -most && x <= most) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "%s is not a finite number of %s", name,
                 vt_dtype_name(r->in[0].dtype));
}

/* Checks that a bound of clamp is not NaN. An infinite bound has no effect; if lo > hi, every
 * result is hi. */
static vt_status check_not_nan(const char *name, double x, vt_diag *d) {
  return x == x ? VT_OK : VT_FAIL(d, VT_VERIFY, "%s is not a number", name);
}

vt_status shape_clamp(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_clamp *a = r->attrs;
  VT_TRY(check_not_nan("lo", a->lo, d));
  VT_TRY(check_not_nan("hi", a->hi, d));
  return shape_same(r, out, d);
}

vt_status shape_hardtanh(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_hardtanh *a = r->attrs;
  VT_TRY(check_not_nan("lo", a->lo, d));
  VT_TRY(check_not_nan("hi", a->hi, d));
  return shape_same(r, out, d);
}

vt_status shape_leaky_relu(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_finite(r, "slope", ((const vt_attr_slope *)r->attrs)->slope, d));
  return shape_same(r, out, d);
}

vt_status shape_hardsigmoid(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_hardsigmoid *a = r->attrs;
  VT_TRY(check_finite(r, "alpha", a->alpha, d));
  VT_TRY(check_finite(r, "beta", a->beta, d));
  return shape_same(r, out, d);
}

vt_status shape_shrink(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_shrink *a = r->attrs;
  VT_TRY(check_finite(r, "l", a->l, d));
  if (a->l < 0) return VT_FAIL(d, VT_VERIFY, "l is below 0: expected at least 0");
  return shape_same(r, out, d);
}

vt_status shape_threshold(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_not_nan("l", ((const vt_attr_threshold *)r->attrs)->l, d));
  return shape_same(r, out, d);
}

vt_status shape_truth(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(shape_same(r, out, d));
  out->dtype = VT_DTYPE_BOOL;
  return VT_OK;
}

/* ---- as ops ---- */

uint32_t lower_clamp(const vt_lowering *l) {
  const vt_attr_clamp *a = l->attrs;
  return at_most(l->b, at_least(l->b, l->in[0], a->lo), a->hi);
}

uint32_t lower_hardtanh(const vt_lowering *l) {
  const vt_attr_hardtanh *a = l->attrs;
  return at_most(l->b, at_least(l->b, l->in[0], a->lo), a->hi);
}

uint32_t lower_relu6(const vt_lowering *l) {
  return at_most(l->b, at_least(l->b, l->in[0], 0.0), 6.0);
}

uint32_t lower_leaky_relu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], above = is_positive(b, x);
  return select_by(b, above, x, scaled(b, x, ((const vt_attr_slope *)l->attrs)->slope));
}

/* (alpha*x) + beta */
static uint32_t build_ramp(vt_builder *b, uint32_t x, const vt_attr_hardsigmoid *a) {
  const uint32_t part = scaled(b, x, a->alpha);
  return plus(b, part, vt_build_scalar_of_same_dtype(b, x, a->beta));
}

uint32_t lower_hardsigmoid(const vt_lowering *l) {
  return at_most(l->b, at_least(l->b, build_ramp(l->b, l->in[0], l->attrs), 0.0), 1.0);
}

/* x * f32(1/6) */
static uint32_t build_sixth(vt_builder *b, uint32_t x) { return scaled_bits(b, x, 0x3e2aaaabu); }

uint32_t lower_hardswish(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t part = build_sixth(b, l->in[0]);
  const uint32_t q = plus(b, part, vt_build_scalar_of_same_dtype(b, part, 0.5));
  return times(b, l->in[0], at_most(b, at_least(b, q, 0.0), 1.0));
}

static uint32_t is_shrunk_to_zero(vt_builder *b, uint32_t x, double bound) {
  return within(b, x, VT_OP_ge, -bound, VT_OP_le, bound);
}

uint32_t lower_hardshrink(const vt_lowering *l) {
  const double bound = ((const vt_attr_shrink *)l->attrs)->l;
  return zero_or_value(l->b, is_shrunk_to_zero(l->b, l->in[0], bound), l->in[0]);
}

uint32_t lower_softshrink(const vt_lowering *l) {
  vt_builder *b = l->b;
  const double bound = ((const vt_attr_shrink *)l->attrs)->l;
  const uint32_t x = l->in[0], by = vt_build_scalar_of_same_dtype(b, x, bound);
  const uint32_t above = vt_build2(b, VT_OP_gt, x, by), less = minus(b, x, by);
  const uint32_t outer = select_by(b, above, less, plus(b, x, by));
  return zero_or_value(b, is_shrunk_to_zero(b, x, bound), outer);
}

uint32_t lower_threshold(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_threshold *a = l->attrs;
  const uint32_t below = compared(b, VT_OP_le, l->in[0], a->l);
  return select_by(b, below, vt_build_scalar_of_same_dtype(b, l->in[0], a->value), l->in[0]);
}

/* 1 + abs x */
static uint32_t one_plus_abs(vt_builder *b, uint32_t x) {
  return one_plus(b, vt_build1(b, VT_OP_abs, x));
}

uint32_t lower_softsign(const vt_lowering *l) {
  return over(l->b, l->in[0], one_plus_abs(l->b, l->in[0]));
}

uint32_t lower_square(const vt_lowering *l) { return times(l->b, l->in[0], l->in[0]); }

uint32_t lower_reciprocal(const vt_lowering *l) {
  return over(l->b, vt_build_scalar_of_same_dtype(l->b, l->in[0], 1.0), l->in[0]);
}

uint32_t lower_is_nan(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_ne, l->in[0], l->in[0]);
}

/* Compares abs x with infinity by `op`, eq or lt; for a NaN both are false. */
static uint32_t compare_size_to_infinity(const vt_lowering *l, uint32_t op) {
  return compared(l->b, op, vt_build1(l->b, VT_OP_abs, l->in[0]), vt_f64_from_bits(0x7ffull << 52));
}
uint32_t lower_is_inf(const vt_lowering *l) { return compare_size_to_infinity(l, VT_OP_eq); }
uint32_t lower_is_finite(const vt_lowering *l) { return compare_size_to_infinity(l, VT_OP_lt); }

/* ---- gradients ---- */

static void grad_within(const vt_gradient *g, uint32_t op_lo, double lo, uint32_t op_hi,
                        double hi) {
  g->d_in[0] = value_or_zero(g->b, within(g->b, g->in[0], op_lo, lo, op_hi, hi), g->d_out[0]);
}

void grad_clamp(const vt_gradient *g) {
  const vt_attr_clamp *a = g->attrs;
  grad_within(g, VT_OP_ge, a->lo, VT_OP_le, a->hi);
}

void grad_hardtanh(const vt_gradient *g) {
  const vt_attr_hardtanh *a = g->attrs;
  grad_within(g, VT_OP_ge, a->lo, VT_OP_le, a->hi);
}

void grad_relu6(const vt_gradient *g) { grad_within(g, VT_OP_gt, 0.0, VT_OP_lt, 6.0); }

void grad_leaky_relu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], above = is_positive(b, g->in[0]);
  const double slope = ((const vt_attr_slope *)g->attrs)->slope;
  g->d_in[0] = select_by(b, above, dy, scaled(b, dy, slope));
}

/* With q = (alpha*x) + beta: dx = 0 < q and q < 1 ? alpha*dy : +0 */
void grad_hardsigmoid(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_hardsigmoid *a = g->attrs;
  const uint32_t rises = within(b, build_ramp(b, g->in[0], a), VT_OP_gt, 0.0, VT_OP_lt, 1.0);
  g->d_in[0] = value_or_zero(b, rises, scaled(b, g->d_out[0], a->alpha));
}

/* a = x/6; q = a + 0.5; q <= 0 ? +0 : q >= 1 ? dy : dy*(q + a) */
void grad_hardswish(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], part = build_sixth(b, g->in[0]);
  const uint32_t q = plus(b, part, vt_build_scalar_of_same_dtype(b, part, 0.5));
  const uint32_t below = compared(b, VT_OP_le, q, 0.0), above = compared(b, VT_OP_ge, q, 1.0);
  const uint32_t inner = select_by(b, above, dy, times(b, dy, plus(b, q, part)));
  g->d_in[0] = zero_or_value(b, below, inner);
}

static void grad_shrink(const vt_gradient *g) {
  const double bound = ((const vt_attr_shrink *)g->attrs)->l;
  g->d_in[0] = zero_or_value(g->b, is_shrunk_to_zero(g->b, g->in[0], bound), g->d_out[0]);
}
void grad_hardshrink(const vt_gradient *g) { grad_shrink(g); }
void grad_softshrink(const vt_gradient *g) { grad_shrink(g); }

void grad_threshold(const vt_gradient *g) {
  const double bound = ((const vt_attr_threshold *)g->attrs)->l;
  g->d_in[0] = zero_or_value(g->b, compared(g->b, VT_OP_le, g->in[0], bound), g->d_out[0]);
}

/* q = 1 + abs x; dy/(q*q) */
void grad_softsign(const vt_gradient *g) {
  const uint32_t q = one_plus_abs(g->b, g->in[0]);
  g->d_in[0] = over(g->b, g->d_out[0], times(g->b, q, q));
}

/* (2*x)*dy */
void grad_square(const vt_gradient *g) {
  g->d_in[0] = times(g->b, scaled(g->b, g->in[0], 2.0), g->d_out[0]);
}

/* -(dy*(y*y)) */
void grad_reciprocal(const vt_gradient *g) {
  const uint32_t square = times(g->b, g->out[0], g->out[0]);
  g->d_in[0] = negative(g->b, times(g->b, g->d_out[0], square));
}

/* ---- as functions: the code is the same for f32 and f64 ---- */

#define T float
#define MAX vt_f32_max
#define MIN vt_f32_min
#define NAME(name) name##_f32
#include "piecewise.inc"
#undef T
#undef MAX
#undef MIN
#undef NAME
#define T double
#define MAX vt_f64_max
#define MIN vt_f64_min
#define NAME(name) name##_f64
#include "piecewise.inc"

static vt_status map(const vt_kernel *k, piece_f32 *f, piece_f64 *g, double p, double q) {
  if (k->out->dtype == VT_DTYPE_F32) {
    map_f32(k, f, (float)p, (float)q);
  } else {
    map_f64(k, g, p, q);
  }
  return VT_OK;
}

vt_status kernel_clamp(vt_kernel *k) {
  const vt_attr_clamp *a = k->attrs;
  return map(k, clamp_f32, clamp_f64, a->lo, a->hi);
}

vt_status kernel_hardtanh(vt_kernel *k) {
  const vt_attr_hardtanh *a = k->attrs;
  return map(k, clamp_f32, clamp_f64, a->lo, a->hi);
}

vt_status kernel_relu6(vt_kernel *k) { return map(k, clamp_f32, clamp_f64, 0, 6); }

vt_status kernel_leaky_relu(vt_kernel *k) {
  const vt_attr_slope *a = k->attrs;
  return map(k, leaky_relu_f32, leaky_relu_f64, a->slope, 0);
}

vt_status kernel_hardsigmoid(vt_kernel *k) {
  const vt_attr_hardsigmoid *a = k->attrs;
  return map(k, hardsigmoid_f32, hardsigmoid_f64, a->alpha, a->beta);
}

/* The kernel of hardswish has no f64 form, because the coefficient 1/6 is defined as an f32
 * number. */
static float hardswish(float x, float p, float q) { return x * hardsigmoid_f32(x, p, q); }
vt_status kernel_hardswish(vt_kernel *k) {
  map_f32(k, hardswish, 1.0f / 6.0f, 0.5f);
  return VT_OK;
}

vt_status kernel_hardshrink(vt_kernel *k) {
  return map(k, hardshrink_f32, hardshrink_f64, ((const vt_attr_shrink *)k->attrs)->l, 0);
}

vt_status kernel_softshrink(vt_kernel *k) {
  return map(k, softshrink_f32, softshrink_f64, ((const vt_attr_shrink *)k->attrs)->l, 0);
}

vt_status kernel_threshold(vt_kernel *k) {
  const vt_attr_threshold *a = k->attrs;
  return map(k, threshold_f32, threshold_f64, a->l, a->value);
}

vt_status kernel_softsign(vt_kernel *k) { return map(k, softsign_f32, softsign_f64, 0, 0); }
vt_status kernel_square(vt_kernel *k) { return map(k, square_f32, square_f64, 0, 0); }
vt_status kernel_reciprocal(vt_kernel *k) { return map(k, reciprocal_f32, reciprocal_f64, 0, 0); }

/* ---- tests: the bits without the sign are compared with those of infinity ---- */

/* Returns -1 for a finite number, 0 for an infinity, 1 for a NaN. */
static int compare_to_infinity(const vt_view *x, int64_t at) {
  uint64_t bits, infinity;
  if (x->dtype == VT_DTYPE_F32) {
    bits = vt_f32_bits(((const float *)x->data)[at]) & 0x7fffffffu;
    infinity = 0x7f800000u;
  } else {
    bits = vt_f64_bits(((const double *)x->data)[at]) & 0x7fffffffffffffffu;
    infinity = 0x7ff0000000000000u;
  }
  return (bits > infinity) - (bits < infinity);
}

static vt_status mark_compared_to_infinity(const vt_kernel *k, int answer) {
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((uint8_t *)k->out->data)[w.at[0]] = compare_to_infinity(&k->in[0], w.at[1]) == answer;
  return VT_OK;
}

vt_status kernel_is_nan(vt_kernel *k) { return mark_compared_to_infinity(k, 1); }
vt_status kernel_is_inf(vt_kernel *k) { return mark_compared_to_infinity(k, 0); }
vt_status kernel_is_finite(vt_kernel *k) { return mark_compared_to_infinity(k, -1); }
