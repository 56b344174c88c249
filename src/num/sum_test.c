/* SPDX-License-Identifier: Apache-2.0
 * sum_test.c - the stream equals the definition of S, for every n. The definition is restated here
 * on whole arrays, recursively. */
#include <math.h>
#include <string.h>
#include "num_test.h"

enum { LONGEST = 1024 * 1025 + 2 };

static float restated_sum_f32(const float *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    float *p = malloc((size_t)chunks * sizeof *p);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = restated_sum_f32(x + 1024 * c, n - 1024 * c < 1024 ? n - 1024 * c : 1024);
    const float r = restated_sum_f32(p, chunks);
    free(p);
    return r;
  }
  float s[32] = {0};
  for (int64_t i = 0; i < n; i++) s[i % 32] += x[i];
  for (int h = 16; h >= 1; h /= 2)
    for (int l = 0; l < h; l++) s[l] += s[l + h];
  return s[0];
}

static double restated_sum_f64(const double *x, int64_t n) {
  if (n > 1024) {
    const int64_t chunks = (n + 1023) / 1024;
    double *p = malloc((size_t)chunks * sizeof *p);
    for (int64_t c = 0; c < chunks; c++)
      p[c] = restated_sum_f64(x + 1024 * c, n - 1024 * c < 1024 ? n - 1024 * c : 1024);
    const double r = restated_sum_f64(p, chunks);
    free(p);
    return r;
  }
  double s[32] = {0};
  for (int64_t i = 0; i < n; i++) s[i % 32] += x[i];
  for (int h = 16; h >= 1; h /= 2)
    for (int l = 0; l < h; l++) s[l] += s[l + h];
  return s[0];
}

static float stream_sum_f32(const float *x, int64_t n) {
  vt_sum_f32 s;
  memset(&s, 0xff, sizeof s); /* init must not depend on what was in the struct before */
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < n; i++) vt_sum_f32_add(&s, x[i]);
  return vt_sum_f32_done(&s);
}

static double stream_sum_f64(const double *x, int64_t n) {
  vt_sum_f64 s;
  memset(&s, 0xff, sizeof s);
  vt_sum_f64_init(&s);
  for (int64_t i = 0; i < n; i++) vt_sum_f64_add(&s, x[i]);
  return vt_sum_f64_done(&s);
}

static int stream_agrees(const float *x, const double *z, int64_t n) {
  return same_f32(stream_sum_f32(x, n), restated_sum_f32(x, n)) &&
         same_f64(stream_sum_f64(z, n), restated_sum_f64(z, n));
}

static void test_every_length(const float *x, const double *z) {
  int bad = 0;
  for (int64_t n = 0; n <= 3000; n++) bad += !stream_agrees(x, z, n);
  CHECK(bad == 0);
}

static void test_long_sums(const float *x, const double *z) {
  static const int64_t around[] = {1024 * 32, 1024 * 1023, 1024 * 1024, 1024 * 1025};
  for (int i = 0; i < 4; i++)
    for (int64_t n = around[i] - 2; n <= around[i] + 2; n++) CHECK(stream_agrees(x, z, n));
}

/* Known results that depend on the order of the additions. */
static void test_known_results(void) {
  float x[1025] = {0};
  CHECK(same_f32(stream_sum_f32(x, 0), 0.0f));
  for (int i = 0; i < 1025; i++) x[i] = -0.0f;
  for (int n = 0; n <= 1025; n++)
    CHECK(same_f32(stream_sum_f32(x, n), 0.0f)); /* the sum of zeros is never -0 */
  /* Lane 0 holds 2^24 and loses the 1 at position 32; the 1 at position 1 is in its own lane, and
   * the two lanes are added last. */
  memset(x, 0, sizeof x);
  x[0] = 0x1p24f, x[32] = 1.0f;
  CHECK(same_f32(stream_sum_f32(x, 64), 0x1p24f));
  /* The 1 + 1 in lane 1 is kept; the 1 in lane 16 is lost when lane 16 is added to lane 0. */
  x[16] = 1.0f, x[1] = 1.0f, x[17] = 1.0f;
  CHECK(same_f32(stream_sum_f32(x, 64), 0x1p24f + 2.0f));
  /* A second chunk is summed separately before it is added to the first. */
  memset(x, 0, sizeof x);
  x[0] = 0x1p24f, x[1023] = -0x1p24f, x[1024] = 1.0f;
  CHECK(same_f32(stream_sum_f32(x, 1025), 1.0f));
}

/* n times the smallest subnormal is the number whose pattern is n; sums of subnormals become normal
 * and subnormal again without an error. */
static void test_subnormal_sums(float *x, double *z) {
  int bad = 0;
  for (int i = 0; i < 3000; i++) x[i] = vt_f32_from_bits(1), z[i] = vt_f64_from_bits(1);
  for (int n = 0; n <= 3000; n++) {
    bad += vt_f32_bits(stream_sum_f32(x, n)) != (uint32_t)n;
    bad += vt_f64_bits(stream_sum_f64(z, n)) != (uint64_t)n;
  }
  /* The largest subnormal, plus one unit, minus the largest. */
  x[0] = vt_f32_from_bits(0x7fffff), x[2] = -x[0];
  bad += vt_f32_bits(stream_sum_f32(x, 2)) != 0x800000 || vt_f32_bits(stream_sum_f32(x, 3)) != 1;
  CHECK(bad == 0);
}

/* Two values that replace the elements at two positions. */
static const struct {
  int at[2];
  float value[2];
} special_values[] = {
    {{5, 5}, {INFINITY, INFINITY}},
    {{2900, 2900}, {-INFINITY, -INFINITY}},
    {{1024, 1024}, {NAN, NAN}},
    {{7, 7}, {-0.0f, -0.0f}},
    {{1023, 1024}, {INFINITY, -INFINITY}},
    {{0, 2047}, {NAN, INFINITY}},
    {{2048, 2049}, {-INFINITY, 1.0f}},
    {{1023, 1023}, {NAN, NAN}},
    {{31, 32}, {INFINITY, -INFINITY}},
    {{0, 32}, {INFINITY, -INFINITY}},
    {{1, 3},
     {0x1.fffffep127f, 0x1.fffffep127f}}, /* overflow in the tree over the lanes, not in a lane */
};

static void test_infinities_and_nan(float *x, double *z) {
  for (size_t i = 0; i < sizeof special_values / sizeof *special_values; i++) {
    float keep[2];
    double keep64[2];
    for (int k = 0; k < 2; k++) {
      const int at = special_values[i].at[k];
      keep[k] = x[at], keep64[k] = z[at];
      x[at] = special_values[i].value[k], z[at] = (double)special_values[i].value[k];
    }
    for (int64_t n = 1; n <= 3000; n += n % 1024 < 1020 && n % 1024 > 5 ? 53 : 1)
      CHECK(stream_agrees(x, z, n));
    CHECK(stream_agrees(x, z, 3000));
    for (int k = 1; k >= 0; k--)
      x[special_values[i].at[k]] = keep[k], z[special_values[i].at[k]] = keep64[k];
  }
}

/* The chain of each lane cancels to zero and starts again; then it shrinks below the normal
 * numbers, to zero, and grows again. */
static void test_cancelling_lanes(float *x, double *z, uint64_t *seed) {
  for (int i = 0; i < 3000; i++) {
    const int again = i / 32 % 3 == 1 && i >= 32;
    x[i] = again ? -x[i - 32] : ordinary_f32(seed), z[i] = again ? -z[i - 32] : ordinary_f64(seed);
    if (i / 32 % 3 == 2) x[i] *= 0x1p-20f, z[i] *= 0x1p-40;
  }
  test_every_length(x, z);
  for (int i = 0; i < 3000; i++) {
    const int down = i / 32 % 40, scale = -110 - (down < 20 ? 2 * down : 2 * (39 - down));
    x[i] = ldexpf(ordinary_f32(seed), scale), z[i] = ldexp(ordinary_f64(seed), scale - 910);
  }
  test_every_length(x, z);
}

int main(void) {
  float *x = malloc(LONGEST * sizeof *x);
  double *z = malloc(LONGEST * sizeof *z);
  uint64_t seed = 2;
  for (int i = 0; i < LONGEST; i++) x[i] = ordinary_f32(&seed), z[i] = ordinary_f64(&seed);
  test_known_results();
  test_every_length(x, z);
  test_long_sums(x, z);
  test_infinities_and_nan(x, z);
  test_subnormal_sums(x, z);
  test_cancelling_lanes(x, z, &seed);
  for (int i = 0; i < 3000; i++) { /* subnormals whose sums become normal */
    x[i] = vt_f32_from_bits((uint32_t)random_u64(&seed) & 0x80ffffffu);
    z[i] = vt_f64_from_bits(random_u64(&seed) & UINT64_C(0x801fffffffffffff));
  }
  test_every_length(x, z);
  for (int i = 0; i < 3000; i++) x[i] = any_f32(&seed), z[i] = any_f64(&seed);
  for (int from = 0; from < 2000; from += 7)
    CHECK(stream_agrees(x + from, z + from, from % 40 + 1));
  free(x);
  free(z);
  TEST_DONE();
}
