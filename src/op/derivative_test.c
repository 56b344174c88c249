/* SPDX-License-Identifier: Apache-2.0
 * derivative_test.c - gradients of the elementwise prims: bit for bit against their formulas in
 * this file's words, special values and broadcasting included, and against differences. */
#include "eager_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

#define SLOPE(name, k, type, value)                                         \
  static type name##_##k##_##type(type a, type b, type c, type y, type d) { \
    (void)a, (void)b, (void)c, (void)y, (void)d;                            \
    return value;                                                           \
  }
#define ONLY(name, value) SLOPE(name, 0, float, value)
#define BOTH(name, k, value) SLOPE(name, k, float, value) SLOPE(name, k, double, value)

static float root(float x) { return (float)sqrt((double)x); }

BOTH(neg, 0, -d)
BOTH(abs, 0, a > 0 ? d : a < 0 ? -d : 0)
BOTH(add, 0, d)
BOTH(add, 1, d)
BOTH(sub, 0, d)
BOTH(sub, 1, -d)
BOTH(mul, 0, d *b)
BOTH(mul, 1, d *a)
BOTH(div, 0, d / b)
BOTH(div, 1, -((d * y) / b))
BOTH(fma, 0, d *b)
BOTH(fma, 1, d *a)
BOTH(fma, 2, d)
BOTH(sqrt, 0, ((d * 1) / 2) / y)
BOTH(maximum, 0, isnan(a) ? d : isnan(b) || comes_above((double)b, (double)a) ? 0 : d)
BOTH(maximum, 1, isnan(a) ? 0 : isnan(b) || comes_above((double)b, (double)a) ? d : 0)
BOTH(minimum, 0, isnan(a) ? d : isnan(b) || comes_above((double)a, (double)b) ? 0 : d)
BOTH(minimum, 1, isnan(a) ? 0 : isnan(b) || comes_above((double)a, (double)b) ? d : 0)
ONLY(rsqrt, (-0.5f * d) * ((y * y) * y))
ONLY(exp, d *y)
ONLY(exp2, (d * y) * 0.693147180559945309f)
ONLY(expm1, d *(y + 1))
ONLY(log, d / a)
ONLY(log2, (d / a) * 1.44269504088896341f)
ONLY(log10, (d / a) * 0.434294481903251828f)
ONLY(log1p, d / (1 + a))
ONLY(sin, d *vt_f32_cos(a))
ONLY(cos, -(d *vt_f32_sin(a)))
ONLY(tan, d *(1 + y * y))
ONLY(asin, d / root((1 - a) * (1 + a)))
ONLY(acos, -(d / root((1 - a) * (1 + a))))
ONLY(atan, d / (1 + a * a))
ONLY(sinh, d *vt_f32_cosh(a))
ONLY(cosh, d *vt_f32_sinh(a))
ONLY(tanh, d *(1 - y * y))
ONLY(asinh, d / root(a * a + 1))
ONLY(acosh, d / root((a - 1) * (a + 1)))
ONLY(atanh, d / ((1 - a) * (1 + a)))
ONLY(erf, d *(1.12837916709551257f * vt_f32_exp(-(a * a))))
ONLY(sigmoid, (d * y) * (1 - y))
SLOPE(pow, 0, float, b == 0 ? 0 : d * (b * vt_f32_pow(a, b - 1)))
SLOPE(pow, 1, float, a == 0 && b > 0 ? 0 : d * (y * vt_f32_log(a)))

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

/* Special values against each other, where zeros, infinities and NaN decide. */
static void test_specials(const formula *f) {
  static const float at[] = {0, -0.0f, 1, -1, 0x1p-149f, -0x1p-149f, INFINITY, -INFINITY, NAN, 2};
  const int64_t n = COUNT(at), dim[2][2] = {{COUNT(at), 1}, {1, COUNT(at)}}, all[2] = {n, n};
  uint64_t state = 5;
  vt_view in[3];
  if (f->n_in > 2) return;
  for (uint32_t k = 0; k < f->n_in; k++) { /* in full shape, so that nothing is summed */
    const vt_view line = view_new(F32, 2, dim[k], DENSE);
    for (int64_t i = 0; i < n; i++) put_bits(&line, i, vt_f32_bits(at[i]));
    in[k] = view_new(F32, 2, all, DENSE);
    for (int64_t i = 0; i < n * n; i++) put_bits(&in[k], i, spread_bits(&line, &in[k], i));
  }
  check_slopes(f, in, &state);
  drop_all();
}

/* ---- select: a bool gets nothing; storage types have gradients of f32 ---- */

static void test_select(void) {
  static const int64_t wide[2] = {3, 4}, tall[2] = {3, 1}, row[1] = {4};
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_F16, VT_DTYPE_BF16};
  uint64_t state = 77;
  for (int64_t t = 0; t < COUNT(types); t++) {
    const uint32_t dtype = types[t] == F64 ? F64 : F32;
    const vt_view in[3] = {fill_any(view_new(VT_DTYPE_BOOL, 2, tall, GAPS), &state),
                           fill_any(view_new(types[t], 2, wide, TURNED), &state),
                           fill_any(view_new(types[t], 1, row, DENSE), &state)};
    const ran r = run_op(VT_OP_select, NULL, in, 3, DENSE);
    const vt_view dy = fill_ordinary(view_new(dtype, 2, wide, DENSE), &state);
    vt_view got[3];
    differentiate(VT_OP_select, NULL, in, 3, r.out, dy, got);
    CHECK(got[0].data == NULL && got[1].dtype == dtype && got[2].dtype == dtype);
    for (int64_t i = 0; i < 12; i++)
      (void)expect_bits("select", &got[1], i, get_bits(&in[0], i / 4) ? get_bits(&dy, i) : 0);
    for (int64_t j = 0; j < 4; j++) {
      uint64_t part[3];
      for (int64_t i = 0; i < 3; i++) part[i] = get_bits(&in[0], i) ? 0 : get_bits(&dy, 4 * i + j);
      (void)expect_bits("select", &got[2], j, summed(dtype, part, 3));
    }
    drop_all();
  }
}

/* ---- cast: between floating types alone ---- */

static void check_cast(uint32_t from, uint32_t to, uint64_t *state) {
  static const uint32_t of[10] = {0, F32, F64, 0, 0, 0, 0, 0, F32, F32}; /* type of a gradient */
  const vt_attr_cast a = {.size = sizeof a, .dtype = to};
  const int64_t dim[1] = {9};
  const vt_view x = fill_any(view_new(from, 1, dim, GAPS), state);
  const ran r = run_op(VT_OP_cast, &a, &x, 1, DENSE);
  const vt_view dy = fill_ordinary(view_new(of[to] == F64 ? F64 : F32, 1, dim, DENSE), state);
  vt_view got;
  differentiate(VT_OP_cast, &a, &x, 1, r.out, dy, &got);
  CHECK((got.data != NULL) == (of[from] != 0 && of[to] != 0));
  if (got.data != NULL) CHECK(got.dtype == of[from]);
  for (int64_t i = 0; got.data != NULL && i < 9; i++) {
    const double d = dy.dtype == F64 ? get_f64(&dy, i) : (double)get_f32(&dy, i);
    (void)expect_bits("cast", &got, i, of[from] == F64 ? vt_f64_bits(d) : vt_f32_bits((float)d));
  }
  drop_all();
}

static void test_casts(void) {
  uint64_t state = 3;
  for (uint32_t from = 1; from <= 9; from++)
    for (uint32_t to = 1; to <= 9; to++) check_cast(from, to, &state);
}

/* Rows without a gradient say why, and the others have one. */
static void test_flat(void) {
  static const uint32_t flat[] = {VT_OP_sign, VT_OP_floor, VT_OP_ceil, VT_OP_trunc, VT_OP_round,
                                  VT_OP_eq,   VT_OP_ge,    VT_OP_and,  VT_OP_not,   VT_OP_xor,
                                  VT_OP_shl,  VT_OP_shr,   VT_OP_mod,  VT_OP_is_nan};
  for (int64_t i = 0; i < COUNT(flat); i++) {
    const vt_op_info *op = vt_op_get(flat[i]);
    CHECK(op->grad == NULL && op->flat != NULL && op->flat[0] != 0);
  }
}

int main(void) {
  for (int64_t i = 0; i < COUNT(formulas); i++) {
    test_slopes(&formulas[i]);
    test_specials(&formulas[i]);
    test_differences(&formulas[i]);
  }
  test_select();
  test_casts();
  test_flat();
  TEST_DONE();
}
