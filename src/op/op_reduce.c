/* SPDX-License-Identifier: Apache-2.0
 * op_reduce.c - sum, prod, max, min, argmax, argmin, cumsum, and mean. Several reduced axes are
 * one axis in row-major order; the order S of a float sum depends only on the length of that
 * axis. A line is the elements along one axis; a function X_whole is X for integers. The one order
 * is the total order of numbers: -0 < +0, and NaN is the greatest. */
#include "op_reduction.h"
#include "vt_num.h"

/* ---- shapes ---- */

vt_status shape_reduce(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_reduce *a = r->attrs;
  const vt_type *x = &r->in[0];
  unsigned mask;
  VT_TRY(vt_axes_mask(&a->axes, x->rank, &mask, d));
  out->dtype = x->dtype;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!(mask >> i & 1)) out->dim[out->rank++] = x->dim[i];
    if ((mask >> i & 1) && a->keep) out->dim[out->rank++] = 1;
  }
  return VT_OK;
}

static vt_status check_axes_not_empty(const vt_rule *r, unsigned mask, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  for (uint32_t i = 0; i < r->in[0].rank; i++)
    if ((mask >> i & 1) && r->in[0].dim[i] == 0)
      return VT_FAIL(d, VT_VERIFY, "a maximum or minimum of nothing: axis %u of %s is empty", i,
                     vt_type_text(r->dims, &r->in[0], text));
  return VT_OK;
}

vt_status shape_reduce_not_empty(const vt_rule *r, vt_type *out, vt_diag *d) {
  unsigned mask;
  VT_TRY(vt_axes_mask(&((const vt_attr_reduce *)r->attrs)->axes, r->in[0].rank, &mask, d));
  VT_TRY(check_axes_not_empty(r, mask, d));
  return shape_reduce(r, out, d);
}

static vt_status check_axis(const vt_rule *r, int64_t axis, vt_diag *d) {
  if (axis >= 0 && axis < (int64_t)r->in[0].rank) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operand has rank %u", (long long)axis,
                 r->in[0].rank);
}

vt_status shape_axis_not_empty(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_axis *a = r->attrs;
  VT_TRY(check_axis(r, a->axis, d));
  VT_TRY(check_axes_not_empty(r, 1u << a->axis, d));
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_arg_reduction(const vt_rule *r, vt_type *out, vt_diag *d) {
  vt_type x;
  VT_TRY(shape_axis_not_empty(r, &x, d));
  out->dtype = VT_DTYPE_I64;
  for (uint32_t i = 0; i < x.rank; i++)
    if (i != ((const vt_attr_axis *)r->attrs)->axis) out->dim[out->rank++] = x.dim[i];
  return VT_OK;
}

vt_status shape_cumsum(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_axis(r, ((const vt_attr_cumsum *)r->attrs)->axis, d));
  *out = r->in[0];
  return VT_OK;
}

/* ---- kernels ---- */

/* A line of n elements of x and of the result y; xs and ys are their strides. */
typedef struct line {
  const void *x;
  void *y;
  int64_t n, xs, ys;
  int exclusive;
} line;

static const vt_attr_list *axes_of(const vt_kernel *k) {
  return &((const vt_attr_reduce *)k->attrs)->axes;
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
  static const vt_reduction f = {sum_f32, sum_f64, sum_whole};
  return vt_reduce_run(k, axes_of(k), &f);
}

/* max and min start with the first element, because they have no neutral element. The order in
 * which elements are compared does not change the result, because the one order is total. */
static void reduce_extreme_f32(vt_walk w, const float *x, float *y, float (*pick)(float, float)) {
  *y = x[0];
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) *y = pick(*y, x[w.at[0]]);
}

static void reduce_extreme_f64(vt_walk w, const double *x, double *y,
                               double (*pick)(double, double)) {
  *y = x[0];
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) *y = pick(*y, x[w.at[0]]);
}

static int64_t reduce_extreme_whole(vt_walk w, const void *x, uint32_t dtype, int greatest) {
  int64_t y = vt_load_int(x, dtype, 0);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t v = vt_load_int(x, dtype, w.at[0]);
    if (greatest ? v > y : v < y) y = v;
  }
  return y;
}

static void max_f32(vt_walk w, const float *x, float *y) {
  reduce_extreme_f32(w, x, y, vt_f32_max);
}
static void max_f64(vt_walk w, const double *x, double *y) {
  reduce_extreme_f64(w, x, y, vt_f64_max);
}
static int64_t max_whole(vt_walk w, const void *x, uint32_t t) {
  return reduce_extreme_whole(w, x, t, 1);
}
static void min_f32(vt_walk w, const float *x, float *y) {
  reduce_extreme_f32(w, x, y, vt_f32_min);
}
static void min_f64(vt_walk w, const double *x, double *y) {
  reduce_extreme_f64(w, x, y, vt_f64_min);
}
static int64_t min_whole(vt_walk w, const void *x, uint32_t t) {
  return reduce_extreme_whole(w, x, t, 0);
}

vt_status kernel_max(vt_kernel *k) {
  static const vt_reduction f = {max_f32, max_f64, max_whole};
  return vt_reduce_run(k, axes_of(k), &f);
}

vt_status kernel_min(vt_kernel *k) {
  static const vt_reduction f = {min_f32, min_f64, min_whole};
  return vt_reduce_run(k, axes_of(k), &f);
}

/* Whether the element at offset p is above the one at offset q in the one order. */
static int is_above(const vt_view *x, int64_t p, int64_t q) {
  if (x->dtype == VT_DTYPE_F32)
    return vt_f32_above(((const float *)x->data)[p], ((const float *)x->data)[q]);
  if (x->dtype == VT_DTYPE_F64)
    return vt_f64_above(((const double *)x->data)[p], ((const double *)x->data)[q]);
  return vt_load_int(x->data, x->dtype, p) > vt_load_int(x->data, x->dtype, q);
}

static int is_nan(const vt_view *x, int64_t p) {
  if (x->dtype == VT_DTYPE_F32) return ((const float *)x->data)[p] != ((const float *)x->data)[p];
  if (x->dtype == VT_DTYPE_F64) return ((const double *)x->data)[p] != ((const double *)x->data)[p];
  return 0;
}

/* Whether the element at offset p beats the one at q in a minimum: it is a NaN and the other is
 * not, or it is less. */
static int beats_in_minimum(const vt_view *x, int64_t p, int64_t q) {
  if (is_nan(x, p) || is_nan(x, q)) return is_nan(x, p) && !is_nan(x, q);
  return is_above(x, q, p);
}

/* Writes for each line the first index whose element is not beaten by another one; `better` tells
 * whether one element beats another. */
static vt_status run_arg_reduction(const vt_kernel *k,
                                   int (*better)(const vt_view *, int64_t, int64_t)) {
  const vt_view *x = &k->in[0];
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view kept = vt_view_drop_axis(x, axis);
  vt_walk w;
  vt_walk_init(&w, kept.rank, kept.dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &kept);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    int64_t best = 0;
    for (int64_t j = 1; j < x->dim[axis]; j++)
      if (better(x, w.at[1] + j * x->stride[axis], w.at[1] + best * x->stride[axis])) best = j;
    ((int64_t *)k->out->data)[w.at[0]] = best;
  }
  return VT_OK;
}

vt_status kernel_argmax(vt_kernel *k) { return run_arg_reduction(k, is_above); }
vt_status kernel_argmin(vt_kernel *k) { return run_arg_reduction(k, beats_in_minimum); }

/* ---- prod and cumsum: the code is the same for f32 and f64 ---- */

#define T float
#define NAME(name) name##_f32
#include "product.inc"
#undef T
#undef NAME
#define T double
#define NAME(name) name##_f64
#include "product.inc"
#undef T
#undef NAME

static int64_t prod_whole(vt_walk w, const void *x, uint32_t dtype) {
  int64_t y = 1;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    y = vt_i64_wrap_mul(y, vt_load_int(x, dtype, w.at[0]));
  return y;
}

vt_status kernel_prod(vt_kernel *k) {
  static const vt_reduction f = {prod_f32, prod_f64, prod_whole};
  return vt_reduce_run(k, axes_of(k), &f);
}

static void cumsum_whole(const line *l, uint32_t dtype) {
  int64_t sum = 0;
  for (int64_t i = 0; i < l->n; i++) {
    const int64_t before = sum;
    sum = vt_i64_wrap_add(sum, vt_load_int(l->x, dtype, i * l->xs));
    vt_store_int(l->y, dtype, i * l->ys, l->exclusive ? before : sum);
  }
}

/* The line that starts at offsets x_at and y_at; with the attribute `reverse` it starts at the last
 * element and has negative strides. */
static line line_at(const vt_kernel *k, int64_t x_at, int64_t y_at) {
  const vt_attr_cumsum *a = k->attrs;
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype), n = x->dim[a->axis];
  line l = {NULL, NULL, n, x->stride[a->axis], y->stride[a->axis], a->exclusive != 0};
  if (a->reverse && n > 0) {
    x_at += (n - 1) * l.xs;
    y_at += (n - 1) * l.ys;
    l.xs = -l.xs;
    l.ys = -l.ys;
  }
  l.x = (const char *)x->data + x_at * size;
  l.y = (char *)y->data + y_at * size;
  return l;
}

vt_status kernel_cumsum(vt_kernel *k) {
  const uint32_t axis = (uint32_t)((const vt_attr_cumsum *)k->attrs)->axis;
  const vt_view y = vt_view_drop_axis(k->out, axis), x = vt_view_drop_axis(&k->in[0], axis);
  vt_walk w;
  vt_walk_init(&w, y.rank, y.dim);
  vt_walk_view(&w, &y);
  vt_walk_view(&w, &x);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const line l = line_at(k, w.at[1], w.at[0]);
    if (x.dtype == VT_DTYPE_F32) {
      cumsum_f32(&l);
    } else if (x.dtype == VT_DTYPE_F64) {
      cumsum_f64(&l);
    } else {
      cumsum_whole(&l, x.dtype);
    }
  }
  return VT_OK;
}

/* ---- mean = S / count ---- */

uint32_t lower_mean(const vt_lowering *l) {
  const vt_type *x = l->b->type(l->b, l->in[0]);
  if (x == NULL) return VT_NO_VALUE;
  const vt_attr_reduce *a = l->attrs;
  const uint32_t dtype = x->dtype;
  unsigned mask = 0;
  if (vt_axes_mask(&a->axes, x->rank, &mask, NULL) != VT_OK) return VT_NO_VALUE;
  const int64_t count = vt_axes_element_count(x->rank, x->dim, mask);
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
  static const vt_reduction f = {mean_f32, mean_f64, sum_whole};
  return vt_reduce_run(k, axes_of(k), &f);
}
