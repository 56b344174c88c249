/* SPDX-License-Identifier: Apache-2.0
 * op_activation.c - compositions of one operand, element by element: relu, silu, gelu.
 * Each is written twice: as ops (the meaning) and as one function (the second implementation). */
#include "op_rows.h"
#include "vt_num.h"

/* ---- as ops: the constants of gelu by their bits ---- */

uint32_t lower_relu(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_maximum, l->in[0], vt_build_like(l->b, l->in[0], 0.0));
}

uint32_t lower_silu(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_mul, l->in[0], vt_build1(l->b, VT_OP_sigmoid, l->in[0]));
}

/* (0.5*x) * (1 + inner) */
static uint32_t half_times(vt_builder *b, uint32_t x, uint32_t inner) {
  const uint32_t half = vt_build2(b, VT_OP_mul, vt_build_number(b, VT_DTYPE_F32, 0.5), x);
  const uint32_t one = vt_build2(b, VT_OP_add, vt_build_number(b, VT_DTYPE_F32, 1.0), inner);
  return vt_build2(b, VT_OP_mul, half, one);
}

uint32_t lower_gelu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0];
  const uint32_t root = vt_build_bits(b, VT_DTYPE_F32, 0x3f3504f3u); /* sqrt(1/2) */
  return half_times(b, x, vt_build1(b, VT_OP_erf, vt_build2(b, VT_OP_mul, x, root)));
}

uint32_t lower_gelu_tanh(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0];
  const uint32_t cube = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mul, x, x), x);
  const uint32_t cubic = vt_build_bits(b, VT_DTYPE_F32, 0x3d372713u); /* 0.044715 */
  const uint32_t sum = vt_build2(b, VT_OP_add, x, vt_build2(b, VT_OP_mul, cubic, cube));
  const uint32_t root = vt_build_bits(b, VT_DTYPE_F32, 0x3f4c422au); /* sqrt(2/pi) */
  const uint32_t angle = vt_build2(b, VT_OP_mul, root, sum);
  return half_times(b, x, vt_build1(b, VT_OP_tanh, angle));
}

/* ---- as functions: the same constants spelled again, so that neither side can mislead both ----
 */

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

static vt_walk walk_pair(const vt_kernel *k) {
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  return w;
}

static vt_status map(const vt_kernel *k, float (*f)(float)) {
  vt_walk w = walk_pair(k);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((float *)k->out->data)[w.at[0]] = f(((const float *)k->in[0].data)[w.at[1]]);
  return VT_OK;
}

vt_status kernel_relu(vt_kernel *k) {
  if (k->out->dtype == VT_DTYPE_F32) return map(k, relu);
  vt_walk w = walk_pair(k);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((double *)k->out->data)[w.at[0]] = vt_f64_max(((const double *)k->in[0].data)[w.at[1]], 0.0);
  return VT_OK;
}

vt_status kernel_silu(vt_kernel *k) { return map(k, silu); }
vt_status kernel_gelu(vt_kernel *k) { return map(k, gelu); }
vt_status kernel_gelu_tanh(vt_kernel *k) { return map(k, gelu_tanh); }
