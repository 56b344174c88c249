/* SPDX-License-Identifier: Apache-2.0
 * pooling_test.c - tests pools against their definitions, restated window by window. Tests their
 * gradients element by element, looking at every window; kernels against decompositions; and the
 * type rules. A plane is one channel of one member of the batch. S is the order in which sums are
 * added (docs/numerics.md). */
#include "sized_test.h"
#include "trace_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, MOST = 5000 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct problem {
  uint32_t axes;
  int64_t n, c, in[3], kernel[3], stride[3], dilation[3], low[3], high[3];
  int ceil;
  int64_t windows[3];   /* number of windows along each axis, counted by hand */
  int has_empty_window; /* 1 if a window contains only padding, so that it has no maximum */
} problem;

static const problem problems[] = {
    {1, 2, 3, {7}, {3}, {1}, {1}, {0}, {0}, 0, {5}, 0},
    {1, 1, 2, {8}, {3}, {2}, {1}, {1}, {1}, 0, {4}, 0},
    {1, 1, 2, {8}, {3}, {2}, {1}, {1}, {1}, 1, {5}, 0},
    {1, 1, 1, {5}, {2}, {3}, {1}, {0}, {1}, 1, {2}, 0},
    {1, 1, 1, {4}, {1}, {3}, {1}, {0}, {0}, 1, {2}, 0},
    {1, 1, 1, {6}, {1}, {3}, {1}, {0}, {0}, 1, {2}, 0},
    /* a third window would start beyond the end */
    {1, 1, 1, {5}, {1}, {3}, {1}, {0}, {0}, 1, {2}, 0},
    {1, 1, 1, {3}, {2}, {2}, {2}, {1}, {1}, 0, {2}, 0},
    /* the window's taps are 3 apart and miss the only element */
    {1, 1, 1, {1}, {2}, {1}, {3}, {2}, {1}, 0, {1}, 1},
    {1, 1, 1, {2}, {2}, {1}, {1}, {3}, {2}, 0, {6}, 1}, /* some windows contain only padding */
    {1, 1, 1, {1100}, {1030}, {35}, {1}, {0}, {0}, 0, {3}, 0},
    {1, 2, 2, {0}, {1}, {1}, {1}, {0}, {0}, 0, {0}, 0},
    {1, 0, 2, {4}, {2}, {2}, {1}, {0}, {0}, 0, {2}, 0},
    {1, 1, 1, {0}, {2}, {1}, {1}, {1}, {1}, 0, {1}, 1},
    {2, 2, 2, {5, 6}, {3, 2}, {1, 2}, {1, 1}, {1, 0}, {1, 1}, 0, {5, 3}, 0},
    {2, 1, 3, {7, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1, {4, 4}, 0},
    {2, 1, 1, {6, 9}, {7, 6}, {1, 1}, {1, 1}, {3, 3}, {3, 3}, 0, {6, 10}, 0}, /* 42 taps */
    {3, 1, 2, {3, 4, 5}, {2, 2, 3}, {1, 2, 2}, {1, 1, 2}, {1, 0, 2}, {0, 1, 2}, 0, {3, 2, 3}, 0},
};

static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}

static vt_attr_max_pool max_pool_attrs(const problem *p) {
  return (vt_attr_max_pool){.size = sizeof(vt_attr_max_pool),
                            .kernel = attr_list_of(p->kernel, p->axes),
                            .stride = attr_list_of(p->stride, p->axes),
                            .dilation = attr_list_of(p->dilation, p->axes),
                            .low = attr_list_of(p->low, p->axes),
                            .high = attr_list_of(p->high, p->axes),
                            .ceil = p->ceil};
}

static vt_attr_avg_pool avg_pool_attrs(const problem *p, int count_padding) {
  const vt_attr_max_pool m = max_pool_attrs(p);
  return (vt_attr_avg_pool){.size = sizeof(vt_attr_avg_pool),
                            .kernel = m.kernel,
                            .stride = m.stride,
                            .dilation = m.dilation,
                            .low = m.low,
                            .high = m.high,
                            .ceil = m.ceil,
                            .count_padding = count_padding};
}

static vt_view new_spatial_tensor(uint32_t dtype, const problem *p, const int64_t *spatial,
                                  int layout) {
  int64_t dim[5] = {p->n, p->c};
  memcpy(dim + 2, spatial, p->axes * sizeof *dim);
  return view_new(dtype, p->axes + 2, dim, layout);
}

static void index_to_coordinates(int64_t index, uint32_t rank, const int64_t *dim, int64_t *out) {
  for (uint32_t i = rank; i-- > 0; index /= dim[i]) out[i] = index % dim[i];
}

static int64_t product_of(const int64_t *dim, uint32_t n) {
  int64_t all = 1;
  for (uint32_t i = 0; i < n; i++) all *= dim[i];
  return all;
}

/* The index, in its plane, of tap t of window w; -1 for a tap in the padding, -2 for a tap beyond
 * the padding. */
static int64_t tap_index_or_padding(const problem *p, int64_t w, int64_t t) {
  int64_t window[3], tap[3], place = 0;
  int padding = 0, beyond = 0;
  index_to_coordinates(w, p->axes, p->windows, window);
  index_to_coordinates(t, p->axes, p->kernel, tap);
  for (uint32_t i = 0; i < p->axes; i++) {
    const int64_t x = window[i] * p->stride[i] + tap[i] * p->dilation[i] - p->low[i];
    padding |= x < 0 || x >= p->in[i];
    beyond |= x >= p->in[i] + p->high[i];
    place = place * p->in[i] + x;
  }
  return beyond ? -2 : padding ? -1 : place;
}

/* The value of an element of any dtype as a double, so that values can be compared. */
static double comparable_value(const vt_view *v, int64_t i) {
  if (v->dtype == F32 || v->dtype == F64) return number_at(v, i);
  return (double)integer_of(v->dtype, get_bits(v, i));
}

static int64_t index_of_max_in_window(const problem *p, const vt_view *x, int64_t plane_start,
                                      int64_t w) {
  int64_t best = -1;
  for (int64_t t = 0; t < product_of(p->kernel, p->axes); t++) {
    const int64_t e = tap_index_or_padding(p, w, t);
    if (e < 0) continue;
    if (best < 0 ||
        comes_above(comparable_value(x, plane_start + e), comparable_value(x, plane_start + best)))
      best = e;
  }
  return best;
}

static double sum_in_order_s(uint32_t dtype, const double *x, int64_t n) {
  static float narrow[MOST];
  if (dtype == F64) return s_f64(x, n);
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)x[i];
  return (double)s_f32(narrow, n);
}

static double rounded_quotient(uint32_t dtype, double x, int64_t n) {
  return dtype == F64 ? x / (double)n : (double)((float)x / (float)n);
}

static int64_t window_divisor(const problem *p, int64_t w, int count_padding) {
  int64_t n = 0;
  for (int64_t t = 0; t < product_of(p->kernel, p->axes); t++)
    n += tap_index_or_padding(p, w, t) >= (count_padding ? -1 : 0);
  return n;
}

static double expected_average(const problem *p, const vt_view *x, int64_t plane_start, int64_t w,
                               int count_padding) {
  double tap[MOST];
  const int64_t taps = product_of(p->kernel, p->axes);
  for (int64_t t = 0; t < taps; t++) {
    const int64_t e = tap_index_or_padding(p, w, t);
    tap[t] = e < 0 ? 0.0 : number_at(x, plane_start + e);
  }
  return rounded_quotient(x->dtype, sum_in_order_s(x->dtype, tap, taps),
                          window_divisor(p, w, count_padding));
}

static uint64_t bits_of_number(uint32_t dtype, double x) {
  return dtype == F64 ? vt_f64_bits(x) : vt_f32_bits((float)x);
}

static void check_avg_values(const problem *p, const vt_view *x, const vt_view *y,
                             int count_padding) {
  const int64_t windows = product_of(p->windows, p->axes), plane = product_of(p->in, p->axes);
  for (int64_t e = 0; e < count_of_view(y); e++) {
    const double want = expected_average(p, x, e / windows * plane, e % windows, count_padding);
    if (!expect_bits("avg_pool", y, e, bits_of_number(x->dtype, want))) return;
  }
}

static void check_max_values(const problem *p, const vt_view *x, const vt_view *y,
                             const vt_view *index) {
  const int64_t windows = product_of(p->windows, p->axes), plane = product_of(p->in, p->axes);
  for (int64_t e = 0; e < count_of_view(y); e++) {
    const int64_t base = e / windows * plane,
                  best = index_of_max_in_window(p, x, base, e % windows);
    if (!expect_bits("max_pool", y, e, get_bits(x, base + best))) return;
    if (!expect_bits("max_pool_index", index, e, (uint64_t)best)) return;
  }
}

/* The gradient of element e: the sum in order S of the contributions of all windows, in ascending
 * order. For a max pool (x is not NULL) a window contributes if its first maximum is e, for an
 * average pool if e is one of its taps. */
static double gradient_of_element(const problem *p, const vt_view *max_pool_x, const vt_view *dy,
                                  int64_t plane, int64_t e, int count_padding) {
  double part[MOST];
  int64_t n = 0;
  const int64_t windows = product_of(p->windows, p->axes), size = product_of(p->in, p->axes);
  for (int64_t w = 0; w < windows; w++) {
    const double g = number_at(dy, plane * windows + w);
    int inside = 0;
    if (max_pool_x != NULL && index_of_max_in_window(p, max_pool_x, plane * size, w) == e)
      part[n++] = g;
    for (int64_t t = 0; max_pool_x == NULL && t < product_of(p->kernel, p->axes); t++)
      inside |= tap_index_or_padding(p, w, t) == e;
    if (inside) part[n++] = rounded_quotient(dy->dtype, g, window_divisor(p, w, count_padding));
  }
  return sum_in_order_s(dy->dtype, part, n);
}

static void check_gradient_bits(const char *name, const problem *p, const vt_view *max_pool_x,
                                const vt_view *dy, const vt_view *dx, int count_padding) {
  const int64_t size = product_of(p->in, p->axes);
  for (int64_t e = 0; e < count_of_view(dx); e++) {
    const double want = gradient_of_element(p, max_pool_x, dy, e / size, e % size, count_padding);
    if (!expect_bits(name, dx, e, bits_of_number(dx->dtype, want))) return;
  }
}

static int has_expected_shape(const problem *p, const vt_view *y) {
  return memcmp(y->dim + 2, p->windows, p->axes * sizeof *p->windows) == 0;
}

static void check_max_pools(const problem *p, uint32_t dtype, int layout, uint64_t *state) {
  const vt_attr_max_pool a = max_pool_attrs(p);
  const vt_view x = fill_any(new_spatial_tensor(dtype, p, p->in, layout), state);
  const run_result y = run_op(VT_OP_max_pool, &a, &x, 1, (layout + 1) % LAYOUTS);
  CHECK(y.status == (p->has_empty_window ? VT_VERIFY : VT_OK));
  if (y.status != VT_OK) return;
  CHECK(has_expected_shape(p, &y.out));
  if (!has_expected_shape(p, &y.out)) return;
  const run_result index = run_op(VT_OP_max_pool_index, &a, &x, 1, (layout + 2) % LAYOUTS);
  CHECK(index.status == VT_OK);
  check_max_values(p, &x, &y.out, &index.out);
  check_decomposition(VT_OP_max_pool, &a, &x, 1);
  check_decomposition(VT_OP_max_pool_index, &a, &x, 1);
  if (dtype != F32 && dtype != F64) return;
  const vt_view in[2] = {x, fill_any(new_spatial_tensor(dtype, p, p->windows, layout), state)};
  const run_result dx = run_op(VT_OP_max_pool_grad, &a, in, 2, (layout + 1) % LAYOUTS);
  CHECK(dx.status == VT_OK);
  if (dx.status == VT_OK) check_gradient_bits("max_pool_grad", p, &x, &in[1], &dx.out, 0);
  check_decomposition(VT_OP_max_pool_grad, &a, in, 2);
}

static void test_max_pools(void) {
  uint64_t state = 30;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (uint32_t dtype = F32; dtype <= VT_DTYPE_I64; dtype++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        test_seed = state;
        check_max_pools(&problems[i], dtype, layout, &state);
        free_held();
      }
}

/* The input has few different values, so that many elements equal the maximum. The index must be
 * that of the first, and never of padding. */
static void test_first_maximum_wins(void) {
  static const uint32_t values[] = {0xff800000, 0x80000000, 0, 0x7fc00000};
  uint64_t state = 31;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (unsigned few = 1; few <= 4; few++) {
      const problem *p = &problems[i];
      const vt_attr_max_pool a = max_pool_attrs(p);
      vt_view x = new_spatial_tensor(F32, p, p->in, DENSE);
      for (int64_t e = 0; e < count_of_view(&x); e++)
        put_bits(&x, e, values[random_u64(&state) % few]);
      const run_result y = run_op(VT_OP_max_pool, &a, &x, 1, DENSE);
      if (!p->has_empty_window) {
        const run_result index = run_op(VT_OP_max_pool_index, &a, &x, 1, DENSE);
        check_max_values(p, &x, &y.out, &index.out);
        check_decomposition(VT_OP_max_pool_index, &a, &x, 1);
        check_decomposition(VT_OP_max_pool, &a, &x, 1);
      }
      free_held();
    }
}

static void check_avg_pools(const problem *p, uint32_t dtype, int layout, int count_padding,
                            int any_class, uint64_t *state) {
  const vt_attr_avg_pool a = avg_pool_attrs(p, count_padding);
  const vt_attr_avg_pool_grad back = {.size = sizeof back,
                                      .kernel = a.kernel,
                                      .stride = a.stride,
                                      .dilation = a.dilation,
                                      .low = a.low,
                                      .high = a.high,
                                      .ceil = a.ceil,
                                      .count_padding = count_padding,
                                      .from = attr_list_of(p->in, p->axes)};
  vt_view x = new_spatial_tensor(dtype, p, p->in, layout),
          dy = new_spatial_tensor(dtype, p, p->windows, layout);
  x = any_class ? fill_any(x, state) : fill_ordinary(x, state);
  dy = any_class ? fill_any(dy, state) : fill_ordinary(dy, state);
  const run_result y = run_op(VT_OP_avg_pool, &a, &x, 1, (layout + 1) % LAYOUTS);
  CHECK(y.status == VT_OK);
  if (y.status != VT_OK) return;
  CHECK(has_expected_shape(p, &y.out));
  if (!has_expected_shape(p, &y.out)) return;
  check_avg_values(p, &x, &y.out, count_padding);
  check_decomposition(VT_OP_avg_pool, &a, &x, 1);
  const run_result dx = run_op(VT_OP_avg_pool_grad, &back, &dy, 1, (layout + 2) % LAYOUTS);
  CHECK(dx.status == VT_OK);
  if (dx.status == VT_OK)
    check_gradient_bits("avg_pool_grad", p, NULL, &dy, &dx.out, count_padding);
  check_decomposition(VT_OP_avg_pool_grad, &back, &dy, 1);
}

static void test_avg_pools(void) {
  uint64_t state = 32;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 12; bits++) {
      test_seed = state;
      check_avg_pools(&problems[i], bits & 1 ? F64 : F32, bits % LAYOUTS, bits >> 1 & 1, bits >= 8,
                      &state);
      free_held();
    }
}

/* ---- global pools ---- */

static void test_global_pools(void) {
  static const int64_t shapes[][8] = {{3, 2, 3, 7},    {5, 1, 2, 4, 5, 3}, {8, 2, 1, 2, 1, 2, 1, 2},
                                      {3, 2, 2, 1025}, {4, 0, 2, 3, 3},    {4, 2, 0, 3, 3},
                                      {3, 1, 1, 1}};
  uint64_t state = 33;
  for (int64_t i = 0; i < COUNT(shapes); i++)
    for (int bits = 0; bits < 6; bits++) {
      const int64_t dim[8] = {shapes[i][1], shapes[i][2], shapes[i][3], shapes[i][4],
                              shapes[i][5], shapes[i][6], shapes[i][7], 3};
      const uint32_t rank = (uint32_t)shapes[i][0], dtype = bits & 1 ? F64 : F32;
      test_seed = state;
      const vt_view x = fill_any(view_new(dtype, rank, dim, bits % LAYOUTS), &state);
      const run_result max = run_op(VT_OP_global_max_pool, NULL, &x, 1, DENSE);
      const run_result avg = run_op(VT_OP_global_avg_pool, NULL, &x, 1, GAPS);
      CHECK(max.status == VT_OK && avg.status == VT_OK && max.out.rank == rank);
      const int64_t size = product_of(dim + 2, rank - 2);
      for (int64_t e = 0; e < dim[0] * dim[1]; e++) {
        double all[MOST];
        int64_t best = e * size;
        for (int64_t j = 0; j < size; j++) {
          all[j] = number_at(&x, e * size + j);
          if (comes_above(all[j], number_at(&x, best))) best = e * size + j;
        }
        expect_bits("global_max_pool", &max.out, e, get_bits(&x, best));
        expect_bits(
            "global_avg_pool", &avg.out, e,
            bits_of_number(dtype, rounded_quotient(dtype, sum_in_order_s(dtype, all, size), size)));
      }
      check_decomposition(VT_OP_global_max_pool, NULL, &x, 1);
      check_decomposition(VT_OP_global_avg_pool, NULL, &x, 1);
      free_held();
    }
}

/* ---- gradients ---- */

static vt_view fill_with_exact_fractions(vt_view v, uint64_t *state) {
  for (int64_t i = 0; i < count_of_view(&v); i++) put_number(&v, i, random_on_grid(state));
  return v;
}

/* Fills v with different values whose distances are larger than the step of
 * check_gradient_by_difference. */
static vt_view fill_with_distinct_values(vt_view v, uint64_t *state) {
  const int64_t n = count_of_view(&v);
  for (int64_t i = 0; i < n; i++) put_number(&v, i, (double)i);
  for (int64_t i = n; i > 1; i--) {
    const int64_t j = (int64_t)(random_u64(state) % (uint64_t)i);
    const uint64_t a = get_bits(&v, i - 1);
    put_bits(&v, i - 1, get_bits(&v, j));
    put_bits(&v, j, a);
  }
  return v;
}

static void test_gradients_by_differences(void) {
  uint64_t state = 34;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 4; bits++) {
      const problem *p = &problems[i];
      const uint32_t dtype = bits & 1 ? F64 : F32;
      const double bound = bits & 1 ? 1e-12 : 1e-4;
      const vt_attr_max_pool m = max_pool_attrs(p);
      const vt_attr_avg_pool a = avg_pool_attrs(p, bits >> 1);
      const vt_view x =
          fill_with_distinct_values(new_spatial_tensor(dtype, p, p->in, DENSE), &state);
      const vt_view flat =
          fill_with_exact_fractions(new_spatial_tensor(dtype, p, p->in, DENSE), &state);
      const vt_view pair[2] = {
          x, fill_with_exact_fractions(new_spatial_tensor(dtype, p, p->windows, DENSE), &state)};
      const vt_attr_avg_pool_grad back = {
          sizeof back, a.kernel,        a.stride,
          a.dilation,  a.low,           a.high,
          a.ceil,      a.count_padding, attr_list_of(p->in, p->axes)};
      if (!p->has_empty_window) {
        check_gradient_by_difference(VT_OP_max_pool, &m, &x, 1, 0, 0.25, bound, &state);
        check_gradient_by_difference(VT_OP_max_pool_grad, &m, pair, 2, 1, 0.25, bound, &state);
        check_gradient_by_difference(VT_OP_avg_pool, &a, &flat, 1, 0, 0.25, bound, &state);
        check_gradient_by_difference(VT_OP_avg_pool_grad, &back, &pair[1], 1, 0, 0.25, bound,
                                     &state);
      }
      if (product_of(p->in, p->axes) > 0) {
        check_gradient_by_difference(VT_OP_global_max_pool, NULL, &x, 1, 0, 0.25, bound, &state);
        check_gradient_by_difference(VT_OP_global_avg_pool, NULL, &flat, 1, 0, 0.25, bound, &state);
      }
      free_held();
    }
}

/* ---- type rules ---- */

static void test_type_rules(void) {
  static const vt_attr_max_pool k3 = {.size = sizeof k3, .kernel = {1, {3}}},
                                none = {.size = sizeof none},
                                k0 = {.size = sizeof k0, .kernel = {1, {0}}},
                                s1 = {.size = sizeof s1, .kernel = {1, {3}}, .stride = {1, {1}}},
                                up = {.size = sizeof up, .kernel = {1, {3}}, .ceil = 1},
                                late = {.size = sizeof late, .kernel = {1, {2}}, .low = {1, {2}}},
                                huge = {.size = sizeof huge,
                                        .kernel = {1, {2}},
                                        .dilation = {1, {INT64_C(1) << 39}},
                                        .stride = {1, {1}},
                                        .low = {1, {INT64_C(1) << 39}}};
  static const vt_attr_avg_pool_grad g7 = {.size = sizeof g7, .kernel = {1, {3}}, .from = {1, {7}}},
                                     g2 = {.size = sizeof g2,
                                           .kernel = {1, {3}},
                                           .from = {2, {7, 7}}},
                                     gn = {
                                         .size = sizeof gn, .kernel = {1, {3}}, .from = {1, {-7}}};
  static const rule_case cases[] = {
      {VT_OP_max_pool, &k3, "f32[B, V, 9, 7]", "f32[B, V, 3, 2]"},
      {VT_OP_max_pool, &k3, "u8[B, V, 9]", "u8[B, V, 3]"},
      {VT_OP_max_pool, &k3, "f32[B, V, 3*T]", "f32[B, V, T]"},
      {VT_OP_max_pool, &k3, "f32[B, V, T]", "!verify: axis 2 of f32[B, V, T] must be known"},
      {VT_OP_max_pool, &s1, "f32[B, V, T]", "f32[B, V, T - 2]"},
      {VT_OP_max_pool, &up, "f32[B, 2, 10, 7]", "f32[B, 2, 4, 3]"},
      {VT_OP_max_pool, &up, "f32[B, 2, 3*T]", "f32[B, 2, T]"},
      {VT_OP_max_pool_index, &k3, "f64[B, V, 9, 7]", "i64[B, V, 3, 2]"},
      {VT_OP_max_pool, &none, "f32[1, 1, 9]", "!verify: kernel has no entries"},
      {VT_OP_max_pool, &k0, "f32[1, 1, 9]", "!verify: kernel=0: expected 1..2^40"},
      {VT_OP_max_pool, &k3, "f32[1, 9]", "!verify: 1 to 3 spatial axes"},
      {VT_OP_max_pool, &late, "f32[1, 1, 9]",
       "!verify: a window along axis 2 of f32[1, 1, 9] has no"},
      {VT_OP_max_pool, &huge, "f32[1, 1, 9]", "!limit: too much padding for its dilation"},
      {VT_OP_max_pool, &k3, "bool[1, 1, 9]", "!verify: expected f32, f64 or an integer"},
      {VT_OP_max_pool_grad, &k3, "f32[B, 2, 9]; f32[B, 2, 3]", "f32[B, 2, 9]"},
      {VT_OP_max_pool_grad, &k3, "f32[B, 2, 9]; f32[B, 2, 4]",
       "!verify: dy is f32[B, 2, 4] where the pool gives f32[B, 2, 3]"},
      {VT_OP_avg_pool_grad, &g7, "f32[B, 2, 2]", "f32[B, 2, 7]"},
      {VT_OP_avg_pool_grad, &g7, "f32[B, 2, 3]", "!verify: where the pool gives f32[B, 2, 2]"},
      {VT_OP_avg_pool_grad, &g2, "f32[B, 2, 2]", "!verify: from has 2 sizes"},
      {VT_OP_avg_pool_grad, &gn, "f32[B, 2, 2]", "!verify: from=-7"},
      {VT_OP_global_max_pool, NULL, "f32[B, V, T, 4, 4, 4]", "f32[B, V, 1, 1, 1, 1]"},
      {VT_OP_global_max_pool, NULL, "f32[B, V, 0]", "!verify: a maximum of nothing"},
      {VT_OP_global_avg_pool, NULL, "f32[B, V, 0]", "f32[B, V, 1]"},
      {VT_OP_global_avg_pool, NULL, "f32[B, V]", "!verify: with a spatial axis"},
  };
  CHECK_RULES(cases);
}

/* ---- sizes ---- */

#define T40 (INT64_C(1) << 40)

/* The decomposition stores the padded planes and the taps of all windows in tensors, so their sizes
 * are limited. */
static void test_too_large_pools_refused(void) {
  static const vt_attr_avg_pool
      before = {.size = sizeof before,
                .kernel = {1, {1}},
                .stride = {1, {T40}},
                .low = {1, {T40}},
                .count_padding = 1},
      after = {.size = sizeof after, .kernel = {1, {1}}, .high = {1, {T40}}, .stride = {1, {T40}}},
      all = {.size = sizeof all, .kernel = {1, {T40}}, .low = {1, {T40 - 5}}},
      fits = {.size = sizeof fits, .kernel = {1, {T40}}, .low = {1, {T40 - 9}}},
      both = {.size = sizeof both, .kernel = {1, {1}}, .low = {1, {1 << 20}}, .stride = {1, {T40}}},
      many = {.size = sizeof many,
              .kernel = {1, {1 << 10}},
              .low = {1, {1 << 9}},
              .high = {1, {1 << 9}},
              .stride = {1, {1}}};
  static const vt_attr_max_pool far = {
      .size = sizeof far, .kernel = {1, {T40}}, .low = {1, {T40 - 1}}};
  static const vt_attr_avg_pool_grad back = {.size = sizeof back,
                                             .kernel = {1, {1}},
                                             .stride = {1, {T40}},
                                             .low = {1, {T40}},
                                             .from = {1, {4}}};
  static const rule_case cases[] = {
      {VT_OP_avg_pool, &before, "f32[1, 1, 4]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_avg_pool, &before, "f32[B, 1, 4]",
       "f32[B, 1, 2]"}, /* accepted: the size of axis 0 is checked once B is bound */
      {VT_OP_avg_pool, &after, "f32[1, 1, 4]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_avg_pool, &all, "f32[1, 1, 9]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_avg_pool, &fits, "f32[1, 1, 9]", "f32[1, 1, 1]"},
      {VT_OP_avg_pool, &fits, "f32[64, 1, 9]", "!limit: beyond 2^48 bytes"},
      {VT_OP_avg_pool, &both, "f32[1, 1, 9]", "f32[1, 1, 1]"},
      {VT_OP_avg_pool, &both, "f32[1, 1, 9, 9]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_avg_pool, &many, "f32[1, 1, 9, 9]", "f32[1, 1, 10, 10]"},
      {VT_OP_avg_pool, &many, "f32[1, 1, 1023, 1023]", "f32[1, 1, 1024, 1024]"},
      {VT_OP_avg_pool, &many, "f32[1, 1, 1023, 1024]", "!limit: 2^40 taps in the windows"},
      {VT_OP_avg_pool, &many, "f32[1048576, 1048577, 9]", "!limit: 2^40 planes"},
      {VT_OP_max_pool, &far, "f32[1, 1, 4]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_max_pool_index, &far, "f32[1, 1, 4]", "!limit: 2^40 elements in a padded plane"},
      {VT_OP_max_pool_grad, &far, "f32[1, 1, 4]; f32[1, 1, 1]",
       "!limit: 2^40 elements in a padded plane"},
      {VT_OP_avg_pool_grad, &back, "f32[1, 1, 2]", "!limit: 2^40 elements in a padded plane"},
  };
  CHECK_RULES(cases);
}

/* The decomposition of an empty result must not need large intermediate values. */
static void test_empty_results_need_little_memory(void) {
  static const vt_attr_avg_pool avg = {
      .size = sizeof avg, .kernel = {1, {1}}, .low = {1, {T40 / 2}}, .stride = {1, {T40 / 2}}};
  static const vt_attr_avg_pool_grad back = {.size = sizeof back,
                                             .kernel = {1, {1}},
                                             .low = {1, {T40 / 2}},
                                             .stride = {1, {T40 / 2}},
                                             .from = {1, {4}}};
  static const vt_attr_max_pool max = {
      .size = sizeof max, .kernel = {1, {T40 / 2}}, .low = {1, {T40 / 2 - 1}}};
  check_largest_value_bytes(VT_OP_avg_pool, &avg, "f32[0, 1, 4]", 64);
  check_largest_value_bytes(VT_OP_avg_pool_grad, &back, "f32[0, 1, 2]", 64);
  check_largest_value_bytes(VT_OP_max_pool, &max, "i8[1, 0, 4]", 64);
  check_largest_value_bytes(VT_OP_max_pool_index, &max, "f64[0, 3, 4]", 64);
  check_largest_value_bytes(VT_OP_max_pool_grad, &max, "f32[0, 1, 4]; f32[0, 1, 1]", 64);
}

/* If an axis has only one window, its stride may be longer than the axis. */
static void test_stride_longer_than_axis(void) {
  static const vt_attr_avg_pool a = {
      .size = sizeof a, .kernel = {1, {2}}, .low = {1, {1}}, .stride = {1, {T40}}};
  static const vt_attr_avg_pool wide = {
      .size = sizeof wide, .kernel = {1, {1}}, .low = {2, {0, 1 << 24}}, .stride = {1, {T40}}};
  const int64_t dim[4] = {1, 1, 3, 3};
  uint64_t state = 31;
  const vt_view x = fill_ordinary(view_new(F32, 4, dim, DENSE), &state);
  check_decomposition(VT_OP_avg_pool, &a, &x, 1);
  check_largest_value_bytes(VT_OP_avg_pool, &wide, "f32[1, 1, 3, 3]", UINT64_C(1) << 29);
  free_held();
}

int main(void) {
  test_max_pools();
  test_first_maximum_wins();
  test_avg_pools();
  test_global_pools();
  test_gradients_by_differences();
  test_type_rules();
  test_too_large_pools_refused();
  test_empty_results_need_little_memory();
  test_stride_longer_than_axis();
  TEST_DONE();
}
