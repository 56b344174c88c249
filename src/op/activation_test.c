/* SPDX-License-Identifier: Apache-2.0
 * activation_test.c - tests the pointwise compositions: kernel, decomposition and gradient of each
 * against its formula as this file restates it, and the rules for their types and attributes. */
#include "eager_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

#define VALUE(name, type, formula)                    \
  static type name##_##type(type a, type b, type c) { \
    (void)a, (void)b, (void)c;                        \
    return formula;                                   \
  }
#define SLOPE(name, k, type, formula)                                       \
  static type name##_##k##_##type(type a, type b, type c, type y, type d) { \
    (void)a, (void)b, (void)c, (void)y, (void)d;                            \
    return formula;                                                         \
  }
#define ONLY(name, value, slope) VALUE(name, float, value) SLOPE(name, 0, float, slope)
#define BOTH(name, value, slope) \
  VALUE(name, float, value)      \
  SLOPE(name, 0, float, slope) VALUE(name, double, value) SLOPE(name, 0, double, slope)

/* ---- the formulas, with the attributes of the table below ---- */

/* Serves f32 too, because the result is an operand, not rounded. */
static double greatest_of(double a, double b) {
  return isnan(a) || isnan(b) ? NAN : comes_above(a, b) ? a : b;
}
static double least_of(double a, double b) {
  return isnan(a) || isnan(b) ? NAN : comes_above(a, b) ? b : a;
}
static float greatest_float(double a, double b) { return (float)greatest_of(a, b); }
static float smallest_float(double a, double b) { return (float)least_of(a, b); }
#define greatest_double greatest_of
#define smallest_double least_of
static float sigmoid_of(float x) { return vt_f32_sigmoid(x); }
static float log1p_exp_minus_abs(float x) { return vt_f32_log1p(vt_f32_exp(-fabsf(x))); }
static float softplus_of(float x) { return greatest_float((double)x, 0) + log1p_exp_minus_abs(x); }
static float gelu_erf_factor(float x) { return 1 + vt_f32_erf(x * 0.707106781186547524f); }
static float gelu_inner_tanh(float x) {
  const float cube = 0.044715f * ((x * x) * x);
  return vt_f32_tanh(0.797884560802865356f * (x + cube));
}
static float gelu_tanh_argument_slope(float x) {
  return 0.797884560802865356f * (1 + 0.134145f * (x * x));
}
static float normal_density(float x) {
  return vt_f32_exp(-(0.5f * (x * x))) * 0.398942280401432678f;
}
static float silu_slope(float x) { return sigmoid_of(x) * (1 + x * (1 - sigmoid_of(x))); }
static float gelu_slope(float x) { return (0.5f * gelu_erf_factor(x)) + x * normal_density(x); }

#define ALPHA -0.7f /* negative: the sign of a zero result shows which branch x = +0 takes */
ONLY(relu, greatest_float((double)a, 0), a > 0 ? d : 0)
VALUE(relu, double, greatest_of(a, 0))
SLOPE(relu, 0, double, a > 0 ? d : 0)
ONLY(silu, a *sigmoid_of(a), d *silu_slope(a))
ONLY(gelu, (0.5f * a) * gelu_erf_factor(a), d *gelu_slope(a))
ONLY(gelu_tanh, (0.5f * a) * (1 + gelu_inner_tanh(a)),
     d *((0.5f * (1 + gelu_inner_tanh(a))) +
         ((0.5f * a) * (1 - gelu_inner_tanh(a) * gelu_inner_tanh(a))) *
             gelu_tanh_argument_slope(a)))
ONLY(elu, a > 0 ? a : ALPHA * vt_f32_expm1(a), a > 0 ? d : d * (y + ALPHA))
ONLY(celu, a > 0 ? a : ALPHA * vt_f32_expm1(a / ALPHA), a > 0 ? d : d * vt_f32_exp(a / ALPHA))
ONLY(selu, a > 0 ? 0x1.0cfabep0f * a : 0x1.c212ccp0f * vt_f32_expm1(a),
     a > 0 ? 0x1.0cfabep0f * d : d * (y + 0x1.c212ccp0f))
ONLY(softplus, softplus_of(a), d *sigmoid_of(a))
ONLY(log_sigmoid, smallest_float((double)a, 0) - log1p_exp_minus_abs(a), d *sigmoid_of(-a))
ONLY(mish, a *vt_f32_tanh(softplus_of(a)),
     d *(vt_f32_tanh(softplus_of(a)) +
         (a * sigmoid_of(a)) * (1 - vt_f32_tanh(softplus_of(a)) * vt_f32_tanh(softplus_of(a)))))
ONLY(tanhshrink, a - vt_f32_tanh(a), d *(vt_f32_tanh(a) * vt_f32_tanh(a)))
ONLY(hardswish,
     a *smallest_float((double)greatest_float((double)((0x1.555556p-3f * a) + 0.5f), 0), 1),
     (0x1.555556p-3f * a) + 0.5f <= 0   ? 0
     : (0x1.555556p-3f * a) + 0.5f >= 1 ? d
                                        : d * (((0x1.555556p-3f * a) + 0.5f) + 0x1.555556p-3f * a))

/* Formulas of ops that accept f32 and f64, written once for a `type`. An attribute is rounded to
 * the op's type, so attributes are macro arguments, given for each type. */
#define PIECES(type, one_tenth, three_tenths, sixth)                                               \
  VALUE(relu6, type, smallest_##type((double)greatest_##type((double)a, 0), 6))                    \
  SLOPE(relu6, 0, type, a > 0 && a < 6 ? d : 0)                                                    \
  VALUE(clamp, type, smallest_##type((double)greatest_##type((double)a, (double)-one_tenth), 1.5)) \
  SLOPE(clamp, 0, type, a >= -one_tenth && a <= (type)1.5 ? d : 0)                                 \
  VALUE(hardtanh, type, smallest_##type((double)greatest_##type((double)a, -1), 1))                \
  SLOPE(hardtanh, 0, type, a >= -1 && a <= 1 ? d : 0)                                              \
  VALUE(leaky_relu, type, a > 0 ? a : -one_tenth * a)                                              \
  SLOPE(leaky_relu, 0, type, a > 0 ? d : -one_tenth * d)                                           \
  VALUE(hardsigmoid, type,                                                                         \
        smallest_##type((double)greatest_##type((double)((sixth * a) + three_tenths), 0), 1))      \
  SLOPE(hardsigmoid, 0, type,                                                                      \
        (sixth * a) + three_tenths > 0 && (sixth * a) + three_tenths < 1 ? sixth * d : 0)          \
  VALUE(hardshrink, type, a >= -three_tenths && a <= three_tenths ? 0 : a)                         \
  SLOPE(hardshrink, 0, type, a >= -three_tenths && a <= three_tenths ? 0 : d)                      \
  VALUE(softshrink, type,                                                                          \
        a >= -three_tenths && a <= three_tenths ? 0                                                \
        : a > three_tenths                      ? a - three_tenths                                 \
                                                : a + three_tenths)                                                     \
  SLOPE(softshrink, 0, type, a >= -three_tenths && a <= three_tenths ? 0 : d)                      \
  VALUE(threshold, type, a <= three_tenths ? one_tenth : a)                                        \
  SLOPE(threshold, 0, type, a <= three_tenths ? 0 : d)                                             \
  VALUE(prelu, type, a > 0 ? a : b * a)                                                            \
  SLOPE(prelu, 0, type, a > 0 ? d : b * d)                                                         \
  SLOPE(prelu, 1, type, a > 0 ? 0 : d * a)
PIECES(float, 0.1f, 0.3f, (1.0f / 6))
PIECES(double, 0.1, 0.3, (1.0 / 6))
BOTH(softsign, a / (1 + (a < 0 ? -a : a)), d / ((1 + (a < 0 ? -a : a)) * (1 + (a < 0 ? -a : a))))
BOTH(square, a *a, (2 * a) * d)
BOTH(reciprocal, 1 / a, -(d *(y *y)))
VALUE(swiglu, float, (a * sigmoid_of(a)) * b)
SLOPE(swiglu, 0, float, (d * b) * silu_slope(a))
SLOPE(swiglu, 1, float, d *(a *sigmoid_of(a)))
VALUE(geglu, float, ((0.5f * a) * gelu_erf_factor(a)) * b)
SLOPE(geglu, 0, float, (d * b) * gelu_slope(a))
SLOPE(geglu, 1, float, d *((0.5f * a) * gelu_erf_factor(a)))

#define ATTRS(name, group, ...) \
  static const vt_attr_##group name##_attrs = {.size = sizeof name##_attrs, __VA_ARGS__};
ATTRS(elu, alpha, .alpha = -0.7)
ATTRS(clamp, clamp, .lo = -0.1, .hi = 1.5)
ATTRS(leaky_relu, slope, .slope = -0.1) /* the slope is negative for the same reason as ALPHA */
ATTRS(hardsigmoid, hardsigmoid, .alpha = 1.0 / 6, .beta = 0.3)
ATTRS(shrink, shrink, .l = 0.3)
ATTRS(threshold, threshold, .l = 0.3, .value = 0.1)

#define ROW(name, attrs, lo, hi) \
  { VT_OP_##name, 1, attrs, name##_float, NULL, {name##_0_float}, {NULL}, lo, hi, 0, 0 }
#define ROWB(name, attrs, lo, hi)                                                                 \
  {                                                                                               \
    VT_OP_##name, 1, attrs, name##_float, name##_double, {name##_0_float}, {name##_0_double}, lo, \
        hi, 0, 0                                                                                  \
  }
#define ROW2(name)                                                                                 \
  {                                                                                                \
    VT_OP_##name, 2, NULL, name##_float, NULL, {name##_0_float, name##_1_float}, {NULL}, -3, 3, 0, \
        0                                                                                          \
  }
static const formula formulas[] = {
    ROWB(relu, NULL, -2, 2),
    ROW(silu, NULL, -4, 4),
    ROW(gelu, NULL, -3, 3),
    ROW(gelu_tanh, NULL, -3, 3),
    ROWB(clamp, &clamp_attrs, -1, 3),
    ROWB(square, NULL, -2, 2),
    ROWB(reciprocal, NULL, 0.5, 2),
    ROWB(leaky_relu, &leaky_relu_attrs, -2, 2),
    ROWB(relu6, NULL, -4, 9),
    ROW(elu, &elu_attrs, -3, 3),
    ROW(celu, &elu_attrs, -3, 3),
    ROW(selu, NULL, -3, 3),
    ROW(softplus, NULL, -4, 4),
    ROW(mish, NULL, -4, 4),
    ROWB(hardsigmoid, &hardsigmoid_attrs, -5, 7),
    ROW(hardswish, NULL, -5, 5),
    ROWB(hardtanh, NULL, -2, 2),
    ROWB(softsign, NULL, -3, 3),
    ROW(log_sigmoid, NULL, -4, 4),
    ROWB(softshrink, &shrink_attrs, -2, 2),
    ROWB(hardshrink, &shrink_attrs, -2, 2),
    ROW(tanhshrink, NULL, -2, 2),
    ROWB(threshold, &threshold_attrs, -2, 2),
    ROW2(swiglu),
    ROW2(geglu),
};

/* ---- values: the kernel and the decomposition agree with the formula ---- */

static const struct {
  uint32_t rank[2];
  int64_t dim[2][8];
} shapes[] = {{{0, 0}, {{0}}},
              {{1, 1}, {{1}, {1}}},
              {{1, 1}, {{257}, {257}}},
              {{2, 1}, {{3, 17}, {17}}},
              {{3, 3}, {{2, 0, 3}, {1, 1, 3}}},
              {{2, 3}, {{5, 1}, {2, 1, 7}}},
              {{8, 8}, {{2, 1, 2, 1, 2, 1, 2, 3}, {2, 1, 2, 1, 2, 1, 2, 3}}}};

static void check_formula_values(const formula *f, const vt_view *in, const vt_view *y,
                                 const char *what) {
  char name[64];
  snprintf(name, sizeof name, "%s, %s", vt_op_get(f->op)->name, what);
  if (y->data == NULL) report_test_failure(name, "gives nothing");
  for (int64_t i = 0; y->data != NULL && i < count_of_view(y); i++) {
    uint64_t x[3] = {0};
    for (uint32_t k = 0; k < f->n_in; k++) x[k] = broadcast_bits(&in[k], y, i);
    if (!expect_bits(name, y, i, formula_value(f, y->dtype, x))) return;
  }
}

static vt_view random_operand(uint32_t dtype, int64_t shape, uint32_t operand, uint32_t mix,
                              uint64_t *state) {
  const vt_view v = view_new(dtype, shapes[shape].rank[operand], shapes[shape].dim[operand],
                             (int)(mix + operand) % LAYOUTS);
  return mix % 4 < 2 ? fill_any(v, state) : fill_ordinary(v, state);
}

static void test_kernel_and_decomposition(const formula *f) {
  uint64_t state = 900 + f->op;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t mix = 0; mix < 12; mix++) {
      const uint32_t dtype = mix % 2 == 1 && f->y_double != NULL ? F64 : F32;
      vt_view in[2];
      test_seed = state;
      for (uint32_t k = 0; k < f->n_in; k++) in[k] = random_operand(dtype, s, k, mix, &state);
      const run_result r = run_op(f->op, f->attrs, in, f->n_in, (int)(mix / 3) % LAYOUTS);
      CHECK(r.status == VT_OK);
      const vt_view y = run_decomposition(f->op, f->attrs, in, f->n_in);
      CHECK(y.dtype == r.out.dtype && count_of_view(&y) == count_of_view(&r.out));
      check_formula_values(f, in, &r.out, "kernel");
      check_formula_values(f, in, &y, "decomposition");
      free_held();
    }
}

/* Tests special values, among them the bounds between the pieces of the piecewise ops. */
static void test_special_values(const formula *f) {
  static const float at[] = {0,    -0.0f, 0x1p-149f, -0x1p-149f, 1,         -1,    3,    -3,
                             6,    -6,    0.3f,      -0.3f,      0.1f,      -0.1f, 1.5f, 88.8f,
                             -104, 3e38f, -3e38f,    INFINITY,   -INFINITY, NAN,   0.5f, -0.5f};
  const int64_t dim[1] = {COUNT(at)};
  uint64_t state = 8;
  vt_view in[2] = {view_new(F32, 1, dim, DENSE), view_new(F32, 1, dim, DENSE)};
  for (int64_t i = 0; i < COUNT(at); i++) {
    put_bits(&in[0], i, vt_f32_bits(at[i]));
    put_bits(&in[1], i, vt_f32_bits(at[(i + 7) % COUNT(at)]));
  }
  const run_result r = run_op(f->op, f->attrs, in, f->n_in, DENSE);
  const vt_view y = run_decomposition(f->op, f->attrs, in, f->n_in);
  check_formula_values(f, in, &r.out, "kernel");
  check_formula_values(f, in, &y, "decomposition");
  check_gradients_by_formula(f, in, &state);
  free_held();
}

/* ---- prelu: the slope broadcasts to x; a slope of rank 1 is along axis 1 ---- */

static const struct {
  uint32_t rank[2];
  int64_t dim[2][4]; /* shapes of x and of the slope */
  /* the slope's shape, extended by axes of length 1 so that it broadcasts to x */
  int64_t place[4];
} prelus[] = {{{1, 0}, {{5}}, {0}},
              {{1, 1}, {{5}, {5}}, {5}},
              {{2, 1}, {{3, 4}, {4}}, {4}},
              {{3, 1}, {{3, 4, 5}, {4}}, {4, 1}},
              {{4, 1}, {{2, 3, 2, 3}, {3}}, {3, 1, 1}},
              {{4, 1}, {{2, 3, 2, 3}, {1}}, {1, 1, 1}},
              {{4, 3}, {{2, 3, 2, 3}, {3, 1, 3}}, {3, 1, 3}},
              {{3, 1}, {{2, 0, 3}, {0}}, {0, 1}}};

static void test_prelu(int64_t shape, uint32_t dtype, uint64_t *state) {
  static const formula f = {VT_OP_prelu,
                            2,
                            NULL,
                            prelu_float,
                            prelu_double,
                            {prelu_0_float, prelu_1_float},
                            {prelu_0_double, prelu_1_double},
                            0,
                            0,
                            0,
                            0};
  vt_view in[2], seen[2], got[2];
  test_seed = *state;
  for (uint32_t k = 0; k < 2; k++) {
    in[k] = view_new(dtype, prelus[shape].rank[k], prelus[shape].dim[k],
                     k == 0 ? (int)shape % LAYOUTS : DENSE);
    seen[k] = in[k] = shape % 2 ? fill_ordinary(in[k], state) : fill_any(in[k], state);
  }
  const uint32_t rank = in[1].rank == 1 && in[0].rank > 1 ? in[0].rank - 1 : in[1].rank;
  seen[1].rank = rank; /* `seen` views the slope's elements in the shape that broadcasts to x */
  int64_t step = 1;
  for (uint32_t i = rank; i-- > 0; step *= prelus[shape].place[i]) {
    seen[1].dim[i] = prelus[shape].place[i];
    seen[1].stride[i] = step;
  }
  const run_result r = run_op(VT_OP_prelu, NULL, in, 2, (int)(shape + 1) % LAYOUTS);
  CHECK(r.status == VT_OK && count_of_view(&r.out) == count_of_view(&in[0]));
  const vt_view y = run_decomposition(VT_OP_prelu, NULL, in, 2);
  check_formula_values(&f, seen, &r.out, "kernel");
  check_formula_values(&f, seen, &y, "decomposition");
  const vt_view dy = fill_ordinary(view_new(dtype, r.out.rank, r.out.dim, DENSE), state);
  differentiate(VT_OP_prelu, NULL, in, 2, r.out, dy, got);
  check_operand_gradient(&f, 0, seen, &r.out, &dy, &got[0]);
  CHECK(got[1].rank == in[1].rank && got[1].dim[0] == in[1].dim[0]);
  got[1].rank = rank;
  for (uint32_t i = 0; i < rank; i++) got[1].dim[i] = seen[1].dim[i];
  for (uint32_t i = 0; i < rank; i++) got[1].stride[i] = seen[1].stride[i];
  check_operand_gradient(&f, 1, seen, &r.out, &dy, &got[1]);
  free_held();
}

/* ---- glu: the product of one half of x and the sigmoid of the other half ---- */

static const struct {
  uint32_t rank;
  int64_t axis, dim[8];
} glus[] = {
    {1, 0, {2}},       {1, 0, {0}},       {2, 1, {3, 8}},       {2, 0, {4, 3}},
    {3, 1, {2, 6, 5}}, {3, 2, {2, 0, 4}}, {4, 1, {1, 2, 1, 3}}, {8, 3, {1, 2, 1, 4, 1, 2, 1, 2}}};

/* The index in x of element i of the first (0) or second (1) half. */
static int64_t index_in_half_of_glu(int64_t glu, int64_t i, int64_t half) {
  int64_t inner = 1;
  for (int64_t k = glus[glu].axis + 1; k < glus[glu].rank; k++) inner *= glus[glu].dim[k];
  const int64_t block = inner * (glus[glu].dim[glus[glu].axis] / 2);
  return i / block * 2 * block + half * block + i % block;
}

static void test_glu(int64_t glu, uint64_t *state) {
  const vt_attr_axis axis = {.size = sizeof axis, .axis = glus[glu].axis};
  test_seed = *state;
  vt_view x = view_new(F32, glus[glu].rank, glus[glu].dim, (int)glu % LAYOUTS), dx;
  x = glu % 2 ? fill_any(x, state) : fill_ordinary(x, state);
  const run_result r = run_op(VT_OP_glu, &axis, &x, 1, (int)(glu + 1) % LAYOUTS);
  CHECK(r.status == VT_OK);
  const vt_view y = run_decomposition(VT_OP_glu, &axis, &x, 1);
  const vt_view dy = fill_ordinary(view_new(F32, r.out.rank, r.out.dim, DENSE), state);
  differentiate(VT_OP_glu, &axis, &x, 1, r.out, dy, &dx);
  CHECK(2 * count_of_view(&r.out) == count_of_view(&x) && count_of_view(&dx) == count_of_view(&x));
  for (int64_t i = 0; i < count_of_view(&r.out); i++) {
    const int64_t at_a = index_in_half_of_glu(glu, i, 0), at_b = index_in_half_of_glu(glu, i, 1);
    const float a = get_f32(&x, at_a), s = sigmoid_of(get_f32(&x, at_b)), d = get_f32(&dy, i);
    (void)expect_bits("glu, kernel", &r.out, i, vt_f32_bits(a * s));
    (void)expect_bits("glu, decomposition", &y, i, vt_f32_bits(a * s));
    (void)expect_bits("glu, gradient", &dx, at_a, vt_f32_bits(d * s));
    (void)expect_bits("glu, gradient", &dx, at_b, vt_f32_bits(((d * a) * s) * (1 - s)));
  }
  free_held();
}

/* ---- where, is_nan, is_inf, is_finite ---- */

static void test_where(uint32_t dtype, uint64_t *state) {
  static const int64_t dim[3][2] = {{4, 1}, {4, 5}, {5, 0}};
  test_seed = *state;
  const vt_view in[3] = {fill_any(view_new(VT_DTYPE_BOOL, 2, dim[0], DENSE), state),
                         fill_any(view_new(dtype, 2, dim[1], TRANSPOSED), state),
                         fill_any(view_new(dtype, 1, dim[2], GAPS), state)};
  const run_result r = run_op(VT_OP_where, NULL, in, 3, GAPS);
  const vt_view y = run_decomposition(VT_OP_where, NULL, in, 3);
  CHECK(r.status == VT_OK && r.out.dtype == dtype && y.data != NULL);
  for (int64_t i = 0; i < 20; i++) {
    const uint64_t want = broadcast_bits(&in[broadcast_bits(&in[0], &r.out, i) ? 1 : 2], &r.out, i);
    CHECK(get_bits(&r.out, i) == want && get_bits(&y, i) == want);
  }
  free_held();
}

static void test_is_predicates(uint32_t dtype, uint64_t *state) {
  static const int64_t dim[2] = {64, 4};
  static const uint32_t ops[3] = {VT_OP_is_nan, VT_OP_is_inf, VT_OP_is_finite};
  test_seed = *state;
  const vt_view x = fill_any(view_new(dtype, 2, dim, TRANSPOSED), state);
  for (int64_t k = 0; k < 3; k++) {
    const run_result r = run_op(ops[k], NULL, &x, 1, GAPS);
    const vt_view y = run_decomposition(ops[k], NULL, &x, 1);
    CHECK(r.status == VT_OK && r.out.dtype == VT_DTYPE_BOOL && y.dtype == VT_DTYPE_BOOL);
    for (int64_t i = 0; i < 256; i++) {
      const double v = dtype == F64 ? get_f64(&x, i) : (double)get_f32(&x, i);
      const int want = k == 0 ? isnan(v) : k == 1 ? isinf(v) : isfinite(v);
      CHECK(get_bits(&r.out, i) == (want != 0) && get_bits(&y, i) == (want != 0));
    }
  }
  free_held();
}

/* ---- rules ---- */

#define REAL_ATTR(name, group, ...) \
  static const vt_attr_##group name = {.size = sizeof name, __VA_ARGS__};
REAL_ATTR(lo_nan, clamp, .lo = NAN, .hi = 1)
REAL_ATTR(hi_nan, clamp, .lo = 0, .hi = NAN)
REAL_ATTR(open, clamp, .lo = -INFINITY, .hi = INFINITY)
REAL_ATTR(crossed, clamp, .lo = 2, .hi = 1)
REAL_ATTR(tanh_nan, hardtanh, .lo = -1, .hi = NAN)
REAL_ATTR(slope_nan, slope, .slope = NAN)
REAL_ATTR(slope_large, slope, .slope = 1e39)
REAL_ATTR(alpha_inf, alpha, .alpha = INFINITY)
REAL_ATTR(alpha_nan, alpha, .alpha = NAN)
REAL_ATTR(alpha_zero, alpha, .alpha = 0)
REAL_ATTR(alpha_tiny, alpha, .alpha = -1e-50)
REAL_ATTR(alpha_minus, alpha, .alpha = -2)
REAL_ATTR(beta_inf, hardsigmoid, .alpha = 1, .beta = -INFINITY)
REAL_ATTR(l_minus, shrink, .l = -0.5)
REAL_ATTR(l_nan, shrink, .l = NAN)
REAL_ATTR(from_nan, threshold, .l = NAN, .value = 0)
REAL_ATTR(to_nan, threshold, .l = 0, .value = NAN)
static const vt_attr_axis axis_1 = {.size = sizeof axis_1, .axis = 1};
static const vt_attr_axis axis_2 = {.size = sizeof axis_2, .axis = 2};
static const vt_attr_axis axis_minus = {.size = sizeof axis_minus, .axis = INT64_MIN};

static void test_type_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_clamp, &open, "f32[B, 2]", "f32[B, 2]"},
      {VT_OP_clamp, &crossed, "f64[]", "f64[]"},
      {VT_OP_clamp, &lo_nan, "f32[2]", "!verify: lo is not a number"},
      {VT_OP_clamp, &hi_nan, "f32[2]", "!verify: hi is not a number"},
      {VT_OP_clamp, &open, "i32[2]", "!verify: operand 1 is i32[2], expected f32 or f64"},
      {VT_OP_hardtanh, &tanh_nan, "f64[2]", "!verify: hi is not a number"},
      {VT_OP_leaky_relu, &slope_nan, "f64[2]", "!verify: slope is not a finite number of f64"},
      {VT_OP_leaky_relu, &slope_large, "f32[2]", "!verify: slope is not a finite number of f32"},
      {VT_OP_leaky_relu, &slope_large, "f64[2]", "f64[2]"},
      {VT_OP_elu, &alpha_inf, "f32[2]", "!verify: alpha is not a finite number of f32"},
      {VT_OP_elu, &alpha_nan, "f32[2]", "!verify: alpha is not a finite number of f32"},
      {VT_OP_elu, &alpha_zero, "f32[2]", "f32[2]"},
      {VT_OP_celu, &alpha_minus, "f32[2]", "f32[2]"},
      {VT_OP_celu, &alpha_zero, "f32[2]", "!verify: alpha must be 2^-126 at least"},
      {VT_OP_celu, &alpha_tiny, "f32[2]", "!verify: alpha must be 2^-126 at least"},
      {VT_OP_celu, &alpha_nan, "f32[2]", "!verify: alpha is not a finite number of f32"},
      {VT_OP_elu, NULL, "f64[2]", "!verify: operand 1 is f64[2], expected f32"},
      {VT_OP_hardsigmoid, &beta_inf, "f32[2]", "!verify: beta is not a finite number of f32"},
      {VT_OP_softshrink, &l_minus, "f32[2]", "!verify: l is below 0"},
      {VT_OP_hardshrink, &l_nan, "f32[2]", "!verify: l is not a finite number of f32"},
      {VT_OP_threshold, &from_nan, "f32[2]", "!verify: l is not a number"},
      {VT_OP_threshold, &to_nan, "f32[2]", "f32[2]"},
      {VT_OP_prelu, NULL, "f32[B, 3, T]; f32[3]", "f32[B, 3, T]"},
      {VT_OP_prelu, NULL, "f32[B, V, T]; f32[V]", "f32[B, V, T]"},
      {VT_OP_prelu, NULL, "f32[B, 3, T]; f32[]", "f32[B, 3, T]"},
      {VT_OP_prelu, NULL, "f64[2, 3, 4]; f64[2, 1, 4]", "f64[2, 3, 4]"},
      {VT_OP_prelu, NULL, "f32[2, 3, 4]; f32[4]",
       "!verify: the slope f32[4] does not broadcast to x, f32[2, 3, 4]: a slope of rank 1 runs"},
      {VT_OP_prelu, NULL, "f32[1, 3]; f32[2, 3]", "!verify: the slope f32[2, 3] does not"},
      {VT_OP_prelu, NULL, "f32[3]; f32[2, 3]", "!verify: the slope f32[2, 3] does not broadcast"},
      {VT_OP_prelu, NULL, "f32[]; f32[3]", "!verify: the slope f32[3] does not broadcast to x"},
      {VT_OP_prelu, NULL, "f32[3]; f64[3]", "!verify: operand 2 is f64[3] where operand 1 is"},
      {VT_OP_glu, &axis_1, "f32[B, 6]", "f32[B, 3]"},
      {VT_OP_glu, &axis_1, "f32[3, 2*B*T]", "f32[3, B*T]"},
      {VT_OP_glu, &axis_1, "f32[3, 0]", "f32[3, 0]"},
      {VT_OP_glu, &axis_1, "f32[B, 5]", "!verify: axis 1 of f32[B, 5] has no two halves"},
      {VT_OP_glu, &axis_1, "f32[3, B]", "!verify: axis 1 of f32[3, B] has no two halves"},
      {VT_OP_glu, &axis_2, "f32[2, 2]", "!verify: axis 2 does not exist: the operand has rank 2"},
      {VT_OP_glu, &axis_minus, "f32[2, 2]", "!verify: axis -9223372036854775808 does not exist"},
      {VT_OP_glu, NULL, "f32[]", "!verify: axis -1 does not exist: the operand has rank 0"},
      {VT_OP_swiglu, NULL, "f32[B, 1]; f32[3]", "f32[B, 3]"},
      {VT_OP_geglu, NULL, "f32[2]; f32[3]", "!verify: shapes f32[2] and f32[3] do not broadcast"},
      {VT_OP_is_nan, NULL, "f64[B]", "bool[B]"},
      {VT_OP_is_finite, NULL, "i8[B]", "!verify: operand 1 is i8[B], expected f32 or f64"},
      {VT_OP_where, NULL, "bool[3]; i8[2, 1]; i8[]", "i8[2, 3]"},
      {VT_OP_where, NULL, "i8[3]; i8[3]; i8[3]", "!verify: operand 1 is i8[3], expected bool"},
  };
  CHECK_RULES(cases);
  for (int64_t i = 0; i < COUNT(formulas); i++)
    check_accepted_dtypes(formulas[i].op, formulas[i].n_in, formulas[i].attrs,
                          formulas[i].y_double == NULL ? "f32 " : "f32 f64 ");
  check_accepted_dtypes(VT_OP_prelu, 2, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_where, 3, NULL, "bool ");
}

/* Op numbers are stored in files, so this second list of them makes a renumbering fail. */
static void test_published_op_numbers(void) {
  static const char *const names[] = {
      "clamp",    "square",      "reciprocal", "leaky_relu", "prelu",       "relu6",     "elu",
      "celu",     "selu",        "softplus",   "mish",       "hardsigmoid", "hardswish", "hardtanh",
      "softsign", "log_sigmoid", "softshrink", "hardshrink", "tanhshrink",  "threshold", "glu",
      "swiglu",   "geglu",       "is_nan",     "is_inf",     "is_finite",   "where"};
  for (uint32_t i = 0; i < COUNT(names); i++) {
    const vt_op_info *op = vt_op_find(names[i]);
    CHECK(op != NULL && op->number == 1013 + i);
  }
}

int main(void) {
  uint64_t state = 41;
  for (int64_t i = 0; i < COUNT(formulas); i++) {
    test_kernel_and_decomposition(&formulas[i]);
    test_special_values(&formulas[i]);
    test_gradients_by_formula(&formulas[i]);
    test_gradients_by_differences(&formulas[i]);
  }
  for (int64_t c = 0; c < COUNT(prelus); c++)
    for (uint32_t dtype = 1; dtype <= 2; dtype++) test_prelu(c, dtype, &state);
  for (int64_t g = 0; g < COUNT(glus); g++) test_glu(g, &state);
  for (uint32_t dtype = 1; dtype <= 9; dtype++) test_where(dtype, &state);
  for (uint32_t dtype = 1; dtype <= 2; dtype++) test_is_predicates(dtype, &state);
  test_type_rules();
  test_published_op_numbers();
  TEST_DONE();
}
