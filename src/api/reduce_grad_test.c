/* SPDX-License-Identifier: Apache-2.0
 * reduce_grad_test.c - both implementations of the reductions and of their gradients, compared with
 * formulas on arrays. The two implementations are those of reference:0, which decomposes the op,
 * and reference:1, which runs its own kernel. A line is one set of elements that are reduced
 * together, with its result and gradients; a formula_ function computes these in plain C. */
#include "grad_sets_test.h"

/* ---- formulas for one set: y from x, and dx from dy ---- */

typedef struct line {
  int64_t n;
  const double *x;
  double y, dy, *dx;
} line;

static double mean_of(const line *l) {
  return over(ordered_sum_s(case_type, l->x, l->n, 1), (double)l->n);
}

static void formula_sum(line *l) {
  l->y = ordered_sum_s(case_type, l->x, l->n, 1);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->dy;
}

static void formula_mean(line *l) {
  l->y = mean_of(l);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = over(l->dy, (double)l->n);
}

static void formula_max_or_min(line *l, int least) {
  int64_t *at = calloc((size_t)l->n + 1, sizeof *at);
  for (int64_t i = 0; i < l->n; i++) at[i] = i;
  const sets one = {1, l->n, at};
  const int64_t first = first_extreme_of_set(&one, 0, l->x, least);
  l->y = l->x[first];
  l->dx[first] = l->dy;
  free(at);
}

static void formula_max(line *l) { formula_max_or_min(l, 0); }
static void formula_min(line *l) { formula_max_or_min(l, 1); }

/* Returns the product of n numbers of x, multiplied in the order in which the sum S adds: each
 * chunk of 1024 gives one product, and these are multiplied in the same way. */
static double ordered_product_of(const double *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    double *p = new_zeros(chunks);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = ordered_product_of(x + 1024 * c, c == chunks - 1 ? n - 1024 * c : 1024);
    const double y = ordered_product_of(p, chunks);
    free(p);
    return y;
  }
  double s[32];
  for (int i = 0; i < 32; i++) s[i] = 1;
  for (int64_t i = 0; i < n; i++) s[i % 32] = times(s[i % 32], x[i]);
  for (int h = 16; h > 0; h /= 2)
    for (int l = 0; l < h; l++) s[l] = times(s[l], s[l + h]);
  return s[0];
}

static void formula_prod(line *l) {
  double *right = new_zeros(l->n), left = 1;
  l->y = ordered_product_of(l->x, l->n);
  if (l->n > 0) right[l->n - 1] = 1;
  for (int64_t i = l->n - 1; i > 0; i--) right[i - 1] = times(right[i], l->x[i]);
  for (int64_t i = 0; i < l->n; i++) {
    l->dx[i] = times(l->dy, times(left, right[i]));
    left = times(left, l->x[i]);
  }
  free(right);
}

static double sum_of_squares(const double *x, int64_t n) {
  double *square = new_zeros(n);
  for (int64_t i = 0; i < n; i++) square[i] = times(x[i], x[i]);
  const double y = ordered_sum_s(case_type, square, n, 1);
  free(square);
  return y;
}

static void formula_sum_square(line *l) {
  l->y = sum_of_squares(l->x, l->n);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(times(2, l->x[i]), l->dy);
}

static void formula_norm_l1(line *l) {
  double *size = new_zeros(l->n);
  for (int64_t i = 0; i < l->n; i++) size[i] = fabs(l->x[i]);
  l->y = ordered_sum_s(case_type, size, l->n, 1);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->x[i] > 0 ? l->dy : l->x[i] < 0 ? -l->dy : 0.0;
  free(size);
}

static void formula_norm_l2(line *l) {
  l->y = root(sum_of_squares(l->x, l->n));
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->y == 0 ? 0.0 : over(times(l->x[i], l->dy), l->y);
}

static int64_t correction; /* the attribute `correction` of var and std in the current case */

static void formula_var_or_std(line *l, int is_std) {
  double *dev = new_zeros(l->n);
  const double u = mean_of(l), by = (double)(l->n - correction);
  for (int64_t i = 0; i < l->n; i++) dev[i] = minus(l->x[i], u);
  l->y = over(sum_of_squares(dev, l->n), by);
  if (is_std) l->y = root(l->y);
  const double top = is_std ? over(l->dy, l->y) : times(2, l->dy);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(dev[i], over(top, by));
  free(dev);
}

static void formula_var(line *l) { formula_var_or_std(l, 0); }
static void formula_std(line *l) { formula_var_or_std(l, 1); }

static void formula_logsumexp(line *l) {
  double *e = new_zeros(l->n), dy = l->dy;
  formula_max(l);
  const double m = l->y;
  for (int64_t i = 0; i < l->n; i++) e[i] = exp_in_f32(minus(l->x[i], m));
  const double sum = ordered_sum_s(F32, e, l->n, 1);
  if (!isinf(m)) l->y = plus(m, log_in_f32(sum));
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(dy, over(e[i], sum));
  free(e);
}

/* ---- all sets of a tensor ---- */

typedef void formula_fn(line *l);

static void check_all_lines(const grad_case *r, unsigned axes, formula_fn *formula) {
  const grad_array x = array_of_port_named(r, "x"), dy = array_of_port_named(r, "d0");
  case_type = x.dtype;
  const sets s = sets_over_axes(&x, axes);
  double *y = new_zeros(s.count), *dx = new_zeros(x.n), *in = new_zeros(s.n), *out = new_zeros(s.n);
  for (int64_t i = 0; i < s.count && dy.v != NULL; i++) {
    line l = {.n = s.n, .x = in, .dy = dy.v[i], .dx = out};
    for (int64_t k = 0; k < s.n; k++) {
      in[k] = x.v[s.at[i * s.n + k]];
      out[k] = 0.0;
    }
    formula(&l);
    y[i] = l.y;
    for (int64_t k = 0; k < s.n; k++) dx[s.at[i * s.n + k]] = out[k];
  }
  expect_output(r, "y", y, s.count);
  expect_output(r, "d.x", dx, x.n);
  free(x.v);
  free(dy.v);
  free(s.at);
  free(y);
  free(dx);
  free(in);
  free(out);
}

static const struct {
  const char *dims, *axes;
  unsigned mask; /* bit i: axis i is reduced */
  int empty;     /* 1: the reduced axes together have no elements */
} shapes[] = {{"", "", 0, 0},
              {"1", "", 1, 0},
              {"7", "", 1, 0},
              {"0", "", 1, 1},
              {"3, 4, 5", "", 7, 0},
              {"3, 4, 5", ", axes=1", 2, 0},
              {"3, 4, 5", ", axes=[2, 0], keep=true", 5, 0},
              {"2, 33, 2", ", axes=1", 2, 0},
              {"2, 3, 0", ", axes=1", 2, 0},
              {"2, 0, 3", ", axes=1", 2, 1},
              {"2, 0, 3", ", axes=[0], keep=true", 1, 0},
              {"1025", "", 1, 0},
              {"2, 1024", ", axes=1", 2, 0},
              {"2, 1, 2, 1, 2, 1, 2, 3", ", axes=[1, 7, 4]", 0x92, 0}};

typedef struct reduction {
  const char *name, *rest; /* the op; its attributes as text */
  formula_fn *formula;
  int f32_only, not_empty; /* 1: the op has no f64 form; 1: it takes no line without elements */
  int64_t correction;
} reduction;

static const reduction reductions[] = {{"sum", "", formula_sum, 0, 0, 0},
                                       {"mean", "", formula_mean, 0, 0, 0},
                                       {"max", "", formula_max, 0, 1, 0},
                                       {"min", "", formula_min, 0, 1, 0},
                                       {"prod", "", formula_prod, 0, 0, 0},
                                       {"sum_square", "", formula_sum_square, 0, 0, 0},
                                       {"norm_l1", "", formula_norm_l1, 0, 0, 0},
                                       {"norm_l2", "", formula_norm_l2, 0, 0, 0},
                                       {"var", "", formula_var, 0, 0, 1},
                                       {"var", ", correction=0", formula_var, 0, 0, 0},
                                       {"var", ", correction=3", formula_var, 0, 0, 3},
                                       {"std", "", formula_std, 0, 0, 1},
                                       {"logsumexp", "", formula_logsumexp, 1, 1, 0}};

static void test_reduction(const reduction *f) {
  char lines[200];
  correction = f->correction;
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int mix = 0; mix < 2 * MIXES; mix++) {
      const char *type = mix % 2 && !f->f32_only ? "f64" : "f32";
      grad_case r = {.mix = mix / 2};
      if (f->not_empty && shapes[s].empty) continue;
      snprintf(lines, sizeof lines, "input x: %s[%s]\noutput y = %s(x%s%s)", type, shapes[s].dims,
               f->name, shapes[s].axes, f->rest);
      run_case(&r, lines);
      check_all_lines(&r, shapes[s].mask, f->formula);
      free_case(&r);
    }
}

/* ---- cumsum ---- */

/* Computes the prefix sums y of the n numbers x, in the order that docs/numerics.md defines for
 * cumsum. */
static void prefix_sums(const double *x, double *y, int64_t n, int exclusive, int reverse) {
  double a = 0, b = 0, z = 0, carry = 0, last = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = reverse ? n - 1 - k : k;
    if (k % 1024 == 0) b = 0;
    if (k % 32 == 0) a = 0;
    a = plus(a, x[i]);
    z = plus(b, a);
    const double sum = plus(carry, z);
    y[i] = exclusive ? last : sum;
    last = sum;
    if (k % 32 == 31) b = z;
    if (k % 1024 == 1023) carry = sum;
  }
}

static double *cumsum_of_array(const grad_array *v, unsigned axes, int exclusive, int reverse) {
  const sets s = sets_over_axes(v, axes);
  double *all = new_zeros(v->n), *in = new_zeros(s.n), *out = new_zeros(s.n);
  for (int64_t i = 0; i < s.count; i++) {
    for (int64_t k = 0; k < s.n; k++) in[k] = v->v[s.at[i * s.n + k]];
    prefix_sums(in, out, s.n, exclusive, reverse);
    for (int64_t k = 0; k < s.n; k++) all[s.at[i * s.n + k]] = out[k];
  }
  free(s.at);
  free(in);
  free(out);
  return all;
}

static void test_cumsum(void) {
  static const struct {
    const char *dims;
    int axis;
  } lines_of[] = {{"7", 0},    {"0", 0},    {"3, 33", 1},   {"33, 3", 0},
                  {"1025", 0}, {"2100", 0}, {"2, 3, 4", 1}, {"2, 1024", 1}};
  char lines[200];
  for (size_t s = 0; s < COUNT(lines_of); s++)
    for (int flags = 0; flags < 4; flags++) /* 1: exclusive, 2: reverse */
      for (int mix = 0; mix < 2 * MIXES; mix++) {
        grad_case r = {.mix = mix / 2};
        snprintf(lines, sizeof lines,
                 "input x: %s[%s]\noutput y = cumsum(x, axis=%d, exclusive=%s, reverse=%s)",
                 mix % 2 ? "f64" : "f32", lines_of[s].dims, lines_of[s].axis,
                 flags & 1 ? "true" : "false", flags & 2 ? "true" : "false");
        run_case(&r, lines);
        const grad_array x = array_of_port_named(&r, "x"), dy = array_of_port_named(&r, "d0");
        case_type = x.dtype;
        double *y = cumsum_of_array(&x, 1u << lines_of[s].axis, flags & 1, flags & 2);
        double *dx = cumsum_of_array(&dy, 1u << lines_of[s].axis, flags & 1, !(flags & 2));
        expect_output(&r, "y", y, x.n);
        expect_output(&r, "d.x", dx, x.n);
        free(x.v);
        free(dy.v);
        free(y);
        free(dx);
        free_case(&r);
      }
}

/* ---- any and all ---- */

static void test_any_all(const char *name, int all) {
  char lines[200];
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int round = 0; round < 4; round++) {
      grad_case r = {.mix = ORDINARY};
      snprintf(lines, sizeof lines, "input x: bool[%s]\noutput y = %s(x%s)", shapes[s].dims, name,
               shapes[s].axes);
      run_case(&r, lines);
      const grad_array x = array_of_port_named(&r, "x");
      const sets o = sets_over_axes(&x, shapes[s].mask);
      double *y = new_zeros(o.count);
      for (int64_t i = 0; i < o.count; i++) {
        y[i] = all;
        for (int64_t k = 0; k < o.n; k++)
          if ((x.v[o.at[i * o.n + k]] != 0) != all) y[i] = !all;
      }
      expect_output(&r, "y", y, o.count);
      free(x.v);
      free(o.at);
      free(y);
      free_case(&r);
    }
}

int main(void) {
  for (size_t i = 0; i < COUNT(reductions); i++) test_reduction(&reductions[i]);
  test_cumsum();
  test_any_all("any", 0);
  test_any_all("all", 1);
  TEST_DONE();
}
