/* SPDX-License-Identifier: Apache-2.0
 * op_loss.c - losses over classes, cross_entropy and nll: x (..., V) and targets (...) give one
 * number, or with reduction none one number per row (the V classes of one target). A row whose
 * target equals `ignore` is absent: it keeps its position in S (the ordered sum) as +0 and is
 * not counted. Each loss is written twice: as ops (the definition) and row by row (the second
 * implementation). In the gradients p is the softmax of the row. The fields of `classes` that
 * hold ids of graph values are so marked. */
#include "op_loss.h"

/* ---- shapes ---- */

static vt_status shape_class_loss(const vt_rule *r, int64_t ignore, int64_t reduction, vt_type *out,
                                  vt_diag *d) {
  const vt_type *x = &r->in[0], *t = &r->in[1];
  char tx[VT_TYPE_TEXT], tt[VT_TYPE_TEXT];
  int fits = x->rank == t->rank + 1 && x->dim[x->rank - 1] != 0;
  for (uint32_t i = 0; fits && i < t->rank; i++) fits = x->dim[i] == t->dim[i];
  if (!fits)
    return VT_FAIL(d, VT_VERIFY, "logits %s and targets %s: expected [..., V] and [...], V > 0",
                   vt_type_text(r->dims, x, tx), vt_type_text(r->dims, t, tt));
  if (r->n_in > 2 && (r->in[2].rank != 1 || r->in[2].dim[0] != x->dim[x->rank - 1]))
    return VT_FAIL(d, VT_VERIFY, "weights %s: expected one number for each class of %s",
                   vt_type_text(r->dims, &r->in[2], tt), vt_type_text(r->dims, x, tx));
  if (t->dtype == VT_DTYPE_I32 && (ignore < INT32_MIN || ignore > INT32_MAX))
    return VT_FAIL(d, VT_VERIFY, "ignore=%lld does not fit i32", (long long)ignore);
  VT_TRY(vt_loss_check_reduction(reduction, 0, d));
  if (reduction == VT_WORD_none) *out = *t;
  out->dtype = x->dtype;
  return VT_OK;
}

vt_status shape_entropy(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_entropy *a = r->attrs;
  VT_TRY(shape_class_loss(r, a->ignore, a->reduction, out, d));
  if (!(a->smoothing >= 0.0 && a->smoothing <= 1.0))
    return VT_FAIL(d, VT_VERIFY, "smoothing=%g is not in 0..1", a->smoothing);
  if (a->smoothing != 0.0 && r->n_in > 2)
    return VT_FAIL(d, VT_VERIFY, "smoothing and weights of classes do not go together");
  return VT_OK;
}

vt_status shape_nll(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_nll *a = r->attrs;
  return shape_class_loss(r, a->ignore, a->reduction, out, d);
}

/* ---- as ops ---- */

typedef struct classes {
  vt_builder *b;
  uint32_t x, dtype, axis; /* id of the value x; dtype of x; axis of the classes */
  int64_t n;               /* number of classes */
  uint32_t ignored;        /* id of a value: for each row a bool, whether it is absent */
  uint32_t target;         /* id of a value: the target of each row, 0 if the row is absent */
  uint32_t weight; /* id of a value: the weight of each row's target class; VT_NO_VALUE without the
                      operand */
} classes;

static int read_classes(classes *c, vt_builder *b, const uint32_t *in, uint32_t n_in,
                        int64_t ignore) {
  const vt_type *x = b->type(b, in[0]), *t = b->type(b, in[1]);
  if (x == NULL || t == NULL) return 0;
  const uint32_t index = t->dtype;
  *c = (classes){.b = b, .x = in[0], .dtype = x->dtype, .axis = t->rank, .n = x->dim[t->rank]};
  c->ignored = vt_build2(b, VT_OP_eq, in[1], vt_build_int(b, index, ignore));
  c->target = vt_build3(b, VT_OP_select, c->ignored, vt_build_int(b, index, 0), in[1]);
  c->weight = VT_NO_VALUE;
  if (n_in > 2) c->weight = vt_build2(b, VT_OP_gather, in[2], c->target);
  return 1;
}

static uint32_t pick_target(const classes *c, uint32_t x) {
  const vt_attr_gather pick = {.size = sizeof pick, .axis = c->axis, .batch = c->axis};
  const uint32_t in[2] = {x, c->target};
  return c->b->node(c->b, VT_OP_gather, in, 2, &pick);
}

/* Replaces by +0 what `row` holds for absent rows. */
static uint32_t zero_ignored(const classes *c, uint32_t row) {
  return vt_build3(c->b, VT_OP_select, c->ignored, vt_build_number(c->b, c->dtype, 0.0), row);
}

/* The number of rows that are not absent, as a float. */
static uint32_t count_present_rows(vt_builder *b, uint32_t ignored, uint32_t dtype) {
  const uint32_t zero = vt_build_int(b, VT_DTYPE_I64, 0), one = vt_build_int(b, VT_DTYPE_I64, 1);
  const uint32_t each = vt_build3(b, VT_OP_select, ignored, zero, one);
  return vt_build_cast(b, vt_build1(b, VT_OP_sum, each), dtype);
}

/* The divisor of the sum of all rows for the reduction mean: the number of rows that are not
 * absent, or the sum of their weights. */
static uint32_t mean_divisor(const classes *c) {
  if (c->weight == VT_NO_VALUE) return count_present_rows(c->b, c->ignored, c->dtype);
  return vt_build1(c->b, VT_OP_sum, zero_ignored(c, c->weight));
}

static uint32_t weigh_and_reduce_rows(const classes *c, uint32_t row, int64_t reduction) {
  vt_builder *b = c->b;
  if (c->weight != VT_NO_VALUE) row = vt_build2(b, VT_OP_mul, c->weight, row);
  const uint32_t rows = zero_ignored(c, row);
  if (reduction == VT_WORD_none) return rows;
  const uint32_t sum = vt_build1(b, VT_OP_sum, rows);
  return reduction == VT_WORD_sum ? sum : vt_build2(b, VT_OP_div, sum, mean_divisor(c));
}

/* (f32(1-a) * plain) + (f32(a) * (S_j(b - (x[j] - m)) / f32(V))), a the smoothing */
static uint32_t smooth_rows(const classes *c, uint32_t plain, uint32_t shifted, uint32_t log_sum,
                            double smoothing) {
  vt_builder *b = c->b;
  const uint32_t every =
      vt_build2(b, VT_OP_sub, vt_build_restore_axes(b, log_sum, c->x, 1u << c->axis), shifted);
  const uint32_t sum = vt_build_reduce(b, VT_OP_sum, every, c->axis, 0);
  const uint32_t mean = vt_build2(b, VT_OP_div, sum, vt_build_int(b, c->dtype, c->n));
  const uint32_t share = vt_build2(b, VT_OP_mul, vt_build_number(b, c->dtype, smoothing), mean);
  const uint32_t rest =
      vt_build2(b, VT_OP_mul, vt_build_number(b, c->dtype, 1.0 - smoothing), plain);
  return vt_build2(b, VT_OP_add, rest, share);
}

uint32_t lower_cross_entropy(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_entropy *a = l->attrs;
  classes c;
  if (!read_classes(&c, b, l->in, l->n_in, a->ignore)) return VT_NO_VALUE;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, c.x, c.axis, 1);
  const uint32_t shifted = vt_build2(b, VT_OP_sub, c.x, m);
  const uint32_t e = vt_build1(b, VT_OP_exp, shifted);
  const uint32_t log_sum = vt_build1(b, VT_OP_log, vt_build_reduce(b, VT_OP_sum, e, c.axis, 0));
  uint32_t row = vt_build2(b, VT_OP_sub, log_sum, pick_target(&c, shifted));
  if (a->smoothing != 0.0) row = smooth_rows(&c, row, shifted, log_sum, a->smoothing);
  return weigh_and_reduce_rows(&c, row, a->reduction);
}

uint32_t lower_nll(const vt_lowering *l) {
  const vt_attr_nll *a = l->attrs;
  classes c;
  if (!read_classes(&c, l->b, l->in, l->n_in, a->ignore)) return VT_NO_VALUE;
  const uint32_t row = vt_build1(l->b, VT_OP_neg, pick_target(&c, c.x));
  return weigh_and_reduce_rows(&c, row, a->reduction);
}

/* ---- gradients ---- */

/* Reshapes a value with one number per row so that it broadcasts along the axis of the classes. */
static uint32_t align_with_classes(const classes *c, uint32_t row) {
  return vt_build_restore_axes(c->b, row, c->x, 1u << c->axis);
}

/* The factor of the gradient of a row: dy, times its weight, divided by the divisor of a mean. It
 * is one number for all rows, or one per row. */
static uint32_t row_gradient_factor(const classes *c, uint32_t dy, int64_t reduction) {
  vt_builder *b = c->b;
  uint32_t w = dy;
  if (c->weight != VT_NO_VALUE) w = vt_build2(b, VT_OP_mul, dy, c->weight);
  if (reduction == VT_WORD_mean) w = vt_build2(b, VT_OP_div, w, mean_divisor(c));
  return reduction == VT_WORD_none || c->weight != VT_NO_VALUE ? align_with_classes(c, w) : w;
}

/* Writes a bool for each class of each row: whether it is the target of the row. */
static uint32_t mark_targets(const classes *c) {
  vt_builder *b = c->b;
  const vt_type *t = b->type(b, c->target);
  if (t == NULL) return VT_NO_VALUE;
  const vt_attr_iota a = {.size = sizeof a, .shape = {1, {c->n}}, .dtype = t->dtype};
  const uint32_t each = b->node(b, VT_OP_iota, NULL, 0, &a);
  return vt_build2(b, VT_OP_eq, each, align_with_classes(c, c->target));
}

/* The gradient of a row's loss by x: p - 1 at the target and p elsewhere; with smoothing p - q,
 * where q is the smoothed target. */
static uint32_t row_gradient(const classes *c, uint32_t p, double smoothing) {
  vt_builder *b = c->b;
  const uint32_t which = mark_targets(c);
  if (smoothing == 0.0) {
    const uint32_t less = vt_build2(b, VT_OP_sub, p, vt_build_scalar_of_same_dtype(b, p, 1.0));
    return vt_build3(b, VT_OP_select, which, less, p);
  }
  const double share = smoothing / (double)c->n;
  const uint32_t hit = vt_build_scalar_of_same_dtype(b, p, (1.0 - smoothing) + share),
                 miss = vt_build_scalar_of_same_dtype(b, p, share);
  return vt_build2(b, VT_OP_sub, p, vt_build3(b, VT_OP_select, which, hit, miss));
}

void grad_cross_entropy(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_entropy *a = g->attrs;
  classes c;
  if (!read_classes(&c, b, g->in, g->n_in, a->ignore)) return;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, c.x, c.axis, 1);
  const uint32_t e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, c.x, m));
  const uint32_t p = vt_build2(b, VT_OP_div, e, vt_build_reduce(b, VT_OP_sum, e, c.axis, 1));
  const uint32_t slope = row_gradient(&c, p, a->smoothing);
  const uint32_t w = row_gradient_factor(&c, g->d_out[0], a->reduction);
  const uint32_t dx = vt_build2(b, VT_OP_mul, slope, w), absent = align_with_classes(&c, c.ignored);
  g->d_in[0] = vt_build3(b, VT_OP_select, absent, vt_build_scalar_of_same_dtype(b, dx, 0.0), dx);
}

/* dx = -row_gradient_factor at the target of a row that is not absent, +0 elsewhere */
void grad_nll(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_nll *a = g->attrs;
  classes c;
  if (!read_classes(&c, b, g->in, g->n_in, a->ignore)) return;
  const uint32_t less = vt_build1(b, VT_OP_neg, row_gradient_factor(&c, g->d_out[0], a->reduction));
  const uint32_t present = vt_build1(b, VT_OP_not, align_with_classes(&c, c.ignored));
  const uint32_t here = vt_build2(b, VT_OP_and, present, mark_targets(&c));
  g->d_in[0] = vt_build3(b, VT_OP_select, here, less, vt_build_scalar_of_same_dtype(b, less, 0.0));
}

/* ---- second implementation: row by row ---- */

/* A row of classes. Its numbers are passed as doubles, which hold an f32 exactly. */
typedef struct class_row {
  const vt_kernel *k;
  int64_t at, stride, n, target; /* at: offset in x of the first class; n: number of classes */
} class_row;

static double number_at(const vt_view *v, int64_t at) {
  if (v->dtype == VT_DTYPE_F32) return (double)((const float *)v->data)[at];
  return ((const double *)v->data)[at];
}

static double cross_entropy_of_row(const class_row *r) {
  const vt_attr_entropy *a = r->k->attrs;
  const float *x = (const float *)r->k->in[0].data + r->at;
  vt_sum_f32 s;
  float m = x[0];
  for (int64_t i = 1; i < r->n; i++) m = vt_f32_max(m, x[i * r->stride]);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < r->n; i++) vt_sum_f32_add(&s, vt_f32_exp(x[i * r->stride] - m));
  const float log_sum = vt_f32_log(vt_sum_f32_done(&s));
  const float plain = log_sum - (x[r->target * r->stride] - m);
  if (a->smoothing == 0.0) return (double)plain;
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < r->n; i++) vt_sum_f32_add(&s, log_sum - (x[i * r->stride] - m));
  const float even = vt_sum_f32_done(&s) / (float)r->n;
  return (double)(((float)(1.0 - a->smoothing) * plain) + ((float)a->smoothing * even));
}

static double nll_of_row(const class_row *r) {
  return -number_at(&r->k->in[0], r->at + r->target * r->stride);
}

/* An ordered sum S in f32, or in f64 if `wide`. */
typedef struct total {
  int wide;
  vt_sum_f32 narrow_sum;
  vt_sum_f64 wide_sum;
} total;

static void total_init(total *t, uint32_t dtype) {
  t->wide = dtype == VT_DTYPE_F64;
  vt_sum_f32_init(&t->narrow_sum);
  vt_sum_f64_init(&t->wide_sum);
}

static void total_add(total *t, double x) {
  if (t->wide) {
    vt_sum_f64_add(&t->wide_sum, x);
  } else {
    vt_sum_f32_add(&t->narrow_sum, (float)x);
  }
}

static double total_done(total *t) {
  return t->wide ? vt_sum_f64_done(&t->wide_sum) : (double)vt_sum_f32_done(&t->narrow_sum);
}

static void store_number(const vt_view *y, int64_t at, double x) {
  if (y->dtype == VT_DTYPE_F32) {
    ((float *)y->data)[at] = (float)x;
  } else {
    ((double *)y->data)[at] = x;
  }
}

typedef struct class_loss { /* the state of a kernel that goes over all rows */
  vt_kernel *k;
  double (*row)(const class_row *);
  int64_t ignore, reduction, counted;
  total rows, weights;
} class_loss;

/* Adds the loss of one row to the sums. The product of two f32 is exact in a double and rounded
 * only once, to f32. */
static void add_row(class_loss *c, const class_row *r, int64_t out_at) {
  const vt_kernel *k = c->k;
  const int absent = r->target == c->ignore;
  double row = absent ? 0.0 : c->row(r), weight = 0.0;
  if (k->n_in > 2 && !absent) {
    weight = number_at(&k->in[2], r->target * k->in[2].stride[0]);
    row = row * weight;
    if (k->out->dtype == VT_DTYPE_F32) row = (double)(float)row;
  }
  c->counted += !absent;
  total_add(&c->rows, row);
  total_add(&c->weights, weight);
  if (c->reduction == VT_WORD_none) store_number(k->out, out_at, row);
}

static void store_result(class_loss *c) {
  const vt_view *y = c->k->out;
  const double sum = total_done(&c->rows), weights = total_done(&c->weights);
  const double by = c->k->n_in > 2 ? weights : (double)c->counted;
  if (c->reduction == VT_WORD_none) return;
  if (c->reduction == VT_WORD_sum) {
    store_number(y, 0, sum);
  } else if (y->dtype == VT_DTYPE_F32) {
    store_number(y, 0, (double)((float)sum / (float)by));
  } else {
    store_number(y, 0, sum / by);
  }
}

static vt_status run_rows(class_loss *c) {
  vt_kernel *k = c->k;
  const vt_view *x = &k->in[0], *t = &k->in[1];
  const vt_view rows = vt_view_drop_axis(x, x->rank - 1);
  class_row r = {.k = k, .stride = x->stride[x->rank - 1], .n = x->dim[x->rank - 1]};
  vt_walk w;
  vt_walk_init(&w, rows.rank, rows.dim);
  vt_walk_view(&w, &rows);
  vt_walk_view(&w, t);
  vt_walk_view(&w, k->out);
  total_init(&c->rows, x->dtype);
  total_init(&c->weights, x->dtype);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    r.at = w.at[0];
    r.target = vt_load_int(t->data, t->dtype, w.at[1]);
    if (r.target != c->ignore && (r.target < 0 || r.target >= r.n)) {
      k->position = (uint64_t)i;
      k->value = r.target;
      return VT_RANGE;
    }
    add_row(c, &r, w.at[2]);
  }
  store_result(c);
  return VT_OK;
}

vt_status kernel_cross_entropy(vt_kernel *k) {
  const vt_attr_entropy *a = k->attrs;
  class_loss c = {
      .k = k, .row = cross_entropy_of_row, .ignore = a->ignore, .reduction = a->reduction};
  return run_rows(&c);
}

vt_status kernel_nll(vt_kernel *k) {
  const vt_attr_nll *a = k->attrs;
  class_loss c = {.k = k, .row = nll_of_row, .ignore = a->ignore, .reduction = a->reduction};
  return run_rows(&c);
}
