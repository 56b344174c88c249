/* SPDX-License-Identifier: Apache-2.0
 * eager_test.h - a builder that runs the reference kernel of each node as soon as it is added, so
 * that a test can look at the values of a decomposition or a gradient. Checks of gradients of
 * pointwise ops: bit for bit against formulas restated in C, and against differences. Each case
 * uses at most 64 values; trace_test.h has the same for more values. S is the order in which sums
 * are added (docs/numerics.md). */
#ifndef VT_EAGER_TEST_H
#define VT_EAGER_TEST_H
#include "op_test.h"
#include "vt_builder.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { MAX_EAGER = 64 };
typedef struct eager {
  vt_builder b;
  uint32_t n;
  vt_view value[MAX_EAGER];
  vt_type type[MAX_EAGER];
} eager;

static inline uint32_t eager_add_value(eager *e, vt_view v) {
  if (e->n == MAX_EAGER) exit(1);
  e->value[e->n] = v;
  e->type[e->n] = type_of_view(&v);
  return e->n++;
}

static inline uint32_t eager_run_node(vt_builder *b, uint32_t op, const uint32_t *in, uint32_t n,
                                      const void *attrs) {
  eager *e = b->self;
  vt_view views[8];
  for (uint32_t i = 0; i < n; i++) {
    if (in[i] >= e->n) return VT_NO_VALUE;
    views[i] = e->value[in[i]];
  }
  const run_result r = run_op(op, attrs, views, n, DENSE);
  if (r.status != VT_OK) report_test_failure(vt_op_get(op)->name, "does not run");
  return r.status == VT_OK ? eager_add_value(e, r.out) : VT_NO_VALUE;
}

static inline const vt_type *eager_value_type(const vt_builder *b, uint32_t value) {
  const eager *e = b->self;
  return value < e->n ? &e->type[value] : NULL;
}

static inline void eager_begin(eager *e, const vt_view *in, uint32_t n) {
  *e = (eager){.b = {.self = e, .node = eager_run_node, .type = eager_value_type}};
  for (uint32_t i = 0; i < n; i++) (void)eager_add_value(e, in[i]);
}

/* Runs the decomposition of an op and returns its result, with data NULL if it fails. */
static inline vt_view run_decomposition(uint32_t op, const void *attrs, const vt_view *in,
                                        uint32_t n) {
  static const uint32_t ids[3] = {0, 1, 2};
  static eager e;
  const vt_op_info *info = vt_op_get(op);
  eager_begin(&e, in, n);
  const vt_lowering l = {&e.b, ids, n, attrs == NULL ? info->attrs->defaults : attrs, NULL};
  const uint32_t y = info->lower(&l);
  return y < e.n ? e.value[y] : (vt_view){0};
}

/* Computes the gradients of all operands of an op from the operands, the result y and the gradient
 * dy of the result. out[k].data is NULL if operand k gets no gradient. */
static inline void differentiate(uint32_t op, const void *attrs, const vt_view *in, uint32_t n,
                                 vt_view y, vt_view dy, vt_view *out) {
  static const uint32_t ids[3] = {0, 1, 2};
  static eager e;
  const vt_op_info *info = vt_op_get(op);
  uint32_t d_in[3] = {VT_NO_VALUE, VT_NO_VALUE, VT_NO_VALUE};
  eager_begin(&e, in, n);
  const uint32_t at_y = eager_add_value(&e, y), at_dy = eager_add_value(&e, dy);
  const vt_gradient g = {&e.b,   ids, &at_y, n, 1, attrs == NULL ? info->attrs->defaults : attrs,
                         &at_dy, d_in};
  info->grad(&g);
  for (uint32_t i = 0; i < n; i++) out[i] = d_in[i] < e.n ? e.value[d_in[i]] : (vt_view){0};
}

/* ---- formulas, restated ---- */

/* The formulas of a pointwise op on one element of each operand: its value, and the gradient of
 * each operand, computed from the operands, the result y and the result's gradient d. */
typedef struct formula {
  uint32_t op, n_in;
  const void *attrs;
  float (*y_float)(float a, float b, float c);
  double (*y_double)(double a, double b, double c); /* NULL if the op is only for f32 */
  float (*d_float[3])(float a, float b, float c, float y, float d);
  double (*d_double[3])(double a, double b, double c, double y, double d);
  double lo, hi;   /* range of the operands when differences are taken */
  double lo2, hi2; /* range of operand 2, if it is not empty; otherwise lo .. hi */
} formula;

static inline uint64_t formula_gradient(const formula *f, uint32_t operand, uint32_t dtype,
                                        const uint64_t in_y_dy[5]) {
  if (dtype == VT_DTYPE_F64)
    return vt_f64_bits(f->d_double[operand](
        vt_f64_from_bits(in_y_dy[0]), vt_f64_from_bits(in_y_dy[1]), vt_f64_from_bits(in_y_dy[2]),
        vt_f64_from_bits(in_y_dy[3]), vt_f64_from_bits(in_y_dy[4])));
  return vt_f32_bits(f->d_float[operand](
      vt_f32_from_bits((uint32_t)in_y_dy[0]), vt_f32_from_bits((uint32_t)in_y_dy[1]),
      vt_f32_from_bits((uint32_t)in_y_dy[2]), vt_f32_from_bits((uint32_t)in_y_dy[3]),
      vt_f32_from_bits((uint32_t)in_y_dy[4])));
}

static inline uint64_t formula_value(const formula *f, uint32_t dtype, const uint64_t x[3]) {
  if (dtype == VT_DTYPE_F64)
    return vt_f64_bits(
        f->y_double(vt_f64_from_bits(x[0]), vt_f64_from_bits(x[1]), vt_f64_from_bits(x[2])));
  return vt_f32_bits(f->y_float(vt_f32_from_bits((uint32_t)x[0]), vt_f32_from_bits((uint32_t)x[1]),
                                vt_f32_from_bits((uint32_t)x[2])));
}

/* The sum in order S of n numbers given by their bits. */
static inline uint64_t sum_bits_in_order_s(uint32_t dtype, const uint64_t *bits, int64_t n) {
  static float x[4096];
  static double z[4096];
  for (int64_t i = 0; i < n; i++) x[i] = vt_f32_from_bits((uint32_t)bits[i]);
  for (int64_t i = 0; i < n; i++) z[i] = vt_f64_from_bits(bits[i]);
  return dtype == VT_DTYPE_F32 ? vt_f32_bits(s_f32(x, n)) : vt_f64_bits(s_f64(z, n));
}

/* The row-major index of the element of x that is broadcast to element i of y. */
static inline int64_t broadcast_index(const vt_view *x, const vt_view *y, int64_t i) {
  int64_t at = 0, step = 1;
  for (uint32_t k = 1; k <= y->rank; k++) {
    const int64_t index = i % y->dim[y->rank - k];
    i /= y->dim[y->rank - k];
    if (k > x->rank) continue;
    at += (x->dim[x->rank - k] == 1 ? 0 : index) * step;
    step *= x->dim[x->rank - k];
  }
  return at;
}

/* Checks the gradient of operand k. An element that was broadcast gets the sum in order S of the
 * gradients of all elements of the result that it reached, in row-major order. */
static inline void check_operand_gradient(const formula *f, uint32_t operand, const vt_view *in,
                                          const vt_view *y, const vt_view *dy, const vt_view *got) {
  static uint64_t part[4096];
  const char *name = vt_op_get(f->op)->name;
  const int64_t n = count_of_view(y), m = count_of_view(&in[operand]);
  if (got->data == NULL || count_of_view(got) != m || got->rank != in[operand].rank) {
    report_test_failure(name, "has a gradient of another shape, or none");
    return;
  }
  for (int64_t j = 0; j < m; j++) {
    int64_t parts = 0;
    for (int64_t i = 0; i < n; i++) {
      uint64_t x[5] = {0, 0, 0, get_bits(y, i), get_bits(dy, i)};
      if (broadcast_index(&in[operand], y, i) != j) continue;
      for (uint32_t p = 0; p < f->n_in; p++) x[p] = broadcast_bits(&in[p], y, i);
      part[parts++] = formula_gradient(f, operand, y->dtype, x);
    }
    const uint64_t want = n == m ? part[0] : sum_bits_in_order_s(y->dtype, part, parts);
    if (!expect_bits(name, got, j, want)) return;
  }
}

/* Checks the gradients of all operands against the formulas. */
static inline void check_gradients_by_formula(const formula *f, const vt_view *in,
                                              uint64_t *state) {
  vt_view got[3];
  const run_result r = run_op(f->op, f->attrs, in, f->n_in, DENSE);
  CHECK(r.status == VT_OK);
  if (r.status != VT_OK) return;
  const vt_view dy = fill_any(view_new(r.out.dtype, r.out.rank, r.out.dim, DENSE), state);
  for (int64_t i = 0; i < count_of_view(&dy); i += 2)
    put_bits(&dy, i, ordinary_bits(dy.dtype, state));
  differentiate(f->op, f->attrs, in, f->n_in, r.out, dy, got);
  for (uint32_t k = 0; k < f->n_in; k++) check_operand_gradient(f, k, in, &r.out, &dy, &got[k]);
}

static const struct {
  uint32_t rank[3];
  int64_t dim[3][8];
} grad_shapes[] = {
    {{1, 1, 1}, {{331}, {331}, {331}}},
    {{0, 0, 0}, {{0}}},
    {{0, 1, 1}, {{0}, {5}, {1}}},
    {{2, 1, 2}, {{4, 9}, {9}, {1, 9}}},
    {{2, 2, 0}, {{33, 1}, {33, 2}, {0}}},
    {{1, 2, 3}, {{1}, {3, 0}, {2, 1, 1}}},
    {{3, 3, 3}, {{2, 1, 5}, {1, 3, 1}, {2, 3, 5}}},
};

static inline void test_gradients_by_formula(const formula *f) {
  uint64_t state = 4000 + f->op;
  for (int64_t s = 0; s < COUNT(grad_shapes); s++)
    for (uint32_t mix = 0; mix < 8; mix++) {
      const uint32_t dtype = mix % 2 == 1 && f->d_double[0] != NULL ? VT_DTYPE_F64 : VT_DTYPE_F32;
      vt_view in[3];
      test_seed = state;
      for (uint32_t i = 0; i < f->n_in; i++) {
        in[i] = view_new(dtype, grad_shapes[s].rank[i], grad_shapes[s].dim[i],
                         (int)(mix + i) % LAYOUTS);
        in[i] = mix < 4 ? fill_any(in[i], &state) : fill_ordinary(in[i], &state);
      }
      check_gradients_by_formula(f, in, &state);
      free_held();
    }
}

/* ---- gradients against central differences ---- */

enum { STEPS = 8 };

static inline float operand_sample(const formula *f, uint32_t operand, int64_t step) {
  const double lo = operand == 1 && f->lo2 < f->hi2 ? f->lo2 : f->lo;
  const double hi = operand == 1 && f->lo2 < f->hi2 ? f->hi2 : f->hi;
  const double at = ((double)(operand == 0 ? step : STEPS - 1 - step) + 0.37) / STEPS;
  return (float)(lo + (hi - lo) * at);
}

static inline double value_with_operand_moved(const formula *f, int64_t step, uint32_t moved,
                                              float shift) {
  const int64_t one = 1;
  vt_view in[3];
  for (uint32_t k = 0; k < f->n_in; k++) {
    in[k] = view_new(VT_DTYPE_F32, 1, &one, DENSE);
    *(float *)in[k].data = operand_sample(f, k, step) + (k == moved ? shift : 0.0f);
  }
  const run_result r = run_op(f->op, f->attrs, in, f->n_in, DENSE);
  const double y = (double)get_f32(&r.out, 0);
  free_held();
  return y;
}

static inline double gradient_at_sample(const formula *f, int64_t step, uint32_t operand) {
  const int64_t one = 1;
  vt_view in[3], got[3], dy = view_new(VT_DTYPE_F32, 1, &one, DENSE);
  *(float *)dy.data = 1.0f;
  for (uint32_t i = 0; i < f->n_in; i++) {
    in[i] = view_new(VT_DTYPE_F32, 1, &one, DENSE);
    *(float *)in[i].data = operand_sample(f, i, step);
  }
  const run_result r = run_op(f->op, f->attrs, in, f->n_in, DENSE);
  differentiate(f->op, f->attrs, in, f->n_in, r.out, dy, got);
  const double d = got[operand].data == NULL ? 1e9 : (double)get_f32(&got[operand], 0);
  free_held();
  return d;
}

/* Compares each gradient with the central difference (f(x + h) - f(x - h)) / 2h. With h = 2^-8 the
 * error of the difference is h*h/6 times the third derivative of f, plus 2^-24 times f divided by
 * h. For the functions and ranges tested this error is below 2^-9. */
static inline void test_gradients_by_differences(const formula *f) {
  const float h = 0x1p-8f;
  for (int64_t j = 0; j < STEPS; j++)
    for (uint32_t k = 0; k < f->n_in; k++) {
      const double up = value_with_operand_moved(f, j, k, h),
                   down = value_with_operand_moved(f, j, k, -h);
      const double want = (up - down) / (2 * (double)h), got = gradient_at_sample(f, j, k);
      if (fabs(got - want) <= 0x1p-9 * (1 + fabs(want))) continue;
      char what[160];
      snprintf(what, sizeof what, "operand %u at %g: slope %g, difference %g", k + 1,
               (double)operand_sample(f, k, j), got, want);
      report_test_failure(vt_op_get(f->op)->name, what);
    }
}
#endif
