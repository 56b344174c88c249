/* SPDX-License-Identifier: Apache-2.0
 * op_loss.c - cross_entropy: logits (..., V) and targets (...) give one number.
 * A row whose target equals `ignore` is absent: it keeps its place in S as +0 and is not counted.
 */
#include "op_rows.h"
#include "vt_num.h"

vt_status shape_entropy(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *x = &r->in[0], *t = &r->in[1];
  const int64_t ignore = ((const vt_attr_entropy *)r->attrs)->ignore;
  char tx[VT_TYPE_TEXT], tt[VT_TYPE_TEXT];
  int fits = x->rank == t->rank + 1 && x->dim[x->rank - 1] != 0;
  for (uint32_t i = 0; fits && i < t->rank; i++) fits = x->dim[i] == t->dim[i];
  if (!fits)
    return VT_FAIL(d, VT_VERIFY, "logits %s and targets %s: expected [..., V] and [...], V > 0",
                   vt_type_text(r->dims, x, tx), vt_type_text(r->dims, t, tt));
  if (t->dtype == VT_DTYPE_I32 && (ignore < INT32_MIN || ignore > INT32_MAX))
    return VT_FAIL(d, VT_VERIFY, "ignore=%lld does not fit i32", (long long)ignore);
  out->dtype = VT_DTYPE_F32;
  return VT_OK;
}

/* ---- as ops ---- */

/* f32(number of rows that are not ignored) */
static uint32_t count_rows(vt_builder *b, uint32_t ignored) {
  const uint32_t zero = vt_build_int(b, VT_DTYPE_I64, 0), one = vt_build_int(b, VT_DTYPE_I64, 1);
  const uint32_t each = vt_build3(b, VT_OP_select, ignored, zero, one);
  return vt_build_cast(b, vt_build1(b, VT_OP_sum, each), VT_DTYPE_F32);
}

uint32_t lower_cross_entropy(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_type *t = b->type(b, l->in[1]);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t axis = t->rank, dtype = t->dtype;
  const int64_t ignore = ((const vt_attr_entropy *)l->attrs)->ignore;
  const vt_attr_gather pick = {.size = sizeof pick, .axis = axis, .batch = axis};
  const uint32_t m = vt_build_reduce(b, VT_OP_max, l->in[0], axis, 1);
  const uint32_t shifted = vt_build2(b, VT_OP_sub, l->in[0], m);
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, vt_build1(b, VT_OP_exp, shifted), axis, 0);
  const uint32_t ignored = vt_build2(b, VT_OP_eq, l->in[1], vt_build_int(b, dtype, ignore));
  const uint32_t target = vt_build3(b, VT_OP_select, ignored, vt_build_int(b, dtype, 0), l->in[1]);
  const uint32_t in[2] = {shifted, target};
  const uint32_t row =
      vt_build2(b, VT_OP_sub, vt_build1(b, VT_OP_log, sum), b->node(b, VT_OP_gather, in, 2, &pick));
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  const uint32_t rows = vt_build3(b, VT_OP_select, ignored, zero, row);
  return vt_build2(b, VT_OP_div, vt_build1(b, VT_OP_sum, rows), count_rows(b, ignored));
}

/* ---- second implementation: row by row ---- */

static float row_loss(const float *x, int64_t stride, int64_t n, int64_t target) {
  vt_sum_f32 s;
  float m = x[0];
  for (int64_t i = 1; i < n; i++) m = vt_f32_max(m, x[i * stride]);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < n; i++) vt_sum_f32_add(&s, vt_f32_exp(x[i * stride] - m));
  return vt_f32_log(vt_sum_f32_done(&s)) - (x[target * stride] - m);
}

vt_status kernel_cross_entropy(vt_kernel *k) {
  const vt_view *x = &k->in[0], *t = &k->in[1];
  const int64_t ignore = ((const vt_attr_entropy *)k->attrs)->ignore;
  const vt_view rows = vt_view_drop(x, x->rank - 1);
  const int64_t n = x->dim[x->rank - 1], stride = x->stride[x->rank - 1];
  int64_t counted = 0;
  vt_sum_f32 s;
  vt_walk w;
  vt_walk_init(&w, rows.rank, rows.dim);
  vt_walk_view(&w, &rows);
  vt_walk_view(&w, t);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t target = vt_load_int(t->data, t->dtype, w.at[1]);
    if (target == ignore) {
      vt_sum_f32_add(&s, 0.0f);
      continue;
    }
    if (target < 0 || target >= n) {
      k->position = (uint64_t)i;
      k->value = target;
      return VT_RANGE;
    }
    vt_sum_f32_add(&s, row_loss((const float *)x->data + w.at[0], stride, n, target));
    counted++;
  }
  *(float *)k->out->data = vt_sum_f32_done(&s) / (float)counted;
  return VT_OK;
}
