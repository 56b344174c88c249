/* SPDX-License-Identifier: Apache-2.0
 * op_norm.c - compositions along one axis: softmax, log_softmax, layer_norm, rms_norm.
 * Each is written twice: as ops (the meaning) and row by row (the second implementation). */
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

vt_status shape_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *x = &r->in[0];
  char tx[VT_TYPE_TEXT], tg[VT_TYPE_TEXT];
  if (x->rank == 0) return VT_FAIL(d, VT_VERIFY, "a norm needs an axis, its operand is a scalar");
  for (uint32_t i = 1; i < r->n_in; i++)
    if (r->in[i].rank != 1 || r->in[i].dim[0] != x->dim[x->rank - 1])
      return VT_FAIL(d, VT_VERIFY,
                     "operand %u is %s, expected one number along the last axis of %s", i + 1,
                     vt_type_text(r->dims, &r->in[i], tg), vt_type_text(r->dims, x, tx));
  *out = *x;
  return VT_OK;
}

/* ---- as ops ---- */

uint32_t lower_softmax(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)l->attrs)->axis;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, l->in[0], axis, 1);
  const uint32_t e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, l->in[0], m));
  return vt_build2(b, VT_OP_div, e, vt_build_reduce(b, VT_OP_sum, e, axis, 1));
}

uint32_t lower_log_softmax(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)l->attrs)->axis;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, l->in[0], axis, 1);
  const uint32_t shifted = vt_build2(b, VT_OP_sub, l->in[0], m);
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, vt_build1(b, VT_OP_exp, shifted), axis, 1);
  return vt_build2(b, VT_OP_sub, shifted, vt_build1(b, VT_OP_log, sum));
}

/* S(x)/n along the last axis */
static uint32_t mean_last(vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t axis = t->rank - 1, dtype = t->dtype;
  const int64_t n = t->dim[axis];
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, x, axis, 1);
  return vt_build2(b, VT_OP_div, sum, vt_build_int(b, dtype, n));
}

/* 1 / sqrt(S(x*x)/n + eps) */
static uint32_t inverse_spread(vt_builder *b, uint32_t x, double eps) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t dtype = t->dtype;
  const uint32_t v = mean_last(b, vt_build2(b, VT_OP_mul, x, x));
  const uint32_t shifted = vt_build2(b, VT_OP_add, v, vt_build_number(b, dtype, eps));
  const uint32_t root = vt_build1(b, VT_OP_sqrt, shifted);
  return vt_build2(b, VT_OP_div, vt_build_number(b, dtype, 1.0), root);
}

uint32_t lower_layer_norm(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t dev = vt_build2(b, VT_OP_sub, l->in[0], mean_last(b, l->in[0]));
  const uint32_t r = inverse_spread(b, dev, ((const vt_attr_norm *)l->attrs)->eps);
  const uint32_t scaled = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mul, dev, r), l->in[1]);
  return vt_build2(b, VT_OP_add, scaled, l->in[2]);
}

uint32_t lower_rms_norm(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t r = inverse_spread(b, l->in[0], ((const vt_attr_norm *)l->attrs)->eps);
  return vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mul, l->in[0], r), l->in[1]);
}

/* ---- row by row ---- */

typedef struct row { /* n elements, `xs` and `ys` apart */
  const float *x;
  float *y;
  int64_t n, xs, ys;
} row;

static float row_max(const row *r) {
  float m = r->x[0];
  for (int64_t i = 1; i < r->n; i++) m = vt_f32_max(m, r->x[i * r->xs]);
  return m;
}

static float row_sum_exp(const row *r, float m) {
  vt_sum_f32 s;
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < r->n; i++) vt_sum_f32_add(&s, vt_f32_exp(r->x[i * r->xs] - m));
  return vt_sum_f32_done(&s);
}

static void softmax_row(const row *r) {
  const float m = row_max(r), sum = row_sum_exp(r, m);
  for (int64_t i = 0; i < r->n; i++) r->y[i * r->ys] = vt_f32_exp(r->x[i * r->xs] - m) / sum;
}

static void log_softmax_row(const row *r) {
  const float m = row_max(r), log_sum = vt_f32_log(row_sum_exp(r, m));
  for (int64_t i = 0; i < r->n; i++) r->y[i * r->ys] = (r->x[i * r->xs] - m) - log_sum;
}

static vt_status each_row(const vt_kernel *k, void (*f)(const row *)) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view y = vt_view_drop(k->out, axis), x = vt_view_drop(&k->in[0], axis);
  vt_walk w;
  vt_walk_init(&w, y.rank, y.dim);
  vt_walk_view(&w, &y);
  vt_walk_view(&w, &x);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const row r = {(const float *)x.data + w.at[1], (float *)y.data + w.at[0], k->out->dim[axis],
                   k->in[0].stride[axis], k->out->stride[axis]};
    f(&r);
  }
  return VT_OK;
}

vt_status kernel_softmax(vt_kernel *k) { return each_row(k, softmax_row); }
vt_status kernel_log_softmax(vt_kernel *k) { return each_row(k, log_softmax_row); }

/* The norms are the same text for f32 and f64, so the body is written once. */
#define T float
#define SUM vt_sum_f32
#define SUM_(verb) vt_sum_f32_##verb
#define ROOT vt_f32_sqrt
#define NAME(name) name##_f32
#include "norm.inc"
#undef T
#undef SUM
#undef SUM_
#undef ROOT
#undef NAME
#define T double
#define SUM vt_sum_f64
#define SUM_(verb) vt_sum_f64_##verb
#define ROOT vt_f64_sqrt
#define NAME(name) name##_f64
#include "norm.inc"

vt_status kernel_layer_norm(vt_kernel *k) {
  if (k->out->dtype == VT_DTYPE_F32) {
    norm_f32(k, 1);
  } else {
    norm_f64(k, 1);
  }
  return VT_OK;
}

vt_status kernel_rms_norm(vt_kernel *k) {
  if (k->out->dtype == VT_DTYPE_F32) {
    norm_f32(k, 0);
  } else {
    norm_f64(k, 0);
  }
  return VT_OK;
}
