/* SPDX-License-Identifier: Apache-2.0
 * op_activation.c - relu, and the compositions of one operand that use elementary functions:
 * silu, gelu, elu, softplus and others; only relu accepts f64. Each is written twice: as ops
 * (the definition) and as one C function (the second implementation); the two share no
 * constants. The gradient is a rule of its own. In formulas dy is the gradient of the result y,
 * dx that of the operand x. */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

/* ---- attributes ---- */

/* Whether a coefficient is finite after it is rounded to f32. */
static int is_finite_f32(double x) { return x >= -0x1.fffffep127 && x <= 0x1.fffffep127; }

vt_status shape_elu(const vt_rule *r, vt_type *out, vt_diag *d) {
  const double alpha = ((const vt_attr_alpha *)r->attrs)->alpha;
  if (!is_finite_f32(alpha)) return VT_FAIL(d, VT_VERIFY, "alpha is not a finite number of f32");
  return shape_same(r, out, d);
}

/* celu divides x by alpha, so alpha must not be 0 or subnormal in f32. */
vt_status shape_celu(const vt_rule *r, vt_type *out, vt_diag *d) {
  const double alpha = ((const vt_attr_alpha *)r->attrs)->alpha;
  if (alpha > -0x1p-126 && alpha < 0x1p-126)
    return VT_FAIL(d, VT_VERIFY, "alpha must be 2^-126 at least, or below 0: x is divided by it");
  return shape_elu(r, out, d);
}

/* ---- as ops: constants are given by their bits ---- */

uint32_t lower_relu(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_maximum, l->in[0],
                   vt_build_scalar_of_same_dtype(l->b, l->in[0], 0.0));
}

uint32_t lower_silu(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_mul, l->in[0], vt_build1(l->b, VT_OP_sigmoid, l->in[0]));
}

/* (0.5*x) * (1 + inner) */
static uint32_t half_x_times_one_plus(vt_builder *b, uint32_t x, uint32_t inner) {
  const uint32_t half = vt_build2(b, VT_OP_mul, vt_build_number(b, VT_DTYPE_F32, 0.5), x);
  const uint32_t one = vt_build2(b, VT_OP_add, vt_build_number(b, VT_DTYPE_F32, 1.0), inner);
  return vt_build2(b, VT_OP_mul, half, one);
}

uint32_t lower_gelu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0];
  const uint32_t root = vt_build_bits(b, VT_DTYPE_F32, 0x3f3504f3u); /* sqrt(1/2) */
  return half_x_times_one_plus(b, x, vt_build1(b, VT_OP_erf, vt_build2(b, VT_OP_mul, x, root)));
}

/* tanh(sqrt(2/pi) * (x + 0.044715*((x*x)*x))) */
static uint32_t tanh_of_cubic(vt_builder *b, uint32_t x) {
  const uint32_t cube = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mul, x, x), x);
  const uint32_t cubic = vt_build_bits(b, VT_DTYPE_F32, 0x3d372713u); /* 0.044715 */
  const uint32_t sum = vt_build2(b, VT_OP_add, x, vt_build2(b, VT_OP_mul, cubic, cube));
  const uint32_t root = vt_build_bits(b, VT_DTYPE_F32, 0x3f4c422au); /* sqrt(2/pi) */
  const uint32_t angle = vt_build2(b, VT_OP_mul, root, sum);
  return vt_build1(b, VT_OP_tanh, angle);
}

uint32_t lower_gelu_tanh(const vt_lowering *l) {
  return half_x_times_one_plus(l->b, l->in[0], tanh_of_cubic(l->b, l->in[0]));
}

/* x > 0 ? x : alpha*expm1(x) */
uint32_t lower_elu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], above = is_positive(b, x);
  const double alpha = ((const vt_attr_alpha *)l->attrs)->alpha;
  return select_by(b, above, x, scaled(b, vt_build1(b, VT_OP_expm1, x), alpha));
}

/* x > 0 ? x : alpha*expm1(x/alpha) */
uint32_t lower_celu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], above = is_positive(b, x);
  const double alpha = ((const vt_attr_alpha *)l->attrs)->alpha;
  const uint32_t part = over(b, x, vt_build_scalar_of_same_dtype(b, x, alpha));
  return select_by(b, above, x, scaled(b, vt_build1(b, VT_OP_expm1, part), alpha));
}

/* bits of two f32: the scale of selu, and scale * alpha */
enum { SELU_SCALE = 0x3f867d5f, SELU_BOTH = 0x3fe10966 };

uint32_t lower_selu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], above = is_positive(b, x);
  const uint32_t straight = scaled_bits(b, x, SELU_SCALE);
  return select_by(b, above, straight, scaled_bits(b, vt_build1(b, VT_OP_expm1, x), SELU_BOTH));
}

/* log1p(exp(-(abs x))) */
static uint32_t build_log1p_exp_neg_abs(vt_builder *b, uint32_t x) {
  const uint32_t size = vt_build1(b, VT_OP_abs, x);
  return vt_build1(b, VT_OP_log1p, vt_build1(b, VT_OP_exp, negative(b, size)));
}

static uint32_t build_softplus(vt_builder *b, uint32_t x) {
  const uint32_t above = at_least(b, x, 0.0);
  return plus(b, above, build_log1p_exp_neg_abs(b, x));
}

uint32_t lower_softplus(const vt_lowering *l) { return build_softplus(l->b, l->in[0]); }

uint32_t lower_log_sigmoid(const vt_lowering *l) {
  const uint32_t below = at_most(l->b, l->in[0], 0.0);
  return minus(l->b, below, build_log1p_exp_neg_abs(l->b, l->in[0]));
}

uint32_t lower_mish(const vt_lowering *l) {
  return times(l->b, l->in[0], vt_build1(l->b, VT_OP_tanh, build_softplus(l->b, l->in[0])));
}

uint32_t lower_tanhshrink(const vt_lowering *l) {
  return minus(l->b, l->in[0], vt_build1(l->b, VT_OP_tanh, l->in[0]));
}

/* ---- gradients ---- */

void grad_relu(const vt_gradient *g) {
  g->d_in[0] = value_or_zero(g->b, is_positive(g->b, g->in[0]), g->d_out[0]);
}

/* s*(1 + x*(1 - s)), s = sigmoid(x) */
uint32_t vt_silu_slope(vt_builder *b, uint32_t x) {
  const uint32_t s = vt_build1(b, VT_OP_sigmoid, x);
  return times(b, s, one_plus(b, times(b, x, one_minus(b, s))));
}

/* The derivative (0.5*(1 + erf(x*c))) + x*(exp(-(0.5*(x*x))) * 1/sqrt(2 pi)), c = 1/sqrt(2) */
uint32_t vt_gelu_slope(vt_builder *b, uint32_t x) {
  const uint32_t area = vt_build1(b, VT_OP_erf, scaled_bits(b, x, 0x3f3504f3u));
  const uint32_t half = scaled(b, one_plus(b, area), 0.5);
  const uint32_t power = negative(b, scaled(b, times(b, x, x), 0.5));
  const uint32_t bell = scaled_bits(b, vt_build1(b, VT_OP_exp, power), 0x3ecc422au);
  return plus(b, half, times(b, x, bell));
}

void grad_silu(const vt_gradient *g) {
  g->d_in[0] = times(g->b, g->d_out[0], vt_silu_slope(g->b, g->in[0]));
}

void grad_gelu(const vt_gradient *g) {
  g->d_in[0] = times(g->b, g->d_out[0], vt_gelu_slope(g->b, g->in[0]));
}

/* dx = dy*((0.5*(1 + t)) + ((0.5*x)*(1 - t*t))*k) with t = tanh_of_cubic(x), k = sqrt(2/pi) * (1 +
 * 0.134145*(x*x)) */
void grad_gelu_tanh(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], t = tanh_of_cubic(b, x);
  const uint32_t bend = one_plus(b, scaled_bits(b, times(b, x, x), 0x3e095d4fu));
  const uint32_t k = scaled_bits(b, bend, 0x3f4c422au);
  const uint32_t left = scaled(b, one_plus(b, t), 0.5), half = scaled(b, x, 0.5);
  const uint32_t right = times(b, times(b, half, one_minus(b, times(b, t, t))), k);
  g->d_in[0] = times(b, g->d_out[0], plus(b, left, right));
}

/* dx = x > 0 ? dy : dy*(y + alpha) */
void grad_elu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], y = g->out[0], above = is_positive(b, g->in[0]);
  const double alpha = ((const vt_attr_alpha *)g->attrs)->alpha;
  const uint32_t slope = plus(b, y, vt_build_scalar_of_same_dtype(b, y, alpha));
  g->d_in[0] = select_by(b, above, dy, times(b, dy, slope));
}

/* dx = x > 0 ? dy : dy*exp(x/alpha) */
void grad_celu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], dy = g->d_out[0], above = is_positive(b, x);
  const double alpha = ((const vt_attr_alpha *)g->attrs)->alpha;
  const uint32_t part = over(b, x, vt_build_scalar_of_same_dtype(b, x, alpha));
  g->d_in[0] = select_by(b, above, dy, times(b, dy, vt_build1(b, VT_OP_exp, part)));
}

/* dx = x > 0 ? scale*dy : dy*(y + scale*alpha) */
void grad_selu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], above = is_positive(b, g->in[0]);
  const uint32_t straight = scaled_bits(b, dy, SELU_SCALE);
  const uint32_t slope = plus(b, g->out[0], vt_build_bits(b, VT_DTYPE_F32, SELU_BOTH));
  g->d_in[0] = select_by(b, above, straight, times(b, dy, slope));
}

void grad_softplus(const vt_gradient *g) {
  g->d_in[0] = times(g->b, g->d_out[0], vt_build1(g->b, VT_OP_sigmoid, g->in[0]));
}

void grad_log_sigmoid(const vt_gradient *g) {
  const uint32_t s = vt_build1(g->b, VT_OP_sigmoid, negative(g->b, g->in[0]));
  g->d_in[0] = times(g->b, g->d_out[0], s);
}

/* dx = dy*(t + (x*s)*(1 - t*t)) with t = tanh(softplus(x)), s = sigmoid(x) */
void grad_mish(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], t = vt_build1(b, VT_OP_tanh, build_softplus(b, x));
  const uint32_t part = times(b, x, vt_build1(b, VT_OP_sigmoid, x));
  const uint32_t slope = times(b, part, one_minus(b, times(b, t, t)));
  g->d_in[0] = times(b, g->d_out[0], plus(b, t, slope));
}

/* dy*(t*t) */
void grad_tanhshrink(const vt_gradient *g) {
  const uint32_t t = vt_build1(g->b, VT_OP_tanh, g->in[0]);
  g->d_in[0] = times(g->b, g->d_out[0], times(g->b, t, t));
}

/* ---- as functions: the constants are written again in another form, so that one typing error
 * cannot be in both ---- */

static float relu(float x) { return vt_f32_max(x, 0.0f); }

static float silu(float x) { return x * vt_f32_sigmoid(x); }

static float gelu(float x) {
  const float half_root = 0x1.6a09e6p-1f;
  return (0.5f * x) * (1.0f + vt_f32_erf(x * half_root));
}

static float gelu_tanh(float x) {
  const float root_2_pi = 0x1.988454p-1f, cubic = 0x1.6e4e26p-5f;
  const float cube = (x * x) * x;
  const float angle = root_2_pi * (x + cubic * cube);
  return (0.5f * x) * (1.0f + vt_f32_tanh(angle));
}

static float selu(float x) {
  const float scale = 1.05070098735548049f, scale_alpha = 1.75809934084737685f;
  return x > 0.0f ? scale * x : scale_alpha * vt_f32_expm1(x);
}

static float log1p_exp_neg_abs(float x) { return vt_f32_log1p(vt_f32_exp(x > 0.0f ? -x : x)); }
static float softplus(float x) { return vt_f32_max(x, 0.0f) + log1p_exp_neg_abs(x); }
static float log_sigmoid(float x) { return vt_f32_min(x, 0.0f) - log1p_exp_neg_abs(x); }
static float mish(float x) { return x * vt_f32_tanh(softplus(x)); }
static float tanhshrink(float x) { return x - vt_f32_tanh(x); }

static vt_walk walk_result_and_x(const vt_kernel *k) {
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  return w;
}

static vt_status map(const vt_kernel *k, float (*f)(float)) {
  vt_walk w = walk_result_and_x(k);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((float *)k->out->data)[w.at[0]] = f(((const float *)k->in[0].data)[w.at[1]]);
  return VT_OK;
}

vt_status kernel_relu(vt_kernel *k) {
  if (k->out->dtype == VT_DTYPE_F32) return map(k, relu);
  vt_walk w = walk_result_and_x(k);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((double *)k->out->data)[w.at[0]] = vt_f64_max(((const double *)k->in[0].data)[w.at[1]], 0.0);
  return VT_OK;
}

vt_status kernel_silu(vt_kernel *k) { return map(k, silu); }
vt_status kernel_gelu(vt_kernel *k) { return map(k, gelu); }
vt_status kernel_gelu_tanh(vt_kernel *k) { return map(k, gelu_tanh); }
vt_status kernel_selu(vt_kernel *k) { return map(k, selu); }
vt_status kernel_softplus(vt_kernel *k) { return map(k, softplus); }
vt_status kernel_log_sigmoid(vt_kernel *k) { return map(k, log_sigmoid); }
vt_status kernel_mish(vt_kernel *k) { return map(k, mish); }
vt_status kernel_tanhshrink(vt_kernel *k) { return map(k, tanhshrink); }

/* The kernel of elu, x > 0 ? x : alpha*expm1(x), or if `divided` of celu, x > 0 ? x :
 * alpha*expm1(x/alpha). */
static vt_status map_elu(const vt_kernel *k, int divided) {
  const float alpha = (float)((const vt_attr_alpha *)k->attrs)->alpha;
  vt_walk w = walk_result_and_x(k);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float x = ((const float *)k->in[0].data)[w.at[1]];
    const float below = alpha * vt_f32_expm1(divided ? x / alpha : x);
    ((float *)k->out->data)[w.at[0]] = x > 0.0f ? x : below;
  }
  return VT_OK;
}

vt_status kernel_elu(vt_kernel *k) { return map_elu(k, 0); }
vt_status kernel_celu(vt_kernel *k) { return map_elu(k, 1); }
