/* SPDX-License-Identifier: Apache-2.0
 * cast_test.c - every conversion rounds once, directly from the source value. The 16-bit formats
 * are tested exhaustively; the other types at the ends of their ranges and at values where rounding
 * twice would show. */
#include <float.h>
#include <math.h>
#include "num_test.h"
#include "volta/volta_ops.h"

/* ---- the 16-bit formats: the value of a pattern, by the definition of the format ---- */

static double value_of_pattern(uint16_t h, int mant, int bias) {
  const int e = (h & 0x7fff) >> mant, m = h & ((1 << mant) - 1);
  const double magnitude =
      e == 0 ? ldexp(m, 1 - bias - mant) : ldexp(m + (1 << mant), e - bias - mant);
  return h & 0x8000 ? -magnitude : magnitude;
}

static void test_16_bits_to_f32(void) {
  int bad = 0;
  for (uint32_t u = 0; u <= 0xffff; u++) {
    const uint16_t h = (uint16_t)u;
    const int sign = h & 0x8000 ? -1 : 1;
    const float f = vt_f16_to_f32(h), b = vt_bf16_to_f32(h);
    if ((h & 0x7fff) > 0x7c00)
      bad += vt_f32_bits(f) != 0x7fc00000u;
    else if ((h & 0x7fff) == 0x7c00)
      bad += !same_f32(f, (float)sign * INFINITY);
    else
      bad += !same_f32(f, (float)value_of_pattern(h, 10, 15)) ||
             (double)f != value_of_pattern(h, 10, 15);
    if ((h & 0x7fff) > 0x7f80)
      bad += vt_f32_bits(b) != 0x7fc00000u;
    else if ((h & 0x7fff) == 0x7f80)
      bad += !same_f32(b, (float)sign * INFINITY);
    else
      bad += !same_f32(b, (float)value_of_pattern(h, 7, 127)) ||
             (double)b != value_of_pattern(h, 7, 127);
  }
  CHECK(bad == 0);
}

/* For each two neighbours h and h + 1: the values themselves, their midpoint (ties to even), and
 * the f64 on either side of it. The neighbour of the largest finite value is infinity, which counts
 * as the next power of two. */
static void test_f64_to_16_bits(int mant, int bias, uint16_t infinity, uint16_t (*narrow)(double)) {
  int bad = 0;
  for (uint16_t sign = 0;; sign = 0x8000) {
    for (uint16_t h = 0; h < infinity; h++) {
      const double lo = value_of_pattern(h | sign, mant, bias);
      const double hi = value_of_pattern((uint16_t)(h + 1) | sign, mant, bias), mid = (lo + hi) / 2;
      const uint16_t down = h | sign, up = (uint16_t)(h + 1) | sign;
      bad += narrow(lo) != down;
      bad += narrow(mid) != (h % 2 == 0 ? down : up);
      bad += narrow(nextafter(mid, lo)) != down;
      bad += narrow(nextafter(mid, hi)) != up;
    }
    bad += narrow(sign ? -INFINITY : INFINITY) != (sign | infinity);
    bad += narrow(sign ? -DBL_MAX : DBL_MAX) != (sign | infinity);
    bad += narrow(sign ? -DBL_TRUE_MIN : DBL_TRUE_MIN) != sign;
    if (sign != 0) break;
  }
  CHECK(bad == 0);
}

/* ---- one value, cast from one type to another ---- */

static void cast_one_element(const void *src, uint32_t from, void *dst, uint32_t to) {
  vt_cast(src, 1, from, dst, 1, to, 1);
}

static int64_t cast_f64_to_int(double x, uint32_t to) {
  int8_t i8;
  uint8_t u8;
  int32_t i32;
  int64_t i64;
  switch (to) {
    case VT_DTYPE_I8:
      cast_one_element(&x, VT_DTYPE_F64, &i8, to);
      return i8;
    case VT_DTYPE_I32:
      cast_one_element(&x, VT_DTYPE_F64, &i32, to);
      return i32;
    case VT_DTYPE_I64:
      cast_one_element(&x, VT_DTYPE_F64, &i64, to);
      return i64;
    default: /* the two types of one unsigned byte: u8 and bool */
      cast_one_element(&x, VT_DTYPE_F64, &u8, to);
      return u8;
  }
}

static void test_float_to_int(void) {
  static const struct {
    double x;
    int64_t i8, u8, i32, i64, truth;
  } row[] = {
      {0.0, 0, 0, 0, 0, 0},
      {-0.0, 0, 0, 0, 0, 0},
      {0.99, 0, 0, 0, 0, 1},
      {-0.99, 0, 0, 0, 0, 1},
      {1.5, 1, 1, 1, 1, 1},
      {-1.5, -1, 0, -1, -1, 1},
      {127.9, 127, 127, 127, 127, 1},
      {128.0, 127, 128, 128, 128, 1},
      {-128.9, -128, 0, -128, -128, 1},
      {-129.0, -128, 0, -129, -129, 1},
      {255.9, 127, 255, 255, 255, 1},
      {256.0, 127, 255, 256, 256, 1},
      {2147483647.9, 127, 255, INT32_MAX, INT32_MAX, 1},
      {2147483648.0, 127, 255, INT32_MAX, INT64_C(2147483648), 1},
      {-2147483648.9, -128, 0, INT32_MIN, INT32_MIN, 1},
      {-2147483649.0, -128, 0, INT32_MIN, -INT64_C(2147483649), 1},
      {0x1.fffffffffffffp62, 127, 255, INT32_MAX, INT64_C(0x7ffffffffffffc00), 1},
      {0x1p63, 127, 255, INT32_MAX, INT64_MAX, 1},
      {-0x1p63, -128, 0, INT32_MIN, INT64_MIN, 1},
      {-0x1.0000000000001p63, -128, 0, INT32_MIN, INT64_MIN, 1},
      {DBL_MAX, 127, 255, INT32_MAX, INT64_MAX, 1},
      {DBL_TRUE_MIN, 0, 0, 0, 0, 1},
      {INFINITY, 127, 255, INT32_MAX, INT64_MAX, 1},
      {-INFINITY, -128, 0, INT32_MIN, INT64_MIN, 1},
      {NAN, 0, 0, 0, 0, 1},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    CHECK(cast_f64_to_int(row[i].x, VT_DTYPE_I8) == row[i].i8);
    CHECK(cast_f64_to_int(row[i].x, VT_DTYPE_U8) == row[i].u8);
    CHECK(cast_f64_to_int(row[i].x, VT_DTYPE_I32) == row[i].i32);
    CHECK(cast_f64_to_int(row[i].x, VT_DTYPE_I64) == row[i].i64);
    CHECK(cast_f64_to_int(row[i].x, VT_DTYPE_BOOL) == row[i].truth);
  }
  const uint16_t half[3] = {0x3800, 0x7e01, 0xfc00}; /* f16 patterns of 0.5, a NaN, -inf */
  int32_t i[3];
  uint8_t t[3];
  vt_cast(half, 1, VT_DTYPE_F16, i, 1, VT_DTYPE_I32, 3);
  vt_cast(half, 1, VT_DTYPE_F16, t, 1, VT_DTYPE_BOOL, 3);
  CHECK(i[0] == 0 && i[1] == 0 && i[2] == INT32_MIN);
  CHECK(t[0] == 1 && t[1] == 1 && t[2] == 1);
}

static void test_int_to_int(void) {
  const int64_t wide[] = {0, 127, 128, 255, 256, -1, -129, INT64_C(0x123456789abcdef0), INT64_MIN};
  enum { N = sizeof wide / sizeof wide[0] };
  int8_t i8[N];
  uint8_t u8[N], truth[N];
  int32_t i32[N];
  vt_cast(wide, 1, VT_DTYPE_I64, i8, 1, VT_DTYPE_I8, N);
  vt_cast(wide, 1, VT_DTYPE_I64, u8, 1, VT_DTYPE_U8, N);
  vt_cast(wide, 1, VT_DTYPE_I64, i32, 1, VT_DTYPE_I32, N);
  vt_cast(wide, 1, VT_DTYPE_I64, truth, 1, VT_DTYPE_BOOL, N);
  for (int k = 0; k < N; k++) { /* the result is congruent to the source modulo 2^8, 2^8 or 2^32 */
    CHECK(((uint64_t)i8[k] - (uint64_t)wide[k]) % 256 == 0);
    CHECK(((uint64_t)u8[k] - (uint64_t)wide[k]) % 256 == 0);
    CHECK(((uint64_t)i32[k] - (uint64_t)wide[k]) % (UINT64_C(1) << 32) == 0);
    CHECK(truth[k] == (wide[k] != 0)); /* 256 is true, although its last byte is 0 */
  }
  const uint8_t truths[3] = {0, 1, 7}; /* any byte but 0 is true, and true becomes 1 */
  float f[3];
  uint16_t h[3];
  vt_cast(truths, 1, VT_DTYPE_BOOL, f, 1, VT_DTYPE_F32, 3);
  vt_cast(truths, 1, VT_DTYPE_BOOL, h, 1, VT_DTYPE_F16, 3);
  CHECK(f[0] == 0.0f && f[1] == 1.0f && f[2] == 1.0f);
  CHECK(h[0] == 0 && h[1] == 0x3c00 && h[2] == 0x3c00);
}

/* Integers that need two roundings if a cast goes through f64. With 2^up as one place, v = (2^mant
 * + odd) places plus half a place, which is a tie of the narrow type, plus -1, 0 or 1. f64 cannot
 * hold the -1 or 1 and would leave the tie. */
static void test_int_to_narrow_float(int mant, uint32_t to) {
  int bad = 0;
  for (int up = 1; up + mant < 63; up++)
    for (int odd = 0; odd < 4; odd++)
      for (int beyond = -1; beyond <= 1; beyond++)
        for (int sign = -1; sign <= 1; sign += 2) {
          const int64_t place = INT64_C(1) << up, lo = ((INT64_C(1) << mant) + odd) * place;
          const int64_t v = sign * (lo + place / 2 + beyond);
          if (up == 1 && beyond != 0)
            /* with up == 1 half a place is 1, and the integers next to the tie are no new cases */
            continue;
          const int goes_up = beyond > 0 || (beyond == 0 && odd % 2 == 1);
          const float want = (float)sign * ldexpf((float)((1 << mant) + odd + goes_up), up);
          float f;
          uint16_t h;
          cast_one_element(&v, VT_DTYPE_I64, to == VT_DTYPE_F32 ? (void *)&f : (void *)&h, to);
          if (to == VT_DTYPE_BF16) f = vt_bf16_to_f32(h);
          if (to == VT_DTYPE_F16) f = vt_f16_to_f32(h);
          const float limit = 65504.0f;
          const int over = to == VT_DTYPE_F16 && fabsf(want) > limit;
          bad += !same_f32(f, over ? (float)sign * INFINITY : want);
        }
  CHECK(bad == 0);
}

static void test_i64_range_ends_to_float(void) {
  const int64_t v[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, 65519, 65520, -1, 0};
  double d[7];
  float f[7];
  uint16_t h[7];
  vt_cast(v, 1, VT_DTYPE_I64, d, 1, VT_DTYPE_F64, 7);
  vt_cast(v, 1, VT_DTYPE_I64, f, 1, VT_DTYPE_F32, 7);
  vt_cast(v, 1, VT_DTYPE_I64, h, 1, VT_DTYPE_F16, 7);
  CHECK(d[0] == 0x1p63 && d[1] == -0x1p63 && d[2] == 0x1p53 && d[5] == -1.0 && same_f64(d[6], 0.0));
  CHECK(f[0] == 0x1p63f && f[1] == -0x1p63f && f[2] == 0x1p53f && same_f32(f[6], 0.0f));
  CHECK(h[0] == 0x7c00 && h[1] == 0xfc00 && h[3] == 0x7bff && h[4] == 0x7c00 && h[6] == 0);
}

/* These values would be rounded twice if the cast went through f32. */
static void test_no_double_rounding(void) {
  const double x = 1.0 + 0x1p-11 + 0x1p-40, y = 1.0 + 0x1p-8 + 0x1p-40;
  CHECK(vt_f16_from_f64(x) == 0x3c01);
  CHECK(vt_bf16_from_f64(y) == 0x3f81);
  uint16_t h, b;
  cast_one_element(&x, VT_DTYPE_F64, &h, VT_DTYPE_F16);
  cast_one_element(&y, VT_DTYPE_F64, &b, VT_DTYPE_BF16);
  CHECK(h == 0x3c01 && b == 0x3f81);
  /* z is just above a tie of f32: it rounds up, not to even */
  const double z = 1.0 + 0x1p-24 + 0x1p-52;
  float f;
  cast_one_element(&z, VT_DTYPE_F64, &f, VT_DTYPE_F32);
  CHECK(f == 1.0f + 0x1p-23f);
}

static void test_nan_is_canonical(void) {
  const uint32_t signalling = 0xffa00001u;
  const uint16_t h = 0xfd01, b = 0xff81;
  const float x = vt_f32_from_bits(signalling);
  const double d = vt_f64_from_bits(UINT64_C(0xfff4000000000001));
  const struct {
    const void *src;
    uint32_t from;
  } nan[] = {{&x, VT_DTYPE_F32}, {&d, VT_DTYPE_F64}, {&h, VT_DTYPE_F16}, {&b, VT_DTYPE_BF16}};
  for (int i = 0; i < 4; i++) {
    float f32;
    double f64;
    uint16_t f16, bf16;
    cast_one_element(nan[i].src, nan[i].from, &f32, VT_DTYPE_F32);
    cast_one_element(nan[i].src, nan[i].from, &f64, VT_DTYPE_F64);
    cast_one_element(nan[i].src, nan[i].from, &f16, VT_DTYPE_F16);
    cast_one_element(nan[i].src, nan[i].from, &bf16, VT_DTYPE_BF16);
    CHECK(vt_f32_bits(f32) == 0x7fc00000u && vt_f64_bits(f64) == UINT64_C(0x7ff8000000000000));
    CHECK(f16 == 0x7e00 && bf16 == 0x7fc0);
  }
}

/* 0 and 1 survive all 81 pairs of types, with strides and with more elements than the internal
 * batch. */
static void test_all_type_pairs(void) {
  enum { N = 600, S = 2, D = 3 };
  static uint64_t src[N * S], dst[N * D], back[N];
  uint8_t want[N], got[N];
  for (int k = 0; k < N; k++) want[k] = (uint8_t)(k % 2);
  for (uint32_t from = VT_DTYPE_F32; from <= VT_DTYPE_BF16; from++)
    for (uint32_t to = VT_DTYPE_F32; to <= VT_DTYPE_BF16; to++) {
      vt_cast(want, 1, VT_DTYPE_U8, src, S, from, N);
      for (int k = 0; k < N * D; k++) dst[k] = UINT64_MAX;
      vt_cast(src, S, from, dst, D, to, N);
      vt_cast(dst, D, to, back, 1, VT_DTYPE_I64, N);
      vt_cast(back, 1, VT_DTYPE_I64, got, 1, VT_DTYPE_U8, N);
      int bad = 0;
      for (int k = 0; k < N; k++) bad += want[k] != got[k];
      CHECK(bad == 0);
    }
  uint32_t untouched = 7;
  vt_cast(want, 1, 0, &untouched, 1, VT_DTYPE_F32, 1); /* with an unknown type nothing happens */
  vt_cast(want, 1, VT_DTYPE_U8, &untouched, 1, 10, 1);
  CHECK(untouched == 7);
}

static void test_gaps_of_strides_are_untouched(void) {
  const float src[3] = {1.0f, 2.0f, 3.0f};
  int32_t dst[6] = {-1, -1, -1, -1, -1, -1};
  vt_cast(src + 2, -1, VT_DTYPE_F32, dst, 2, VT_DTYPE_I32, 3);
  CHECK(dst[0] == 3 && dst[2] == 2 && dst[4] == 1);
  CHECK(dst[1] == -1 && dst[3] == -1 && dst[5] == -1);
}

int main(void) {
  test_16_bits_to_f32();
  test_f64_to_16_bits(10, 15, 0x7c00, vt_f16_from_f64);
  test_f64_to_16_bits(7, 127, 0x7f80, vt_bf16_from_f64);
  test_float_to_int();
  test_int_to_int();
  test_int_to_narrow_float(23, VT_DTYPE_F32);
  test_int_to_narrow_float(7, VT_DTYPE_BF16);
  test_int_to_narrow_float(10, VT_DTYPE_F16);
  test_i64_range_ends_to_float();
  test_no_double_rounding();
  test_nan_is_canonical();
  test_all_type_pairs();
  test_gaps_of_strides_are_untouched();
  TEST_DONE();
}
