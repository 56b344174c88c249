/* SPDX-License-Identifier: Apache-2.0
 * reduce_slope_test.c - reductions and their gradients, both implementations, against their
 * formulas said again on arrays. */
#include "sets_test.h"

/* ---- one set: y, and dx from dy ---- */

typedef struct line {
  int64_t n;
  const double *x;
  double y, dy, *dx;
} line;

static double mean_of(const line *l) { return over(slope_sum(kind, l->x, l->n, 1), (double)l->n); }

static void say_sum(line *l) {
  l->y = slope_sum(kind, l->x, l->n, 1);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->dy;
}

static void say_mean(line *l) {
  l->y = mean_of(l);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = over(l->dy, (double)l->n);
}

static void say_extreme(line *l, int least) {
  int64_t *at = calloc((size_t)l->n + 1, sizeof *at);
  for (int64_t i = 0; i < l->n; i++) at[i] = i;
  const sets one = {1, l->n, at};
  const int64_t first = set_first(&one, 0, l->x, least);
  l->y = l->x[first];
  l->dx[first] = l->dy;
  free(at);
}

static void say_max(line *l) { say_extreme(l, 0); }
static void say_min(line *l) { say_extreme(l, 1); }

/* The scheme of S with products, recursively. */
static double product_of(const double *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    double *p = numbers(chunks);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = product_of(x + 1024 * c, c == chunks - 1 ? n - 1024 * c : 1024);
    const double y = product_of(p, chunks);
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

static void say_prod(line *l) {
  double *right = numbers(l->n), left = 1;
  l->y = product_of(l->x, l->n);
  if (l->n > 0) right[l->n - 1] = 1;
  for (int64_t i = l->n - 1; i > 0; i--) right[i - 1] = times(right[i], l->x[i]);
  for (int64_t i = 0; i < l->n; i++) {
    l->dx[i] = times(l->dy, times(left, right[i]));
    left = times(left, l->x[i]);
  }
  free(right);
}

static double sum_square_of(const double *x, int64_t n) {
  double *square = numbers(n);
  for (int64_t i = 0; i < n; i++) square[i] = times(x[i], x[i]);
  const double y = slope_sum(kind, square, n, 1);
  free(square);
  return y;
}

static void say_sum_square(line *l) {
  l->y = sum_square_of(l->x, l->n);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(times(2, l->x[i]), l->dy);
}

static void say_norm_l1(line *l) {
  double *size = numbers(l->n);
  for (int64_t i = 0; i < l->n; i++) size[i] = fabs(l->x[i]);
  l->y = slope_sum(kind, size, l->n, 1);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->x[i] > 0 ? l->dy : l->x[i] < 0 ? -l->dy : 0.0;
  free(size);
}

static void say_norm_l2(line *l) {
  l->y = root(sum_square_of(l->x, l->n));
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = l->y == 0 ? 0.0 : over(times(l->x[i], l->dy), l->y);
}

static int64_t correction;

static void say_spread(line *l, int is_std) {
  double *dev = numbers(l->n);
  const double u = mean_of(l), by = (double)(l->n - correction);
  for (int64_t i = 0; i < l->n; i++) dev[i] = minus(l->x[i], u);
  l->y = over(sum_square_of(dev, l->n), by);
  if (is_std) l->y = root(l->y);
  const double top = is_std ? over(l->dy, l->y) : times(2, l->dy);
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(dev[i], over(top, by));
  free(dev);
}

static void say_var(line *l) { say_spread(l, 0); }
static void say_std(line *l) { say_spread(l, 1); }

static void say_logsumexp(line *l) {
  double *e = numbers(l->n), dy = l->dy;
  say_max(l);
  const double m = l->y;
  for (int64_t i = 0; i < l->n; i++) e[i] = exp_of(minus(l->x[i], m));
  const double sum = slope_sum(F32, e, l->n, 1);
  if (!isinf(m)) l->y = plus(m, log_of(sum));
  for (int64_t i = 0; i < l->n; i++) l->dx[i] = times(dy, over(e[i], sum));
  free(e);
}

/* ---- whole tensors ---- */

typedef void say_fn(line *l);

static void check_sets(const slope_run *r, unsigned mask, say_fn *say) {
  const slope_array x = slope_get(r, "x"), dy = slope_get(r, "d0");
  kind = x.dtype;
  const sets s = sets_over(&x, mask);
  double *y = numbers(s.count), *dx = numbers(x.n), *in = numbers(s.n), *out = numbers(s.n);
  for (int64_t i = 0; i < s.count && dy.v != NULL; i++) {
    line l = {.n = s.n, .x = in, .dy = dy.v[i], .dx = out};
    for (int64_t k = 0; k < s.n; k++) {
      in[k] = x.v[s.at[i * s.n + k]];
      out[k] = 0.0;
    }
    say(&l);
    y[i] = l.y;
    for (int64_t k = 0; k < s.n; k++) dx[s.at[i * s.n + k]] = out[k];
  }
  slope_expect(r, "y", y, s.count);
  slope_expect(r, "d.x", dx, x.n);
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
  unsigned mask;
  int empty; /* an axis that is reduced has no elements */
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
  const char *name, *rest;
  say_fn *say;
  int f32_only, not_empty;
  int64_t correction;
} reduction;

static const reduction reductions[] = {{"sum", "", say_sum, 0, 0, 0},
                                       {"mean", "", say_mean, 0, 0, 0},
                                       {"max", "", say_max, 0, 1, 0},
                                       {"min", "", say_min, 0, 1, 0},
                                       {"prod", "", say_prod, 0, 0, 0},
                                       {"sum_square", "", say_sum_square, 0, 0, 0},
                                       {"norm_l1", "", say_norm_l1, 0, 0, 0},
                                       {"norm_l2", "", say_norm_l2, 0, 0, 0},
                                       {"var", "", say_var, 0, 0, 1},
                                       {"var", ", correction=0", say_var, 0, 0, 0},
                                       {"var", ", correction=3", say_var, 0, 0, 3},
                                       {"std", "", say_std, 0, 0, 1},
                                       {"logsumexp", "", say_logsumexp, 1, 1, 0}};

static void test_reduction(const reduction *f) {
  char lines[200];
  correction = f->correction;
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int mix = 0; mix < 2 * MIXES; mix++) {
      const char *type = mix % 2 && !f->f32_only ? "f64" : "f32";
      slope_run r = {.mix = mix / 2};
      if (f->not_empty && shapes[s].empty) continue;
      snprintf(lines, sizeof lines, "input x: %s[%s]\noutput y = %s(x%s%s)", type, shapes[s].dims,
               f->name, shapes[s].axes, f->rest);
      slope_begin(&r, lines);
      check_sets(&r, shapes[s].mask, f->say);
      slope_end(&r);
    }
}

/* ---- cumsum ---- */

static void running(const double *x, double *y, int64_t n, int exclusive, int reverse) {
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

static double *cumsum_of(const slope_array *v, unsigned mask, int exclusive, int reverse) {
  const sets s = sets_over(v, mask);
  double *all = numbers(v->n), *in = numbers(s.n), *out = numbers(s.n);
  for (int64_t i = 0; i < s.count; i++) {
    for (int64_t k = 0; k < s.n; k++) in[k] = v->v[s.at[i * s.n + k]];
    running(in, out, s.n, exclusive, reverse);
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
    for (int way = 0; way < 4; way++)
      for (int mix = 0; mix < 2 * MIXES; mix++) {
        slope_run r = {.mix = mix / 2};
        snprintf(lines, sizeof lines,
                 "input x: %s[%s]\noutput y = cumsum(x, axis=%d, exclusive=%s, reverse=%s)",
                 mix % 2 ? "f64" : "f32", lines_of[s].dims, lines_of[s].axis,
                 way & 1 ? "true" : "false", way & 2 ? "true" : "false");
        slope_begin(&r, lines);
        const slope_array x = slope_get(&r, "x"), dy = slope_get(&r, "d0");
        kind = x.dtype;
        double *y = cumsum_of(&x, 1u << lines_of[s].axis, way & 1, way & 2);
        double *dx = cumsum_of(&dy, 1u << lines_of[s].axis, way & 1, !(way & 2));
        slope_expect(&r, "y", y, x.n);
        slope_expect(&r, "d.x", dx, x.n);
        free(x.v);
        free(dy.v);
        free(y);
        free(dx);
        slope_end(&r);
      }
}

/* ---- any and all ---- */

static void test_truths(const char *name, int all) {
  char lines[200];
  for (size_t s = 0; s < COUNT(shapes); s++)
    for (int round = 0; round < 4; round++) {
      slope_run r = {.mix = ORDINARY};
      snprintf(lines, sizeof lines, "input x: bool[%s]\noutput y = %s(x%s)", shapes[s].dims, name,
               shapes[s].axes);
      slope_begin(&r, lines);
      const slope_array x = slope_get(&r, "x");
      const sets o = sets_over(&x, shapes[s].mask);
      double *y = numbers(o.count);
      for (int64_t i = 0; i < o.count; i++) {
        y[i] = all;
        for (int64_t k = 0; k < o.n; k++)
          if ((x.v[o.at[i * o.n + k]] != 0) != all) y[i] = !all;
      }
      slope_expect(&r, "y", y, o.count);
      free(x.v);
      free(o.at);
      free(y);
      slope_end(&r);
    }
}

int main(void) {
  for (size_t i = 0; i < COUNT(reductions); i++) test_reduction(&reductions[i]);
  test_cumsum();
  test_truths("any", 0);
  test_truths("all", 1);
  TEST_DONE();
}
