/* SPDX-License-Identifier: Apache-2.0
 * op_derivative.c - gradients of the ops of op_elementwise.c, a line or two each where the formula
 * is. An operand that was broadcast gets the sum over the axes along which it was repeated. */
#include "formula.h"
#include "op_rows.h"

/* ---- arithmetic ---- */

void grad_neg(const vt_gradient *g) { g->d_in[0] = negative(g->b, g->d_out[0]); }

void grad_add(const vt_gradient *g) {
  g->d_in[0] = vt_build_sum_to(g->b, g->d_out[0], g->in[0]);
  g->d_in[1] = vt_build_sum_to(g->b, g->d_out[0], g->in[1]);
}

void grad_sub(const vt_gradient *g) {
  g->d_in[0] = vt_build_sum_to(g->b, g->d_out[0], g->in[0]);
  g->d_in[1] = vt_build_sum_to(g->b, negative(g->b, g->d_out[0]), g->in[1]);
}

void grad_mul(const vt_gradient *g) {
  vt_builder *b = g->b;
  g->d_in[0] = vt_build_sum_to(b, times(b, g->d_out[0], g->in[1]), g->in[0]);
  g->d_in[1] = vt_build_sum_to(b, times(b, g->d_out[0], g->in[0]), g->in[1]);
}

void grad_fma(const vt_gradient *g) {
  grad_mul(g);
  g->d_in[2] = vt_build_sum_to(g->b, g->d_out[0], g->in[2]);
}

/* da = dy/b; db = -((dy*y)/b) */
void grad_div(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0];
  g->d_in[0] = vt_build_sum_to(b, over(b, dy, g->in[1]), g->in[0]);
  const uint32_t full = negative(b, over(b, times(b, dy, g->out[0]), g->in[1]));
  g->d_in[1] = vt_build_sum_to(b, full, g->in[1]);
}

/* x > 0 ? dy : x < 0 ? -dy : +0 */
void grad_abs(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], dy = g->d_out[0];
  const uint32_t above = is_positive(b, x), below = compared(b, VT_OP_lt, x, 0.0);
  const uint32_t other = or_zero(b, below, negative(b, dy));
  g->d_in[0] = choose(b, above, dy, other);
}

/* Whether the first operand holds the result y in the one order, the first NaN included. Of two
 * zeros the reciprocals tell the sign; numbers that are equal otherwise have equal reciprocals. */
static uint32_t first_holds(vt_builder *b, uint32_t x, uint32_t y) {
  const uint32_t one = vt_build_like(b, x, 1.0);
  const uint32_t over_x = over(b, one, x), over_y = over(b, one, y);
  const uint32_t same_sign = vt_build2(b, VT_OP_eq, over_x, over_y);
  const uint32_t same = vt_build2(b, VT_OP_and, vt_build2(b, VT_OP_eq, x, y), same_sign);
  return vt_build2(b, VT_OP_or, vt_build2(b, VT_OP_ne, x, x), same);
}

static void extremum(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], first = first_holds(b, g->in[0], g->out[0]);
  g->d_in[0] = vt_build_sum_to(b, or_zero(b, first, dy), g->in[0]);
  g->d_in[1] = vt_build_sum_to(b, zero_or(b, first, dy), g->in[1]);
}

void grad_maximum(const vt_gradient *g) { extremum(g); }
void grad_minimum(const vt_gradient *g) { extremum(g); }

/* Storage types have gradients of f32, so +0 has the type of dy and not of the operand. */
void grad_select(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t which = g->in[0], dy = g->d_out[0];
  g->d_in[1] = vt_build_sum_to(b, or_zero(b, which, dy), g->in[1]);
  g->d_in[2] = vt_build_sum_to(b, zero_or(b, which, dy), g->in[2]);
}

static int is_floating(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

/* Between floating types alone; to f64 where x is f64, otherwise to f32. */
void grad_cast(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_type *x = b->type(b, g->in[0]), *y = b->type(b, g->out[0]);
  const vt_type *dy = b->type(b, g->d_out[0]);
  if (x == NULL || y == NULL || dy == NULL || !is_floating(x->dtype) || !is_floating(y->dtype))
    return;
  const uint32_t to = x->dtype == VT_DTYPE_F64 ? VT_DTYPE_F64 : VT_DTYPE_F32;
  g->d_in[0] = dy->dtype == to ? g->d_out[0] : vt_build_cast(b, g->d_out[0], to);
}

/* da = b == 0 ? +0 : dy*(b*pow(a, b - 1)); db = (a == 0 and b > 0) ? +0 : dy*(y*log(a)) */
void grad_pow(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t base = g->in[0], power = g->in[1], y = g->out[0], dy = g->d_out[0];
  const uint32_t none = compared(b, VT_OP_eq, power, 0.0);
  const uint32_t less = minus(b, power, vt_build_like(b, power, 1.0));
  const uint32_t lower = times(b, power, vt_build2(b, VT_OP_pow, base, less));
  g->d_in[0] = vt_build_sum_to(b, zero_or(b, none, times(b, dy, lower)), base);
  const uint32_t at_zero = compared(b, VT_OP_eq, base, 0.0);
  const uint32_t flat = vt_build2(b, VT_OP_and, at_zero, is_positive(b, power));
  const uint32_t log_y = times(b, y, vt_build1(b, VT_OP_log, base));
  g->d_in[1] = vt_build_sum_to(b, zero_or(b, flat, times(b, dy, log_y)), power);
}

/* ---- functions: x the operand, y the result ---- */

#define GRADIENT(name, formula)                                   \
  void grad_##name(const vt_gradient *g) {                        \
    vt_builder *b = g->b;                                         \
    const uint32_t x = g->in[0], y = g->out[0], dy = g->d_out[0]; \
    (void)x, (void)y;                                             \
    g->d_in[0] = formula;                                         \
  }

static uint32_t apply(vt_builder *b, uint32_t op, uint32_t x) { return vt_build1(b, op, x); }
static uint32_t squared(vt_builder *b, uint32_t x) { return times(b, x, x); }
/* x + 1, x - 1 */
static uint32_t next(vt_builder *b, uint32_t x) { return plus(b, x, vt_build_like(b, x, 1.0)); }
static uint32_t before(vt_builder *b, uint32_t x) { return minus(b, x, vt_build_like(b, x, 1.0)); }
/* (1 - x)*(1 + x) and (x - 1)*(x + 1) */
static uint32_t inside(vt_builder *b, uint32_t x) {
  const uint32_t left = one_minus(b, x);
  return times(b, left, one_plus(b, x));
}
static uint32_t outside(vt_builder *b, uint32_t x) {
  const uint32_t left = before(b, x);
  return times(b, left, next(b, x));
}
/* (-0.5*dy) * ((y*y)*y) */
static uint32_t minus_half_cube(vt_builder *b, uint32_t dy, uint32_t y) {
  const uint32_t half = scaled(b, dy, -0.5);
  return times(b, half, times(b, squared(b, y), y));
}
/* (dy*y)*(1 - y) */
static uint32_t logistic(vt_builder *b, uint32_t dy, uint32_t y) {
  const uint32_t left = times(b, dy, y);
  return times(b, left, one_minus(b, y));
}
/* 2/sqrt(pi) * exp(-(x*x)) */
static uint32_t bell(vt_builder *b, uint32_t x) {
  return scaled_bits(b, apply(b, VT_OP_exp, negative(b, squared(b, x))), 0x3f906ebbu);
}

GRADIENT(sqrt, over(b, scaled(b, dy, 0.5), y))
GRADIENT(rsqrt, minus_half_cube(b, dy, y))
GRADIENT(exp, times(b, dy, y))
GRADIENT(exp2, scaled_bits(b, times(b, dy, y), 0x3f317218u)) /* log 2 */
GRADIENT(expm1, times(b, dy, next(b, y)))
GRADIENT(log, over(b, dy, x))
GRADIENT(log2, scaled_bits(b, over(b, dy, x), 0x3fb8aa3bu))  /* 1 / log 2 */
GRADIENT(log10, scaled_bits(b, over(b, dy, x), 0x3ede5bd9u)) /* 1 / log 10 */
GRADIENT(log1p, over(b, dy, one_plus(b, x)))
GRADIENT(sin, times(b, dy, apply(b, VT_OP_cos, x)))
GRADIENT(cos, negative(b, times(b, dy, apply(b, VT_OP_sin, x))))
GRADIENT(tan, times(b, dy, one_plus(b, squared(b, y))))
GRADIENT(asin, over(b, dy, square_root(b, inside(b, x))))
GRADIENT(acos, negative(b, over(b, dy, square_root(b, inside(b, x)))))
GRADIENT(atan, over(b, dy, one_plus(b, squared(b, x))))
GRADIENT(sinh, times(b, dy, apply(b, VT_OP_cosh, x)))
GRADIENT(cosh, times(b, dy, apply(b, VT_OP_sinh, x)))
GRADIENT(tanh, times(b, dy, one_minus(b, squared(b, y))))
GRADIENT(asinh, over(b, dy, square_root(b, next(b, squared(b, x)))))
GRADIENT(acosh, over(b, dy, square_root(b, outside(b, x))))
GRADIENT(atanh, over(b, dy, inside(b, x)))
GRADIENT(erf, times(b, dy, bell(b, x)))
GRADIENT(sigmoid, logistic(b, dy, y))
