/* SPDX-License-Identifier: Apache-2.0
 * adaptive_test.c - tests the adaptive pools against their definition, restated window by window
 * in row-major order of the window's elements. Tests their gradients element by element, kernels
 * against decompositions, and the type rules. A plane is one channel of one member of the batch. S
 * is the order in which sums are added (docs/numerics.md). */
#include "trace_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, MOST = 5000 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct problem {
  uint32_t axes;
  int64_t n, c, in[3], out[3];
} problem;

static const problem problems[] = {
    {1, 2, 3, {7}, {3}},       {1, 1, 2, {8}, {4}},         {1, 1, 1, {5}, {7}},
    {1, 1, 1, {1}, {3}},       {1, 1, 1, {2100}, {2}},      {1, 2, 0, {4}, {2}},
    {1, 1, 2, {4}, {0}},       {2, 1, 2, {5, 6}, {2, 4}},   {2, 1, 1, {23, 31}, {3, 4}},
    {2, 1, 1, {3, 4}, {5, 7}}, {2, 1, 1, {40, 35}, {1, 1}}, {3, 1, 2, {3, 7, 5}, {2, 3, 2}},
};

static vt_attr_adaptive pool_attrs(const problem *p) {
  vt_attr_adaptive a = {.size = sizeof a, .to = {.n = p->axes}};
  memcpy(a.to.v, p->out, p->axes * sizeof *p->out);
  return a;
}

static vt_view new_spatial_tensor(uint32_t dtype, const problem *p, const int64_t *spatial,
                                  int layout) {
  int64_t dim[5] = {p->n, p->c};
  memcpy(dim + 2, spatial, p->axes * sizeof *dim);
  return view_new(dtype, p->axes + 2, dim, layout);
}

static int64_t product_of(const int64_t *dim, uint32_t n) {
  int64_t all = 1;
  for (uint32_t i = 0; i < n; i++) all *= dim[i];
  return all;
}

/* 1 if element e of a plane is in window w. Along an axis of length I with O windows, the window
 * with index p has the elements i with floor(p*I/O) <= i < ceil((p+1)*I/O). */
static int is_in_window(const problem *p, int64_t window, int64_t element) {
  for (uint32_t k = p->axes; k-- > 0; window /= p->out[k], element /= p->in[k]) {
    const int64_t at = window % p->out[k], i = element % p->in[k];
    if ((i + 1) * p->out[k] <= at * p->in[k] || i * p->out[k] >= (at + 1) * p->in[k]) return 0;
  }
  return 1;
}

/* Writes the elements of window w, in row-major order, to `out` and returns their number. */
static int64_t list_window_elements(const problem *p, int64_t window, int64_t *out) {
  int64_t n = 0;
  for (int64_t e = 0; e < product_of(p->in, p->axes); e++)
    if (is_in_window(p, window, e)) out[n++] = e;
  return n;
}

static double sum_in_order_s(uint32_t dtype, const double *x, int64_t n) {
  static float narrow[MOST];
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)x[i];
  return dtype == F32 ? (double)s_f32(narrow, n) : s_f64(x, n);
}

static double rounded_quotient(uint32_t dtype, double x, int64_t n) {
  return dtype == F32 ? (double)((float)x / (float)n) : x / (double)n;
}

static uint64_t bits_of_number(uint32_t dtype, double x) {
  return dtype == F32 ? vt_f32_bits((float)x) : vt_f64_bits(x);
}

static int64_t index_of_max_in_window(const vt_view *x, int64_t plane_start, const int64_t *window,
                                      int64_t n) {
  int64_t best = window[0];
  for (int64_t i = 1; i < n; i++)
    if (comes_above(number_at(x, plane_start + window[i]), number_at(x, plane_start + best)))
      best = window[i];
  return best;
}

static void check_pool_values(const problem *p, uint32_t dtype, int layout, uint64_t *state) {
  static int64_t in[MOST];
  static double x[MOST];
  const vt_attr_adaptive a = pool_attrs(p);
  const vt_view v = fill_any(new_spatial_tensor(dtype, p, p->in, layout), state);
  const run_result avg = run_op(VT_OP_adaptive_avg_pool, &a, &v, 1, layout);
  const run_result max = run_op(VT_OP_adaptive_max_pool, &a, &v, 1, layout);
  CHECK(avg.status == VT_OK && max.status == VT_OK);
  const int64_t windows = product_of(p->out, p->axes), length = product_of(p->in, p->axes);
  for (int64_t i = 0; i < p->n * p->c * windows; i++) {
    const int64_t base = i / windows * length, n = list_window_elements(p, i % windows, in);
    for (int64_t k = 0; k < n; k++) x[k] = number_at(&v, base + in[k]);
    const double mean = rounded_quotient(dtype, sum_in_order_s(dtype, x, n), n);
    if (!expect_bits("adaptive_avg_pool", &avg.out, i, bits_of_number(dtype, mean))) return;
    const uint64_t most = get_bits(&v, base + index_of_max_in_window(&v, base, in, n));
    if (!expect_bits("adaptive_max_pool", &max.out, i, most)) return;
  }
  check_decomposition(VT_OP_adaptive_avg_pool, &a, &v, 1);
  check_decomposition(VT_OP_adaptive_max_pool, &a, &v, 1);
}

static void test_pool_values(void) {
  uint64_t state = 61;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int layout = 0; layout < 2 * LAYOUTS; layout++) {
      test_seed = state;
      check_pool_values(&problems[i], layout % 2 ? F64 : F32, layout / 2, &state);
      free_held();
    }
}

/* Windows along an axis of length 0 are empty: an average pool gives NaN and a max pool is refused.
 */
static void test_empty_windows_nan_or_refused(void) {
  static const problem empty = {1, 1, 2, {0}, {2}};
  const vt_attr_adaptive a = pool_attrs(&empty);
  const vt_view v = new_spatial_tensor(F32, &empty, empty.in, DENSE);
  const run_result r = run_op(VT_OP_adaptive_avg_pool, &a, &v, 1, DENSE);
  CHECK(r.status == VT_OK && count_of_view(&r.out) == 4);
  for (int64_t i = 0; i < 4; i++) CHECK(isnan(get_f32(&r.out, i)));
  check_decomposition(VT_OP_adaptive_avg_pool, &a, &v, 1);
  CHECK(run_op(VT_OP_adaptive_max_pool, &a, &v, 1, DENSE).status == VT_VERIFY);
  free_held();
}

/* ---- gradients ---- */

/* The gradient of element e: the sum in order S, over the windows in ascending order, of dy/count
 * of each window that contains e, or for a max pool of dy of each window whose first maximum is e.
 */
static double gradient_of_element(const problem *p, const vt_view *x, const vt_view *dy,
                                  int64_t plane, int64_t element, int is_max_pool) {
  static int64_t in[MOST];
  static double q[MOST];
  const int64_t windows = product_of(p->out, p->axes), length = product_of(p->in, p->axes);
  int64_t n = 0;
  for (int64_t w = 0; w < windows; w++) {
    if (!is_in_window(p, w, element)) continue;
    const int64_t count = list_window_elements(p, w, in);
    const double d = number_at(dy, plane * windows + w);
    if (!is_max_pool) q[n++] = rounded_quotient(dy->dtype, d, count);
    if (is_max_pool && index_of_max_in_window(x, plane * length, in, count) == element) q[n++] = d;
  }
  return sum_in_order_s(dy->dtype, q, n);
}

static void check_gradients(const problem *p, uint32_t dtype, uint32_t op, uint64_t *state) {
  const vt_attr_adaptive a = pool_attrs(p);
  const vt_view x = fill_ordinary(new_spatial_tensor(dtype, p, p->in, DENSE), state);
  const vt_view dy = fill_ordinary(new_spatial_tensor(dtype, p, p->out, DENSE), state);
  const int64_t length = product_of(p->in, p->axes);
  eager_begin();
  const uint32_t id = eager_add_copy(&x), d_out = eager_add_copy(&dy);
  const uint32_t y = eager_run_op(&eager.b, op, &id, 1, &a);
  uint32_t d_in = VT_NO_VALUE;
  const vt_gradient g = {&eager.b, &id, &y, 1, 1, &a, &d_out, &d_in};
  vt_op_get(op)->grad(&g);
  CHECK(d_in < eager.n && vt_type_equal(&eager.type[d_in], &eager.type[id]));
  for (int64_t i = 0; d_in < eager.n && i < count_of_view(&x); i++) {
    const double want =
        gradient_of_element(p, &x, &dy, i / length, i % length, op == VT_OP_adaptive_max_pool);
    if (!expect_bits(vt_op_get(op)->name, &eager.value[d_in], i, bits_of_number(dtype, want)))
      break;
  }
  eager_end(vt_op_get(op)->name);
}

static void test_gradients_by_formula(void) {
  uint64_t state = 62;
  for (int64_t i = 0; i < 2 * COUNT(problems); i++) {
    const problem *p = &problems[i / 2];
    test_seed = state;
    check_gradients(p, i % 2 ? F64 : F32, VT_OP_adaptive_avg_pool, &state);
    check_gradients(p, i % 2 ? F64 : F32, VT_OP_adaptive_max_pool, &state);
    free_held();
  }
}

/* ---- type rules ---- */

static void test_type_rules(void) {
  static const vt_attr_adaptive two = {sizeof two, {1, {2}}}, pair = {sizeof pair, {2, {2, 3}}},
                                none = {sizeof none, {0, {0}}}, minus = {sizeof minus, {1, {-1}}},
                                wide = {sizeof wide, {1, {INT64_C(1) << 40}}},
                                huge = {sizeof huge, {1, {INT64_C(1) << 41}}};
  static const rule_case cases[] = {
      {VT_OP_adaptive_avg_pool, &two, "f32[B, V, T]", "f32[B, V, 2]"},
      {VT_OP_adaptive_avg_pool, &pair, "f64[B, V, T, 5]", "f64[B, V, 2, 3]"},
      {VT_OP_adaptive_max_pool, &two, "u8[B, V, 4, 5, 6]", "u8[B, V, 2, 2, 2]"},
      {VT_OP_adaptive_avg_pool, &two, "i32[1, 1, 4]", "!verify: expected f32 or f64"},
      {VT_OP_adaptive_avg_pool, &two, "f32[1, 4]", "!verify: 1 to 3 spatial axes"},
      {VT_OP_adaptive_avg_pool, &pair, "f32[1, 1, 4]", "!verify: to has 2 entries where x has 1"},
      {VT_OP_adaptive_avg_pool, &none, "f32[1, 1, 4]", "!verify: to has 0 entries"},
      {VT_OP_adaptive_avg_pool, &minus, "f32[1, 1, 4]", "!verify: to=-1: expected 0..2^40"},
      {VT_OP_adaptive_avg_pool, &huge, "f32[1, 1, 4]", "!verify: to=2199023255552"},
      {VT_OP_adaptive_avg_pool, &wide, "f32[0, 1, 8388608]", "!limit: is beyond 2^62"},
      {VT_OP_adaptive_max_pool, &two, "f32[1, 1, 0]", "!verify: a maximum of nothing"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_pool_values();
  test_empty_windows_nan_or_refused();
  test_gradients_by_formula();
  test_type_rules();
  TEST_DONE();
}
