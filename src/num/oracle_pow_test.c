/* SPDX-License-Identifier: Apache-2.0
 * oracle_pow_test.c - a million pairs of pow against MPFR. */
#include "num_test.h"

#ifdef VOLTA_HAVE_MPFR
#include <math.h>
#include <mpfr.h>

static int agrees_with_mpfr(float x, float y, mpfr_t z, mpfr_t e) {
  mpfr_set_flt(z, x, MPFR_RNDN);
  mpfr_set_flt(e, y, MPFR_RNDN);
  const int inexact = mpfr_pow(z, z, e, MPFR_RNDN);
  mpfr_subnormalize(z, inexact, MPFR_RNDN);
  const float ours = vt_f32_pow(x, y), expected = mpfr_get_flt(z, MPFR_RNDN);
  if (!same_f32(ours, expected))
    fprintf(stderr, "pow(%a, %a) = %a, MPFR says %a\n", x, y, ours, expected);
  return same_f32(ours, expected);
}

static void test_special_pairs(mpfr_t z, mpfr_t e) {
  static const float at[] = {
      0.0f, 0x1p-149f,       0x1p-127f, 0x1p-24f,       0.5f,    1.0f - 0x1p-24f, 1.0f,     1.5f,
      2.0f, 1.0f + 0x1p-23f, 3.0f,      0x1p23f + 1.0f, 0x1p24f, 0x1.fffffep127f, INFINITY, NAN};
  enum { N = sizeof at / sizeof *at };
  for (int i = 0; i < 2 * N; i++)
    for (int k = 0; k < 2 * N; k++)
      CHECK(agrees_with_mpfr(i % 2 != 0 ? -at[i / 2] : at[i / 2],
                             k % 2 != 0 ? -at[k / 2] : at[k / 2], z, e));
}

static void test_table_rows(mpfr_t z, mpfr_t e) {
  static const struct {
    uint32_t x, y, want;
  } row[] = {
#define VT_HARD_POW(x, y, want) {x, y, want},
#include "hard.def"
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const float x = vt_f32_from_bits(row[i].x), y = vt_f32_from_bits(row[i].y);
    CHECK(agrees_with_mpfr(x, y, z, e) && vt_f32_bits(mpfr_get_flt(z, MPFR_RNDN)) == row[i].want);
  }
}

/* Random pairs. Most have a finite result; the others are x near 1 with a large y, integer y, and
 * any patterns. */
static void test_random_pairs(mpfr_t z, mpfr_t e) {
  enum { MILLION = 1000000 };
  const uint64_t seed = 200;
  uint64_t state = seed;
  int bad = 0;
  for (int i = 0; i < MILLION && bad < 5; i++) {
    float x, y;
    random_pow_pair(&state, &x, &y);
    const uint64_t r = random_u64(&state);
    const int whole = (int)(r >> 40) % 41 - 20;
    if (i % 8 == 5) x = 1.0f + ((float)(int)(r % 8192) - 4096.0f) * 0x1p-23f, y *= 0x1p16f;
    if (i % 8 == 6) x = (r & 1) != 0 ? -x : x, y = (float)whole;
    if (i % 8 == 7) x = any_f32(&state), y = any_f32(&state);
    bad += !agrees_with_mpfr(x, y, z, e);
  }
  if (bad > 0) fprintf(stderr, "pow: seed %llu\n", (unsigned long long)seed);
  CHECK(bad == 0);
}

int main(void) {
  mpfr_t z, e;
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  mpfr_inits2(24, z, e, (mpfr_ptr)0);
  test_special_pairs(z, e);
  test_table_rows(z, e);
  test_random_pairs(z, e);
  mpfr_clears(z, e, (mpfr_ptr)0);
  mpfr_free_cache();
  TEST_DONE();
}

#else
int main(void) {
  puts("SKIPPED: built without MPFR (libmpfr-dev)");
  return 77;
}
#endif
