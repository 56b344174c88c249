/* SPDX-License-Identifier: Apache-2.0
 * elementwise_test.c - every op that looks at one element of each operand: all pairs of special
 * values, broadcasting, layouts and type rules, against the definitions in this file's words. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, BOOL = VT_DTYPE_BOOL };
#define NUMBERS "f32 f64 i8 u8 i32 i64 "
#define BITS "i8 u8 i32 i64 bool "

/* What an op gives on one element of each operand: three kinds of arithmetic. Integers are wide
 * enough before they are cut to their width. */
typedef struct meaning {
  uint32_t op, n_in;
  const char *types;
  float (*f32)(float a, float b, float c);
  double (*f64)(double a, double b, double c);
  uint64_t (*whole)(int64_t a, int64_t b, int64_t c);
} meaning;

/* ---- the definitions ---- */

#define GIVES(name, type, arg, value)             \
  static type name##_##arg(arg a, arg b, arg c) { \
    (void)a, (void)b, (void)c;                    \
    return value;                                 \
  }
typedef int64_t whole; /* the name that GIVES puts into the functions */
#define ONE_F32(name, value) GIVES(name, float, float, value)
#define BOTH(name, value) GIVES(name, float, float, value) GIVES(name, double, double, value)
#define WHOLE(name, value) GIVES(name, uint64_t, whole, value)

/* |a| / |b| on magnitudes, where nothing overflows. */
static uint64_t size_of(int64_t a) { return a < 0 ? -(uint64_t)a : (uint64_t)a; }
static uint64_t quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const uint64_t q = size_of(a) / size_of(b);
  return (a < 0) != (b < 0) ? -q : q;
}

/* One bit at a time: 64 times are enough for every width, and a count below 0 is like a large one.
 */
static uint64_t doubled(int64_t a, int64_t n) {
  uint64_t x = (uint64_t)a;
  for (int64_t i = n < 0 || n > 64 ? 64 : n; i > 0; i--) x += x;
  return x;
}
static uint64_t halved(int64_t a, int64_t n) { /* towards -infinity */
  for (int64_t i = n < 0 || n > 64 ? 64 : n; i > 0; i--) a = a / 2 - (a < 0 && a % 2 != 0);
  return (uint64_t)a;
}

BOTH(neg, -a)
WHOLE(neg, -(uint64_t)a)
BOTH(abs, a == 0 ? 0 : a < 0 ? -a : a)
WHOLE(abs, size_of(a))
GIVES(sqrt, float, float, (float)sqrt((double)a)) /* f64 has more than twice the digits */
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
WHOLE(div, quotient(a, b))
WHOLE(mod, b == 0 ? (uint64_t)a : (uint64_t)a - (uint64_t)b * quotient(a, b))
BOTH(maximum, isnan(a) || isnan(b) ? NAN : comes_above((double)a, (double)b) ? a : b)
WHOLE(maximum, (uint64_t)(a < b ? b : a))
BOTH(minimum, isnan(a) || isnan(b) ? NAN : comes_above((double)a, (double)b) ? b : a)
WHOLE(minimum, (uint64_t)(a < b ? a : b))
WHOLE(and, (uint64_t)a &(uint64_t)b)
WHOLE(or, (uint64_t)a | (uint64_t)b)
WHOLE(xor, (uint64_t)a ^ (uint64_t)b)
WHOLE(not, ~(uint64_t)a) /* of a bool, its one bit */
WHOLE(shl, doubled(a, b))
WHOLE(shr, halved(a, b))
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
static const meaning meanings[] = {
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

static uint64_t give(const meaning *m, uint32_t dtype, const uint64_t x[3]) {
  if (dtype == F32)
    return vt_f32_bits(m->f32(vt_f32_from_bits((uint32_t)x[0]), vt_f32_from_bits((uint32_t)x[1]),
                              vt_f32_from_bits((uint32_t)x[2])));
  if (dtype == F64)
    return vt_f64_bits(
        m->f64(vt_f64_from_bits(x[0]), vt_f64_from_bits(x[1]), vt_f64_from_bits(x[2])));
  const uint64_t bits =
      m->whole(whole_of(dtype, x[0]), whole_of(dtype, x[1]), whole_of(dtype, x[2]));
  return dtype == BOOL ? bits & 1 : cut_to(dtype, bits);
}

/* -1, 0, 1: how IEEE compares; 2: not at all. */
static int compare(uint32_t dtype, uint64_t a, uint64_t b) {
  if (dtype != F32 && dtype != F64) {
    const int64_t x = whole_of(dtype, a), y = whole_of(dtype, b);
    return x < y ? -1 : x == y ? 0 : 1;
  }
  const double x = dtype == F64 ? vt_f64_from_bits(a) : (double)vt_f32_from_bits((uint32_t)a);
  const double y = dtype == F64 ? vt_f64_from_bits(b) : (double)vt_f32_from_bits((uint32_t)b);
  if (isnan(x) || isnan(y)) return 2;
  return x < y ? -1 : x == y ? 0 : 1;
}

static const struct {
  uint32_t op;
  int true_for[4]; /* less, equal, greater, unordered */
} comparisons[] = {{VT_OP_eq, {0, 1, 0, 0}}, {VT_OP_ne, {1, 0, 1, 1}}, {VT_OP_lt, {1, 0, 0, 0}},
                   {VT_OP_le, {1, 1, 0, 0}}, {VT_OP_gt, {0, 0, 1, 0}}, {VT_OP_ge, {0, 1, 1, 0}}};

/* ---- special values against each other ---- */

static const uint32_t special_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f000000,
    0x3f800000, 0xbf800000, 0x40000000, 0x40490fdb, 0xc0490fdb, 0x42b17218, 0xc2cff1b5, 0x4b800001,
    0xcb000001, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f800001, 0xbf000000, 0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000, 0x3effffff, 0x3f000001,
    0xbf7fffff, 0x4affffff, 0xcaffffff, 0x4b000000, 0x4afffffd};
static const uint64_t special_f64[] = {0,
                                       UINT64_C(0x8000000000000000),
                                       1,
                                       UINT64_C(0x8000000000000001),
                                       UINT64_C(0x000fffffffffffff),
                                       UINT64_C(0x0010000000000000),
                                       UINT64_C(0x3fe0000000000000),
                                       UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0xbff0000000000001),
                                       UINT64_C(0x400921fb54442d18),
                                       UINT64_C(0x4340000000000001),
                                       UINT64_C(0xc3e0000000000000),
                                       UINT64_C(0x7fefffffffffffff),
                                       UINT64_C(0xffefffffffffffff),
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0xfff0000000000000),
                                       UINT64_C(0x7ff8000000000000),
                                       UINT64_C(0xfff0000000000001),
                                       UINT64_C(0xbfe0000000000000),
                                       UINT64_C(0x3ff8000000000000),
                                       UINT64_C(0xc004000000000000),
                                       UINT64_C(0x3fdfffffffffffff),
                                       UINT64_C(0xbfefffffffffffff),
                                       UINT64_C(0x432fffffffffffff),
                                       UINT64_C(0xc32fffffffffffff),
                                       UINT64_C(0x4330000000000000)};
static const int64_t special_whole[] = {
    0,   1,         2,         3,         -1,        -2,    -7,         7,          127,    -128,
    255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 46341, 3037000500, 0x55555555, -65536, 100,
    8,   31,        32,        63,        64,        6,     33,         4,          5,      9};

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))
static int64_t special_count(uint32_t dtype) {
  if (dtype == F32) return COUNT(special_f32);
  if (dtype == F64) return COUNT(special_f64);
  return dtype == BOOL ? 2 : COUNT(special_whole);
}

static uint64_t special_at(uint32_t dtype, int64_t i) {
  if (dtype == F32) return special_f32[i];
  if (dtype == F64) return special_f64[i];
  return dtype == BOOL ? (uint64_t)i : cut_to(dtype, (uint64_t)special_whole[i]);
}

/* The specials along `axis` of a shape that is 1 elsewhere: n such operands meet in every way. */
static vt_view special_view(uint32_t dtype, uint32_t rank, uint32_t axis) {
  int64_t dim[3] = {1, 1, 1};
  dim[axis] = special_count(dtype);
  const vt_view v = view_new(dtype, rank, dim, (int)axis % LAYOUTS);
  for (int64_t i = 0; i < dim[axis]; i++) put_bits(&v, i, special_at(dtype, i));
  return v;
}

static void check_meaning(const meaning *m, const vt_view *in, const ran *r) {
  const char *name = vt_op_get(m->op)->name;
  const int64_t n = count_of_view(&r->out);
  for (int64_t i = 0; i < n; i++) {
    uint64_t x[3] = {0};
    for (uint32_t k = 0; k < m->n_in; k++) x[k] = spread_bits(&in[k], &r->out, i);
    if (!expect_bits(name, &r->out, i, give(m, in[0].dtype, x))) return;
  }
}

static int takes(const meaning *m, uint32_t dtype) {
  char name[16];
  snprintf(name, sizeof name, "%s ", vt_dtype_name(dtype));
  const char *at = strstr(m->types, name);
  return at != NULL && (at == m->types || at[-1] == ' ');
}

static void test_specials(const meaning *m) {
  for (uint32_t dtype = 1; dtype <= 7; dtype++) {
    if (!takes(m, dtype)) continue;
    vt_view in[3];
    for (uint32_t i = 0; i < m->n_in; i++) in[i] = special_view(dtype, m->n_in, i);
    const ran r = run_op(m->op, NULL, in, m->n_in, DENSE);
    CHECK(r.status == VT_OK);
    if (r.status == VT_OK) check_meaning(m, in, &r);
    drop_all();
  }
}

static void test_compare_specials(void) {
  for (int64_t c = 0; c < COUNT(comparisons); c++)
    for (uint32_t dtype = 1; dtype <= 7; dtype++) {
      const vt_view in[2] = {special_view(dtype, 2, 0), special_view(dtype, 2, 1)};
      const ran r = run_op(comparisons[c].op, NULL, in, 2, GAPS);
      CHECK(r.status == VT_OK && r.out.dtype == BOOL);
      const int64_t n = r.status == VT_OK ? count_of_view(&r.out) : 0;
      for (int64_t i = 0; i < n; i++) {
        const int order =
            compare(dtype, spread_bits(&in[0], &r.out, i), spread_bits(&in[1], &r.out, i));
        const int want = comparisons[c].true_for[order + 1];
        if (!expect_bits(vt_op_get(comparisons[c].op)->name, &r.out, i, (uint64_t)want)) break;
      }
      drop_all();
    }
}

/* ---- shapes and layouts ---- */

static const struct {
  uint32_t rank[3];
  int64_t dim[3][8];
} shapes[] = {
    {{0, 0, 0}, {{0}}},
    {{0, 1, 0}, {{0}, {5}}},
    {{1, 1, 1}, {{1}, {7}, {7}}},
    {{1, 2, 1}, {{9}, {4, 9}, {1}}},
    {{2, 2, 2}, {{8, 1}, {1, 16}, {8, 16}}},
    {{3, 1, 2}, {{2, 3, 33}, {33}, {3, 1}}},
    {{1, 1, 0}, {{0}, {1}}},
    {{3, 1, 1}, {{2, 0, 3}, {3}, {1}}},
    {{2, 4, 3}, {{1, 0}, {3, 1, 5, 1}, {1, 5, 0}}},
    {{1, 3, 2}, {{257}, {2, 1, 1}, {1, 257}}},
    {{8, 8, 8}, {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 2}, {2, 2, 1, 1, 1, 2, 2, 1}}},
    {{8, 3, 0}, {{2, 1, 3, 1, 1, 2, 1, 5}, {1, 3, 5}}},
    {{5, 5, 5}, {{2, 3, 1, 2, 2}, {2, 3, 4, 2, 2}, {1, 1, 4, 1, 1}}},
};

static vt_view shaped(uint32_t dtype, int64_t shape, uint32_t i, int layout, uint64_t *state) {
  return fill_any(view_new(dtype, shapes[shape].rank[i], shapes[shape].dim[i], layout), state);
}

static void test_shapes(const meaning *m, uint32_t dtype, int64_t shape, uint64_t *state) {
  for (int mix = 0; mix < LAYOUTS * LAYOUTS; mix++) {
    vt_view in[3];
    test_seed = *state;
    for (uint32_t i = 0; i < m->n_in; i++)
      in[i] = shaped(dtype, shape, i, (mix + (int)i) % LAYOUTS, state);
    const ran r = run_op(m->op, NULL, in, m->n_in, mix / LAYOUTS);
    CHECK(r.status == VT_OK);
    if (r.status == VT_OK) check_meaning(m, in, &r);
    drop_all();
  }
}

static void test_all_shapes(const meaning *m) {
  uint64_t state = 20260701 + m->op;
  for (uint32_t dtype = 1; dtype <= 7; dtype++)
    for (int64_t s = 0; takes(m, dtype) && s < COUNT(shapes); s++) test_shapes(m, dtype, s, &state);
}

static void test_compare_shapes(void) {
  uint64_t state = 7;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= 7; dtype++) {
      test_seed = state;
      const vt_view in[2] = {shaped(dtype, s, 0, (int)dtype % LAYOUTS, &state),
                             shaped(dtype, s, 1, (int)s % LAYOUTS, &state)};
      const ran r = run_op(VT_OP_le, NULL, in, 2, TURNED);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        const int order =
            compare(dtype, spread_bits(&in[0], &r.out, i), spread_bits(&in[1], &r.out, i));
        if (!expect_bits("le", &r.out, i, order == -1 || order == 0)) break;
      }
      drop_all();
    }
}

/* ---- select: bits are copied, NaN payloads included, for every type ---- */

static void test_select(void) {
  uint64_t state = 31;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= 9; dtype++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        test_seed = state;
        const vt_view in[3] = {shaped(BOOL, s, 2, (layout + 1) % LAYOUTS, &state),
                               shaped(dtype, s, 0, (layout + 2) % LAYOUTS, &state),
                               shaped(dtype, s, 1, layout, &state)};
        const ran r = run_op(VT_OP_select, NULL, in, 3, layout);
        CHECK(r.status == VT_OK && r.out.dtype == dtype);
        for (int64_t i = 0; i < count_of_view(&r.out); i++) {
          const vt_view *from = spread_bits(&in[0], &r.out, i) ? &in[1] : &in[2];
          CHECK(get_bits(&r.out, i) == spread_bits(from, &r.out, i));
        }
        drop_all();
      }
}

/* ---- cast: through a type wide enough for every source, then one rounding ---- */

/* x to a binary format of `digits` bits whose least exponent is `least`, ties to even. */
static long double round_to(long double x, int digits, int least, long double greatest) {
  int e;
  if (x == 0 || !isfinite(x)) return x;
  (void)frexpl(x, &e);
  if (e < least) e = least;
  const long double r = ldexpl(rintl(ldexpl(x, digits - e)), e - digits);
  return fabsl(r) > greatest ? copysignl(INFINITY, x) : r;
}

static long double small_float(uint64_t bits, int digits, int bias) {
  const uint64_t top = (UINT64_C(1) << (15 - (digits - 1))) - 1;
  const uint64_t exponent = (bits & 0x7fff) >> (digits - 1);
  const uint64_t fraction = bits & ((UINT64_C(1) << (digits - 1)) - 1);
  const uint64_t lead = exponent == 0 ? 0 : UINT64_C(1) << (digits - 1);
  long double x = ldexpl((long double)(fraction | lead),
                         (exponent == 0 ? 1 : (int)exponent) - bias - (digits - 1));
  if (exponent == top) x = fraction == 0 ? (long double)INFINITY : (long double)NAN;
  return bits & 0x8000 ? -x : x;
}

static long double value_of(uint32_t dtype, uint64_t bits) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return (long double)vt_f32_from_bits((uint32_t)bits);
    case VT_DTYPE_F64:
      return (long double)vt_f64_from_bits(bits);
    case VT_DTYPE_F16:
      return small_float(bits, 11, 15);
    case VT_DTYPE_BF16:
      return small_float(bits, 8, 127);
    default:
      return (long double)whole_of(dtype, bits);
  }
}

static uint64_t saturated(uint32_t to, long double x) {
  const int width = (int)vt_dtype_bytes(to) * 8, is_signed = to != VT_DTYPE_U8;
  const long double low = is_signed ? -ldexpl(1, width - 1) : 0;
  const long double high = ldexpl(1, width - is_signed); /* one past the greatest */
  if (isnan(x)) return 0;
  if (truncl(x) < low) return cut_to(to, is_signed ? UINT64_C(1) << (width - 1) : 0);
  if (truncl(x) >= high) return cut_to(to, (UINT64_C(1) << (width - is_signed)) - 1);
  return cut_to(to, (uint64_t)(int64_t)x);
}

static int is_float(uint32_t dtype) { return dtype <= 2 || dtype >= 8; }

/* The cast's result as a value: `got` must have it, and its sign when it is a zero. */
static int cast_right(uint32_t from, uint64_t x, uint32_t to, uint64_t got) {
  const long double v = value_of(from, x);
  if (to == BOOL) return got == (uint64_t)(v != 0);
  if (!is_float(to))
    return got == (is_float(from) ? saturated(to, v) : cut_to(to, (uint64_t)whole_of(from, x)));
  long double want = to == F32            ? (long double)(float)v
                     : to == F64          ? (long double)(double)v
                     : to == VT_DTYPE_F16 ? round_to(v, 11, -13, 65504)
                                          : round_to(v, 8, -125, 0x1.fep127L);
  const long double have = value_of(to, got);
  if (isnan(want)) return isnan(have);
  return want == have && signbit(want) == signbit(have);
}

static void test_cast(uint32_t from, uint32_t to, int64_t n, uint64_t *state) {
  const vt_attr_cast a = {.size = sizeof a, .dtype = to};
  const int64_t dim[2] = {n / 8, 8};
  test_seed = *state;
  const vt_view x = fill_any(view_new(from, 2, dim, (int)to % LAYOUTS), state);
  if (n > 0 && from == F32)
    for (int64_t i = 0; i < COUNT(special_f32); i++) put_bits(&x, i, special_f32[i]);
  if (n > 0 && from == F64)
    for (int64_t i = 0; i < COUNT(special_f64); i++) put_bits(&x, i, special_f64[i]);
  const ran r = run_op(VT_OP_cast, &a, &x, 1, (int)from % LAYOUTS);
  CHECK(r.status == VT_OK && r.out.dtype == to);
  for (int64_t i = 0; i < n; i++)
    if (!cast_right(from, get_bits(&x, i), to, get_bits(&r.out, i))) {
      char what[64];
      snprintf(what, sizeof what, "%s %llx to %s gives %llx", vt_dtype_name(from),
               (unsigned long long)get_bits(&x, i), vt_dtype_name(to),
               (unsigned long long)get_bits(&r.out, i));
      complain("cast", what);
      break;
    }
  drop_all();
}

static void test_casts(void) {
  uint64_t state = 99;
  for (uint32_t from = 1; from <= 9; from++)
    for (uint32_t to = 1; to <= 9; to++) {
      test_cast(from, to, 2048, &state);
      test_cast(from, to, 0, &state);
    }
}

/* ---- type rules ---- */

static void test_rules(void) {
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
      {VT_OP_add, NULL, "f32[B]; f32[3]", "f32[3]"}, /* B must turn out to be 3 or 1 */
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

static void test_types(void) {
  static const vt_attr_cast cast = {.size = sizeof cast, .dtype = VT_DTYPE_I8};
  for (int64_t i = 0; i < COUNT(meanings); i++)
    check_types(meanings[i].op, meanings[i].n_in, NULL, meanings[i].types);
  for (int64_t i = 0; i < COUNT(comparisons); i++)
    check_types(comparisons[i].op, 2, NULL, NUMBERS "bool ");
  check_types(VT_OP_cast, 1, &cast, NUMBERS "bool f16 bf16 ");
  check_types(VT_OP_select, 3, NULL, "bool ");
}

/* Numbers are serialised: said a second time, so that a renumbering is heard. */
static void test_published(void) {
  static const char *const names[] = {
      "exp2",  "expm1", "log2",  "log10", "log1p", "tan",  "asin",  "acos",  "atan", "sinh", "cosh",
      "asinh", "acosh", "atanh", "sign",  "floor", "ceil", "trunc", "round", "xor",  "shl",  "shr"};
  for (uint32_t i = 0; i < COUNT(names); i++) {
    const vt_op_info *op = vt_op_find(names[i]);
    CHECK(op != NULL && op->number == 51 + i);
  }
}

int main(void) {
  for (int64_t i = 0; i < COUNT(meanings); i++) {
    test_specials(&meanings[i]);
    test_all_shapes(&meanings[i]);
  }
  test_compare_specials();
  test_compare_shapes();
  test_select();
  test_casts();
  test_rules();
  test_types();
  test_published();
  TEST_DONE();
}
