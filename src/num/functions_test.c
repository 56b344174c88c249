/* SPDX-License-Identifier: Apache-2.0
 * functions_test.c - every function at its special values, at its edges, on the inputs that are
 * hardest to round, and over all patterns at a stride; pow likewise; sigmoid and rsqrt also against
 * their definitions. Expected results are those of Annex F (specials.def) or of MPFR (edges.def,
 * hard.def).
 *
 *   functions_test [NAME]...    only the rows of edges.def and hard.def of these functions */
#include <float.h>
#include <math.h>
#include <string.h>
#include "num_test.h"

typedef float unary(float x);

static const float tiny = FLT_TRUE_MIN, inf = INFINITY, nan32 = NAN;

static char **chosen; /* names of the chosen functions, ended by NULL; empty if all are chosen */

static int is_chosen(const char *name) {
  for (char **c = chosen; *c != NULL; c++)
    if (strcmp(*c, name) == 0) return 1;
  return *chosen == NULL;
}

static int gives_expected(const char *name, unary *f, uint32_t x, uint32_t want) {
  const float got = f(vt_f32_from_bits(x));
  const int ok = same_f32(got, vt_f32_from_bits(want));
  if (!ok) fprintf(stderr, "%s(%08x) = %08x, want %08x\n", name, x, vt_f32_bits(got), want);
  return ok;
}

static void test_special_values(void) {
  static const uint32_t at[] = {0,           0x80000000u, 1,           0x80000001u,
                                0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u};
  enum { N = sizeof at / sizeof *at };
  static const struct {
    const char *name;
    unary *f;
    uint32_t want[N];
  } row[] = {
#define VT_SPECIAL(name, a, b, c, d, e, f, g, h) {#name, vt_f32_##name, {a, b, c, d, e, f, g, h}},
#include "specials.def"
#undef VT_SPECIAL
  };
  const size_t rows = sizeof row / sizeof *row;
  CHECK(rows == N_FUNCTIONS);
  for (size_t i = 0; i < rows; i++)
    for (int k = 0; k < N; k++) CHECK(gives_expected(row[i].name, row[i].f, at[k], row[i].want[k]));
}

static void test_square_root(void) {
  static const struct {
    float x, want;
  } row[] = {{-0.0f, -0.0f},
             {0.0f, 0.0f},
             {4.0f, 2.0f},
             {-1.0f, NAN},
             {INFINITY, INFINITY},
             {-INFINITY, NAN},
             {FLT_TRUE_MIN, 0x1.6a09e6p-75f}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    CHECK(same_f32(vt_f32_sqrt(row[i].x), row[i].want));
  CHECK(same_f64(vt_f64_sqrt(2.0), 0x1.6a09e667f3bcdp+0) && same_f64(vt_f64_sqrt(-0.0), -0.0));
  CHECK(same_f64(vt_f64_sqrt(-1.0), (double)NAN) && same_f64(vt_f64_sqrt(INFINITY), INFINITY));
}

/* Every NaN pattern, also signalling, gives NaN; but pow(1, NaN) and pow(NaN, 0) are 1. */
static void test_nan_inputs(void) {
  static unary *const f[] = {
      vt_f32_sqrt,
#define VT_FUNCTION(name, estimate, oracle) vt_f32_##name,
#include "functions.def"
#undef VT_FUNCTION
  };
  static const uint32_t pattern[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u,
                                     0x7fbfffffu, 0xffbfffffu, 0x7fffffffu, 0xffffffffu};
  for (int p = 0; p < 8; p++) {
    const float nan = vt_f32_from_bits(pattern[p]);
    for (size_t i = 0; i < sizeof f / sizeof f[0]; i++) CHECK(isnan(f[i](nan)));
    CHECK(vt_f32_pow(1.0f, nan) == 1.0f && vt_f32_pow(nan, 0.0f) == 1.0f);
    CHECK(vt_f32_pow(nan, -0.0f) == 1.0f && isnan(vt_f32_pow(nan, nan)));
    CHECK(isnan(vt_f32_pow(nan, 1.0f)) && isnan(vt_f32_pow(2.0f, nan)));
    CHECK(isnan(vt_f32_pow(-1.0f, nan)) && isnan(vt_f32_pow(nan, inf)));
    CHECK(isnan(vt_f32_pow(0.0f, nan)) && isnan(vt_f32_pow(inf, nan)));
  }
}

/* ---- hard.def ---- */

static void test_table_rows(void) {
  static const struct {
    const char *name;
    unary *f;
    uint32_t x, want;
  } row[] = {
#define VT_EDGE(name, x, want) {#name, vt_f32_##name, x, want},
#include "edges.def"
#define VT_HARD(name, x, want) {#name, vt_f32_##name, x, want},
#include "hard.def"
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (is_chosen(row[i].name)) CHECK(gives_expected(row[i].name, row[i].f, row[i].x, row[i].want));
}

static void test_digests_over_all_patterns(void) {
  static const struct {
    const char *name;
    unary *f;
    uint32_t first, step, count;
    uint64_t digest;
  } row[] = {
#define VT_STRIDE(name, first, step, count, digest) \
  {#name, vt_f32_##name, first, step, count, digest},
#include "hard.def"
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    uint64_t h = 0;
    if (!is_chosen(row[i].name)) continue;
    for (uint32_t k = 0; k < row[i].count; k++)
      h = digest_add_result(h, row[i].f(vt_f32_from_bits(row[i].first + k * row[i].step)));
    if (h != row[i].digest)
      fprintf(stderr, "%s: %u inputs from %08x\n", row[i].name, row[i].count, row[i].first);
    CHECK(h == row[i].digest);
  }
}

/* ---- pow ---- */

static void test_pow_table_rows(void) {
  static const struct {
    uint32_t x, y, want;
  } row[] = {
#define VT_HARD_POW(x, y, want) {x, y, want},
#include "hard.def"
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const float x = vt_f32_from_bits(row[i].x), y = vt_f32_from_bits(row[i].y);
    CHECK(same_f32(vt_f32_pow(x, y), vt_f32_from_bits(row[i].want)));
  }
}

static void test_pow_random(void) {
  static const struct {
    uint64_t seed;
    uint32_t count;
    uint64_t digest;
  } row[] = {
#define VT_RANDOM_POW(seed, count, digest) {seed, count, digest},
#include "hard.def"
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    uint64_t h = 0, state = row[i].seed;
    for (uint32_t k = 0; k < row[i].count; k++) {
      float x, y;
      random_pow_pair(&state, &x, &y);
      h = digest_add_result(h, vt_f32_pow(x, y));
    }
    CHECK(h == row[i].digest);
  }
}

/* n-th powers of integers up to 2^25, which are f32 or exactly a midpoint between two. Converting
 * the integer gives the expected result; a root of it must give back the base; a factor that is a
 * power of two changes the exponent only. */
static void test_pow_exact(void) {
  int bad = 0;
  for (int n = 2; n <= 15; n++)
    for (int64_t base = 2;; base++) {
      int64_t p = 1;
      for (int k = 0; k < n && p <= 1 << 25; k++) p *= base;
      if (p > 1 << 25) break;
      /* p has at most 26 bits, so the conversion rounds once. */
      const float b = (float)base, want = (float)p;
      bad += !same_f32(vt_f32_pow(b, (float)n), want);
      bad += !same_f32(vt_f32_pow(-b, (float)n), n % 2 != 0 ? -want : want);
      bad += !same_f32(vt_f32_pow(0.5f * b, (float)n), ldexpf(want, -n));
      bad += p < 1 << 24 && n == 2 && !same_f32(vt_f32_pow(want, 0.5f), b);
      bad += p < 1 << 24 && n == 4 && !same_f32(vt_f32_pow(want, 0.25f), b);
      bad += p < 1 << 24 && n == 4 && !same_f32(vt_f32_pow(want, 0.75f), b * b * b);
    }
  CHECK(bad == 0);
}

/* The special cases of pow in C23, F.10.4.5. */
static void test_pow_special(void) {
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
      {0.0f, 0.0f, 1.0f},
      {0.0f, inf, 0.0f},
      {-0.0f, inf, 0.0f},
      {-inf, 0.0f, 1.0f},
      {-inf, -0.5f, 0.0f},
      {-inf, inf, inf},
      {-inf, -inf, 0.0f},
      {inf, inf, inf},
      {inf, -inf, 0.0f},
      {-1.0f, 0.5f, nan32},
      {-1.0f, FLT_MAX, 1.0f}, /* every f32 of the size of FLT_MAX is an even integer */
      {-1.0f, 0x1.fffffep23f, -1.0f},
      {-tiny, 1.0f, -tiny},
      {tiny, -1.0f, inf},
      {-tiny, -1.0f, -inf},
      {tiny, 0.5f, 0x1.6a09e6p-75f},
      {FLT_MAX, 1.0f, FLT_MAX},
      {FLT_MAX, 2.0f, inf},
      {-FLT_MAX, 3.0f, -inf},
      {FLT_MAX, -1.0f, 0x1p-128f}, /* a subnormal result */
      {1.0f - 0x1p-24f, -FLT_MAX, inf},
      {1.0f + 0x1p-23f, -FLT_MAX, 0.0f},
      {-(1.0f + 0x1p-23f), FLT_MAX, inf},
      {1.0f - 0x1p-24f, tiny, 1.0f},
      /* 4097^2 = 2^24 + 2^13 + 1, a midpoint between two f32: rounds to even */
      {4097.0f, 2.0f, 16785408.0f},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    const float got = vt_f32_pow(row[i].x, row[i].y);
    CHECK(same_f32(got, row[i].want));
    if (!same_f32(got, row[i].want))
      fprintf(stderr, "  pow(%a, %a) = %a, want %a\n", row[i].x, row[i].y, got, row[i].want);
  }
}

/* Returns whether sigmoid(x) is right for |x| <= 2^-12. The real value is 1/2 + x/4, moved towards
 * 1/2 by less than the distance to any midpoint between two f32 that 1/2 + x/4 does not hit. So the
 * result is the f32 nearest to 1/2 + x/4, and of two equally near ones the one nearer to 1/2. Only
 * multiples of 2^-24 hit midpoints. */
static int sigmoid_is_nearest(float x) {
  const double d = 0.5 + 0.25 * (double)x; /* exact for |x| >= 2^-27 */
  const float y = vt_f32_sigmoid(x);
  const float in = nextafterf(y, 0.5f), out = nextafterf(y, x > 0 ? 1.0f : 0.0f);
  if (y == 0.5f) return fabs(d - 0.5) <= fabs((double)out - d);
  return fabs((double)y - d) < fabs((double)in - d) && fabs((double)y - d) <= fabs((double)out - d);
}

static void test_sigmoid_near_zero(void) {
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

/* x = X * 2^-22 in [1, 4) covers every significand at both parities of the exponent. The midpoints
 * m below and above the result r must satisfy m_below^2 * x < 1 < m_above^2 * x, compared in
 * integers: r in (1/2, 1] is R * 2^-24, a midpoint is (2R +- 1) * 2^-25, and M^2 * X is compared
 * with 2^72. */
static void test_rsqrt_by_definition(void) {
  __extension__ typedef unsigned __int128 u128;
  const u128 one = (u128)1 << 72;
  int bad = 0;
  for (uint32_t u = vt_f32_bits(1.0f); u < vt_f32_bits(4.0f); u++) {
    const float x = vt_f32_from_bits(u), r = vt_f32_rsqrt(x);
    const u128 big_x = (u128)((double)x * 0x1p22 * 2.0), big_r = (u128)((double)r * 0x1p24);
    /* big_x is 2X, which is an integer for x in [1, 2) as well, so both sides are doubled */
    const u128 below = 2 * big_r - 1, above = 2 * big_r + 1;
    bad += !(below * below * big_x < 2 * one && above * above * big_x > 2 * one);
  }
  CHECK(bad == 0);
  for (int k = -74; k <= 63; k++) { /* a factor 4^k changes the exponent only */
    CHECK(vt_f32_rsqrt(ldexpf(1.0f, 2 * k)) == ldexpf(1.0f, -k));
    if (2 * k >= -126)
      CHECK(vt_f32_rsqrt(ldexpf(0x1.234568p+0f, 2 * k)) ==
            ldexpf(vt_f32_rsqrt(0x1.234568p+0f), -k));
  }
}

int main(int argc, char **argv) {
  (void)argc;
  chosen = argv + 1;
  test_table_rows();
  test_digests_over_all_patterns();
  if (is_chosen("pow")) {
    test_pow_table_rows();
    test_pow_random();
    test_pow_exact();
  }
  if (*chosen == NULL) {
    test_special_values();
    test_square_root();
    test_nan_inputs();
    test_pow_special();
    test_sigmoid_near_zero();
    test_rsqrt_by_definition();
  }
  TEST_DONE();
}
