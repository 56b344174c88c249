/* SPDX-License-Identifier: Apache-2.0
 * order_test.c - the order of values, and the canonical patterns. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "num_test.h"
#include "volta/volta_ops.h"

/* Values in ascending order: the positions of two values give the expected result of every
 * comparison. */
static const float ascending[] = {-INFINITY,     -FLT_MAX, -1.0f,   -FLT_MIN,
                                  -FLT_TRUE_MIN, -0.0f,    0.0f,    FLT_TRUE_MIN,
                                  FLT_MIN,       1.0f,     FLT_MAX, INFINITY};
static const double ascending64[] = {-INFINITY,     -DBL_MAX, -1.0,    -DBL_MIN,
                                     -DBL_TRUE_MIN, -0.0,     0.0,     DBL_TRUE_MIN,
                                     DBL_MIN,       1.0,      DBL_MAX, INFINITY};
enum { N = sizeof ascending / sizeof ascending[0] };
_Static_assert(N == sizeof ascending64 / sizeof ascending64[0], "one walk for both lists");

static void test_order_of_all_pairs(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const int hi = i > j ? i : j, lo = i > j ? j : i;
      CHECK(vt_f32_above(ascending[i], ascending[j]) == (i > j));
      CHECK(vt_f64_above(ascending64[i], ascending64[j]) == (i > j));
      CHECK(same_f32(vt_f32_max(ascending[i], ascending[j]), ascending[hi]));
      CHECK(same_f32(vt_f32_min(ascending[i], ascending[j]), ascending[lo]));
      CHECK(same_f64(vt_f64_max(ascending64[i], ascending64[j]), ascending64[hi]));
      CHECK(same_f64(vt_f64_min(ascending64[i], ascending64[j]), ascending64[lo]));
    }
}

/* Neighbouring patterns from 0 to infinity, at a stride: they ascend for positive numbers and
 * descend for negative ones. */
static void test_order_of_neighbours(void) {
  int bad = 0;
  for (uint32_t u = 0; u + 4099 <= 0x7f800000u; u += 4099) {
    const float a = vt_f32_from_bits(u), b = vt_f32_from_bits(u + 1);
    const double c = vt_f64_from_bits((uint64_t)u << 32),
                 d = vt_f64_from_bits(((uint64_t)u << 32) + 1);
    bad += !vt_f32_above(b, a) || vt_f32_above(a, b) || vt_f32_above(a, a);
    bad += !vt_f32_above(-a, -b) || vt_f32_above(-b, -a) || !vt_f32_above(a, -a);
    bad += !same_f32(vt_f32_max(-b, -a), -a) || !same_f32(vt_f32_min(-b, -a), -b);
    bad += !same_f32(vt_f32_max(b, a), b) || !same_f32(vt_f32_min(b, a), a);
    /* max(a, 0), which is relu */
    bad += !same_f32(vt_f32_max(-a, 0.0f), 0.0f) || !same_f32(vt_f32_max(a, 0.0f), a);
    bad += !vt_f64_above(d, c) || vt_f64_above(c, d) || !vt_f64_above(-c, -d);
  }
  CHECK(bad == 0);
}

/* On all classes of numbers, max and min are symmetric and agree with the order. */
static void test_max_and_min_of_random_pairs(void) {
  uint64_t seed = 52;
  int bad = 0;
  for (int i = 0; i < 300000; i++) {
    const float a = any_f32(&seed), b = any_f32(&seed);
    const double c = any_f64(&seed), d = any_f64(&seed);
    const int nan = isnan(a) || isnan(b), nan64 = isnan(c) || isnan(d);
    bad += !same_f32(vt_f32_max(a, b), nan ? NAN : vt_f32_above(a, b) ? a : b);
    bad += !same_f32(vt_f32_min(a, b), nan ? NAN : vt_f32_above(a, b) ? b : a);
    bad += !same_f32(vt_f32_max(a, b), vt_f32_max(b, a));
    bad += !same_f32(vt_f32_min(a, b), vt_f32_min(b, a));
    bad += !same_f64(vt_f64_max(c, d), vt_f64_max(d, c)) || isnan(vt_f64_max(c, d)) != nan64;
    bad += !same_f64(vt_f64_min(c, d), vt_f64_min(d, c)) || isnan(vt_f64_min(c, d)) != nan64;
    /* exactly one of a > b, b > a and a == b is true */
    bad += vt_f32_above(a, b) + vt_f32_above(b, a) + same_f32(a, b) != 1;
    bad += vt_f64_above(c, d) + vt_f64_above(d, c) + same_f64(c, d) != 1;
    bad += !nan && a != b && vt_f32_above(a, b) != (a > b);
    bad += !nan64 && c != d && vt_f64_above(c, d) != (c > d);
  }
  CHECK(bad == 0);
}

static void test_order_of_nan(void) {
  static const uint32_t pattern[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u,
                                     UINT32_MAX};
  for (int p = 0; p < 5; p++) {
    const float nan = vt_f32_from_bits(pattern[p]);
    const double nan64 = (double)nan;
    CHECK(!vt_f32_above(nan, NAN) && !vt_f32_above(NAN, nan)); /* all NaN are one value */
    CHECK(!vt_f64_above(nan64, (double)NAN) && !vt_f64_above((double)NAN, nan64));
    for (int i = 0; i < N; i++) {
      CHECK(vt_f32_above(nan, ascending[i]) && !vt_f32_above(ascending[i], nan));
      CHECK(vt_f64_above(nan64, ascending64[i]) && !vt_f64_above(ascending64[i], nan64));
      CHECK(isnan(vt_f32_max(nan, ascending[i])) && isnan(vt_f32_max(ascending[i], nan)));
      CHECK(isnan(vt_f32_min(nan, ascending[i])) && isnan(vt_f32_min(ascending[i], nan)));
      CHECK(isnan(vt_f64_max(nan64, ascending64[i])) && isnan(vt_f64_max(ascending64[i], nan64)));
      CHECK(isnan(vt_f64_min(nan64, ascending64[i])) && isnan(vt_f64_min(ascending64[i], nan64)));
    }
  }
}

static void test_bits_round_trip(void) {
  CHECK(vt_f32_bits(1.0f) == 0x3f800000u && vt_f32_bits(-0.0f) == 0x80000000u);
  CHECK(vt_f64_bits(1.0) == UINT64_C(0x3ff0000000000000));
  CHECK(vt_f32_from_bits(0x40c90fdbu) == 0x1.921fb6p+2f);
  CHECK(vt_f64_from_bits(1) == DBL_TRUE_MIN);
}

/* For every 16-bit pattern: a NaN becomes the canonical NaN, all others stay unchanged. */
static void test_canonical_16(uint32_t dtype, uint16_t infinity, uint16_t nan) {
  static uint16_t h[65536];
  for (int i = 0; i < 65536; i++) h[i] = (uint16_t)i;
  int bad = 0;
  for (int i = 0; i < 65536; i++)
    bad += vt_is_canonical(&h[i], dtype, 1) != ((i & 0x7fff) <= infinity || i == nan);
  CHECK(bad == 0 && !vt_is_canonical(h, dtype, 65536));
  vt_canonical(h, dtype, 65536);
  CHECK(vt_is_canonical(h, dtype, 65536));
  for (int i = 0; i < 65536; i++) bad += h[i] != ((i & 0x7fff) > infinity ? nan : i);
  CHECK(bad == 0);
}

static void test_canonical_patterns(void) {
  uint32_t u[] = {0x7f800001u, 0xffc00000u, UINT32_MAX, 0x7f800000u, 0xff800000u, 0x80000000u, 1};
  const uint32_t want[] = {
      0x7fc00000u, 0x7fc00000u, 0x7fc00000u, 0x7f800000u, 0xff800000u, 0x80000000u, 1};
  uint64_t v[] = {UINT64_C(0x7ff0000000000001), UINT64_MAX, UINT64_C(0xfff0000000000000), 1};
  const uint64_t want64[] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff8000000000000),
                             UINT64_C(0xfff0000000000000), 1};
  unsigned char bytes[1 + sizeof u]; /* the array is copied to an odd address */
  memcpy(bytes + 1, u, sizeof u);
  vt_canonical(bytes + 1, VT_DTYPE_F32, 7);
  CHECK(memcmp(bytes + 1, want, sizeof u) == 0);
  vt_canonical(v, VT_DTYPE_F64, 4);
  CHECK(memcmp(v, want64, sizeof v) == 0);
  uint8_t truth[4] = {0, 1, 2, 255};
  vt_canonical(truth, VT_DTYPE_I8, 4);
  CHECK(truth[2] == 2 && truth[3] == 255); /* integers are always canonical */
  vt_canonical(truth, VT_DTYPE_BOOL, 4);
  CHECK(truth[0] == 0 && truth[1] == 1 && truth[2] == 1 && truth[3] == 1);
  int64_t wide = -1;
  vt_canonical(&wide, VT_DTYPE_I64, 1);
  CHECK(wide == -1);
}

int main(void) {
  test_order_of_all_pairs();
  test_order_of_neighbours();
  test_max_and_min_of_random_pairs();
  test_order_of_nan();
  test_bits_round_trip();
  test_canonical_16(VT_DTYPE_F16, 0x7c00, 0x7e00);
  test_canonical_16(VT_DTYPE_BF16, 0x7f80, 0x7fc0);
  test_canonical_patterns();
  TEST_DONE();
}
