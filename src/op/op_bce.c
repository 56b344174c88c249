/* SPDX-License-Identifier: Apache-2.0
 * op_bce.c - binary cross entropy of probabilities (bce) and of logits (bce_with_logits). Each
 * is written twice: as ops (the definition) and as a function of one element. x is the
 * prediction and t the target, a probability. */
#include "op_loss.h"

static int64_t reduction_of(const void *attrs) { return ((const vt_attr_loss *)attrs)->reduction; }

/* ---- as ops ---- */

/* maximum(log_x, -100), so that the loss of an element is finite however wrong it is */
static uint32_t bound_log_below(vt_builder *b, uint32_t log_x) {
  return vt_build2(b, VT_OP_maximum, log_x, vt_build_scalar_of_same_dtype(b, log_x, -100.0));
}

/* ((t - 1) * maximum(log1p(-x), -100)) - (t * maximum(log(x), -100)) */
uint32_t lower_bce(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], t = l->in[1];
  const uint32_t minus_x = vt_build1(b, VT_OP_neg, x);
  const uint32_t log_no = bound_log_below(b, vt_build1(b, VT_OP_log1p, minus_x));
  const uint32_t log_yes = bound_log_below(b, vt_build1(b, VT_OP_log, x));
  const uint32_t less = vt_build2(b, VT_OP_sub, t, vt_build_scalar_of_same_dtype(b, t, 1.0));
  const uint32_t no = vt_build2(b, VT_OP_mul, less, log_no);
  const uint32_t each = vt_build2(b, VT_OP_sub, no, vt_build2(b, VT_OP_mul, t, log_yes));
  return vt_build_reduced_loss(b, each, reduction_of(l->attrs));
}

/* (maximum(x, +0) - (x*t)) + log1p(exp(-(abs x))) */
uint32_t lower_bce_with_logits(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0];
  const uint32_t ramp = vt_build2(b, VT_OP_maximum, x, vt_build_scalar_of_same_dtype(b, x, 0.0));
  const uint32_t line = vt_build2(b, VT_OP_sub, ramp, vt_build2(b, VT_OP_mul, x, l->in[1]));
  const uint32_t falling = vt_build1(b, VT_OP_neg, vt_build1(b, VT_OP_abs, x));
  const uint32_t bend = vt_build1(b, VT_OP_log1p, vt_build1(b, VT_OP_exp, falling));
  return vt_build_reduced_loss(b, vt_build2(b, VT_OP_add, line, bend), reduction_of(l->attrs));
}

/* ---- gradients ---- */

/* (w*(x - t)) / maximum((1 - x)*x, 2b8cbccc) */
void grad_bce(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], w = vt_build_loss_weight(g, reduction_of(g->attrs));
  const uint32_t gap = vt_build2(b, VT_OP_sub, x, g->in[1]);
  const uint32_t top = vt_build2(b, VT_OP_mul, w, gap);
  const uint32_t rest = vt_build2(b, VT_OP_sub, vt_build_scalar_of_same_dtype(b, x, 1.0), x);
  const uint32_t spread = vt_build2(b, VT_OP_mul, rest, x);
  const uint32_t least = vt_build_bits(b, VT_DTYPE_F32, 0x2b8cbcccu);
  g->d_in[0] = vt_build2(b, VT_OP_div, top, vt_build2(b, VT_OP_maximum, spread, least));
}

/* (sigmoid(x) - t)*w */
void grad_bce_with_logits(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t w = vt_build_loss_weight(g, reduction_of(g->attrs));
  const uint32_t gap = vt_build2(b, VT_OP_sub, vt_build1(b, VT_OP_sigmoid, g->in[0]), g->in[1]);
  g->d_in[0] = vt_build2(b, VT_OP_mul, gap, w);
}

/* ---- second implementation: element by element ---- */

static float bce_f32(float x, float t, double unused) {
  (void)unused;
  const float no = vt_f32_max(vt_f32_log1p(-x), -100.0f), yes = vt_f32_max(vt_f32_log(x), -100.0f);
  return (t - 1.0f) * no - t * yes;
}

static float bce_with_logits_f32(float x, float t, double unused) {
  (void)unused;
  const float size = vt_f32_max(x, -x);
  return (vt_f32_max(x, 0.0f) - x * t) + vt_f32_log1p(vt_f32_exp(-size));
}

vt_status kernel_bce(vt_kernel *k) {
  static const vt_loss f = {bce_f32, NULL};
  return vt_loss_run(k, &f, 0.0, reduction_of(k->attrs));
}

vt_status kernel_bce_with_logits(vt_kernel *k) {
  static const vt_loss f = {bce_with_logits_f32, NULL};
  return vt_loss_run(k, &f, 0.0, reduction_of(k->attrs));
}
