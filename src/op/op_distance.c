/* SPDX-License-Identifier: Apache-2.0
 * op_distance.c - losses that compare the prediction x and the target t element by element (mse,
 * l1, huber, smooth_l1, kl_div), and the reduction of all losses of elements. Each is written
 * twice: as ops (the definition) and as a function of one element. In formulas d = x - t, and w
 * is the gradient of the result divided by the divisor of the reduction; the formula of a
 * gradient is that of x. */
#include "op_loss.h"

/* ---- shapes ---- */

vt_status vt_loss_check_reduction(int64_t word, int allow_batch, vt_diag *d) {
  const char *text = vt_word_text(word);
  if (word == VT_WORD_none || word == VT_WORD_mean || word == VT_WORD_sum) return VT_OK;
  if (allow_batch && word == VT_WORD_batch) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "reduction=%s, expected none, mean%s", text == NULL ? "?" : text,
                 allow_batch ? ", sum or batch" : " or sum");
}

vt_status vt_loss_shape(const vt_rule *r, int64_t reduction, vt_type *out, vt_diag *d) {
  char tx[VT_TYPE_TEXT], tt[VT_TYPE_TEXT];
  if (!vt_type_equal(&r->in[0], &r->in[1]))
    return VT_FAIL(d, VT_VERIFY, "x is %s and t is %s: expected one shape",
                   vt_type_text(r->dims, &r->in[0], tx), vt_type_text(r->dims, &r->in[1], tt));
  if (reduction == VT_WORD_none) {
    *out = r->in[0];
  } else {
    out->dtype = r->in[0].dtype;
  }
  return VT_OK;
}

vt_status shape_loss(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t reduction = ((const vt_attr_loss *)r->attrs)->reduction;
  VT_TRY(vt_loss_check_reduction(reduction, 0, d));
  return vt_loss_shape(r, reduction, out, d);
}

vt_status shape_kl_div(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t reduction = ((const vt_attr_loss *)r->attrs)->reduction;
  VT_TRY(vt_loss_check_reduction(reduction, 1, d));
  if (reduction == VT_WORD_batch && r->in[0].rank == 0)
    return VT_FAIL(d, VT_VERIFY, "reduction=batch of a scalar: it has no first dimension");
  return vt_loss_shape(r, reduction, out, d);
}

vt_status shape_huber(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_huber *a = r->attrs;
  if (!(a->delta > 0.0) || a->delta - a->delta != 0.0)
    return VT_FAIL(d, VT_VERIFY, "delta=%g: expected a finite number above 0", a->delta);
  VT_TRY(vt_loss_check_reduction(a->reduction, 0, d));
  return vt_loss_shape(r, a->reduction, out, d);
}

vt_status shape_smooth_l1(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_smooth_l1 *a = r->attrs;
  if (!(a->beta >= 0.0) || a->beta - a->beta != 0.0)
    return VT_FAIL(d, VT_VERIFY, "beta=%g: expected a finite number, at least 0", a->beta);
  VT_TRY(vt_loss_check_reduction(a->reduction, 0, d));
  return vt_loss_shape(r, a->reduction, out, d);
}

/* ---- as ops ---- */

/* The divisor of a sum of losses over a tensor of type t: the number of elements, or for the
 * reduction `batch` the first dimension. */
static uint32_t build_divisor(vt_builder *b, const vt_type *t, int64_t reduction) {
  const int64_t n =
      reduction == VT_WORD_batch ? t->dim[0] : vt_axes_element_count(t->rank, t->dim, ~0u);
  return vt_build_int(b, t->dtype, n);
}

uint32_t vt_build_reduced_loss(vt_builder *b, uint32_t each, int64_t reduction) {
  const vt_type *t = b->type(b, each);
  if (t == NULL || reduction == VT_WORD_none) return each;
  const vt_type type = *t;
  const uint32_t sum = vt_build1(b, VT_OP_sum, each);
  if (reduction == VT_WORD_sum) return sum;
  return vt_build2(b, VT_OP_div, sum, build_divisor(b, &type, reduction));
}

static uint32_t build_difference(vt_builder *b, const uint32_t *in) {
  return vt_build2(b, VT_OP_sub, in[0], in[1]);
}

uint32_t lower_mse(const vt_lowering *l) {
  const uint32_t d = build_difference(l->b, l->in);
  const uint32_t each = vt_build2(l->b, VT_OP_mul, d, d);
  return vt_build_reduced_loss(l->b, each, ((const vt_attr_loss *)l->attrs)->reduction);
}

uint32_t lower_l1(const vt_lowering *l) {
  const uint32_t each = vt_build1(l->b, VT_OP_abs, build_difference(l->b, l->in));
  return vt_build_reduced_loss(l->b, each, ((const vt_attr_loss *)l->attrs)->reduction);
}

/* 0.5*(d*d) */
static uint32_t half_square(vt_builder *b, uint32_t d) {
  const uint32_t square = vt_build2(b, VT_OP_mul, d, d);
  return vt_build2(b, VT_OP_mul, vt_build_scalar_of_same_dtype(b, d, 0.5), square);
}

/* size - 0.5*edge, where size is abs d; the product is rounded once */
static uint32_t minus_half_edge(vt_builder *b, uint32_t size, double edge) {
  return vt_build2(b, VT_OP_sub, size, vt_build_scalar_of_same_dtype(b, size, 0.5 * edge));
}

uint32_t lower_huber(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_huber *a = l->attrs;
  const uint32_t d = build_difference(b, l->in), size = vt_build1(b, VT_OP_abs, d);
  const uint32_t delta = vt_build_scalar_of_same_dtype(b, d, a->delta), near = half_square(b, d);
  const uint32_t far = vt_build2(b, VT_OP_mul, delta, minus_half_edge(b, size, a->delta));
  const uint32_t close = vt_build2(b, VT_OP_le, size, delta);
  return vt_build_reduced_loss(b, vt_build3(b, VT_OP_select, close, near, far), a->reduction);
}

uint32_t lower_smooth_l1(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_smooth_l1 *a = l->attrs;
  const uint32_t d = build_difference(b, l->in), size = vt_build1(b, VT_OP_abs, d);
  const uint32_t beta = vt_build_scalar_of_same_dtype(b, d, a->beta);
  const uint32_t near = vt_build2(b, VT_OP_div, half_square(b, d), beta);
  const uint32_t far = minus_half_edge(b, size, a->beta),
                 close = vt_build2(b, VT_OP_lt, size, beta);
  return vt_build_reduced_loss(b, vt_build3(b, VT_OP_select, close, near, far), a->reduction);
}

/* t == 0 ? +0 : t*(log(t) - x) */
uint32_t lower_kl_div(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t t = l->in[1], zero = vt_build_scalar_of_same_dtype(b, t, 0.0);
  const uint32_t gap = vt_build2(b, VT_OP_sub, vt_build1(b, VT_OP_log, t), l->in[0]);
  const uint32_t part = vt_build2(b, VT_OP_mul, t, gap);
  const uint32_t absent = vt_build2(b, VT_OP_eq, t, zero);
  const uint32_t each = vt_build3(b, VT_OP_select, absent, zero, part);
  return vt_build_reduced_loss(b, each, ((const vt_attr_loss *)l->attrs)->reduction);
}

/* ---- gradients ---- */

uint32_t vt_build_loss_weight(const vt_gradient *g, int64_t reduction) {
  const vt_type *t = g->b->type(g->b, g->in[0]);
  if (t == NULL || reduction == VT_WORD_none || reduction == VT_WORD_sum) return g->d_out[0];
  const vt_type type = *t;
  return vt_build2(g->b, VT_OP_div, g->d_out[0], build_divisor(g->b, &type, reduction));
}

/* Sets the gradient of x to dx and that of t to -dx. */
static void set_dx_and_minus_dx(const vt_gradient *g, uint32_t dx) {
  g->d_in[0] = dx;
  g->d_in[1] = vt_build1(g->b, VT_OP_neg, dx);
}

/* (2*d)*w */
void grad_mse(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t d = build_difference(b, g->in);
  const uint32_t twice = vt_build2(b, VT_OP_mul, vt_build_scalar_of_same_dtype(b, d, 2.0), d);
  const uint32_t w = vt_build_loss_weight(g, ((const vt_attr_loss *)g->attrs)->reduction);
  set_dx_and_minus_dx(g, vt_build2(b, VT_OP_mul, twice, w));
}

/* d > 0 ? w : d < 0 ? -w : +0 */
void grad_l1(const vt_gradient *g) {
  const uint32_t d = build_difference(g->b, g->in);
  const uint32_t w = vt_build_loss_weight(g, ((const vt_attr_loss *)g->attrs)->reduction);
  set_dx_and_minus_dx(g, vt_build_y_times_sign_of_x(g->b, d, w));
}

/* abs d <= delta ? d*w : d > 0 ? delta*w : -(delta*w) */
void grad_huber(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_huber *a = g->attrs;
  const uint32_t d = build_difference(b, g->in), w = vt_build_loss_weight(g, a->reduction);
  const uint32_t delta = vt_build_scalar_of_same_dtype(b, d, a->delta),
                 most = vt_build2(b, VT_OP_mul, delta, w);
  const uint32_t close = vt_build2(b, VT_OP_le, vt_build1(b, VT_OP_abs, d), delta);
  const uint32_t above = vt_build2(b, VT_OP_gt, d, vt_build_scalar_of_same_dtype(b, d, 0.0));
  const uint32_t far = vt_build3(b, VT_OP_select, above, most, vt_build1(b, VT_OP_neg, most));
  const uint32_t near = vt_build2(b, VT_OP_mul, d, w);
  set_dx_and_minus_dx(g, vt_build3(b, VT_OP_select, close, near, far));
}

/* abs d < beta ? (d/beta)*w : d > 0 ? w : d < 0 ? -w : +0 */
void grad_smooth_l1(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_smooth_l1 *a = g->attrs;
  const uint32_t d = build_difference(b, g->in), w = vt_build_loss_weight(g, a->reduction);
  const uint32_t beta = vt_build_scalar_of_same_dtype(b, d, a->beta);
  const uint32_t near = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_div, d, beta), w);
  const uint32_t close = vt_build2(b, VT_OP_lt, vt_build1(b, VT_OP_abs, d), beta);
  set_dx_and_minus_dx(g,
                      vt_build3(b, VT_OP_select, close, near, vt_build_y_times_sign_of_x(b, d, w)));
}

/* t == 0 ? +0 : -(t*w) */
void grad_kl_div(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t t = g->in[1], zero = vt_build_scalar_of_same_dtype(b, t, 0.0);
  const uint32_t w = vt_build_loss_weight(g, ((const vt_attr_loss *)g->attrs)->reduction);
  const uint32_t part = vt_build1(b, VT_OP_neg, vt_build2(b, VT_OP_mul, t, w));
  const uint32_t absent = vt_build2(b, VT_OP_eq, t, zero);
  g->d_in[0] = vt_build3(b, VT_OP_select, absent, zero, part);
}

/* ---- second implementation: element by element ---- */

static int64_t loss_divisor(const vt_view *x, int64_t reduction) {
  return reduction == VT_WORD_batch ? x->dim[0] : vt_view_count(x);
}

static void run_loss_f32(const vt_kernel *k, const vt_loss *f, double coefficient,
                         int64_t reduction, vt_walk w) {
  const float *x = k->in[0].data, *t = k->in[1].data;
  float *y = k->out->data;
  vt_sum_f32 s;
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float each = f->f32(x[w.at[0]], t[w.at[1]], coefficient);
    if (reduction == VT_WORD_none) {
      y[w.at[2]] = each;
    } else {
      vt_sum_f32_add(&s, each);
    }
  }
  if (reduction == VT_WORD_none) return;
  *y = vt_sum_f32_done(&s);
  if (reduction != VT_WORD_sum) *y /= (float)loss_divisor(&k->in[0], reduction);
}

static void run_loss_f64(const vt_kernel *k, const vt_loss *f, double coefficient,
                         int64_t reduction, vt_walk w) {
  const double *x = k->in[0].data, *t = k->in[1].data;
  double *y = k->out->data;
  vt_sum_f64 s;
  vt_sum_f64_init(&s);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const double each = f->f64(x[w.at[0]], t[w.at[1]], coefficient);
    if (reduction == VT_WORD_none) {
      y[w.at[2]] = each;
    } else {
      vt_sum_f64_add(&s, each);
    }
  }
  if (reduction == VT_WORD_none) return;
  *y = vt_sum_f64_done(&s);
  if (reduction != VT_WORD_sum) *y /= (double)loss_divisor(&k->in[0], reduction);
}

vt_status vt_loss_run(const vt_kernel *k, const vt_loss *f, double coefficient, int64_t reduction) {
  vt_walk w;
  vt_walk_init(&w, k->in[0].rank, k->in[0].dim);
  vt_walk_view(&w, &k->in[0]);
  vt_walk_view(&w, &k->in[1]);
  vt_walk_view(&w, k->out);
  if (k->out->dtype == VT_DTYPE_F32) {
    run_loss_f32(k, f, coefficient, reduction, w);
  } else {
    run_loss_f64(k, f, coefficient, reduction, w);
  }
  return VT_OK;
}

#define T float
#define GREATER vt_f32_max
#define NAME(name) name##_f32
#include "distance.inc"
#undef T
#undef GREATER
#undef NAME
#define T double
#define GREATER vt_f64_max
#define NAME(name) name##_f64
#include "distance.inc"

vt_status kernel_mse(vt_kernel *k) {
  static const vt_loss f = {mse_f32, mse_f64};
  return vt_loss_run(k, &f, 0.0, ((const vt_attr_loss *)k->attrs)->reduction);
}

vt_status kernel_l1(vt_kernel *k) {
  static const vt_loss f = {l1_f32, l1_f64};
  return vt_loss_run(k, &f, 0.0, ((const vt_attr_loss *)k->attrs)->reduction);
}

vt_status kernel_huber(vt_kernel *k) {
  static const vt_loss f = {huber_f32, huber_f64};
  const vt_attr_huber *a = k->attrs;
  return vt_loss_run(k, &f, a->delta, a->reduction);
}

vt_status kernel_smooth_l1(vt_kernel *k) {
  static const vt_loss f = {smooth_l1_f32, smooth_l1_f64};
  const vt_attr_smooth_l1 *a = k->attrs;
  return vt_loss_run(k, &f, a->beta, a->reduction);
}

static float kl_div_f32(float x, float t, double p) {
  (void)p;
  return t == 0.0f ? 0.0f : t * (vt_f32_log(t) - x);
}

vt_status kernel_kl_div(vt_kernel *k) {
  static const vt_loss f = {kl_div_f32, NULL};
  return vt_loss_run(k, &f, 0.0, ((const vt_attr_loss *)k->attrs)->reduction);
}
