/* SPDX-License-Identifier: Apache-2.0
 * elementwise_test.c - tests the pointwise prims against definitions restated in C: all pairs of
 * special values, broadcasting, layouts, type rules and gradients. Select and cast are tested in
 * select_cast_test.c. */
#include "elementwise_test.h"

#define NUMBERS "f32 f64 i8 u8 i32 i64 "
#define BITS "i8 u8 i32 i64 bool "

/* The definition of an op on one element of each operand, in three kinds of arithmetic; NULL for a
 * kind that the op does not have. Integers are computed in 64 bits and then cut to their width. */
typedef struct definition {
  uint32_t op, n_in;
  const char *types;
  float (*f32)(float a, float b, float c);
  double (*f64)(double a, double b, double c);
  uint64_t (*whole)(int64_t a, int64_t b, int64_t c);
} definition;

/* ---- the definitions ---- */

#define GIVES(name, type, arg, value)             \
  static type name##_##arg(arg a, arg b, arg c) { \
    (void)a, (void)b, (void)c;                    \
    return value;                                 \
  }
/* GIVES appends a type's name to function names, so `whole` names the integer functions */
typedef int64_t whole;
#define ONE_F32(name, value) GIVES(name, float, float, value)
#define BOTH(name, value) GIVES(name, float, float, value) GIVES(name, double, double, value)
#define WHOLE(name, value) GIVES(name, uint64_t, whole, value)

/* Integers are divided by dividing their magnitudes, which cannot overflow. */
static uint64_t magnitude(int64_t a) { return a < 0 ? -(uint64_t)a : (uint64_t)a; }
static uint64_t integer_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const uint64_t q = magnitude(a) / magnitude(b);
  return (a < 0) != (b < 0) ? -q : q;
}

/* Shifts by one bit at a time. After 64 shifts the result no longer changes, so larger counts shift
 * 64 times, and so do negative counts, which count as large. */
static uint64_t shift_left(int64_t a, int64_t n) {
  uint64_t x = (uint64_t)a;
  for (int64_t i = n < 0 || n > 64 ? 64 : n; i > 0; i--) x += x;
  return x;
}
static uint64_t shift_right(int64_t a, int64_t n) { /* towards -infinity */
  for (int64_t i = n < 0 || n > 64 ? 64 : n; i > 0; i--) a = a / 2 - (a < 0 && a % 2 != 0);
  return (uint64_t)a;
}

BOTH(neg, -a)
WHOLE(neg, -(uint64_t)a)
BOTH(abs, a == 0 ? 0 : a < 0 ? -a : a)
WHOLE(abs, magnitude(a))
/* The f32 square root is correctly rounded, because f64 has more than twice the digits of f32. */
GIVES(sqrt, float, float, (float)sqrt((double)a))
GIVES(sqrt, double, double, sqrt(a))
ONE_F32(rsqrt, vt_f32_rsqrt(a))
ONE_F32(exp, vt_f32_exp(a))
ONE_F32(log, vt_f32_log(a))
ONE_F32(sin, vt_f32_sin(a))
ONE_F32(cos, vt_f32_cos(a))
ONE_F32(tanh, vt_f32_tanh(a))
ONE_F32(erf, vt_f32_erf(a))
ONE_F32(sigmoid, vt_f32_sigmoid(a))
ONE_F32(exp2, vt_f32_exp2(a))
ONE_F32(expm1, vt_f32_expm1(a))
ONE_F32(log2, vt_f32_log2(a))
ONE_F32(log10, vt_f32_log10(a))
ONE_F32(log1p, vt_f32_log1p(a))
ONE_F32(tan, vt_f32_tan(a))
ONE_F32(asin, vt_f32_asin(a))
ONE_F32(acos, vt_f32_acos(a))
ONE_F32(atan, vt_f32_atan(a))
ONE_F32(sinh, vt_f32_sinh(a))
ONE_F32(cosh, vt_f32_cosh(a))
ONE_F32(asinh, vt_f32_asinh(a))
ONE_F32(acosh, vt_f32_acosh(a))
ONE_F32(atanh, vt_f32_atanh(a))
ONE_F32(pow, vt_f32_pow(a, b))
BOTH(add, a + b)
WHOLE(add, (uint64_t)a + (uint64_t)b)
BOTH(sub, a - b)
WHOLE(sub, (uint64_t)a - (uint64_t)b)
BOTH(mul, a *b)
WHOLE(mul, (uint64_t)a *(uint64_t)b)
BOTH(div, a / b)
WHOLE(div, integer_quotient(a, b))
WHOLE(mod, b == 0 ? (uint64_t)a : (uint64_t)a - (uint64_t)b * integer_quotient(a, b))
BOTH(maximum, isnan(a) || isnan(b) ? NAN : comes_above((double)a, (double)b) ? a : b)
WHOLE(maximum, (uint64_t)(a < b ? b : a))
BOTH(minimum, isnan(a) || isnan(b) ? NAN : comes_above((double)a, (double)b) ? b : a)
WHOLE(minimum, (uint64_t)(a < b ? a : b))
WHOLE(and, (uint64_t)a &(uint64_t)b)
WHOLE(or, (uint64_t)a | (uint64_t)b)
WHOLE(xor, (uint64_t)a ^ (uint64_t)b)
WHOLE(not, ~(uint64_t)a) /* of a bool only the lowest bit of the result is used */
WHOLE(shl, shift_left(a, b))
WHOLE(shr, shift_right(a, b))
BOTH(sign, isnan(a) ? a : a > 0 ? 1 : a < 0 ? -1 : 0)
WHOLE(sign, (uint64_t)(a > 0 ? 1 : a < 0 ? -1 : 0))
GIVES(floor, float, float, floorf(a))
GIVES(floor, double, double, floor(a))
GIVES(ceil, float, float, ceilf(a))
GIVES(ceil, double, double, ceil(a))
GIVES(trunc, float, float, truncf(a))
GIVES(trunc, double, double, trunc(a))
GIVES(round, float, float, rintf(a))
GIVES(round, double, double, rint(a))
GIVES(fma, float, float, fmaf(a, b, c))
GIVES(fma, double, double, fma(a, b, c))

#define ROW(name, n, types, f, g, h) \
  { VT_OP_##name, n, types, f, g, h }
#define FUNCTION(name) ROW(name, 1, "f32 ", name##_float, NULL, NULL)
#define NUMBER(name, n) ROW(name, n, NUMBERS, name##_float, name##_double, name##_whole)
static const definition definitions[] = {
    NUMBER(neg, 1),
    NUMBER(abs, 1),
    ROW(sqrt, 1, "f32 f64 ", sqrt_float, sqrt_double, NULL),
    FUNCTION(rsqrt),
    FUNCTION(exp),
    FUNCTION(log),
    FUNCTION(sin),
    FUNCTION(cos),
    FUNCTION(tanh),
    FUNCTION(erf),
    FUNCTION(sigmoid),
    FUNCTION(exp2),
    FUNCTION(expm1),
    FUNCTION(log2),
    FUNCTION(log10),
    FUNCTION(log1p),
    FUNCTION(tan),
    FUNCTION(asin),
    FUNCTION(acos),
    FUNCTION(atan),
    FUNCTION(sinh),
    FUNCTION(cosh),
    FUNCTION(asinh),
    FUNCTION(acosh),
    FUNCTION(atanh),
    NUMBER(sign, 1),
    ROW(floor, 1, "f32 f64 ", floor_float, floor_double, NULL),
    ROW(ceil, 1, "f32 f64 ", ceil_float, ceil_double, NULL),
    ROW(trunc, 1, "f32 f64 ", trunc_float, trunc_double, NULL),
    ROW(round, 1, "f32 f64 ", round_float, round_double, NULL),
    NUMBER(add, 2),
    NUMBER(sub, 2),
    NUMBER(mul, 2),
    NUMBER(div, 2),
    ROW(mod, 2, "i8 u8 i32 i64 ", NULL, NULL, mod_whole),
    ROW(pow, 2, "f32 ", pow_float, NULL, NULL),
    NUMBER(maximum, 2),
    NUMBER(minimum, 2),
    ROW(and, 2, BITS, NULL, NULL, and_whole),
    ROW(or, 2, BITS, NULL, NULL, or_whole),
    ROW(xor, 2, BITS, NULL, NULL, xor_whole),
    ROW(not, 1, BITS, NULL, NULL, not_whole),
    ROW(shl, 2, "i8 u8 i32 i64 ", NULL, NULL, shl_whole),
    ROW(shr, 2, "i8 u8 i32 i64 ", NULL, NULL, shr_whole),
    ROW(fma, 3, "f32 f64 ", fma_float, fma_double, NULL),
};

static uint64_t bits_by_definition(const definition *m, uint32_t dtype, const uint64_t x[3]) {
  if (dtype == F32)
    return vt_f32_bits(m->f32(vt_f32_from_bits((uint32_t)x[0]), vt_f32_from_bits((uint32_t)x[1]),
                              vt_f32_from_bits((uint32_t)x[2])));
  if (dtype == F64)
    return vt_f64_bits(
        m->f64(vt_f64_from_bits(x[0]), vt_f64_from_bits(x[1]), vt_f64_from_bits(x[2])));
  const uint64_t bits =
      m->whole(integer_of(dtype, x[0]), integer_of(dtype, x[1]), integer_of(dtype, x[2]));
  return dtype == BOOL ? bits & 1 : truncate_bits(dtype, bits);
}

/* How IEEE 754 compares a with b: -1 for less, 0 for equal, 1 for greater, 2 for unordered. */
static int compare_ieee(uint32_t dtype, uint64_t a, uint64_t b) {
  if (dtype != F32 && dtype != F64) {
    const int64_t x = integer_of(dtype, a), y = integer_of(dtype, b);
    return x < y ? -1 : x == y ? 0 : 1;
  }
  const double x = dtype == F64 ? vt_f64_from_bits(a) : (double)vt_f32_from_bits((uint32_t)a);
  const double y = dtype == F64 ? vt_f64_from_bits(b) : (double)vt_f32_from_bits((uint32_t)b);
  if (isnan(x) || isnan(y)) return 2;
  return x < y ? -1 : x == y ? 0 : 1;
}

static const struct {
  uint32_t op;
  int true_for[4]; /* the op's result if a and b are less, equal, greater, unordered */
} comparisons[] = {{VT_OP_eq, {0, 1, 0, 0}}, {VT_OP_ne, {1, 0, 1, 1}}, {VT_OP_lt, {1, 0, 0, 0}},
                   {VT_OP_le, {1, 1, 0, 0}}, {VT_OP_gt, {0, 0, 1, 0}}, {VT_OP_ge, {0, 1, 1, 0}}};

/* ---- all combinations of special values ---- */

static const int64_t special_integers[] = {
    0,   1,         2,         3,         -1,        -2,    -7,         7,          127,    -128,
    255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 46341, 3037000500, 0x55555555, -65536, 100,
    8,   31,        32,        63,        64,        6,     33,         4,          5,      9};

static int64_t special_value_count(uint32_t dtype) {
  if (dtype == F32) return COUNT(special_f32);
  if (dtype == F64) return COUNT(special_f64);
  return dtype == BOOL ? 2 : COUNT(special_integers);
}

static uint64_t special_value_bits(uint32_t dtype, int64_t i) {
  if (dtype == F32) return special_f32[i];
  if (dtype == F64) return special_f64[i];
  return dtype == BOOL ? (uint64_t)i : truncate_bits(dtype, (uint64_t)special_integers[i]);
}

/* A view of the special values along `axis`; all other axes have length 1. Operands with different
 * axes broadcast to all combinations of special values. */
static vt_view special_values_along_axis(uint32_t dtype, uint32_t rank, uint32_t axis) {
  int64_t dim[3] = {1, 1, 1};
  dim[axis] = special_value_count(dtype);
  const vt_view v = view_new(dtype, rank, dim, (int)axis % LAYOUTS);
  for (int64_t i = 0; i < dim[axis]; i++) put_bits(&v, i, special_value_bits(dtype, i));
  return v;
}

static void check_result_of_definition(const definition *m, const vt_view *in,
                                       const run_result *r) {
  const char *name = vt_op_get(m->op)->name;
  const int64_t n = count_of_view(&r->out);
  for (int64_t i = 0; i < n; i++) {
    uint64_t x[3] = {0};
    for (uint32_t k = 0; k < m->n_in; k++) x[k] = broadcast_bits(&in[k], &r->out, i);
    if (!expect_bits(name, &r->out, i, bits_by_definition(m, in[0].dtype, x))) return;
  }
}

static int accepts_dtype(const definition *m, uint32_t dtype) {
  char name[16];
  snprintf(name, sizeof name, "%s ", vt_dtype_name(dtype));
  const char *at = strstr(m->types, name);
  return at != NULL && (at == m->types || at[-1] == ' ');
}

static void test_special_values(const definition *m) {
  for (uint32_t dtype = 1; dtype <= 7; dtype++) {
    if (!accepts_dtype(m, dtype)) continue;
    vt_view in[3];
    for (uint32_t i = 0; i < m->n_in; i++) in[i] = special_values_along_axis(dtype, m->n_in, i);
    const run_result r = run_op(m->op, NULL, in, m->n_in, DENSE);
    CHECK(r.status == VT_OK);
    if (r.status == VT_OK) check_result_of_definition(m, in, &r);
    free_held();
  }
}

static void test_comparisons_of_special_values(void) {
  for (int64_t c = 0; c < COUNT(comparisons); c++)
    for (uint32_t dtype = 1; dtype <= 7; dtype++) {
      const vt_view in[2] = {special_values_along_axis(dtype, 2, 0),
                             special_values_along_axis(dtype, 2, 1)};
      const run_result r = run_op(comparisons[c].op, NULL, in, 2, GAPS);
      CHECK(r.status == VT_OK && r.out.dtype == BOOL);
      const int64_t n = r.status == VT_OK ? count_of_view(&r.out) : 0;
      for (int64_t i = 0; i < n; i++) {
        const int order = compare_ieee(dtype, broadcast_bits(&in[0], &r.out, i),
                                       broadcast_bits(&in[1], &r.out, i));
        const int want = comparisons[c].true_for[order + 1];
        if (!expect_bits(vt_op_get(comparisons[c].op)->name, &r.out, i, (uint64_t)want)) break;
      }
      free_held();
    }
}

/* ---- shapes and layouts ---- */

static void test_shape_in_all_layouts(const definition *m, uint32_t dtype, int64_t shape,
                                      uint64_t *state) {
  for (int mix = 0; mix < LAYOUTS * LAYOUTS; mix++) {
    vt_view in[3];
    test_seed = *state;
    for (uint32_t i = 0; i < m->n_in; i++)
      in[i] = random_operand(dtype, shape, i, (mix + (int)i) % LAYOUTS, state);
    const run_result r = run_op(m->op, NULL, in, m->n_in, mix / LAYOUTS);
    CHECK(r.status == VT_OK);
    if (r.status == VT_OK) check_result_of_definition(m, in, &r);
    free_held();
  }
}

static void test_all_shapes(const definition *m) {
  uint64_t state = 20260701 + m->op;
  for (uint32_t dtype = 1; dtype <= 7; dtype++)
    for (int64_t s = 0; accepts_dtype(m, dtype) && s < COUNT(shapes); s++)
      test_shape_in_all_layouts(m, dtype, s, &state);
}

static void test_le_of_all_shapes(void) {
  uint64_t state = 7;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= 7; dtype++) {
      test_seed = state;
      const vt_view in[2] = {random_operand(dtype, s, 0, (int)dtype % LAYOUTS, &state),
                             random_operand(dtype, s, 1, (int)s % LAYOUTS, &state)};
      const run_result r = run_op(VT_OP_le, NULL, in, 2, TRANSPOSED);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        const int order = compare_ieee(dtype, broadcast_bits(&in[0], &r.out, i),
                                       broadcast_bits(&in[1], &r.out, i));
        if (!expect_bits("le", &r.out, i, order == -1 || order == 0)) break;
      }
      free_held();
    }
}

/* ---- gradients: bit for bit against formulas, and against differences ---- */

#define SLOPE_OF(name, k, type, value)                                      \
  static type name##_##k##_##type(type a, type b, type c, type y, type d) { \
    (void)a, (void)b, (void)c, (void)y, (void)d;                            \
    return value;                                                           \
  }
#define SLOPE_F32(name, value) SLOPE_OF(name, 0, float, value)
#define SLOPES(name, k, value) SLOPE_OF(name, k, float, value) SLOPE_OF(name, k, double, value)

static float square_root_f32(float x) { return (float)sqrt((double)x); }

SLOPES(neg, 0, -d)
SLOPES(abs, 0, a > 0 ? d : a < 0 ? -d : 0)
SLOPES(add, 0, d)
SLOPES(add, 1, d)
SLOPES(sub, 0, d)
SLOPES(sub, 1, -d)
SLOPES(mul, 0, d *b)
SLOPES(mul, 1, d *a)
SLOPES(div, 0, d / b)
SLOPES(div, 1, -((d * y) / b))
SLOPES(fma, 0, d *b)
SLOPES(fma, 1, d *a)
SLOPES(fma, 2, d)
SLOPES(sqrt, 0, ((d * 1) / 2) / y)
SLOPES(maximum, 0, isnan(a) ? d : isnan(b) || comes_above((double)b, (double)a) ? 0 : d)
SLOPES(maximum, 1, isnan(a) ? 0 : isnan(b) || comes_above((double)b, (double)a) ? d : 0)
SLOPES(minimum, 0, isnan(a) ? d : isnan(b) || comes_above((double)a, (double)b) ? 0 : d)
SLOPES(minimum, 1, isnan(a) ? 0 : isnan(b) || comes_above((double)a, (double)b) ? d : 0)
SLOPE_F32(rsqrt, (-0.5f * d) * ((y * y) * y))
SLOPE_F32(exp, d *y)
SLOPE_F32(exp2, (d * y) * 0.693147180559945309f)
SLOPE_F32(expm1, d *(y + 1))
SLOPE_F32(log, d / a)
SLOPE_F32(log2, (d / a) * 1.44269504088896341f)
SLOPE_F32(log10, (d / a) * 0.434294481903251828f)
SLOPE_F32(log1p, d / (1 + a))
SLOPE_F32(sin, d *vt_f32_cos(a))
SLOPE_F32(cos, -(d *vt_f32_sin(a)))
SLOPE_F32(tan, d *(1 + y * y))
SLOPE_F32(asin, d / square_root_f32((1 - a) * (1 + a)))
SLOPE_F32(acos, -(d / square_root_f32((1 - a) * (1 + a))))
SLOPE_F32(atan, d / (1 + a * a))
SLOPE_F32(sinh, d *vt_f32_cosh(a))
SLOPE_F32(cosh, d *vt_f32_sinh(a))
SLOPE_F32(tanh, d *(1 - y * y))
SLOPE_F32(asinh, d / square_root_f32(a * a + 1))
SLOPE_F32(acosh, d / square_root_f32((a - 1) * (a + 1)))
SLOPE_F32(atanh, d / ((1 - a) * (1 + a)))
SLOPE_F32(erf, d *(1.12837916709551257f * vt_f32_exp(-(a * a))))
SLOPE_F32(sigmoid, (d * y) * (1 - y))
SLOPE_OF(pow, 0, float, b == 0 ? 0 : d * (b * vt_f32_pow(a, b - 1)))
SLOPE_OF(pow, 1, float, a == 0 && b > 0 ? 0 : d * (y * vt_f32_log(a)))

#define ROW1(name, lo, hi) \
  { VT_OP_##name, 1, NULL, NULL, NULL, {name##_0_float}, {NULL}, lo, hi, 0, 0 }
#define ROW1B(name, lo, hi) \
  { VT_OP_##name, 1, NULL, NULL, NULL, {name##_0_float}, {name##_0_double}, lo, hi, 0, 0 }
#define ROW2B(name, lo, hi, lo2, hi2)                                    \
  {                                                                      \
    VT_OP_##name, 2, NULL, NULL, NULL, {name##_0_float, name##_1_float}, \
        {name##_0_double, name##_1_double}, lo, hi, lo2, hi2             \
  }
static const formula formulas[] = {
    ROW1B(neg, -2, 2),
    ROW1B(abs, -2, 2),
    ROW1B(sqrt, 0.3, 3),
    ROW1(rsqrt, 0.3, 3),
    ROW1(exp, -2, 2),
    ROW1(exp2, -2, 2),
    ROW1(expm1, -2, 2),
    ROW1(log, 0.3, 3),
    ROW1(log2, 0.3, 3),
    ROW1(log10, 0.3, 3),
    ROW1(log1p, -0.5, 2),
    ROW1(sin, -3, 3),
    ROW1(cos, -3, 3),
    ROW1(tan, -1, 1),
    ROW1(asin, -0.8, 0.8),
    ROW1(acos, -0.8, 0.8),
    ROW1(atan, -3, 3),
    ROW1(sinh, -2, 2),
    ROW1(cosh, -2, 2),
    ROW1(tanh, -2, 2),
    ROW1(asinh, -3, 3),
    ROW1(acosh, 1.3, 4),
    ROW1(atanh, -0.8, 0.8),
    ROW1(erf, -2, 2),
    ROW1(sigmoid, -4, 4),
    ROW2B(add, -2, 2, 0, 0),
    ROW2B(sub, -2, 2, 0, 0),
    ROW2B(mul, -2, 2, 0, 0),
    ROW2B(div, -2, 2, 0.5, 2),
    ROW2B(maximum, -2, 2, 0, 0),
    ROW2B(minimum, -2, 2, 0, 0),
    {VT_OP_pow, 2, NULL, NULL, NULL, {pow_0_float, pow_1_float}, {NULL}, 0.5, 2, -2, 2},
    {VT_OP_fma,
     3,
     NULL,
     NULL,
     NULL,
     {fma_0_float, fma_1_float, fma_2_float},
     {fma_0_double, fma_1_double, fma_2_double},
     -2,
     2,
     0,
     0},
};

/* Checks gradients for all pairs of zeros, infinities, NaN and a few other values. */
static void test_gradients_of_special_values(const formula *f) {
  static const float at[] = {0, -0.0f, 1, -1, 0x1p-149f, -0x1p-149f, INFINITY, -INFINITY, NAN, 2};
  const int64_t n = COUNT(at), dim[2][2] = {{COUNT(at), 1}, {1, COUNT(at)}}, all[2] = {n, n};
  uint64_t state = 5;
  vt_view in[3];
  if (f->n_in > 2) return;
  /* operands have the full shape, because the gradient of a broadcast operand is a sum */
  for (uint32_t k = 0; k < f->n_in; k++) {
    const vt_view line = view_new(F32, 2, dim[k], DENSE);
    for (int64_t i = 0; i < n; i++) put_bits(&line, i, vt_f32_bits(at[i]));
    in[k] = view_new(F32, 2, all, DENSE);
    for (int64_t i = 0; i < n * n; i++) put_bits(&in[k], i, broadcast_bits(&line, &in[k], i));
  }
  check_gradients_by_formula(f, in, &state);
  free_held();
}

/* An op without a gradient says why in its row. */
static void test_ops_without_gradient_say_why(void) {
  static const uint32_t flat[] = {VT_OP_sign, VT_OP_floor, VT_OP_ceil, VT_OP_trunc, VT_OP_round,
                                  VT_OP_eq,   VT_OP_ge,    VT_OP_and,  VT_OP_not,   VT_OP_xor,
                                  VT_OP_shl,  VT_OP_shr,   VT_OP_mod,  VT_OP_is_nan};
  for (int64_t i = 0; i < COUNT(flat); i++) {
    const vt_op_info *op = vt_op_get(flat[i]);
    CHECK(op->grad == NULL && op->flat != NULL && op->flat[0] != 0);
  }
}

/* ---- type rules ---- */

static void test_type_rules(void) {
  static const vt_attr_cast to_f16 = {.size = sizeof to_f16, .dtype = VT_DTYPE_F16};
  static const vt_attr_cast to_none = {.size = sizeof to_none, .dtype = 77};
  static const vt_attr_cast to_far = {.size = sizeof to_far, .dtype = (INT64_C(1) << 32) + 1};
  static const vt_attr_cast to_negative = {.size = sizeof to_negative, .dtype = -1};
  static const rule_case cases[] = {
      {VT_OP_add, NULL, "f32[2, 3]; f32[3]", "f32[2, 3]"},
      {VT_OP_add, NULL, "f32[]; f32[]", "f32[]"},
      {VT_OP_add, NULL, "f32[1, 3]; f32[2, 1]", "f32[2, 3]"},
      {VT_OP_add, NULL, "f32[0]; f32[1]", "f32[0]"},
      {VT_OP_add, NULL, "f32[B, T]; f32[T]", "f32[B, T]"},
      {VT_OP_add, NULL, "f32[B*T]; f32[T*B]", "f32[B*T]"},
      {VT_OP_add, NULL, "f32[B]; f32[1]", "f32[B]"},
      {VT_OP_add, NULL, "f32[1]; f32[B]", "f32[B]"},
      /* accepted, because B may be bound to 3 or 1 */
      {VT_OP_add, NULL, "f32[B]; f32[3]", "f32[3]"},
      {VT_OP_add, NULL, "f32[3]; f32[B]", "f32[3]"},
      {VT_OP_add, NULL, "f32[1, 1, 1, 1, 1, 1, 1, 2]; f32[3, 1]", "f32[1, 1, 1, 1, 1, 1, 3, 2]"},
      {VT_OP_add, NULL, "f32[2, 3]; f32[4]",
       "!verify: shapes f32[2, 3] and f32[4] do not broadcast"},
      {VT_OP_add, NULL, "f32[0]; f32[2]", "!verify: shapes f32[0] and f32[2] do not broadcast"},
      {VT_OP_add, NULL, "f32[B]; f32[T]", "!verify: shapes f32[B] and f32[T] do not broadcast"},
      {VT_OP_add, NULL, "f32[B*2]; f32[B]", "!verify: shapes f32[2*B] and f32[B] do not"},
      {VT_OP_add, NULL, "f32[2]; f64[2]", "!verify: operand 2 is f64[2] where operand 1 is f32[2]"},
      {VT_OP_add, NULL, "bool[2]; bool[2]",
       "!verify: operand 1 is bool[2], expected f32, f64 or an"},
      {VT_OP_add, NULL, "f32[2]", "!verify: takes 2 operands (a, b), got 1"},
      {VT_OP_neg, NULL, "f32[2]; f32[2]", "!verify: takes 1 operand (x), got 2"},
      {VT_OP_fma, NULL, "f32[]; f32[3]; f32[4]",
       "!verify: shapes f32[3] and f32[4] do not broadcast"},
      {VT_OP_fma, NULL, "f32[2, 1]; f32[3]; f32[]", "f32[2, 3]"},
      {VT_OP_eq, NULL, "bool[2]; bool[1]", "bool[2]"},
      {VT_OP_lt, NULL, "f64[2, 1]; f64[3]", "bool[2, 3]"},
      {VT_OP_ge, NULL, "i8[B]; i8[B]", "bool[B]"},
      {VT_OP_eq, NULL, "f16[2]; f16[2]",
       "!verify: operand 1 is f16[2], expected f32, f64, an integer"},
      {VT_OP_select, NULL, "bool[3]; i8[2, 1]; i8[]", "i8[2, 3]"},
      {VT_OP_select, NULL, "bool[B]; bf16[1]; bf16[1]", "bf16[B]"},
      {VT_OP_select, NULL, "i8[3]; i8[3]; i8[3]", "!verify: operand 1 is i8[3], expected bool"},
      {VT_OP_select, NULL, "bool[3]; i8[3]; u8[3]",
       "!verify: operand 3 is u8[3] where operand 2 is i8[3]"},
      {VT_OP_select, NULL, "bool[2]; f32[3]; f32[3]", "!verify: shapes bool[2] and f32[3] do not"},
      {VT_OP_select, NULL, "bool[]; f32[3]; f32[4]", "!verify: shapes f32[3] and f32[4] do not"},
      {VT_OP_cast, &to_f16, "i64[B, 2]", "f16[B, 2]"},
      {VT_OP_cast, &to_none, "f32[]", "!verify: a cast to type number 77"},
      {VT_OP_cast, &to_far, "f32[]", "!verify: a cast to type number 4294967297"},
      {VT_OP_cast, &to_negative, "f32[]", "!verify: a cast to type number -1"},
      {VT_OP_pow, NULL, "f64[2]; f64[2]", "!verify: operand 1 is f64[2], expected f32"},
      {VT_OP_exp2, NULL, "f64[2]", "!verify: operand 1 is f64[2], expected f32"},
      {VT_OP_xor, NULL, "bool[2, 1]; bool[3]", "bool[2, 3]"},
      {VT_OP_not, NULL, "f32[2]", "!verify: operand 1 is f32[2], expected an integer or bool"},
      {VT_OP_shl, NULL, "i32[2]; i64[2]", "!verify: operand 2 is i64[2] where operand 1 is i32[2]"},
      {VT_OP_shr, NULL, "bool[2]; bool[2]", "!verify: operand 1 is bool[2], expected an integer"},
      {VT_OP_mod, NULL, "f32[2]; f32[2]", "!verify: operand 1 is f32[2], expected an integer"},
  };
  CHECK_RULES(cases);
}

static void test_accepted_dtypes(void) {
  static const vt_attr_cast cast = {.size = sizeof cast, .dtype = VT_DTYPE_I8};
  for (int64_t i = 0; i < COUNT(definitions); i++)
    check_accepted_dtypes(definitions[i].op, definitions[i].n_in, NULL, definitions[i].types);
  for (int64_t i = 0; i < COUNT(comparisons); i++)
    check_accepted_dtypes(comparisons[i].op, 2, NULL, NUMBERS "bool ");
  check_accepted_dtypes(VT_OP_cast, 1, &cast, NUMBERS "bool f16 bf16 ");
  check_accepted_dtypes(VT_OP_select, 3, NULL, "bool ");
}

/* Op numbers are stored in files, so this second list of them makes a renumbering fail. */
static void test_published_op_numbers(void) {
  static const char *const names[] = {
      "exp2",  "expm1", "log2",  "log10", "log1p", "tan",  "asin",  "acos",  "atan", "sinh", "cosh",
      "asinh", "acosh", "atanh", "sign",  "floor", "ceil", "trunc", "round", "xor",  "shl",  "shr"};
  for (uint32_t i = 0; i < COUNT(names); i++) {
    const vt_op_info *op = vt_op_find(names[i]);
    CHECK(op != NULL && op->number == 51 + i);
  }
}

int main(void) {
  for (int64_t i = 0; i < COUNT(definitions); i++) {
    test_special_values(&definitions[i]);
    test_all_shapes(&definitions[i]);
  }
  for (int64_t i = 0; i < COUNT(formulas); i++) {
    test_gradients_by_formula(&formulas[i]);
    test_gradients_of_special_values(&formulas[i]);
    test_gradients_by_differences(&formulas[i]);
  }
  test_comparisons_of_special_values();
  test_le_of_all_shapes();
  test_ops_without_gradient_say_why();
  test_type_rules();
  test_accepted_dtypes();
  test_published_op_numbers();
  TEST_DONE();
}
