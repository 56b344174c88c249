/* SPDX-License-Identifier: Apache-2.0
 * norm_grad_test.c - both implementations of softmax, log_softmax and the norms, and of their
 * gradients, compared with formulas on arrays. The two implementations are those of reference:0,
 * which decomposes the op, and reference:1, which runs its own kernel. A channel is the elements
 * that share one gamma and one beta; `spatial` is the number of elements of one channel in one
 * sample. A `mix` is a kind of random float inputs. */
#include "grad_sets_test.h"

/* ---- softmax and log_softmax ---- */

static void check_softmax(const grad_case *r, unsigned axes, int logarithm) {
  const grad_array x = array_of_port_named(r, "x"), dy = array_of_port_named(r, "d0");
  const sets s = sets_over_axes(&x, axes);
  double *y = new_zeros(x.n), *dx = new_zeros(x.n), *e = new_zeros(x.n), *each = new_zeros(x.n);
  case_type = F32;
  for (int64_t i = 0; i < s.count; i++) {
    const int64_t *at = s.at + i * s.n;
    const double m = x.v[first_extreme_of_set(&s, i, x.v, 0)];
    for (int64_t k = 0; k < s.n; k++) e[at[k]] = exp_in_f32(minus(x.v[at[k]], m));
    const double sum = sum_of_set(F32, &s, i, e);
    for (int64_t k = 0; k < s.n; k++) {
      const double part = over(e[at[k]], sum),
                   log_part = minus(minus(x.v[at[k]], m), log_in_f32(sum));
      y[at[k]] = logarithm ? log_part : part;
      each[at[k]] = logarithm ? dy.v[at[k]] : times(dy.v[at[k]], part);
    }
    const double all = sum_of_set(F32, &s, i, each);
    for (int64_t k = 0; k < s.n; k++) {
      const double d = dy.v[at[k]], v = y[at[k]];
      dx[at[k]] = logarithm ? minus(d, times(exp_in_f32(v), all)) : times(v, minus(d, all));
    }
  }
  expect_output(r, "y", y, x.n);
  expect_output(r, "d.x", dx, x.n);
  free(x.v);
  free(dy.v);
  free(s.at);
  free(y);
  free(dx);
  free(e);
  free(each);
}

static void test_softmax(int logarithm) {
  static const struct {
    const char *dims;
    int axis;
  } rows[] = {{"5", 0},    {"3, 4", 0}, {"3, 33", 1},  {"2, 3, 4", 1},
              {"0, 3", 1}, {"3, 1", 1}, {"2, 257", 1}, {"1, 1025", 1}};
  char lines[200];
  for (size_t s = 0; s < COUNT(rows); s++)
    for (int mix = 0; mix < MIXES; mix++) {
      grad_case r = {.mix = mix};
      snprintf(lines, sizeof lines, "input x: f32[%s]\noutput y = %s(x, axis=%d)", rows[s].dims,
               logarithm ? "log_softmax" : "softmax", rows[s].axis);
      run_case(&r, lines);
      check_softmax(&r, 1u << rows[s].axis, logarithm);
      free_case(&r);
    }
}

/* ---- the formula that the norms share ---- */

typedef struct norm {
  grad_array x, gamma, beta, dy;
  sets s;         /* the sets of elements that are normalised together */
  int64_t period; /* element i of x is multiplied by gamma number (i / period) % length of gamma */
  double eps;
  int centred;         /* 1: the mean is subtracted first; 0 for rms_norm */
  double *y, *h, *dx;  /* of each element: result, normalised x, gradient of x */
  double *u, *squares; /* of each set: mean, sum of squared deviations */
} norm;

static double gamma_at(const norm *n, int64_t i) { return n->gamma.v[i / n->period % n->gamma.n]; }
static double beta_at(const norm *n, int64_t i) { return n->beta.v[i / n->period % n->beta.n]; }

/* Computes the results and the gradients of the elements of set i. */
static void compute_norm_of_set(norm *n, int64_t i) {
  const int64_t *at = n->s.at + i * n->s.n, size = n->s.n;
  const double count = (double)size;
  double *dev = new_zeros(n->x.n), *part = new_zeros(n->x.n), *a = new_zeros(n->x.n);
  const double u = n->centred ? over(sum_of_set(case_type, &n->s, i, n->x.v), count) : 0;
  for (int64_t k = 0; k < size; k++) {
    dev[at[k]] = minus(n->x.v[at[k]], u);
    part[at[k]] = times(dev[at[k]], dev[at[k]]);
    a[at[k]] = n->gamma.v == NULL ? n->dy.v[at[k]] : times(n->dy.v[at[k]], gamma_at(n, at[k]));
  }
  n->u[i] = u;
  n->squares[i] = sum_of_set(case_type, &n->s, i, part);
  const double r = over(1, root(plus(over(n->squares[i], count), rounded(n->eps))));
  for (int64_t k = 0; k < size; k++) {
    double y = n->h[at[k]] = times(dev[at[k]], r);
    part[at[k]] = times(a[at[k]], y);
    if (n->gamma.v != NULL) y = times(y, gamma_at(n, at[k]));
    n->y[at[k]] = n->beta.v == NULL ? y : plus(y, beta_at(n, at[k]));
  }
  const double level = over(sum_of_set(case_type, &n->s, i, a), count);
  const double tilt = over(sum_of_set(case_type, &n->s, i, part), count);
  for (int64_t k = 0; k < size; k++) {
    const double flat = n->centred ? minus(a[at[k]], level) : a[at[k]];
    n->dx[at[k]] = times(minus(flat, times(n->h[at[k]], tilt)), r);
  }
  free(dev);
  free(part);
  free(a);
}

/* Checks the gradient of gamma or beta, which is output `name`: for each channel the ordered sum of
 * its elements of `terms`. */
static void expect_channel_gradient(const grad_case *r, const norm *n, const char *name,
                                    const double *terms) {
  const int64_t channels = n->gamma.n, rows = channels == 0 ? 0 : n->x.n / channels;
  double *want = new_zeros(channels), *part = new_zeros(rows);
  for (int64_t c = 0; c < channels; c++) {
    int64_t filled = 0;
    for (int64_t i = 0; i < n->x.n; i++)
      if (i / n->period % channels == c) part[filled++] = terms[i];
    want[c] = ordered_sum_s(case_type, part, filled, 1);
  }
  expect_output(r, name, want, channels);
  free(want);
  free(part);
}

static void check_gamma_and_beta_gradients(const grad_case *r, const norm *n) {
  double *each = new_zeros(n->x.n);
  for (int64_t i = 0; i < n->x.n; i++) each[i] = times(n->dy.v[i], n->h[i]);
  if (n->gamma.v != NULL) expect_channel_gradient(r, n, "d.g", each);
  if (n->beta.v != NULL) expect_channel_gradient(r, n, "d.b", n->dy.v);
  free(each);
}

static void set_up_norm_arrays(norm *n, const grad_case *r) {
  n->x = array_of_port_named(r, "x");
  n->gamma = array_of_port_named(r, "g");
  n->beta = array_of_port_named(r, "b");
  n->dy = array_of_port_named(r, "d0");
  case_type = n->x.dtype;
  n->y = new_zeros(n->x.n);
  n->h = new_zeros(n->x.n);
  n->dx = new_zeros(n->x.n);
}

static void free_norm_arrays(const norm *n) {
  free(n->x.v);
  free(n->gamma.v);
  free(n->beta.v);
  free(n->dy.v);
  free(n->s.at);
  free(n->y);
  free(n->h);
  free(n->dx);
  free(n->u);
  free(n->squares);
}

/* Computes the formula for all sets and checks all outputs. */
static void check_norm(norm *n, const grad_case *r) {
  n->u = new_zeros(n->s.count);
  n->squares = new_zeros(n->s.count);
  for (int64_t i = 0; i < n->s.count && n->x.n > 0; i++) compute_norm_of_set(n, i);
  expect_output(r, "y", n->y, n->x.n);
  expect_output(r, "d.x", n->dx, n->x.n);
  check_gamma_and_beta_gradients(r, n);
}

/* ---- layer_norm and rms_norm ---- */

static const char *const operand_names[3] = {"x", "x, g", "x, g, b"};

/* Runs and checks one case of layer_norm or rms_norm. The last axes, with the dimensions
 * `set_dims`, are normalised together. */
static void check_norm_of_last_axes(const char *name, const char *type, const char *lead_dims,
                                    const char *set_dims, int operands, int mix, int64_t set_size) {
  grad_case r = {.mix = mix};
  norm n = {.eps = 0.1, .centred = name[0] == 'l', .period = 1};
  char lines[300], more[200] = "";
  if (operands > 1) snprintf(more, sizeof more, "input g: %s[%s]\n", type, set_dims);
  if (operands > 2)
    snprintf(more, sizeof more, "input g: %s[%s]\ninput b: %s[%s]\n", type, set_dims, type,
             set_dims);
  snprintf(lines, sizeof lines, "input x: %s[%s%s]\n%soutput y = %s(%s, eps=0.1)", type, lead_dims,
           set_dims, more, name, operand_names[operands - 1]);
  run_case(&r, lines);
  set_up_norm_arrays(&n, &r);
  n.s = sets_of_rows(&n.x, set_size);
  check_norm(&n, &r);
  free_norm_arrays(&n);
  free_case(&r);
}

static void test_norms_of_last_axes(void) {
  static const struct {
    const char *lead, *set;
    int64_t size;
  } rows[] = {{"", "5", 5},          {"3, ", "4", 4},  {"2, 2, ", "33", 33}, {"0, ", "3", 3},
              {"2, ", "1025", 1025}, {"40, ", "2", 2}, {"1100, ", "2", 2},   {"2, ", "1", 1}};
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int mix = 0; mix < 2 * MIXES; mix++)
      for (int operands = 1; operands <= 3; operands++) {
        const char *type = mix % 2 ? "f64" : "f32";
        check_norm_of_last_axes("layer_norm", type, rows[i].lead, rows[i].set, operands, mix / 2,
                                rows[i].size);
        if (operands < 3)
          check_norm_of_last_axes("rms_norm", type, rows[i].lead, rows[i].set, operands, mix / 2,
                                  rows[i].size);
      }
  for (int mix = 0; mix < MIXES; mix++) { /* cases with several axes that are normalised together */
    check_norm_of_last_axes("layer_norm", "f32", "3, ", "4, 5", 3, mix, 20);
    check_norm_of_last_axes("layer_norm", "f64", "", "2, 3, 4", 3, mix, 24);
    check_norm_of_last_axes("layer_norm", "f32", "2, 1, ", "2, 1, 33", 2, mix, 66);
  }
}

/* ---- group_norm and instance_norm ---- */

/* Runs and checks one case of group_norm or instance_norm. */
static void check_group_norm(const char *call, const char *type, const char *dims, int channels,
                             int operands, int mix, int groups, int64_t spatial) {
  grad_case r = {.mix = mix};
  norm n = {.eps = 0.1, .centred = 1, .period = spatial == 0 ? 1 : spatial};
  char lines[300], more[200] = "", rest[40] = "";
  if (operands > 1) snprintf(more, sizeof more, "input g: %s[%d]\n", type, channels);
  if (operands > 2)
    snprintf(more, sizeof more, "input g: %s[%d]\ninput b: %s[%d]\n", type, channels, type,
             channels);
  if (call[0] == 'g') snprintf(rest, sizeof rest, "groups=%d, ", groups);
  snprintf(lines, sizeof lines, "input x: %s[%s]\n%soutput y = %s(%s, %seps=0.1)", type, dims, more,
           call, operand_names[operands - 1], rest);
  run_case(&r, lines);
  set_up_norm_arrays(&n, &r);
  n.s = sets_of_rows(&n.x, channels == 0 ? 0 : channels / groups * spatial);
  check_norm(&n, &r);
  free_norm_arrays(&n);
  free_case(&r);
}

static void test_group_norms(void) {
  static const struct {
    const char *dims;
    int channels, groups;
    int64_t spatial;
  } rows[] = {{"2, 6", 6, 3, 1},
              {"2, 6, 5", 6, 2, 5},
              {"3, 4, 3, 2", 4, 1, 6},
              {"1, 4, 257", 4, 4, 257},
              {"2, 2, 1, 2, 1, 2, 1, 3", 2, 2, 12},
              {"0, 4, 3", 4, 2, 3},
              {"2, 4, 0", 4, 2, 0},
              {"2, 0, 3", 0, 1, 3},
              {"1, 8, 130", 8, 1, 130},
              {"1, 1, 1", 1, 1, 1}};
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int mix = 0; mix < 2 * MIXES; mix++)
      for (int operands = 1; operands <= 3; operands++) {
        const char *type = mix % 2 ? "f64" : "f32";
        check_group_norm("group_norm", type, rows[i].dims, rows[i].channels, operands, mix / 2,
                         rows[i].groups, rows[i].spatial);
        if (strlen(rows[i].dims) < 5) continue;
        check_group_norm("instance_norm", type, rows[i].dims, rows[i].channels, operands, mix / 2,
                         rows[i].channels == 0 ? 1 : rows[i].channels, rows[i].spatial);
      }
}

/* ---- batch_norm ---- */

/* Checks output `name`, a running statistic: (1 - momentum) * `old_input` + momentum *
 * `batch_value`. */
static void expect_running_statistic(const grad_case *r, const char *old_input, const char *name,
                                     const double *batch_value, double momentum) {
  const grad_array was = array_of_port_named(r, old_input);
  double *want = new_zeros(was.n);
  for (int64_t c = 0; c < was.n; c++)
    want[c] =
        plus(times(rounded(1 - momentum), was.v[c]), times(rounded(momentum), batch_value[c]));
  expect_output(r, name, want, was.n);
  free(was.v);
  free(want);
}

/* Runs and checks one case of batch_norm. */
static void check_batch_norm(const char *type, const char *dims, int channels, int64_t spatial,
                             double momentum, int mix) {
  grad_case r = {.mix = mix};
  norm n = {.eps = 1e-5, .centred = 1, .period = spatial};
  char lines[400];
  snprintf(lines, sizeof lines,
           "input x: %s[%s]\ninput g: %s[%d]\ninput b: %s[%d]\ninput m: %s[%d]\ninput v: %s[%d]\n"
           "y, s, t = batch_norm(x, g, b, m, v, momentum=%g)\noutput y\noutput s\noutput t",
           type, dims, type, channels, type, channels, type, channels, type, channels, momentum);
  run_case(&r, lines);
  set_up_norm_arrays(&n, &r);
  n.s = sets_over_axes(&n.x, ((1u << n.x.rank) - 1) & ~2u);
  check_norm(&n, &r);
  double *v = new_zeros(channels);
  for (int64_t c = 0; c < channels; c++) v[c] = over(n.squares[c], (double)(n.s.n - 1));
  expect_running_statistic(&r, "m", "s", n.u, momentum);
  expect_running_statistic(&r, "v", "t", v, momentum);
  CHECK(array_of_port_named(&r, "d.m").v == NULL && array_of_port_named(&r, "d.v").v == NULL);
  free(v);
  free_norm_arrays(&n);
  free_case(&r);
}

/* Runs and checks one case of batch_norm_inference. */
static void check_batch_norm_inference(const char *type, const char *dims, int channels,
                                       int64_t spatial, int mix) {
  grad_case r = {.mix = mix};
  norm n = {.period = spatial};
  char lines[400];
  snprintf(lines, sizeof lines,
           "input x: %s[%s]\ninput g: %s[%d]\ninput b: %s[%d]\ninput m: %s[%d]\ninput v: %s[%d]\n"
           "output y = batch_norm_inference(x, g, b, m, v, eps=0.1)",
           type, dims, type, channels, type, channels, type, channels, type, channels);
  run_case(&r, lines);
  set_up_norm_arrays(&n, &r);
  const grad_array mean = array_of_port_named(&r, "m"), var = array_of_port_named(&r, "v");
  for (int64_t i = 0; i < n.x.n; i++) {
    const int64_t c = i / spatial % channels;
    const double s = over(1, root(plus(var.v[c], rounded(0.1))));
    n.h[i] = times(minus(n.x.v[i], mean.v[c]), s);
    n.y[i] = plus(times(n.h[i], n.gamma.v[c]), n.beta.v[c]);
    n.dx[i] = times(times(n.dy.v[i], n.gamma.v[c]), s);
  }
  expect_output(&r, "y", n.y, n.x.n);
  expect_output(&r, "d.x", n.dx, n.x.n);
  check_gamma_and_beta_gradients(&r, &n);
  free(mean.v);
  free(var.v);
  free_norm_arrays(&n);
  free_case(&r);
}

static void test_batch_norms(void) {
  static const struct {
    const char *dims;
    int channels;
    int64_t spatial;
  } rows[] = {{"4, 3", 3, 1},       {"2, 3, 5", 3, 5}, {"1, 2, 33", 2, 33},
              {"3, 2, 2, 3", 2, 6}, {"1030, 2", 2, 1}, {"2, 1, 1, 2, 1, 2, 1, 3", 1, 12}};
  static const double momentum[] = {0.1, 0, 1, 0.3};
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int mix = 0; mix < 2 * MIXES; mix++) {
      const char *type = mix % 2 ? "f64" : "f32";
      check_batch_norm(type, rows[i].dims, rows[i].channels, rows[i].spatial, momentum[i % 4],
                       mix / 2);
      check_batch_norm_inference(type, rows[i].dims, rows[i].channels, rows[i].spatial, mix / 2);
    }
}

int main(void) {
  test_softmax(0);
  test_softmax(1);
  test_norms_of_last_axes();
  test_group_norms();
  test_batch_norms();
  TEST_DONE();
}
