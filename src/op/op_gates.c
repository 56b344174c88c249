/* SPDX-License-Identifier: Apache-2.0
 * op_gates.c - compositions in which one operand scales or selects another: prelu, glu, swiglu,
 * geglu, where. swiglu and geglu are f(a) * b, the slope is an operand of prelu. Each is
 * written as ops (the definition) and as a function of one element (the second implementation).
 * In formulas dy is the gradient of the result, dx, da and db those of
 * operands x, a and b. */
#include <string.h>
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

/* The type of the operand slope of prelu, aligned with x for broadcasting: a slope of rank 1 runs
 * along axis 1, the channels. */
static vt_type align_prelu_slope_type(const vt_type *x, const vt_type *slope) {
  vt_type t = *slope;
  if (slope->rank != 1 || x->rank < 3) return t;
  t.rank = x->rank - 1;
  for (uint32_t i = 1; i < t.rank; i++) t.dim[i] = 1;
  return t;
}

vt_status shape_prelu(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *x = &r->in[0], in[2] = {*x, align_prelu_slope_type(x, &r->in[1])};
  char tx[VT_TYPE_TEXT], ts[VT_TYPE_TEXT];
  vt_type joined = *x;
  const int fits =
      vt_broadcast_shapes(r, in, 2, &joined, NULL) == VT_OK && vt_type_equal(&joined, x);
  if (!fits)
    return VT_FAIL(
        d, VT_VERIFY, "the slope %s does not broadcast to x, %s%s",
        vt_type_text(r->dims, &r->in[1], ts), vt_type_text(r->dims, x, tx),
        r->in[1].rank == 1 && x->rank > 1 ? ": a slope of rank 1 runs along axis 1" : "");
  *out = *x;
  return VT_OK;
}

vt_status shape_glu(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t axis = ((const vt_attr_axis *)r->attrs)->axis;
  const vt_type *x = &r->in[0];
  char text[VT_TYPE_TEXT];
  int64_t half = 0;
  if (axis < 0 || axis >= (int64_t)x->rank)
    return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operand has rank %u",
                   (long long)axis, x->rank);
  if (vt_dim_div(r->dims, x->dim[axis], 2, &half, NULL) != VT_OK)
    return VT_FAIL(d, VT_VERIFY, "axis %lld of %s has no two halves", (long long)axis,
                   vt_type_text(r->dims, x, text));
  *out = *x;
  out->dim[axis] = half;
  return VT_OK;
}

/* ---- as ops ---- */

static uint32_t align_prelu_slope(vt_builder *b, uint32_t x, uint32_t slope) {
  const vt_type *tx = b->type(b, x), *ts = b->type(b, slope);
  if (tx == NULL || ts == NULL) return VT_NO_VALUE;
  const vt_type t = align_prelu_slope_type(tx, ts);
  return t.rank == ts->rank ? slope : vt_build_reshape(b, slope, t.rank, t.dim);
}

uint32_t lower_prelu(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t x = l->in[0], slope = align_prelu_slope(b, x, l->in[1]), above = is_positive(b, x);
  return select_by(b, above, x, times(b, slope, x));
}

/* Writes the first (which = 0) or second (which = 1) half of x along an axis. */
static uint32_t slice_half(vt_builder *b, uint32_t x, uint32_t axis, int64_t which) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_attr_slice a = {.size = sizeof a, .start = {.n = t->rank}, .stop = {.n = t->rank}};
  memcpy(a.stop.v, t->dim, t->rank * sizeof *t->dim);
  const int64_t half = t->dim[axis] / 2;
  a.start.v[axis] = which * half;
  a.stop.v[axis] = which * half + half;
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

uint32_t lower_glu(const vt_lowering *l) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)l->attrs)->axis;
  const uint32_t first = slice_half(l->b, l->in[0], axis, 0);
  return times(l->b, first, vt_build1(l->b, VT_OP_sigmoid, slice_half(l->b, l->in[0], axis, 1)));
}

/* y = f(a) * b, where `op` is f */
static uint32_t lower_gate(const vt_lowering *l, uint32_t op) {
  return times(l->b, vt_build1(l->b, op, l->in[0]), l->in[1]);
}
uint32_t lower_swiglu(const vt_lowering *l) { return lower_gate(l, VT_OP_silu); }
uint32_t lower_geglu(const vt_lowering *l) { return lower_gate(l, VT_OP_gelu); }

uint32_t lower_where(const vt_lowering *l) {
  return vt_build3(l->b, VT_OP_select, l->in[0], l->in[1], l->in[2]);
}

/* ---- gradients; where uses that of select ---- */

/* dx = x > 0 ? dy : slope*dy; the gradient of the slope is x > 0 ? +0 : dy*x, summed to its
 * shape */
void grad_prelu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], dy = g->d_out[0], slope = align_prelu_slope(b, x, g->in[1]);
  const uint32_t above = is_positive(b, x);
  g->d_in[0] = select_by(b, above, dy, times(b, slope, dy));
  const uint32_t sum = vt_build_sum_to(b, zero_or_value(b, above, times(b, dy, x)), slope);
  const vt_type *t = b->type(b, g->in[1]);
  if (t == NULL) return;
  const vt_type to = *t;
  g->d_in[1] = slope == g->in[1] ? sum : vt_build_reshape(b, sum, to.rank, to.dim);
}

/* With s = sigmoid(b): da = dy*s; db = ((dy*a)*s)*(1 - s) */
void grad_glu(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_axis *a = g->attrs;
  const uint32_t axis = (uint32_t)a->axis, dy = g->d_out[0];
  const uint32_t first = slice_half(b, g->in[0], axis, 0);
  const uint32_t s = vt_build1(b, VT_OP_sigmoid, slice_half(b, g->in[0], axis, 1));
  uint32_t half[2] = {VT_NO_VALUE, VT_NO_VALUE};
  half[0] = times(b, dy, s);
  const uint32_t part = times(b, times(b, dy, first), s);
  half[1] = times(b, part, one_minus(b, s));
  g->d_in[0] = b->node(b, VT_OP_concat, half, 2, a);
}

/* The gradient of y = f(a)*b, where `op` is f and `slope` is f'(a): db = dy*f(a); da =
 * (dy*b)*f'(a) */
static void grad_gate(const vt_gradient *g, uint32_t op, uint32_t slope) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0];
  g->d_in[0] = vt_build_sum_to(b, times(b, times(b, dy, g->in[1]), slope), g->in[0]);
  g->d_in[1] = vt_build_sum_to(b, times(b, dy, vt_build1(b, op, g->in[0])), g->in[1]);
}
void grad_swiglu(const vt_gradient *g) { grad_gate(g, VT_OP_silu, vt_silu_slope(g->b, g->in[0])); }
void grad_geglu(const vt_gradient *g) { grad_gate(g, VT_OP_gelu, vt_gelu_slope(g->b, g->in[0])); }

/* ---- element by element ---- */

static vt_walk walk_three(const vt_view *y, const vt_view *a, const vt_view *b) {
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  vt_walk_view(&w, a);
  vt_walk_view(&w, b);
  return w;
}

vt_status kernel_prelu(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  vt_view s = k->in[1];
  /* adds to the slope the axes of x after the channels, with length 1 */
  if (s.rank == 1 && x->rank > 1) {
    s.rank = x->rank - 1;
    for (uint32_t i = 1; i < s.rank; i++) s.dim[i] = 1;
  }
  vt_walk w = walk_three(y, x, &s);
  for (int64_t i = 0; i < w.count && y->dtype == VT_DTYPE_F32; i++, vt_walk_next(&w)) {
    const float v = ((const float *)x->data)[w.at[1]], by = ((const float *)s.data)[w.at[2]];
    ((float *)y->data)[w.at[0]] = v > 0 ? v : by * v;
  }
  for (int64_t i = 0; i < w.count && y->dtype == VT_DTYPE_F64; i++, vt_walk_next(&w)) {
    const double v = ((const double *)x->data)[w.at[1]], by = ((const double *)s.data)[w.at[2]];
    ((double *)y->data)[w.at[0]] = v > 0 ? v : by * v;
  }
  return VT_OK;
}

static float a_times_sigmoid_b(float a, float b) { return a * vt_f32_sigmoid(b); }
static float silu_a_times_b(float a, float b) { return (a * vt_f32_sigmoid(a)) * b; }
static float gelu_a_times_b(float a, float b) {
  const float c = 0.70710678118654752f;
  return ((0.5f * a) * (1.0f + vt_f32_erf(a * c))) * b;
}

static vt_status map_pairs(const vt_view *y, const vt_view *a, const vt_view *b,
                           float (*f)(float, float)) {
  vt_walk w = walk_three(y, a, b);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((float *)y->data)[w.at[0]] =
        f(((const float *)a->data)[w.at[1]], ((const float *)b->data)[w.at[2]]);
  return VT_OK;
}

vt_status kernel_glu(vt_kernel *k) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  vt_view first = k->in[0], second = k->in[0];
  const int64_t half = k->in[0].dim[axis] / 2;
  first.dim[axis] = second.dim[axis] = half;
  if (vt_view_count(k->out) == 0) return VT_OK;
  second.data = (float *)second.data + half * second.stride[axis];
  return map_pairs(k->out, &first, &second, a_times_sigmoid_b);
}

vt_status kernel_swiglu(vt_kernel *k) {
  return map_pairs(k->out, &k->in[0], &k->in[1], silu_a_times_b);
}
vt_status kernel_geglu(vt_kernel *k) {
  return map_pairs(k->out, &k->in[0], &k->in[1], gelu_a_times_b);
}

vt_status kernel_where(vt_kernel *k) {
  const size_t size = vt_dtype_bytes(k->out->dtype);
  const uint8_t *which = k->in[0].data;
  vt_walk w = walk_three(k->out, &k->in[0], &k->in[1]);
  vt_walk_view(&w, &k->in[2]);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const char *a = (const char *)k->in[1].data + w.at[2] * (int64_t)size;
    const char *b = (const char *)k->in[2].data + w.at[3] * (int64_t)size;
    memcpy((char *)k->out->data + w.at[0] * (int64_t)size, which[w.at[1]] ? a : b, size);
  }
  return VT_OK;
}
