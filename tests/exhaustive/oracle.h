/* SPDX-License-Identifier: Apache-2.0
 * oracle.h - how an estimate and MPFR settle one result, for exhaustive.c and pow_check.c.
 *
 * An estimate v stands for an interval around v, twice as wide as its proven bound so that the
 * rounding of the ends is inside. If both ends round to the same f32, that is the correctly rounded
 * result: rounding is monotonic. Otherwise MPFR decides, which rounds correctly to 24 bits and to
 * the exponents of f32, subnormals included. */
#ifndef JUDGE_H
#define JUDGE_H
#include <mpfr.h>
#include "crew.h"
#include "estimate_base.h"
#include "vt_num.h"

enum { WIDE_BITS = 128 };

static inline uint32_t f32_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static inline float f32_of(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* MPFR's exponents are a state of the thread. */
static inline void judge_as_f32(void) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
}
static inline void judge_freely(void) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

static inline float judged_f32(mpfr_t y, int inexact) {
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static inline int same(float a, float b) {
  return (a != a && b != b) || f32_bits(a) == f32_bits(b);
}

/* 1 and the result when an estimate with this bound settles it. */
static inline int settled(double v, double bound, float *out) {
  const float lo = (float)(v * (1 - 2 * bound)), hi = (float)(v * (1 + 2 * bound));
  *out = lo;
  return v != 0 && same(lo, hi);
}

/* Whether |x| >= 2^e, x a number. */
static inline int above_exponent(mpfr_t x, mpfr_exp_t e) {
  return mpfr_regular_p(x) && mpfr_get_exp(x) > e;
}

/* The relative error of the estimate v, with `exact` to WIDE_BITS; 1 where v breaks the contract of
 * estimate_base.h in another way. `exact` is lost. */
static inline double error_of_estimate(double v, mpfr_t exact) {
  if (v == 0) return 0; /* no estimate */
  if (v != v || mpfr_nan_p(exact)) return v != v && mpfr_nan_p(exact) ? 0 : 1;
  if ((mpfr_signbit(exact) != 0) != (v < 0)) return 1;
  /* What is beyond MPFR's own exponents is infinite or 0 here. */
  if (size_of(v) >= 0x1p160) return mpfr_inf_p(exact) || above_exponent(exact, 160) ? 0 : 1;
  if (size_of(v) <= 0x1p-160) return mpfr_number_p(exact) && !above_exponent(exact, -160) ? 0 : 1;
  if (!mpfr_regular_p(exact)) return 1;
  mpfr_d_div(exact, v, exact, MPFR_RNDN);
  mpfr_sub_ui(exact, exact, 1, MPFR_RNDN);
  return size_of(mpfr_get_d(exact, MPFR_RNDN));
}

/* Notes the error of a sampled estimate; one beyond the bound ends the run. */
static inline void note_error(outcome *o, double error, double bound, const char *where) {
  if (error > o->worst) o->worst = error;
  if (error <= bound || o->broken) return;
  o->broken = 1;
  outcome_say(o, "the estimate is beyond its bound at %s", where);
}
#endif
