/* SPDX-License-Identifier: Apache-2.0
 * judged_test.h - a test of functions against MPFR, which rounds correctly at any precision.
 * The includer says which: JUDGED_FUNCTIONS is a list of JUDGED(name, MPFR's function). main is
 * here. Without MPFR the program is skipped. */
#ifndef VT_JUDGED_TEST_H
#define VT_JUDGED_TEST_H
#include <string.h>
#include "num_test.h"

#ifdef VOLTA_HAVE_MPFR
#include <mpfr.h>

/* A finite f32 result: 24 bits, the exponents of f32, subnormals included. */
static void judge_open(mpfr_t y) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  mpfr_init2(y, 24);
}
static void judge_close(mpfr_t y) {
  mpfr_clear(y);
  mpfr_free_cache();
}

/* MPFR's reciprocal root of -0 is +inf; IEEE 754 says -inf, and so do we. */
static inline int right_rsqrt(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round) {
  if (!mpfr_zero_p(x)) return mpfr_rec_sqrt(y, x, round);
  mpfr_set_inf(y, mpfr_signbit(x) != 0 ? -1 : 1);
  return 0;
}

/* Through 400 bits and unbounded exponents: e^-x may lie beyond f32 where the quotient does not. */
static inline int right_sigmoid(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t t;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_init2(t, 400);
  mpfr_neg(t, x, MPFR_RNDN);
  mpfr_exp(t, t, MPFR_RNDN);
  mpfr_add_ui(t, t, 1, MPFR_RNDN);
  mpfr_ui_div(t, 1, t, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  int inexact = mpfr_set(y, t, round);
  inexact = mpfr_check_range(y, inexact, round);
  mpfr_clear(t);
  return inexact;
}

typedef struct judged_function {
  const char *name;
  float (*ours)(float x);
  int (*right)(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round);
} judged_function;
#define JUDGED(name, right) \
  { #name, vt_f32_##name, right }
static const judged_function judged_functions[] = {JUDGED_FUNCTIONS};

static float judged(const judged_function *f, float x, mpfr_t y) {
  mpfr_set_flt(y, x, MPFR_RNDN);
  const int inexact = f->right(y, y, MPFR_RNDN);
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static int agrees(const judged_function *f, float x, mpfr_t y) {
  const float ours = f->ours(x), right = judged(f, x, y);
  if (!same_f32(ours, right))
    fprintf(stderr, "%s(%08x) = %08x, MPFR says %08x\n", f->name, vt_f32_bits(x), vt_f32_bits(ours),
            vt_f32_bits(right));
  return same_f32(ours, right);
}

/* The rows of the tables were MPFR's when they were made, and are still; MPFR has the special
 * values of IEEE 754. */
static void judge_rows(const judged_function *f, mpfr_t y) {
  static const struct {
    const char *name;
    uint32_t x, want;
  } row[] = {
#define VT_EDGE(name, x, want) {#name, x, want},
#include "edges.def"
#define VT_HARD(name, x, want) {#name, x, want},
#include "hard.def"
#define VT_SPECIAL(name, a, b, c, d, e, f, g, h)                                  \
  {#name, 0, a}, {#name, 0x80000000u, b}, {#name, 1, c}, {#name, 0x80000001u, d}, \
      {#name, 0x3f800000u, e}, {#name, 0xbf800000u, f}, {#name, 0x7f800000u, g},  \
      {#name, 0xff800000u, h},
#include "specials.def"
#undef VT_SPECIAL
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (strcmp(row[i].name, f->name) == 0)
      CHECK(same_f32(judged(f, vt_f32_from_bits(row[i].x), y), vt_f32_from_bits(row[i].want)));
}

/* Half of the inputs are any pattern; the exponents of the others are between 2^-30 and 2^9, where
 * most functions have neither gone to their limit nor become the identity. */
static void judge_random(const judged_function *f, mpfr_t y) {
  enum { MILLION = 1000000 };
  uint64_t seed = vt_f32_bits(f->ours(0.625f)); /* another one for each */
  int bad = 0;
  for (int i = 0; i < MILLION && bad < 5; i++) {
    const uint64_t r = random_u64(&seed);
    const uint32_t u = (uint32_t)r, within = (97 + (uint32_t)(r >> 32) % 39) << 23;
    bad += !agrees(f, vt_f32_from_bits(i % 2 != 0 ? u : (u & 0x807fffffu) | within), y);
  }
  CHECK(bad == 0);
}

int main(void) {
  mpfr_t y;
  judge_open(y);
  for (size_t i = 0; i < sizeof judged_functions / sizeof *judged_functions; i++) {
    judge_rows(&judged_functions[i], y);
    judge_random(&judged_functions[i], y);
  }
  judge_close(y);
  TEST_DONE();
}

#else
int main(void) {
  puts("SKIPPED: built without MPFR (libmpfr-dev)");
  return 77;
}
#endif
#endif
