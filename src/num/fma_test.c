/* SPDX-License-Identifier: Apache-2.0
 * fma_test.c - the fused multiply-add rounds once, in all cases. Three implementations must agree:
 * the software, the one that vt_f32_fma uses on this processor, and the C library's. */
#include <float.h>
#include <math.h>
#include "num_test.h"

static int implementations_agree_f32(float a, float b, float c) {
  const float want = fmaf(a, b, c), soft = vt_f32_fma_soft(a, b, c), here = vt_f32_fma(a, b, c);
  const int ok = same_f32(soft, want) && same_f32(here, want);
  if (!ok) fprintf(stderr, "fma(%a, %a, %a): want %a soft %a here %a\n", a, b, c, want, soft, here);
  return ok;
}

static int implementations_agree_f64(double a, double b, double c) {
  const double want = fma(a, b, c), soft = vt_f64_fma_soft(a, b, c), here = vt_f64_fma(a, b, c);
  const int ok = same_f64(soft, want) && same_f64(here, want);
  if (!ok) fprintf(stderr, "fma(%a, %a, %a): want %a soft %a here %a\n", a, b, c, want, soft, here);
  return ok;
}

/* Results computed by hand, independent of any implementation. */
static void test_known_f32(void) {
  const float h = 1.0f + 0x1p-12f, mid = 1.0f + 0x1p-11f; /* h*h = mid + 2^-24: a tie */
  const struct {
    float a, b, c, want;
  } row[] = {
      {h, h, 0.0f, mid},
      {h, h, 0x1p-80f, mid + 0x1p-23f},
      {h, h, -0x1p-80f, mid},
      {-h, h, -0x1p-80f, -(mid + 0x1p-23f)},
      {h, h, -mid, 0x1p-24f},
      {FLT_MAX, 2.0f, -FLT_MAX, FLT_MAX},
      {FLT_MAX, FLT_MAX, -INFINITY, -INFINITY},
      {FLT_MAX, 1.0f, 0x1p102f, FLT_MAX},
      {FLT_MAX, 1.0f, 0x1p103f, INFINITY},
      {0x1p-100f, -0x1p-100f, 0.0f, -0.0f},
      {0x1p-100f, -0x1p-100f, -0.0f, -0.0f},
      {0x1p-75f, 0x1p-75f, 0.0f, 0.0f}, /* the product is half of the smallest subnormal: a tie */
      {0x1p-75f, 0x1p-75f, 0x1p-149f, 0x1p-148f},
      {0x1p-75f, -0x1p-75f, 0x1p-149f, 0.0f},
      {0x1.8p-75f, 0x1p-75f, 0.0f, 0x1p-149f},
      {0.0f, -1.0f, 0.0f, 0.0f},
      {0.0f, -1.0f, -0.0f, -0.0f},
      {1.0f, -1.0f, 1.0f, 0.0f},
      {INFINITY, 0.0f, 1.0f, NAN},
      {INFINITY, 1.0f, -INFINITY, NAN},
      {INFINITY, -1.0f, 1.0f, -INFINITY},
      {1.0f, 1.0f, NAN, NAN},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    CHECK(same_f32(vt_f32_fma_soft(row[i].a, row[i].b, row[i].c), row[i].want));
    CHECK(same_f32(vt_f32_fma(row[i].a, row[i].b, row[i].c), row[i].want));
  }
}

static void test_known_f64(void) {
  /* a*b = mid + 2^-53: a tie */
  const double a = 1.0 + 0x1p-26, b = 1.0 + 0x1p-27, mid = 1.0 + 0x1p-26 + 0x1p-27;
  /* f and g are 2^51 - 2^26 + 1 and 2^51 + 2^26 + 1, both divided by 2^51. Their product is 1 +
   * 2^-102: next to a power of two, with the bit that decides a tie as far away as possible. */
  const double f = 1.0 - 0x1p-25 + 0x1p-51, g = 1.0 + 0x1p-25 + 0x1p-51;
  const struct {
    double a, b, c, want;
  } row[] = {
      {a, b, 0.0, mid},
      {a, b, 0x1p-1000, mid + 0x1p-52},
      {a, b, -0x1p-1000, mid},
      {a, -b, -0x1p-1000, -(mid + 0x1p-52)},
      {a, b, -mid, 0x1p-53},
      {f, g * 0x1p-53, 1.0, 1.0 + 0x1p-52},
      {-f, g * 0x1p-53, -1.0, -(1.0 + 0x1p-52)},
      {-f, g * 0x1p-53, 1.0 + 0x1p-51, 1.0 + 0x1p-52},
      {f, g * 0x1p-51, 2.0 - 0x1p-52, 2.0 + 0x1p-51},
      {f, g, -1.0, 0x1p-102},
      {DBL_MAX, 2.0, -DBL_MAX, DBL_MAX},
      {DBL_MAX, DBL_MAX, -INFINITY, -INFINITY},
      {DBL_MAX, 1.0, 0x1p969, DBL_MAX},
      {DBL_MAX, 1.0, 0x1p970, INFINITY},
      {0x1p-600, -0x1p-600, 0.0, -0.0},
      {0x1p-600, -0x1p-600, 0x1p-1074, 0x1p-1074},
      {0x1p-538, 0x1p-537, 0.0, 0.0},
      {0x1p-538, 0x1p-537, 0x1p-1074, 0x1p-1073},
      {0x1p-538, -0x1p-537, 0x1p-1074, 0.0},
      {0x1p-538, 0x1.0000000000001p-537, 0.0, 0x1p-1074},
      {0x1p-1074, 0x1p-1074, 1.0, 1.0},
      {0x1p-1074, -0x1p-1074, 1.0, 1.0},
      {0.0, -1.0, 0.0, 0.0},
      {0.0, -1.0, -0.0, -0.0},
      {1.0, -1.0, 1.0, 0.0},
      {INFINITY, 0.0, 1.0, NAN},
      {INFINITY, 1.0, -INFINITY, NAN},
      {1.0, 1.0, NAN, NAN},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    CHECK(same_f64(vt_f64_fma_soft(row[i].a, row[i].b, row[i].c), row[i].want));
    CHECK(same_f64(vt_f64_fma(row[i].a, row[i].b, row[i].c), row[i].want));
  }
}

/* All triples from a list of values at the ends and the borders of the format, with both signs. */
static void test_edge_triples(void) {
  static const float e32[] = {0.0f,
                              FLT_TRUE_MIN,
                              3 * FLT_TRUE_MIN,
                              FLT_MIN - FLT_TRUE_MIN,
                              FLT_MIN,
                              FLT_MIN + FLT_TRUE_MIN,
                              0x1p-75f,
                              0x1.000002p-75f,
                              0x1p-63f,
                              0x1p-24f,
                              1.0f - 0x1p-24f,
                              1.0f,
                              1.0f + 0x1p-23f,
                              1.0f + 0x1p-12f,
                              3.0f,
                              0x1p23f,
                              0x1p24f - 1.0f,
                              0x1p64f,
                              0x1p103f,
                              FLT_MAX,
                              INFINITY,
                              NAN};
  static const double e64[] = {0.0,
                               DBL_TRUE_MIN,
                               3 * DBL_TRUE_MIN,
                               DBL_MIN - DBL_TRUE_MIN,
                               DBL_MIN,
                               DBL_MIN + DBL_TRUE_MIN,
                               0x1p-538,
                               0x1.0000000000001p-537,
                               0x1p-511,
                               0x1p-53,
                               1.0 - 0x1p-53,
                               1.0,
                               1.0 + 0x1p-52,
                               1.0 + 0x1p-27,
                               3.0,
                               0x1p52,
                               0x1p53 - 1.0,
                               0x1p512,
                               0x1p970,
                               DBL_MAX,
                               INFINITY,
                               NAN};
  enum { N = sizeof e32 / sizeof e32[0] };
  _Static_assert(N == sizeof e64 / sizeof e64[0], "one grid walks both lists");
  int bad = 0;
  for (int i = 0; i < 2 * N; i++)
    for (int j = 0; j < 2 * N; j++)
      for (int k = 0; k < 2 * N; k++) {
        const int si = i % 2 ? -1 : 1, sj = j % 2 ? -1 : 1, sk = k % 2 ? -1 : 1;
        bad += !implementations_agree_f32((float)si * e32[i / 2], (float)sj * e32[j / 2],
                                          (float)sk * e32[k / 2]);
        bad += !implementations_agree_f64(si * e64[i / 2], sj * e64[j / 2], sk * e64[k / 2]);
      }
  CHECK(bad == 0);
}

/* Random patterns, and triples with c close to -a*b, where leading bits cancel. */
static void test_random_triples(void) {
  enum { MILLION = 1000000 };
  uint64_t seed = 1;
  int bad = 0;
  for (int i = 0; i < MILLION && bad < 10; i++) {
    const float a = any_f32(&seed), b = any_f32(&seed), c = any_f32(&seed);
    bad += !implementations_agree_f32(a, b, c);
    const uint32_t near = vt_f32_bits(-(a * b)) + (uint32_t)(random_u64(&seed) % 5) - 2;
    bad += !implementations_agree_f32(a, b, vt_f32_from_bits(near));
    bad +=
        !implementations_agree_f32(ordinary_f32(&seed), ordinary_f32(&seed), ordinary_f32(&seed));
  }
  for (int i = 0; i < MILLION && bad < 10; i++) {
    const double a = any_f64(&seed), b = any_f64(&seed), c = any_f64(&seed);
    bad += !implementations_agree_f64(a, b, c);
    const uint64_t near = vt_f64_bits(-(a * b)) + random_u64(&seed) % 5 - 2;
    bad += !implementations_agree_f64(a, b, vt_f64_from_bits(near));
    bad +=
        !implementations_agree_f64(ordinary_f64(&seed), ordinary_f64(&seed), ordinary_f64(&seed));
  }
  CHECK(bad == 0);
}

/* The addend c is from 2^300 times to 2^-300 times the product, so that every length of shift
 * occurs. */
static void test_all_shifts_of_addend(void) {
  int bad = 0;
  for (int k = -300; k <= 300; k++)
    for (int odd = 0; odd < 4; odd++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const double a = 1.0 + odd * 0x1p-52, b = 1.0 + (odd / 2) * 0x1p-30;
        bad += !implementations_agree_f64(a, b, sign * ldexp(1.0 + odd * 0x1p-52, k));
        bad +=
            !implementations_agree_f32((float)b, 1.0f + (float)odd * 0x1p-23f,
                                       (float)sign * ldexpf(1.0f + (float)odd * 0x1p-23f, k / 2));
      }
  CHECK(bad == 0);
}

int main(void) {
  test_known_f32();
  test_known_f64();
  test_edge_triples();
  test_all_shifts_of_addend();
  test_random_triples();
  TEST_DONE();
}
