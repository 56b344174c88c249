/* SPDX-License-Identifier: Apache-2.0
 * functions_test.c - special values of the functions, the hard cases of sigmoid, and rsqrt on every
 * significand. */
#include <float.h>
#include <math.h>
#include "num_test.h"

typedef float unary(float x);

static const float tiny = FLT_TRUE_MIN, inf = INFINITY, nan32 = NAN;

static void test_special_values(void) {
  const struct {
    unary *f;
    float x, want;
  } row[] = {
      {vt_f32_exp, 0.0f, 1.0f},
      {vt_f32_exp, -0.0f, 1.0f},
      {vt_f32_exp, tiny, 1.0f},
      {vt_f32_exp, inf, inf},
      {vt_f32_exp, -inf, 0.0f},
      {vt_f32_exp, 1.0f, 0x1.5bf0a8p+1f},
      {vt_f32_exp, 0x1.62e42ep+6f, 0x1.ffff08p+127f}, /* the last one that is finite */
      {vt_f32_exp, 0x1.62e43p+6f, inf},
      {vt_f32_exp, -0x1.9fe368p+6f, tiny}, /* just above half of the smallest subnormal */
      {vt_f32_exp, -0x1.9fe36ap+6f, 0.0f},
      {vt_f32_log, 0.0f, -inf},
      {vt_f32_log, -0.0f, -inf},
      {vt_f32_log, 1.0f, 0.0f},
      {vt_f32_log, -1.0f, nan32},
      {vt_f32_log, -tiny, nan32},
      {vt_f32_log, inf, inf},
      {vt_f32_log, -inf, nan32},
      {vt_f32_log, tiny, -0x1.9d1dap+6f},
      {vt_f32_sin, 0.0f, 0.0f},
      {vt_f32_sin, -0.0f, -0.0f},
      {vt_f32_sin, tiny, tiny},
      {vt_f32_sin, -tiny, -tiny},
      {vt_f32_sin, inf, nan32},
      {vt_f32_sin, -inf, nan32},
      {vt_f32_cos, 0.0f, 1.0f},
      {vt_f32_cos, -0.0f, 1.0f},
      {vt_f32_cos, inf, nan32},
      {vt_f32_cos, -inf, nan32},
      {vt_f32_tanh, 0.0f, 0.0f},
      {vt_f32_tanh, -0.0f, -0.0f},
      {vt_f32_tanh, -tiny, -tiny},
      {vt_f32_tanh, inf, 1.0f},
      {vt_f32_tanh, -inf, -1.0f},
      {vt_f32_tanh, 20.0f, 1.0f},
      {vt_f32_erf, 0.0f, 0.0f},
      {vt_f32_erf, -0.0f, -0.0f},
      {vt_f32_erf, inf, 1.0f},
      {vt_f32_erf, -inf, -1.0f},
      {vt_f32_erf, tiny, tiny}, /* 2/sqrt(pi) = 1.128 places */
      {vt_f32_erf, 5.0f, 1.0f},
      {vt_f32_sigmoid, 0.0f, 0.5f},
      {vt_f32_sigmoid, -0.0f, 0.5f},
      {vt_f32_sigmoid, tiny, 0.5f},
      {vt_f32_sigmoid, -tiny, 0.5f},
      {vt_f32_sigmoid, inf, 1.0f},
      {vt_f32_sigmoid, -inf, 0.0f},
      {vt_f32_sigmoid, 100.0f, 1.0f},
      {vt_f32_sigmoid, -1000.0f, 0.0f},
      {vt_f32_rsqrt, 0.0f, inf},
      {vt_f32_rsqrt, -0.0f, -inf},
      {vt_f32_rsqrt, inf, 0.0f},
      {vt_f32_rsqrt, -inf, nan32},
      {vt_f32_rsqrt, -1.0f, nan32},
      {vt_f32_rsqrt, -tiny, nan32},
      {vt_f32_rsqrt, 1.0f, 1.0f},
      {vt_f32_rsqrt, 4.0f, 0.5f},
      {vt_f32_rsqrt, 0x1p-148f, 0x1p74f},
      {vt_f32_sqrt, -0.0f, -0.0f},
      {vt_f32_sqrt, 4.0f, 2.0f},
      {vt_f32_sqrt, -1.0f, nan32},
      {vt_f32_sqrt, inf, inf},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    const float got = row[i].f(row[i].x);
    CHECK(same_f32(got, row[i].want));
    if (!same_f32(got, row[i].want))
      fprintf(stderr, "  row %zu: f(%a) = %a, want %a\n", i, row[i].x, got, row[i].want);
  }
  CHECK(same_f64(vt_f64_sqrt(2.0), 0x1.6a09e667f3bcdp+0) && same_f64(vt_f64_sqrt(-0.0), -0.0));
}

/* Every NaN, the signalling ones too, gives NaN. */
static void test_nan(void) {
  static unary *const f[] = {vt_f32_exp, vt_f32_log,     vt_f32_sin,   vt_f32_cos, vt_f32_tanh,
                             vt_f32_erf, vt_f32_sigmoid, vt_f32_rsqrt, vt_f32_sqrt};
  static const uint32_t pattern[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffbfffffu};
  for (size_t i = 0; i < sizeof f / sizeof f[0]; i++)
    for (int p = 0; p < 4; p++) CHECK(isnan(f[i](vt_f32_from_bits(pattern[p]))));
  for (int p = 0; p < 4; p++) {
    const float nan = vt_f32_from_bits(pattern[p]);
    CHECK(vt_f32_pow(1.0f, nan) == 1.0f && vt_f32_pow(nan, 0.0f) == 1.0f);
    CHECK(vt_f32_pow(nan, -0.0f) == 1.0f && vt_f32_pow(nan, nan) != vt_f32_pow(nan, nan));
    CHECK(isnan(vt_f32_pow(nan, 1.0f)) && isnan(vt_f32_pow(2.0f, nan)));
    CHECK(isnan(vt_f32_pow(-1.0f, nan)) && isnan(vt_f32_pow(nan, inf)));
  }
}

/* C23, F.10.4.5 */
static void test_pow(void) {
  const struct {
    float x, y, want;
  } row[] = {
      {0.0f, -3.0f, inf},
      {-0.0f, -3.0f, -inf},
      {0.0f, -2.0f, inf},
      {-0.0f, -2.0f, inf},
      {-0.0f, -0.5f, inf},
      {0.0f, -inf, inf},
      {-0.0f, -inf, inf},
      {0.0f, 3.0f, 0.0f},
      {-0.0f, 3.0f, -0.0f},
      {-0.0f, 2.0f, 0.0f},
      {-0.0f, 0.5f, 0.0f},
      {-1.0f, inf, 1.0f},
      {-1.0f, -inf, 1.0f},
      {1.0f, inf, 1.0f},
      {2.0f, 0.0f, 1.0f},
      {inf, -0.0f, 1.0f},
      {-2.0f, 0.5f, nan32},
      {-2.0f, 3.0f, -8.0f},
      {-2.0f, 2.0f, 4.0f},
      {0.5f, -inf, inf},
      {-0.5f, -inf, inf},
      {2.0f, -inf, 0.0f},
      {-2.0f, -inf, 0.0f},
      {0.5f, inf, 0.0f},
      {2.0f, inf, inf},
      {-inf, -3.0f, -0.0f},
      {-inf, -2.0f, 0.0f},
      {-inf, 3.0f, -inf},
      {-inf, 2.0f, inf},
      {-inf, 0.5f, inf},
      {inf, -1.0f, 0.0f},
      {inf, 1.0f, inf},
      {2.0f, 127.0f, 0x1p127f},
      {2.0f, 128.0f, inf},
      {2.0f, -149.0f, tiny},
      {2.0f, -150.0f, 0.0f},
      {-2.0f, -151.0f, -0.0f},
      {3.0f, 4.0f, 81.0f},
      {4.0f, 0.5f, 2.0f},
      {0.25f, -0.5f, 2.0f},
      /* 4097^2 = 2^24 + 2^13 + 1, the middle of two f32: to even */
      {4097.0f, 2.0f, 16785408.0f},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    const float got = vt_f32_pow(row[i].x, row[i].y);
    CHECK(same_f32(got, row[i].want));
    if (!same_f32(got, row[i].want))
      fprintf(stderr, "  pow(%a, %a) = %a, want %a\n", row[i].x, row[i].y, got, row[i].want);
  }
}

/* For |x| <= 2^-12 the real value is 1/2 + x/4, moved towards 1/2 by less than the distance to any
 * middle of two f32 that 1/2 + x/4 does not hit. So the result is the f32 nearest 1/2 + x/4, and
 * where there are two, the one nearer to 1/2. Middles are hit by multiples of 2^-24 only. */
static int sigmoid_is_nearest(float x) {
  const double d = 0.5 + 0.25 * (double)x; /* exact for |x| >= 2^-27 */
  const float y = vt_f32_sigmoid(x);
  const float in = nextafterf(y, 0.5f), out = nextafterf(y, x > 0 ? 1.0f : 0.0f);
  if (y == 0.5f) return fabs(d - 0.5) <= fabs((double)out - d);
  return fabs((double)y - d) < fabs((double)in - d) && fabs((double)y - d) <= fabs((double)out - d);
}

static void test_sigmoid(void) {
  int bad = 0;
  for (int k = 1; k <= 8192; k++)
    for (int step = -1; step <= 1; step++) {
      const uint32_t u = vt_f32_bits((float)k * 0x1p-25f) + (uint32_t)step;
      bad += !sigmoid_is_nearest(vt_f32_from_bits(u));
      bad += !sigmoid_is_nearest(-vt_f32_from_bits(u));
    }
  uint64_t seed = 4;
  for (int i = 0; i < 100000; i++) {
    const uint32_t r = (uint32_t)random_u64(&seed) % (12u << 23);
    bad += !sigmoid_is_nearest(vt_f32_from_bits(vt_f32_bits(0x1p-24f) + r));
    bad += !sigmoid_is_nearest(-vt_f32_from_bits(vt_f32_bits(0x1p-24f) + r));
  }
  CHECK(bad == 0);
}

/* x = X * 2^-22 in [1, 4) has every significand at both parities of the exponent. The result r and
 * its neighbours' middles m satisfy m_below^2 * x < 1 < m_above^2 * x, in integers:
 * r in (1/2, 1] is R * 2^-24, a middle is (2R +- 1) * 2^-25, and M^2 * X compares with 2^72. */
static void test_rsqrt(void) {
  __extension__ typedef unsigned __int128 u128;
  const u128 one = (u128)1 << 72;
  int bad = 0;
  for (uint32_t u = vt_f32_bits(1.0f); u < vt_f32_bits(4.0f); u++) {
    const float x = vt_f32_from_bits(u), r = vt_f32_rsqrt(x);
    const u128 big_x = (u128)((double)x * 0x1p22 * 2.0), big_r = (u128)((double)r * 0x1p24);
    /* 2X is an integer for x in [1, 2) as well, so both sides are doubled. */
    const u128 below = 2 * big_r - 1, above = 2 * big_r + 1;
    bad += !(below * below * big_x < 2 * one && above * above * big_x > 2 * one);
  }
  CHECK(bad == 0);
  for (int k = -74; k <= 63; k++) { /* by 4^k: only the exponent changes */
    CHECK(vt_f32_rsqrt(ldexpf(1.0f, 2 * k)) == ldexpf(1.0f, -k));
    if (2 * k >= -126)
      CHECK(vt_f32_rsqrt(ldexpf(0x1.234568p+0f, 2 * k)) ==
            ldexpf(vt_f32_rsqrt(0x1.234568p+0f), -k));
  }
}

int main(void) {
  test_special_values();
  test_nan();
  test_pow();
  test_sigmoid();
  test_rsqrt();
  TEST_DONE();
}
