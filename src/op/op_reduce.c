/* SPDX-License-Identifier: Apache-2.0
 * op_reduce.c - sum, max, min, argmax, and mean over them. Several reduced axes are one axis in
 * row-major order; a float sum has the order S, which depends on the length alone. */
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

/* The axes as a bit mask; an empty list means all of them. */
static vt_status axes_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out, vt_diag *d) {
  unsigned mask = axes->n == 0 ? (1u << rank) - 1 : 0;
  for (int64_t i = 0; i < axes->n; i++) {
    if (axes->v[i] < 0 || axes->v[i] >= (int64_t)rank)
      return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operand has rank %u",
                     (long long)axes->v[i], rank);
    if (mask >> axes->v[i] & 1)
      return VT_FAIL(d, VT_VERIFY, "axis %lld is named twice", (long long)axes->v[i]);
    mask |= 1u << axes->v[i];
  }
  *out = mask;
  return VT_OK;
}

vt_status shape_reduce(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_reduce *a = r->attrs;
  const vt_type *x = &r->in[0];
  unsigned mask;
  VT_TRY(axes_mask(&a->axes, x->rank, &mask, d));
  out->dtype = x->dtype;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!(mask >> i & 1)) out->dim[out->rank++] = x->dim[i];
    if ((mask >> i & 1) && a->keep) out->dim[out->rank++] = 1;
  }
  return VT_OK;
}

static vt_status not_empty(const vt_rule *r, unsigned mask, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  for (uint32_t i = 0; i < r->in[0].rank; i++)
    if ((mask >> i & 1) && r->in[0].dim[i] == 0)
      return VT_FAIL(d, VT_VERIFY, "a maximum or minimum of nothing: axis %u of %s is empty", i,
                     vt_type_text(r->dims, &r->in[0], text));
  return VT_OK;
}

vt_status shape_reduce_some(const vt_rule *r, vt_type *out, vt_diag *d) {
  unsigned mask;
  VT_TRY(axes_mask(&((const vt_attr_reduce *)r->attrs)->axes, r->in[0].rank, &mask, d));
  VT_TRY(not_empty(r, mask, d));
  return shape_reduce(r, out, d);
}

vt_status shape_axis_some(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_axis *a = r->attrs;
  if (a->axis < 0 || a->axis >= (int64_t)r->in[0].rank)
    return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operand has rank %u",
                   (long long)a->axis, r->in[0].rank);
  VT_TRY(not_empty(r, 1u << a->axis, d));
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_arg(const vt_rule *r, vt_type *out, vt_diag *d) {
  vt_type x;
  VT_TRY(shape_axis_some(r, &x, d));
  out->dtype = VT_DTYPE_I64;
  for (uint32_t i = 0; i < x.rank; i++)
    if (i != ((const vt_attr_axis *)r->attrs)->axis) out->dim[out->rank++] = x.dim[i];
  return VT_OK;
}

/* ---- kernels ---- */

/* x seen as two nested loops: `kept` walks beside the result, `inner` the reduced axes. */
typedef struct split {
  vt_view kept, inner, out;
} split;

static split split_axes(const vt_kernel *k, unsigned mask) {
  const vt_view *x = &k->in[0];
  split s = {*x, *x, *k->out};
  s.kept.rank = s.inner.rank = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    vt_view *part = mask >> i & 1 ? &s.inner : &s.kept;
    part->dim[part->rank] = x->dim[i];
    part->stride[part->rank++] = x->stride[i];
  }
  if (s.out.rank == x->rank) /* keep=true: the axes of length 1 take no part in the walk */
    for (uint32_t i = x->rank; i-- > 0;)
      if (mask >> i & 1) s.out = vt_view_drop(&s.out, i);
  return s;
}

typedef struct reduction { /* one result from the inner walk; `x` points at its first element */
  void (*f32)(vt_walk inner, const float *x, float *y);
  void (*f64)(vt_walk inner, const double *x, double *y);
  int64_t (*whole)(vt_walk inner, const void *x, uint32_t dtype);
} reduction;

static vt_status reduce_run(const vt_kernel *k, unsigned mask, const reduction *f) {
  const split s = split_axes(k, mask);
  const uint32_t dtype = k->in[0].dtype;
  const int64_t size = (int64_t)vt_dtype_bytes(dtype);
  vt_walk outer, inner;
  vt_walk_init(&outer, s.kept.rank, s.kept.dim);
  vt_walk_view(&outer, &s.out);
  vt_walk_view(&outer, &s.kept);
  vt_walk_init(&inner, s.inner.rank, s.inner.dim);
  vt_walk_view(&inner, &s.inner);
  for (int64_t i = 0; i < outer.count; i++, vt_walk_next(&outer)) {
    const char *x = (const char *)s.kept.data + outer.at[1] * size;
    if (dtype == VT_DTYPE_F32) {
      f->f32(inner, (const float *)(const void *)x, (float *)s.out.data + outer.at[0]);
    } else if (dtype == VT_DTYPE_F64) {
      f->f64(inner, (const double *)(const void *)x, (double *)s.out.data + outer.at[0]);
    } else {
      vt_store_int(s.out.data, dtype, outer.at[0], f->whole(inner, x, dtype));
    }
  }
  return VT_OK;
}

static unsigned reduce_mask(const vt_kernel *k) {
  const vt_attr_reduce *a = k->attrs;
  unsigned mask = 0;
  /* The list was checked by the shape rule. */
  return axes_mask(&a->axes, k->in[0].rank, &mask, NULL) == VT_OK ? mask : 0;
}

static void sum_f32(vt_walk w, const float *x, float *y) {
  vt_sum_f32 s;
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) vt_sum_f32_add(&s, x[w.at[0]]);
  *y = vt_sum_f32_done(&s);
}

static void sum_f64(vt_walk w, const double *x, double *y) {
  vt_sum_f64 s;
  vt_sum_f64_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) vt_sum_f64_add(&s, x[w.at[0]]);
  *y = vt_sum_f64_done(&s);
}

static int64_t sum_whole(vt_walk w, const void *x, uint32_t dtype) {
  int64_t s = 0;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    s = vt_i64_wrap_add(s, vt_load_int(x, dtype, w.at[0]));
  return s;
}

vt_status kernel_sum(vt_kernel *k) {
  static const reduction f = {sum_f32, sum_f64, sum_whole};
  return reduce_run(k, reduce_mask(k), &f);
}

/* max and min fold from the first element: they have no neutral one, and the order of a fold of
 * max over one total order cannot show. */
static void fold_f32(vt_walk w, const float *x, float *y, float (*pick)(float, float)) {
  *y = x[0];
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) *y = pick(*y, x[w.at[0]]);
}

static void fold_f64(vt_walk w, const double *x, double *y, double (*pick)(double, double)) {
  *y = x[0];
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) *y = pick(*y, x[w.at[0]]);
}

static int64_t fold_whole(vt_walk w, const void *x, uint32_t dtype, int greatest) {
  int64_t y = vt_load_int(x, dtype, 0);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t v = vt_load_int(x, dtype, w.at[0]);
    if (greatest ? v > y : v < y) y = v;
  }
  return y;
}

static void max_f32(vt_walk w, const float *x, float *y) { fold_f32(w, x, y, vt_f32_max); }
static void max_f64(vt_walk w, const double *x, double *y) { fold_f64(w, x, y, vt_f64_max); }
static int64_t max_whole(vt_walk w, const void *x, uint32_t t) { return fold_whole(w, x, t, 1); }
static void min_f32(vt_walk w, const float *x, float *y) { fold_f32(w, x, y, vt_f32_min); }
static void min_f64(vt_walk w, const double *x, double *y) { fold_f64(w, x, y, vt_f64_min); }
static int64_t min_whole(vt_walk w, const void *x, uint32_t t) { return fold_whole(w, x, t, 0); }

vt_status kernel_max(vt_kernel *k) {
  static const reduction f = {max_f32, max_f64, max_whole};
  return reduce_run(k, reduce_mask(k), &f);
}

vt_status kernel_min(vt_kernel *k) {
  static const reduction f = {min_f32, min_f64, min_whole};
  return reduce_run(k, reduce_mask(k), &f);
}

/* 1 when element `p` comes above element `q` in the one order, in which NaN is highest. */
static int above(const vt_view *x, int64_t p, int64_t q) {
  if (x->dtype == VT_DTYPE_F32)
    return vt_f32_above(((const float *)x->data)[p], ((const float *)x->data)[q]);
  if (x->dtype == VT_DTYPE_F64)
    return vt_f64_above(((const double *)x->data)[p], ((const double *)x->data)[q]);
  return vt_load_int(x->data, x->dtype, p) > vt_load_int(x->data, x->dtype, q);
}

vt_status kernel_argmax(vt_kernel *k) {
  const vt_view *x = &k->in[0];
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view kept = vt_view_drop(x, axis);
  vt_walk w;
  vt_walk_init(&w, kept.rank, kept.dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &kept);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    int64_t best = 0;
    for (int64_t j = 1; j < x->dim[axis]; j++)
      if (above(x, w.at[1] + j * x->stride[axis], w.at[1] + best * x->stride[axis])) best = j;
    ((int64_t *)k->out->data)[w.at[0]] = best;
  }
  return VT_OK;
}

/* ---- mean = S / count ---- */

uint32_t lower_mean(const vt_lowering *l) {
  const vt_type *x = l->b->type(l->b, l->in[0]);
  if (x == NULL) return VT_NO_VALUE;
  const vt_attr_reduce *a = l->attrs;
  const uint32_t dtype = x->dtype;
  int64_t count = 1;
  unsigned mask = 0;
  if (axes_mask(&a->axes, x->rank, &mask, NULL) != VT_OK) return VT_NO_VALUE;
  for (uint32_t i = 0; i < x->rank; i++)
    if ((mask >> i & 1) && !vt_i64_mul(count, x->dim[i], &count))
      count = INT64_MAX; /* an empty tensor whose sizes the plan will refuse */
  const uint32_t sum = l->b->node(l->b, VT_OP_sum, l->in, 1, a);
  return vt_build2(l->b, VT_OP_div, sum, vt_build_int(l->b, dtype, count));
}

static void mean_f32(vt_walk w, const float *x, float *y) {
  sum_f32(w, x, y);
  *y /= (float)w.count;
}

static void mean_f64(vt_walk w, const double *x, double *y) {
  sum_f64(w, x, y);
  *y /= (double)w.count;
}

vt_status kernel_mean(vt_kernel *k) {
  static const reduction f = {mean_f32, mean_f64, sum_whole};
  return reduce_run(k, reduce_mask(k), &f);
}
