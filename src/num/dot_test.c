/* SPDX-License-Identifier: Apache-2.0
 * dot_test.c - the kernels equal the definition of D, for every n, in software and with the
 * processor's fma, as single products and as rows. The definition (D of an array of products, T of
 * the sums of its blocks) is restated here on whole arrays, recursively, with the C library's fma.
 */
#include <math.h>
#include <string.h>
#include "num_test.h"
#include "vt_dot.h"

enum { LONGEST = 1024 * 1024 + 2, EVERY = 3000 };

static const vt_dot_kernels *tables[2] = {
    /* the second table, with an fma instruction, is set if this processor can run it */
    &vt_dot_soft, NULL};
static float *a32, *b32;
static double *a64, *b64;
static uint8_t *present;

/* ---- the definition ---- */

static float restated_t_f32(const float *p, int64_t m) {
  if (m <= 8) {
    float t = 0.0f;
    for (int64_t c = 0; c < m; c++) t += p[c];
    return t;
  }
  const int64_t groups = (m + 7) / 8;
  float *q = malloc((size_t)groups * sizeof *q);
  for (int64_t g = 0; g < groups; g++)
    q[g] = restated_t_f32(p + 8 * g, m - 8 * g < 8 ? m - 8 * g : 8);
  const float t = restated_t_f32(q, groups);
  free(q);
  return t;
}

static double restated_t_f64(const double *p, int64_t m) {
  if (m <= 8) {
    double t = 0.0;
    for (int64_t c = 0; c < m; c++) t += p[c];
    return t;
  }
  const int64_t groups = (m + 7) / 8;
  double *q = malloc((size_t)groups * sizeof *q);
  for (int64_t g = 0; g < groups; g++)
    q[g] = restated_t_f64(p + 8 * g, m - 8 * g < 8 ? m - 8 * g : 8);
  const double t = restated_t_f64(q, groups);
  free(q);
  return t;
}

static float restated_d_f32(const float *a, int64_t sa, const float *b, int64_t sb,
                            const uint8_t *mask, int64_t n) {
  const int64_t blocks = (n + 255) / 256;
  float *p = calloc((size_t)blocks + 1, sizeof *p);
  for (int64_t k = 0; k < n; k++)
    if (mask == NULL || mask[k]) p[k / 256] = fmaf(a[k * sa], b[k * sb], p[k / 256]);
  const float d = restated_t_f32(p, blocks);
  free(p);
  return d;
}

static double restated_d_f64(const double *a, int64_t sa, const double *b, int64_t sb,
                             const uint8_t *mask, int64_t n) {
  const int64_t blocks = (n + 255) / 256;
  double *p = calloc((size_t)blocks + 1, sizeof *p);
  for (int64_t k = 0; k < n; k++)
    if (mask == NULL || mask[k]) p[k / 256] = fma(a[k * sa], b[k * sb], p[k / 256]);
  const double d = restated_t_f64(p, blocks);
  free(p);
  return d;
}

/* ---- the tests ---- */

/* Returns 1 if every table of kernels and the public functions agree with the definition for the
 * first n elements with stride 1, with all k and with some k absent. */
static int kernels_agree_at_length(int64_t n) {
  int ok = 1;
  for (int masked = 0; masked < 2; masked++) {
    const uint8_t *on = masked ? present : NULL;
    const float want = restated_d_f32(a32, 1, b32, 1, on, n);
    const double want64 = restated_d_f64(a64, 1, b64, 1, on, n);
    for (int t = 0; t < 2 && tables[t] != NULL; t++)
      ok &= same_f32(tables[t]->dot_f32(a32, 1, b32, 1, on, 1, n), want) &&
            same_f64(tables[t]->dot_f64(a64, 1, b64, 1, on, 1, n), want64);
    ok &= same_f32(vt_dot_f32(a32, 1, b32, 1, on, 1, n), want) &&
          same_f64(vt_dot_f64(a64, 1, b64, 1, on, 1, n), want64);
  }
  return ok;
}

static void fill_operands(int n, uint64_t seed) {
  for (int i = 0; i < n; i++) {
    a32[i] = ordinary_f32(&seed), b32[i] = ordinary_f32(&seed);
    a64[i] = ordinary_f64(&seed), b64[i] = ordinary_f64(&seed);
    present[i] = random_u64(&seed) % 4 != 0;
  }
}

static void fill_short_operands(uint64_t seed) { fill_operands(EVERY, seed); }

static void test_lengths_by_step(int64_t step) {
  int bad = 0;
  for (int64_t n = 0; n <= EVERY; n += step) bad += !kernels_agree_at_length(n);
  CHECK(bad == 0);
}

static void test_long_contractions(void) { /* lengths around 64, 512 and 4096 blocks */
  static const int64_t around[] = {16384, 131072, 131072 + 2048, 1024 * 1024};
  for (int i = 0; i < 4; i++)
    for (int64_t n = around[i] - 2; n <= around[i] + 2; n++) CHECK(kernels_agree_at_length(n));
}

/* A row of m outputs has the bits of m single products, whatever the strides and the tiles. */
static void check_row_equals_products(const vt_dot_kernels *t, int64_t n, int64_t m, int64_t sa,
                                      int64_t sbk, int64_t sbj, const uint8_t *mask) {
  enum { SY = 3 };
  float y[SY * 200];
  double y64[SY * 200];
  memset(y, 0x55, sizeof y), memset(y64, 0x55, sizeof y64);
  t->row_f32(y, SY, a32, sa, b32, sbk, sbj, mask, 1, n, m);
  t->row_f64(y64, SY, a64, sa, b64, sbk, sbj, mask, 1, n, m);
  int bad = 0;
  for (int64_t j = 0; j < m; j++) {
    bad += !same_f32(y[SY * j], restated_d_f32(a32, sa, b32 + j * sbj, sbk, mask, n));
    bad += !same_f64(y64[SY * j], restated_d_f64(a64, sa, b64 + j * sbj, sbk, mask, n));
  }
  for (int64_t i = 0; i < SY * 200; i++) /* nothing is written between or beyond the outputs */
    if (i % SY != 0 || i >= SY * m) bad += vt_f32_bits(y[i]) != 0x55555555u;
  CHECK(bad == 0);
}

static void test_rows_equal_products(void) {
  static const int64_t ms[] = {0, 1, 4, 7, 8, 33, 64, 65, 107};
  static const int64_t ns[] = {0, 1, 5, 256, 257, 2049};
  for (int t = 0; t < 2 && tables[t] != NULL; t++)
    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++)
      for (size_t j = 0; j < sizeof ms / sizeof ms[0]; j++) {
        const uint8_t *on = (i + j) % 2 ? present : NULL;
        /* b is stored by rows: its columns are one element apart */
        check_row_equals_products(tables[t], ns[i], ms[j], 1, ms[j] + 1, 1, on);
        check_row_equals_products(tables[t], ns[i], ms[j], 3, 1, ns[i] + 1,
                                  on); /* each column of b is contiguous */
        /* There are gaps between the columns, and all k have the same element of a. */
        check_row_equals_products(tables[t], ns[i], ms[j], 0, 2 * ms[j] + 1, 2, on);
      }
}

static void test_strided_products(void) {
  const int64_t n = 700;
  for (int t = 0; t < 2 && tables[t] != NULL; t++) {
    const float want = restated_d_f32(a32 + 2 * n, -2, b32, 3, NULL, n);
    CHECK(same_f32(tables[t]->dot_f32(a32 + 2 * n, -2, b32, 3, NULL, 0, n), want));
    uint8_t sparse[2 * 700];
    for (int64_t k = 0; k < n; k++) sparse[2 * k] = present[k], sparse[2 * k + 1] = 1;
    const double masked = restated_d_f64(a64, 5, b64, 1, present, n);
    CHECK(same_f64(tables[t]->dot_f64(a64, 5, b64, 1, sparse, 2, n), masked));
  }
}

/* Known results that depend on the order of the additions. */
static void test_known_results(void) {
  for (int t = 0; t < 2 && tables[t] != NULL; t++) {
    const vt_dot_kernels *d = tables[t];
    CHECK(same_f32(d->dot_f32(NULL, 1, NULL, 1, NULL, 0, 0), 0.0f)); /* no products */
    const float tiny = 0x1p-100f, minus = -0x1p-100f, zero = 0.0f, inf = INFINITY;
    /* The chain of the only block is -0, and D is +0. */
    CHECK(same_f32(d->dot_f32(&tiny, 1, &minus, 1, NULL, 0, 1), 0.0f));
    CHECK(same_f32(d->dot_f32(&zero, 1, &inf, 1, NULL, 0, 1), NAN));
    const uint8_t absent = 0;
    /* The product 0 * inf is not present, so D is not NaN. */
    CHECK(same_f32(d->dot_f32(&zero, 1, &inf, 1, &absent, 1, 1), 0.0f));
    /* 2^24 + 1 is rounded away inside a block, but kept if the next block begins in between. */
    float a[258] = {0}, ones[258];
    for (int i = 0; i < 258; i++) ones[i] = 1.0f;
    a[0] = 0x1p24f, a[1] = 1.0f, a[2] = 1.0f;
    CHECK(same_f32(d->dot_f32(a, 1, ones, 1, NULL, 0, 258), 0x1p24f));
    a[1] = a[2] = 0.0f, a[256] = a[257] = 1.0f;
    CHECK(same_f32(d->dot_f32(a, 1, ones, 1, NULL, 0, 258), 0x1p24f + 2.0f));
    /* The product is not rounded: (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. */
    const float h[2] = {1.0f + 0x1p-12f, -(1.0f + 0x1p-11f)}, g[2] = {1.0f, 1.0f + 0x1p-12f};
    const float x[2] = {h[1], h[0]};
    CHECK(same_f32(d->dot_f32(x, 1, g, 1, NULL, 0, 2), 0x1p-24f));
  }
}

/* Trailing zeros in both operands never change a bit. */
static void test_trailing_zeros_change_no_bit(void) {
  static const int64_t ns[] = {1, 200, 256, 300, 2048, 2100};
  float a[2800] = {0}, b[2800] = {0};
  for (int t = 0; t < 2 && tables[t] != NULL; t++)
    for (int i = 0; i < 6; i++) {
      memset(a, 0, sizeof a), memset(b, 0, sizeof b);
      memcpy(a, a32, (size_t)ns[i] * sizeof *a), memcpy(b, b32, (size_t)ns[i] * sizeof *b);
      const float want = restated_d_f32(a, 1, b, 1, NULL, ns[i]);
      for (int64_t n = ns[i]; n <= 2800; n += 100)
        CHECK(same_f32(tables[t]->dot_f32(a, 1, b, 1, NULL, 0, n), want));
    }
}

/* n products of 2^-149 add up to the number whose pattern is n, although each is the smallest
 * number. */
static void test_subnormal_products(void) {
  int bad = 0;
  for (int i = 0; i < EVERY; i++) {
    a32[i] = 0x1p-75f, b32[i] = 0x1p-74f;
    a64[i] = 0x1p-537, b64[i] = 0x1p-537;
  }
  for (int t = 0; t < 2 && tables[t] != NULL; t++)
    for (int64_t n = 0; n <= EVERY; n += 3) {
      bad += vt_f32_bits(tables[t]->dot_f32(a32, 1, b32, 1, NULL, 0, n)) != (uint32_t)n;
      bad += vt_f64_bits(tables[t]->dot_f64(a64, 1, b64, 1, NULL, 0, n)) != (uint64_t)n;
    }
  CHECK(bad == 0);
}

/* Blocks that are -0 (every product underflows from below) at every combination of positions in a
 * group of eight; the other blocks are +0 or the smallest number below 0. T is never -0. */
static void test_minus_zero_blocks(void) {
  for (int mask = 0; mask < 256; mask++) {
    for (int i = 0; i < 8 * 256 + 256; i++) {
      const int minus = mask >> (i / 256) & 1, other = mask % 3 == 0 && i % 256 == 0;
      a32[i] = minus ? 0x1p-100f : 0.0f, b32[i] = minus ? -0x1p-100f : 0.0f;
      a64[i] = minus ? 0x1p-600 : 0.0, b64[i] = minus ? -0x1p-600 : 0.0;
      if (other && !minus)
        a32[i] = -0x1p-75f, b32[i] = 0x1p-74f, a64[i] = -0x1p-537, b64[i] = 0x1p-537;
    }
    CHECK(kernels_agree_at_length(2048) && kernels_agree_at_length(2048 + 256) &&
          kernels_agree_at_length(mask + 1));
    if (mask % 3 != 0)
      CHECK(same_f32(vt_dot_f32(a32, 1, b32, 1, NULL, 0, 2048), 0.0f) &&
            same_f64(vt_dot_f64(a64, 1, b64, 1, NULL, 0, 2048), 0.0));
  }
}

/* Chains in which a product is subtracted again, so that only the rounding error is left, and
 * chains whose products shrink below the normal numbers, to zero, and grow again. */
static void test_cancelling_chains(void) {
  uint64_t seed = 6;
  fill_short_operands(7);
  for (int i = 1; i < EVERY; i += 3)
    a32[i] = a32[i - 1], b32[i] = -b32[i - 1], a64[i] = a64[i - 1], b64[i] = -b64[i - 1];
  test_lengths_by_step(5);
  for (int i = 0; i < EVERY; i++) {
    const int down = i % 128, scale = -60 - (down < 64 ? down : 127 - down) / 2;
    a32[i] = ldexpf(ordinary_f32(&seed), scale), b32[i] = ldexpf(ordinary_f32(&seed), scale);
    a64[i] = ldexp(ordinary_f64(&seed), scale - 460),
    b64[i] = ldexp(ordinary_f64(&seed), scale - 460);
  }
  test_lengths_by_step(3);
}

static void set_product(int at, float a, float b) {
  a32[at] = a, b32[at] = b;
  a64[at] = (double)a, b64[at] = (double)b;
}

static void test_infinities_and_nan(void) {
  set_product(3, -0.0f, 1.0f), set_product(300, INFINITY, 2.0f);
  for (int64_t n = 1; n <= EVERY; n += 101) CHECK(kernels_agree_at_length(n));
  /* inf - inf: contractions that are longer than this are NaN */
  set_product(2100, -INFINITY, 1.0f);
  for (int64_t n = 1; n <= EVERY; n += 101) CHECK(kernels_agree_at_length(n));
  set_product(300, 0.0f, INFINITY);
  for (int64_t n = 1; n <= EVERY; n += 101) CHECK(kernels_agree_at_length(n));
  static const int border[] = {0, 255, 256, 2047, 2048, 2303};
  for (int i = 0; i < 6; i++)
    for (int kind = 0; kind < 3; kind++) {
      fill_short_operands(8);
      set_product(border[i], kind == 0 ? NAN : INFINITY, kind == 2 ? -2.0f : 2.0f);
      for (int64_t n = border[i]; n <= border[i] + 3; n++) CHECK(kernels_agree_at_length(n));
      CHECK(kernels_agree_at_length(2304) && kernels_agree_at_length(EVERY));
    }
  uint64_t seed = 5; /* products that underflow, and chains of subnormals */
  for (int i = 0; i < EVERY; i++) {
    a32[i] = ordinary_f32(&seed) * 0x1p-70f, b32[i] = ordinary_f32(&seed) * 0x1p-74f;
    a64[i] = ordinary_f64(&seed) * 0x1p-530, b64[i] = ordinary_f64(&seed) * 0x1p-535;
  }
  test_lengths_by_step(7);
}

static void test_every_length(void) { test_lengths_by_step(1); }

/* The tests, in this order up to the first that fails: the later ones take longer and say less. */
static void (*const tests[])(void) = {test_known_results,      test_every_length,
                                      test_long_contractions,  test_rows_equal_products,
                                      test_strided_products,   test_trailing_zeros_change_no_bit,
                                      test_infinities_and_nan, test_subnormal_products,
                                      test_minus_zero_blocks,  test_cancelling_chains};

int main(void) {
  if (vt_dot_best_kernels() == &vt_dot_fma) tables[1] = &vt_dot_fma;
  printf("dot: fma of this processor: %s\n", tables[1] != NULL ? "tested" : "none");
  a32 = malloc(LONGEST * sizeof *a32), b32 = malloc(LONGEST * sizeof *b32);
  a64 = malloc(LONGEST * sizeof *a64), b64 = malloc(LONGEST * sizeof *b64);
  present = malloc(LONGEST);
  fill_operands(LONGEST, 3);
  for (size_t i = 0; i < sizeof tests / sizeof *tests && vt_test_failed == 0; i++) tests[i]();
  free(a32), free(b32), free(a64), free(b64), free(present);
  TEST_DONE();
}
