/* SPDX-License-Identifier: Apache-2.0
 * oracle.h - how an estimate and MPFR decide the right result of an input, for exhaustive.c and
 * pow_check.c.
 *
 * An estimate v represents an interval around v, twice as wide as its proven bound, which covers
 * the rounding of the interval's ends. If both ends round to the same f32, that is the correctly
 * rounded result, because rounding is monotonic. Otherwise MPFR decides: it rounds correctly to 24
 * bits and to the exponents of f32, subnormals included. */
#ifndef ORACLE_H
#define ORACLE_H
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
static inline float f32_from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The two functions set MPFR's range of exponents, which belongs to the thread: to that of f32, and
 * to the widest. */
static inline void set_mpfr_f32_exponents(void) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
}
static inline void set_mpfr_widest_exponents(void) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

static inline float rounded_to_f32(mpfr_t y, int inexact) {
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static inline int same_bits(float a, float b) {
  return (a != a && b != b) || f32_bits(a) == f32_bits(b);
}

/* Returns 1 and the result if an estimate with this error bound decides it. */
static inline int estimate_decides(double v, double bound, float *out) {
  const float lo = (float)(v * (1 - 2 * bound)), hi = (float)(v * (1 + 2 * bound));
  *out = lo;
  return v != 0 && same_bits(lo, hi);
}

/* Returns whether |x| >= 2^e, for a number x. */
static inline int is_at_least_power_of_2(mpfr_t x, mpfr_exp_t e) {
  return mpfr_regular_p(x) && mpfr_get_exp(x) > e;
}

/* Returns the relative error of the estimate v, given the value `exact` with WIDE_BITS bits;
 * returns 1 if v breaks the contract of estimate_base.h in another way. `exact` is overwritten. */
static inline double error_of_estimate(double v, mpfr_t exact) {
  if (v == 0) return 0; /* v == 0 means that there is no estimate */
  if (v != v || mpfr_nan_p(exact)) return v != v && mpfr_nan_p(exact) ? 0 : 1;
  if ((mpfr_signbit(exact) != 0) != (v < 0)) return 1;
  /* If |v| >= 2^160, the exact value must have this size too; beyond MPFR's own exponents it has
   * become infinite. */
  if (magnitude(v) >= 0x1p160)
    return mpfr_inf_p(exact) || is_at_least_power_of_2(exact, 160) ? 0 : 1;
  if (magnitude(v) <= 0x1p-160)
    return mpfr_number_p(exact) && !is_at_least_power_of_2(exact, -160) ? 0 : 1;
  if (!mpfr_regular_p(exact)) return 1;
  mpfr_d_div(exact, v, exact, MPFR_RNDN);
  mpfr_sub_ui(exact, exact, 1, MPFR_RNDN);
  return magnitude(mpfr_get_d(exact, MPFR_RNDN));
}

/* Records the error of a sampled estimate; an error beyond the bound ends the run. */
static inline void record_estimate_error(outcome *o, double error, double bound,
                                         const char *where) {
  if (error > o->worst) o->worst = error;
  if (error <= bound || o->broken) return;
  o->broken = 1;
  outcome_set_message(o, "the estimate is beyond its bound at %s", where);
}
#endif
