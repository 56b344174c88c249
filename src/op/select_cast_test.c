/* SPDX-License-Identifier: Apache-2.0
 * select_cast_test.c - tests the values and gradients of select, which copies bits, and of cast,
 * which rounds once. */
#include "elementwise_test.h"

/* ---- select: bits are copied, NaN payloads included, for every type ---- */

static void test_select(void) {
  uint64_t state = 31;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= 9; dtype++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        test_seed = state;
        const vt_view in[3] = {random_operand(BOOL, s, 2, (layout + 1) % LAYOUTS, &state),
                               random_operand(dtype, s, 0, (layout + 2) % LAYOUTS, &state),
                               random_operand(dtype, s, 1, layout, &state)};
        const run_result r = run_op(VT_OP_select, NULL, in, 3, layout);
        CHECK(r.status == VT_OK && r.out.dtype == dtype);
        for (int64_t i = 0; i < count_of_view(&r.out); i++) {
          const vt_view *from = broadcast_bits(&in[0], &r.out, i) ? &in[1] : &in[2];
          CHECK(get_bits(&r.out, i) == broadcast_bits(from, &r.out, i));
        }
        free_held();
      }
}

/* ---- cast: every source is exact in long double, which is then rounded once ---- */

/* Rounds x, ties to even, to a binary format with `digits` bits of significand, the least exponent
 * `least` and the greatest finite value `greatest`. */
static long double round_to_format(long double x, int digits, int least, long double greatest) {
  int e;
  if (x == 0 || !isfinite(x)) return x;
  (void)frexpl(x, &e);
  if (e < least) e = least;
  const long double r = ldexpl(rintl(ldexpl(x, digits - e)), e - digits);
  return fabsl(r) > greatest ? copysignl(INFINITY, x) : r;
}

static long double value_of_16_bit_float(uint64_t bits, int digits, int bias) {
  const uint64_t top = (UINT64_C(1) << (15 - (digits - 1))) - 1;
  const uint64_t exponent = (bits & 0x7fff) >> (digits - 1);
  const uint64_t fraction = bits & ((UINT64_C(1) << (digits - 1)) - 1);
  const uint64_t lead = exponent == 0 ? 0 : UINT64_C(1) << (digits - 1);
  long double x = ldexpl((long double)(fraction | lead),
                         (exponent == 0 ? 1 : (int)exponent) - bias - (digits - 1));
  if (exponent == top) x = fraction == 0 ? (long double)INFINITY : (long double)NAN;
  return bits & 0x8000 ? -x : x;
}

static long double exact_value_of(uint32_t dtype, uint64_t bits) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return (long double)vt_f32_from_bits((uint32_t)bits);
    case VT_DTYPE_F64:
      return (long double)vt_f64_from_bits(bits);
    case VT_DTYPE_F16:
      return value_of_16_bit_float(bits, 11, 15);
    case VT_DTYPE_BF16:
      return value_of_16_bit_float(bits, 8, 127);
    default:
      return (long double)integer_of(dtype, bits);
  }
}

static uint64_t saturated_integer(uint32_t to, long double x) {
  const int width = (int)vt_dtype_bytes(to) * 8, is_signed = to != VT_DTYPE_U8;
  const long double low = is_signed ? -ldexpl(1, width - 1) : 0;
  /* one more than the greatest integer of the type */
  const long double high = ldexpl(1, width - is_signed);
  if (isnan(x)) return 0;
  if (truncl(x) < low) return truncate_bits(to, is_signed ? UINT64_C(1) << (width - 1) : 0);
  if (truncl(x) >= high) return truncate_bits(to, (UINT64_C(1) << (width - is_signed)) - 1);
  return truncate_bits(to, (uint64_t)(int64_t)x);
}

static int is_float(uint32_t dtype) { return dtype <= 2 || dtype >= 8; }

/* 1 if `got` is the cast of x: the right value, and for a zero the right sign. */
static int is_right_cast(uint32_t from, uint64_t x, uint32_t to, uint64_t got) {
  const long double v = exact_value_of(from, x);
  if (to == BOOL) return got == (uint64_t)(v != 0);
  if (!is_float(to))
    return got == (is_float(from) ? saturated_integer(to, v)
                                  : truncate_bits(to, (uint64_t)integer_of(from, x)));
  long double want = to == F32            ? (long double)(float)v
                     : to == F64          ? (long double)(double)v
                     : to == VT_DTYPE_F16 ? round_to_format(v, 11, -13, 65504)
                                          : round_to_format(v, 8, -125, 0x1.fep127L);
  const long double have = exact_value_of(to, got);
  if (isnan(want)) return isnan(have);
  return want == have && signbit(want) == signbit(have);
}

static void test_cast_values(uint32_t from, uint32_t to, int64_t n, uint64_t *state) {
  const vt_attr_cast a = {.size = sizeof a, .dtype = to};
  const int64_t dim[2] = {n / 8, 8};
  test_seed = *state;
  const vt_view x = fill_any(view_new(from, 2, dim, (int)to % LAYOUTS), state);
  if (n > 0 && from == F32)
    for (int64_t i = 0; i < COUNT(special_f32); i++) put_bits(&x, i, special_f32[i]);
  if (n > 0 && from == F64)
    for (int64_t i = 0; i < COUNT(special_f64); i++) put_bits(&x, i, special_f64[i]);
  const run_result r = run_op(VT_OP_cast, &a, &x, 1, (int)from % LAYOUTS);
  CHECK(r.status == VT_OK && r.out.dtype == to);
  for (int64_t i = 0; i < n; i++)
    if (!is_right_cast(from, get_bits(&x, i), to, get_bits(&r.out, i))) {
      char what[64];
      snprintf(what, sizeof what, "%s %llx to %s gives %llx", vt_dtype_name(from),
               (unsigned long long)get_bits(&x, i), vt_dtype_name(to),
               (unsigned long long)get_bits(&r.out, i));
      report_test_failure("cast", what);
      break;
    }
  free_held();
}

static void test_all_casts(void) {
  uint64_t state = 99;
  for (uint32_t from = 1; from <= 9; from++)
    for (uint32_t to = 1; to <= 9; to++) {
      test_cast_values(from, to, 2048, &state);
      test_cast_values(from, to, 0, &state);
    }
}

/* ---- gradient of select: not for the bool; f32 for operands of f16 and bf16 ---- */

static void test_select_gradient(void) {
  static const int64_t wide[2] = {3, 4}, tall[2] = {3, 1}, row[1] = {4};
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_F16, VT_DTYPE_BF16};
  uint64_t state = 77;
  for (int64_t t = 0; t < COUNT(types); t++) {
    const uint32_t dtype = types[t] == F64 ? F64 : F32;
    const vt_view in[3] = {fill_any(view_new(VT_DTYPE_BOOL, 2, tall, GAPS), &state),
                           fill_any(view_new(types[t], 2, wide, TRANSPOSED), &state),
                           fill_any(view_new(types[t], 1, row, DENSE), &state)};
    const run_result r = run_op(VT_OP_select, NULL, in, 3, DENSE);
    const vt_view dy = fill_ordinary(view_new(dtype, 2, wide, DENSE), &state);
    vt_view got[3];
    differentiate(VT_OP_select, NULL, in, 3, r.out, dy, got);
    CHECK(got[0].data == NULL && got[1].dtype == dtype && got[2].dtype == dtype);
    for (int64_t i = 0; i < 12; i++)
      (void)expect_bits("select", &got[1], i, get_bits(&in[0], i / 4) ? get_bits(&dy, i) : 0);
    for (int64_t j = 0; j < 4; j++) {
      uint64_t part[3];
      for (int64_t i = 0; i < 3; i++) part[i] = get_bits(&in[0], i) ? 0 : get_bits(&dy, 4 * i + j);
      (void)expect_bits("select", &got[2], j, sum_bits_in_order_s(dtype, part, 3));
    }
    free_held();
  }
}

/* ---- gradient of cast: only between floating types ---- */

static void check_cast_gradient(uint32_t from, uint32_t to, uint64_t *state) {
  static const uint32_t gradient_dtype[10] = {0, F32, F64, 0, 0,
                                              /* by dtype of x or of the result; 0: no gradient */
                                              0, 0, 0, F32, F32};
  const vt_attr_cast a = {.size = sizeof a, .dtype = to};
  const int64_t dim[1] = {9};
  const vt_view x = fill_any(view_new(from, 1, dim, GAPS), state);
  const run_result r = run_op(VT_OP_cast, &a, &x, 1, DENSE);
  const vt_view dy =
      fill_ordinary(view_new(gradient_dtype[to] == F64 ? F64 : F32, 1, dim, DENSE), state);
  vt_view got;
  differentiate(VT_OP_cast, &a, &x, 1, r.out, dy, &got);
  CHECK((got.data != NULL) == (gradient_dtype[from] != 0 && gradient_dtype[to] != 0));
  if (got.data != NULL) CHECK(got.dtype == gradient_dtype[from]);
  for (int64_t i = 0; got.data != NULL && i < 9; i++) {
    const double d = dy.dtype == F64 ? get_f64(&dy, i) : (double)get_f32(&dy, i);
    (void)expect_bits("cast", &got, i,
                      gradient_dtype[from] == F64 ? vt_f64_bits(d) : vt_f32_bits((float)d));
  }
  free_held();
}

static void test_cast_gradients(void) {
  uint64_t state = 3;
  for (uint32_t from = 1; from <= 9; from++)
    for (uint32_t to = 1; to <= 9; to++) check_cast_gradient(from, to, &state);
}

int main(void) {
  test_select();
  test_all_casts();
  test_select_gradient();
  test_cast_gradients();
  TEST_DONE();
}
