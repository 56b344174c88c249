/* SPDX-License-Identifier: Apache-2.0
 * oracle_by_hand.h - the two oracles of functions.def for which MPFR has no function. y holds an
 * f32 and becomes the function of it, rounded to the precision and exponents that are set; the
 * return value is MPFR's ternary value. */
#ifndef VT_ORACLE_BY_HAND_H
#define VT_ORACLE_BY_HAND_H
#include <stdio.h>
#include <stdlib.h>
#include <mpfr.h>

/* 1/(1 + e^-x) with 400 bits and four roundings. Unless the value is within 2^-390 of a number of
 * 25 bits, the rounding to 24 bits and its direction are those of the real value; mpfr_can_round
 * checks this. For |x| >= 200 the value is beyond the first midpoint next to 0 or 1. */
static inline int oracle_sigmoid(mpfr_t y) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  const int plain = mpfr_regular_p(y) && mpfr_cmpabs_ui(y, 200) < 0;
  mpfr_t t;
  /* e^-x may be outside the range of f32 when the quotient is not. */
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_init2(t, 400);
  mpfr_neg(t, y, MPFR_RNDN); /* exact, because y holds an f32 */
  mpfr_exp(t, t, MPFR_RNDN);
  mpfr_add_ui(t, t, 1, MPFR_RNDN);
  mpfr_ui_div(t, 1, t, MPFR_RNDN);
  if (plain && !mpfr_can_round(t, 390, MPFR_RNDN, MPFR_RNDZ, 25)) {
    fputs("sigmoid: 400 bits do not decide\n", stderr);
    exit(1);
  }
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  int inexact = mpfr_set(y, t, MPFR_RNDN);
  inexact = mpfr_check_range(y, inexact, MPFR_RNDN);
  mpfr_clear(t);
  return inexact;
}

/* rsqrt; IEEE 754 defines rsqrt(-0) = -inf, but MPFR gives +inf. */
static inline int oracle_rsqrt(mpfr_t y) {
  if (!mpfr_zero_p(y)) return mpfr_rec_sqrt(y, y, MPFR_RNDN);
  mpfr_set_inf(y, mpfr_signbit(y) ? -1 : 1);
  return 0;
}
#endif
