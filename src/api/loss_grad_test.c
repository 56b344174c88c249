/* SPDX-License-Identifier: Apache-2.0
 * loss_grad_test.c - both implementations of each loss and of its gradient, compared with formulas
 * on arrays. The two implementations are those of reference:0, which decomposes the op, and
 * reference:1, which runs its own kernel. A formula_ function computes what the op defines, in
 * plain C. Losses of classes are cross_entropy and nll, whose target is a class number; all others
 * are losses of elements. */
#include "grad_sets_test.h"

enum { NONE, SUM, MEAN, BATCH, REDUCTIONS };
static const char *const reductions[REDUCTIONS] = {"none", "sum", "mean", "batch"};

/* ---- losses of elements ---- */

typedef struct element {
  double x, t;      /* operands: prediction and target */
  double p;         /* the attribute delta or beta, in f64 */
  double w;         /* the incoming gradient of this element's loss */
  double y, dx, dt; /* results: the loss, and the gradients of x and t */
} element;
/* Computes the results y, dx and dt of one element. */
typedef void formula_fn(element *e);

static void set_opposite_gradients(element *e, double dx) {
  e->dx = dx;
  e->dt = -dx;
}

static void formula_mse(element *e) {
  const double d = minus(e->x, e->t);
  e->y = times(d, d);
  set_opposite_gradients(e, times(times(2, d), e->w));
}

static void formula_l1(element *e) {
  const double d = minus(e->x, e->t);
  e->y = fabs(d);
  set_opposite_gradients(e, d > 0 ? e->w : d < 0 ? -e->w : 0.0);
}

static void formula_huber(element *e) {
  const double d = minus(e->x, e->t), delta = rounded(e->p);
  const int near = fabs(d) <= delta;
  e->y = near ? times(0.5, times(d, d)) : times(delta, minus(fabs(d), rounded(0.5 * e->p)));
  set_opposite_gradients(e, near    ? times(d, e->w)
                            : d > 0 ? times(delta, e->w)
                                    : -times(delta, e->w));
}

static void formula_smooth_l1(element *e) {
  const double d = minus(e->x, e->t), beta = rounded(e->p);
  const int near = fabs(d) < beta;
  e->y = near ? over(times(0.5, times(d, d)), beta) : minus(fabs(d), rounded(0.5 * e->p));
  set_opposite_gradients(e, near ? times(over(d, beta), e->w) : d > 0 ? e->w : d < 0 ? -e->w : 0.0);
}

static void formula_kl_div(element *e) {
  e->y = e->t == 0 ? 0.0 : times(e->t, minus(log_in_f32(e->t), e->x));
  e->dx = e->t == 0 ? 0.0 : -times(e->t, e->w);
}

static double log1p_in_f32(double a) { return (double)vt_f32_log1p((float)a); }
static double larger_in_f32(double a, double b) { return (double)vt_f32_max((float)a, (float)b); }

static void formula_bce(element *e) {
  const double no = larger_in_f32(log1p_in_f32(-e->x), -100),
               yes = larger_in_f32(log_in_f32(e->x), -100);
  e->y = minus(times(minus(e->t, 1), no), times(e->t, yes));
  e->dx = over(times(e->w, minus(e->x, e->t)),
               larger_in_f32(times(minus(1, e->x), e->x), (double)vt_f32_from_bits(0x2b8cbccc)));
}

static void formula_bce_with_logits(element *e) {
  const double line = minus(larger_in_f32(e->x, 0), times(e->x, e->t));
  e->y = plus(line, log1p_in_f32(exp_in_f32(-fabs(e->x))));
  e->dx = times(minus((double)vt_f32_sigmoid((float)e->x), e->t), e->w);
}

typedef struct loss {
  const char *name, *rest; /* the op; its attributes as text */
  formula_fn *formula;
  int f32_only;   /* 1: the op has no f64 form */
  int target_too; /* 1: the target has a gradient */
  int batch_too;  /* 1: the op has the reduction "batch" */
  double p;       /* the attribute */
} loss;

static const loss losses[] = {{"mse", "", formula_mse, 0, 1, 0, 0},
                              {"l1", "", formula_l1, 0, 1, 0, 0},
                              {"huber", "", formula_huber, 0, 1, 0, 1},
                              {"huber", ", delta=0.8", formula_huber, 0, 1, 0, 0.8},
                              {"smooth_l1", "", formula_smooth_l1, 0, 1, 0, 1},
                              {"smooth_l1", ", beta=0.8", formula_smooth_l1, 0, 1, 0, 0.8},
                              {"smooth_l1", ", beta=0", formula_smooth_l1, 0, 1, 0, 0},
                              {"kl_div", "", formula_kl_div, 1, 0, 1, 0},
                              {"bce", "", formula_bce, 1, 0, 0, 0},
                              {"bce_with_logits", "", formula_bce_with_logits, 1, 0, 0, 0}};

/* Returns the sum or the mean of the losses of all elements; for BATCH the sum is divided by
 * `first_dim`, the size of the first dimension. */
static double reduce_losses(int reduction, const double *each, int64_t n, int64_t first_dim) {
  const double sum = ordered_sum_s(case_type, each, n, 1);
  return reduction == SUM ? sum : over(sum, rounded((double)(reduction == BATCH ? first_dim : n)));
}

static void check_element_loss(const grad_case *r, const loss *f, int reduction) {
  const grad_array x = array_of_port_named(r, "x"), t = array_of_port_named(r, "t"),
                   dy = array_of_port_named(r, "d0");
  double *y = new_zeros(x.n), *dx = new_zeros(x.n), *dt = new_zeros(x.n);
  case_type = x.dtype;
  for (int64_t i = 0; i < x.n; i++) {
    element e = {.x = x.v[i], .t = t.v[i], .p = f->p, .w = dy.v[reduction == NONE ? i : 0]};
    if (reduction == MEAN) e.w = over(e.w, rounded((double)x.n));
    if (reduction == BATCH) e.w = over(e.w, rounded((double)x.dim[0]));
    f->formula(&e);
    y[i] = e.y;
    dx[i] = e.dx;
    dt[i] = e.dt;
  }
  const double one = reduction == NONE ? 0 : reduce_losses(reduction, y, x.n, x.dim[0]);
  expect_output(r, "y", reduction == NONE ? y : &one, reduction == NONE ? x.n : 1);
  expect_output(r, "d.x", dx, x.n);
  if (f->target_too) {
    expect_output(r, "d.t", dt, x.n);
  } else {
    const grad_array none = array_of_port_named(r, "d.t");
    CHECK(none.v == NULL);
  }
  free(x.v);
  free(t.v);
  free(dy.v);
  free(y);
  free(dx);
  free(dt);
}

static void test_element_loss(const loss *f) {
  static const char *const shapes[] = {"7", "", "0", "3, 4", "2, 0, 3", "33, 32", "2, 2, 257"};
  char lines[200];
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int how = 0; how < REDUCTIONS; how++)
      for (int mix = 0; mix < 2 * MIXES; mix++) {
        const char *type = mix % 2 && !f->f32_only ? "f64" : "f32";
        grad_case r = {.mix = mix / 2};
        if (how == BATCH && (!f->batch_too || shapes[s][0] == 0)) continue;
        snprintf(lines, sizeof lines,
                 "input x: %s[%s]\ninput t: %s[%s]\noutput y = %s(x, t, reduction=%s%s)", type,
                 shapes[s], type, shapes[s], f->name, reductions[how], f->rest);
        run_case(&r, lines);
        check_element_loss(&r, f, how);
        free_case(&r);
      }
}

/* ---- losses of classes ---- */

typedef struct classes {
  /* Logits, targets, class weights (c.v is NULL if there are none) and the incoming gradient. */
  grad_array x, t, c, dy;
  int64_t rows, n, ignore; /* number of rows; number of classes; the target that is ignored */
  int how, entropy;        /* `how`: the reduction; `entropy`: 1 for cross_entropy, 0 for nll */
  double a;                /* smoothing */
  /* `row` and `weight`: loss and weight of each row; `dx`: gradient of each element. */
  double *row, *weight, *dx;
} classes;

static double greatest(const double *x, int64_t n) {
  double m = x[0];
  for (int64_t i = 1; i < n; i++)
    if (comes_above(x[i], m)) m = x[i];
  return m;
}

/* Computes the loss of row r and, in k->dx, its gradient for an incoming gradient of 1. */
static void formula_class_row(classes *k, int64_t r) {
  const double *x = k->x.v + r * k->n, m = greatest(x, k->n);
  const int64_t target = (int64_t)k->t.v[r];
  double *e = new_zeros(k->n), *dx = k->dx + r * k->n;
  for (int64_t j = 0; j < k->n; j++) e[j] = exp_in_f32(minus(x[j], m));
  const double sum = ordered_sum_s(case_type, e, k->n, 1), b = k->entropy ? log_in_f32(sum) : 0;
  k->row[r] = k->entropy ? minus(b, minus(x[target], m)) : -x[target];
  for (int64_t j = 0; j < k->n; j++) {
    const double p = over(e[j], sum), share = k->a / (double)k->n;
    const double q = rounded(j == target ? (1 - k->a) + share : share);
    dx[j] = k->a != 0 ? minus(p, q) : j == target ? minus(p, 1) : p;
    if (!k->entropy) dx[j] = j == target ? -1.0 : 0.0;
  }
  for (int64_t j = 0; j < k->n; j++) e[j] = minus(b, minus(x[j], m));
  if (k->a != 0)
    k->row[r] =
        plus(times(rounded(1 - k->a), k->row[r]),
             times(rounded(k->a), over(ordered_sum_s(case_type, e, k->n, 1), (double)k->n)));
  free(e);
}

/* Computes the losses of all rows; returns the sum of the weights, or the number of counted rows if
 * there are no weights. */
static double formula_rows_and_weight_sum(classes *k) {
  int64_t counted = 0;
  for (int64_t r = 0; r < k->rows; r++) {
    const int ignored = (int64_t)k->t.v[r] == k->ignore;
    if (ignored) continue; /* the loss and the gradient of an ignored row stay +0 */
    counted++;
    formula_class_row(k, r);
    k->weight[r] = k->c.v == NULL ? 1 : k->c.v[(int64_t)k->t.v[r]];
    if (k->c.v != NULL) k->row[r] = times(k->weight[r], k->row[r]);
  }
  return k->c.v == NULL ? (double)counted : ordered_sum_s(case_type, k->weight, k->rows, 1);
}

/* Multiplies the gradient of each row by its incoming gradient w, which the reduction MEAN divides
 * by `mean_divisor`. For nll the result is -w at the target and +0 elsewhere, even if w is NaN. */
static void scale_row_gradients(classes *k, double mean_divisor) {
  for (int64_t r = 0; r < k->rows; r++) {
    double w = k->dy.v[k->how == NONE ? r : 0], *dx = k->dx + r * k->n;
    if ((int64_t)k->t.v[r] == k->ignore) continue;
    if (k->c.v != NULL) w = times(w, k->weight[r]);
    if (k->how == MEAN) w = over(w, mean_divisor);
    for (int64_t j = 0; j < k->n; j++) dx[j] = k->entropy ? times(dx[j], w) : dx[j] != 0 ? -w : 0.0;
  }
}

static void check_class_loss(const grad_case *r, classes *k) {
  k->x = array_of_port_named(r, "x");
  k->t = array_of_port_named(r, "t");
  k->c = array_of_port_named(r, "c");
  k->dy = array_of_port_named(r, "d0");
  case_type = k->x.dtype;
  k->rows = k->t.n;
  k->n = k->x.dim[k->x.rank - 1];
  k->row = new_zeros(k->rows);
  k->weight = new_zeros(k->rows);
  k->dx = new_zeros(k->x.n);
  const double by = formula_rows_and_weight_sum(k),
               sum = ordered_sum_s(case_type, k->row, k->rows, 1);
  const double one = k->how == SUM ? sum : over(sum, by);
  scale_row_gradients(k, by);
  expect_output(r, "y", k->how == NONE ? k->row : &one, k->how == NONE ? k->rows : 1);
  expect_output(r, "d.x", k->dx, k->x.n);
  free(k->x.v);
  free(k->t.v);
  free(k->c.v);
  free(k->dy.v);
  free(k->row);
  free(k->weight);
  free(k->dx);
}

static void test_class_loss(int entropy, int weighted, double smoothing) {
  static const struct {
    const char *rows, *index;
    int64_t n;
  } shapes[] = {{"", "i32[]", 5},          {"4, ", "i64[4]", 7}, {"2, 3, ", "i32[2, 3]", 33},
                {"0, ", "i64[0]", 3},      {"9, ", "i32[9]", 1}, {"2, ", "i64[2]", 1025},
                {"1030, ", "i32[1030]", 2}};
  char lines[400], more[100], rest[60];
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int how = 0; how < BATCH; how++)
      for (int mix = 0; mix < 2 * MIXES; mix++) {
        const char *type = mix % 2 && !entropy ? "f64" : "f32";
        const int64_t ignore = mix < MIXES ? -100 : 0;
        grad_case r = {.mix = mix / 2, .hi = shapes[s].n - 1, .ignore = ignore};
        classes k = {.how = how, .entropy = entropy, .a = smoothing, .ignore = ignore};
        snprintf(more, sizeof more, "input c: %s[%d]\n", type, (int)shapes[s].n);
        snprintf(rest, sizeof rest, ", smoothing=%g", smoothing);
        snprintf(lines, sizeof lines,
                 "input x: %s[%s%d]\ninput t: %s\n%soutput y = %s(x, t%s, ignore=%d, "
                 "reduction=%s%s)",
                 type, shapes[s].rows, (int)shapes[s].n, shapes[s].index, weighted ? more : "",
                 entropy ? "cross_entropy" : "nll", weighted ? ", c" : "", (int)ignore,
                 reductions[how], smoothing != 0 ? rest : "");
        run_case(&r, lines);
        check_class_loss(&r, &k);
        free_case(&r);
      }
}

int main(void) {
  for (size_t i = 0; i < COUNT(losses); i++) test_element_loss(&losses[i]);
  test_class_loss(1, 0, 0);
  test_class_loss(1, 1, 0);
  test_class_loss(1, 0, 0.1);
  test_class_loss(1, 0, 1);
  test_class_loss(0, 0, 0);
  test_class_loss(0, 1, 0);
  TEST_DONE();
}
