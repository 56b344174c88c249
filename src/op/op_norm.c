/* SPDX-License-Identifier: Apache-2.0
 * op_norm.c - softmax and log_softmax along one axis, layer_norm and rms_norm over the last
 * axes. Each is written twice: as ops (the definition) and row by row (the second
 * implementation). The index set of a norm is the elements that are normalised together, also
 * called a row. S is the ordered sum of docs/numerics.md, dy the gradient of the result y, dx
 * that of x. */
#include "op_norm.h"
#include "vt_num.h"

/* ---- shapes ---- */

static vt_status refuse_operand(const vt_rule *r, uint32_t i, const char *expected, vt_diag *d) {
  char tx[VT_TYPE_TEXT], tg[VT_TYPE_TEXT];
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected %s of %s", i + 1,
                 vt_type_text(r->dims, &r->in[i], tg), expected,
                 vt_type_text(r->dims, &r->in[0], tx));
}

/* The number of last axes of x that form one index set: the rank of gamma, or 1 if the node has no
 * gamma. */
static uint32_t index_set_rank(uint32_t n_in, const vt_type *in) {
  return n_in > 1 ? in[1].rank : 1;
}

static vt_status check_match_last_axes(const vt_rule *r, uint32_t rank, const char *expected,
                                       vt_diag *d) {
  const vt_type *x = &r->in[0];
  for (uint32_t i = 1; i < r->n_in; i++) {
    int fits = r->in[i].rank == rank && rank > 0 && rank <= x->rank;
    for (uint32_t k = 0; fits && k < rank; k++)
      fits = r->in[i].dim[k] == x->dim[x->rank - rank + k];
    if (!fits) return refuse_operand(r, i, expected, d);
  }
  return VT_OK;
}

static vt_status check_has_axis(const vt_rule *r, vt_diag *d) {
  if (r->in[0].rank > 0) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "a norm needs an axis, its operand is a scalar");
}

vt_status shape_layer_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  const uint32_t rank = index_set_rank(r->n_in, r->in);
  VT_TRY(check_has_axis(r, d));
  VT_TRY(check_match_last_axes(
      r, rank, rank < 2 ? "one number along the last axis" : "the shape of the last axes", d));
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_rms_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_has_axis(r, d));
  VT_TRY(check_match_last_axes(r, 1, "one number along the last axis", d));
  *out = r->in[0];
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

vt_norm_parts vt_build_norm(vt_builder *b, uint32_t x, unsigned mask, double eps, int centred) {
  vt_norm_parts p = {.u = VT_NO_VALUE, .d = x};
  const vt_type *t = b->type(b, x);
  if (t == NULL) return (vt_norm_parts){VT_NO_VALUE, VT_NO_VALUE, VT_NO_VALUE, VT_NO_VALUE};
  const uint32_t dtype = t->dtype;
  const int64_t n = vt_axes_element_count(t->rank, t->dim, mask);
  if (centred) {
    p.u = vt_build_mean(b, x, mask);
    p.d = vt_build2(b, VT_OP_sub, x, p.u);
  }
  p.squares = vt_build_reduce_over(b, VT_OP_sum, vt_build2(b, VT_OP_mul, p.d, p.d), mask);
  const uint32_t v = vt_build2(b, VT_OP_div, p.squares, vt_build_int(b, dtype, n));
  const uint32_t shifted = vt_build2(b, VT_OP_add, v, vt_build_number(b, dtype, eps));
  const uint32_t root = vt_build1(b, VT_OP_sqrt, shifted);
  p.r = vt_build2(b, VT_OP_div, vt_build_number(b, dtype, 1.0), root);
  return p;
}

/* The axes of one index set of a layer_norm or rms_norm as a bit mask; 0 if an earlier node
 * failed. */
static unsigned last_axes_mask(const vt_builder *b, const uint32_t *in, uint32_t n_in) {
  const vt_type *x = b->type(b, in[0]), *gamma = n_in > 1 ? b->type(b, in[1]) : NULL;
  if (x == NULL || (n_in > 1 && gamma == NULL)) return 0;
  const uint32_t lead = x->rank - (gamma == NULL ? 1 : gamma->rank);
  return ((1u << x->rank) - 1) & ~((1u << lead) - 1);
}

/* Writes a layer_norm if `centred`, otherwise an rms_norm. */
static uint32_t lower_norm_of_last_axes(const vt_lowering *l, int centred) {
  vt_builder *b = l->b;
  const double eps = ((const vt_attr_norm *)l->attrs)->eps;
  const unsigned mask = last_axes_mask(b, l->in, l->n_in);
  const vt_norm_parts p = vt_build_norm(b, l->in[0], mask, eps, centred);
  uint32_t y = vt_build2(b, VT_OP_mul, p.d, p.r);
  if (l->n_in > 1) y = vt_build2(b, VT_OP_mul, y, l->in[1]);
  return l->n_in > 2 ? vt_build2(b, VT_OP_add, y, l->in[2]) : y;
}

uint32_t lower_layer_norm(const vt_lowering *l) { return lower_norm_of_last_axes(l, 1); }
uint32_t lower_rms_norm(const vt_lowering *l) { return lower_norm_of_last_axes(l, 0); }

/* ---- gradients ---- */

/* dx = y * (dy - S(dy*y)) */
void grad_softmax(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)g->attrs)->axis, y = g->out[0];
  const uint32_t each = vt_build2(b, VT_OP_mul, g->d_out[0], y);
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, each, axis, 1);
  g->d_in[0] = vt_build2(b, VT_OP_mul, y, vt_build2(b, VT_OP_sub, g->d_out[0], sum));
}

/* dx = dy - exp(y)*S(dy) */
void grad_log_softmax(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)g->attrs)->axis;
  const uint32_t share = vt_build1(b, VT_OP_exp, g->out[0]);
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, g->d_out[0], axis, 1);
  g->d_in[0] = vt_build2(b, VT_OP_sub, g->d_out[0], vt_build2(b, VT_OP_mul, share, sum));
}

uint32_t vt_build_norm_gradient(vt_builder *b, const vt_norm_parts *p, uint32_t dh, unsigned mask,
                                int centred) {
  const uint32_t h = vt_build2(b, VT_OP_mul, p->d, p->r);
  const uint32_t level = centred ? vt_build2(b, VT_OP_sub, dh, vt_build_mean(b, dh, mask)) : dh;
  const uint32_t tilt = vt_build_mean(b, vt_build2(b, VT_OP_mul, dh, h), mask);
  const uint32_t flat = vt_build2(b, VT_OP_sub, level, vt_build2(b, VT_OP_mul, h, tilt));
  return vt_build2(b, VT_OP_mul, flat, p->r);
}

/* S of `each` over all rows of x, in the shape of `one_row`. The axes before those of
 * a row are merged into one axis to sum over, of length 1 if x has no such axes. */
static uint32_t sum_over_rows(vt_builder *b, uint32_t each, uint32_t one_row) {
  const vt_type *x = b->type(b, each), *t = b->type(b, one_row);
  if (x == NULL || t == NULL) return VT_NO_VALUE;
  const vt_type like = *t;
  const unsigned lead = (1u << (x->rank - like.rank)) - 1;
  const int64_t dim[2] = {vt_axes_element_count(x->rank, x->dim, lead),
                          vt_axes_element_count(like.rank, like.dim, ~0u)};
  const uint32_t rows = vt_build_reshape(b, each, 2, dim);
  return vt_build_reshape(b, vt_build_reduce(b, VT_OP_sum, rows, 0, 0), like.rank, like.dim);
}

static void grad_norm_of_last_axes(const vt_gradient *g, int centred) {
  vt_builder *b = g->b;
  const double eps = ((const vt_attr_norm *)g->attrs)->eps;
  const unsigned mask = last_axes_mask(b, g->in, g->n_in);
  const uint32_t dy = g->d_out[0];
  const vt_norm_parts p = vt_build_norm(b, g->in[0], mask, eps, centred);
  const uint32_t a = g->n_in > 1 ? vt_build2(b, VT_OP_mul, dy, g->in[1]) : dy;
  g->d_in[0] = vt_build_norm_gradient(b, &p, a, mask, centred);
  if (g->n_in > 1) {
    const uint32_t h = vt_build2(b, VT_OP_mul, p.d, p.r);
    g->d_in[1] = sum_over_rows(b, vt_build2(b, VT_OP_mul, dy, h), g->in[1]);
  }
  if (g->n_in > 2) g->d_in[2] = sum_over_rows(b, dy, g->in[2]);
}

void grad_layer_norm(const vt_gradient *g) { grad_norm_of_last_axes(g, 1); }
void grad_rms_norm(const vt_gradient *g) { grad_norm_of_last_axes(g, 0); }

/* ---- row by row ---- */

typedef struct row { /* n elements along the axis; xs and ys are their strides in x and y */
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

static vt_status run_rows(const vt_kernel *k, void (*f)(const row *)) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view y = vt_view_drop_axis(k->out, axis), x = vt_view_drop_axis(&k->in[0], axis);
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

vt_status kernel_softmax(vt_kernel *k) { return run_rows(k, softmax_row); }
vt_status kernel_log_softmax(vt_kernel *k) { return run_rows(k, log_softmax_row); }

/* norm.inc has the code of the norms for one type; it is included for f32 and for f64. */
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

void vt_norm_set_run(vt_norm_set *s, uint32_t dtype) {
  if (dtype == VT_DTYPE_F32) {
    norm_f32(s);
  } else {
    norm_f64(s);
  }
}

/* The view of v with the axes `first` and later, at index 0 of the axes before them. */
static vt_view axes_from(const vt_view *v, uint32_t first) {
  vt_view t = *v;
  for (uint32_t i = 0; i < first; i++) t = vt_view_drop_axis(&t, 0);
  return t;
}

static vt_status run_norm_of_last_axes(const vt_kernel *k, int centred) {
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  const uint32_t lead = x->rank - (k->n_in > 1 ? k->in[1].rank : 1);
  const vt_view set_y = axes_from(y, lead), set_x = axes_from(x, lead);
  vt_view rows_y = *y, rows_x = *x;
  vt_norm_set s = {.eps = ((const vt_attr_norm *)k->attrs)->eps, .centred = centred};
  vt_walk w;
  rows_y.rank = rows_x.rank = lead;
  vt_walk_init(&w, lead, x->dim);
  vt_walk_view(&w, &rows_y);
  vt_walk_view(&w, &rows_x);
  vt_walk_init(&s.walk, set_x.rank, set_x.dim);
  vt_walk_view(&s.walk, &set_y);
  vt_walk_view(&s.walk, &set_x);
  for (uint32_t i = 1; i < k->n_in; i++) vt_walk_view(&s.walk, &k->in[i]);
  s.gamma = k->n_in > 1 ? k->in[1].data : NULL;
  s.beta = k->n_in > 2 ? k->in[2].data : NULL;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    s.y = (char *)y->data + w.at[0] * size;
    s.x = (const char *)x->data + w.at[1] * size;
    vt_norm_set_run(&s, x->dtype);
  }
  return VT_OK;
}

vt_status kernel_layer_norm(vt_kernel *k) { return run_norm_of_last_axes(k, 1); }
vt_status kernel_rms_norm(vt_kernel *k) { return run_norm_of_last_axes(k, 0); }
