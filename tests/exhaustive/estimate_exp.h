/* SPDX-License-Identifier: Apache-2.0
 * estimate_exp.h - estimates of exp, exp2, expm1, sinh, cosh, tanh, sigmoid and erf by Taylor
 * series. estimate_base.h has the contract and the notation of the proofs. In the proofs u is
 * 2^-53, and "within n u" means: with a relative error of at most n u. */
#ifndef ESTIMATE_EXP_H
#define ESTIMATE_EXP_H
#include "estimate_base.h"

/* e^r for |r| <= 0.347, within 57 u for the given r. Degree 13: the remainder of the series is
 * below 1.5 * 0.347^14/14! < 6.4e-18, 0.09 u of e^r. Horner's 28 u are multiplied by e^|r|/e^r <=
 * 2.002. */
static inline double exp_taylor(double r) { return horner(inverse_factorial, 1, 13, r); }

/* e^x for |x| <= 200, within 58 u. n = nearest(x log2 e), |n| <= 289, so |x - n ln 2| <= 0.3467. n
 * ln2_high is exact (9 + 32 bits). The two subtractions round by 0.347 u each; n ln2_low, below
 * 2^-24, and its rounding are negligible. So the error of r is below 0.7 u, and so is the relative
 * error of e^r. The power of two is exact. */
static inline double exp_of(double x) {
  const double n = nearest_integer(x * constants.log2e);
  const double r = (x - n * constants.ln2_high) - n * constants.ln2_low;
  return exp_taylor(r) * power_of_two((int)n);
}

/* e^x within 58 u. e^160 > 2^230. */
static inline double estimate_exp(double x) {
  if (magnitude(x) > 160) return x > 0 ? ESTIMATE_HUGE : ESTIMATE_TINY;
  return exp_of(x);
}

/* 2^x within 58 u. x - n is exact and at most 1/2; times ln 2 its error is 2 u 0.347 < 0.7 u. */
static inline double estimate_exp2(double x) {
  if (magnitude(x) > 170) return x > 0 ? ESTIMATE_HUGE : ESTIMATE_TINY;
  const double n = nearest_integer(x);
  return exp_taylor((x - n) * constants.ln2) * power_of_two((int)n);
}

/* e^x - 1 within 150 u. For |x| <= 1/2 it is x (1 + x/2! + ... + x^14/15!), the remainder below
 * 0.5^15/16! * 1.04, 0.02 u; Horner's 30 u and the product are multiplied by 1.298/0.787: 52 u.
 * Elsewhere the 58 u of e^x are multiplied by e^x/|e^x - 1| <= 2.55. Below -100, e^x is less than
 * 2^-144. */
static inline double estimate_expm1(double x) {
  if (x > 160) return ESTIMATE_HUGE;
  if (x < -100) return -1;
  if (magnitude(x) <= 0.5) return x * horner(inverse_factorial + 1, 1, 14, x);
  return exp_of(x) - 1;
}

/* sinh x for |x| <= 1 within 20 u: x (1 + x^2/3! + ... + x^16/17!), x^2 exact (x is an f32), all
 * terms of one sign; the remainder is below 1.01/19! < 0.1 u. */
static inline double sinh_taylor(double x) {
  return x * horner(inverse_factorial + 1, 2, 8, x * x);
}

/* sinh x within 80 u. For |x| > 1, E = e^|x| and 1/E are within 59 u, and in E - 1/E these are
 * multiplied by coth(1) = 1.314. */
static inline double estimate_sinh(double x) {
  const double a = magnitude(x);
  if (a <= 1) return sinh_taylor(x);
  if (a > 160) return with_sign_of(ESTIMATE_HUGE, x);
  const double e = exp_of(a);
  return with_sign_of(0.5 * (e - 1 / e), x);
}

/* cosh x within 60 u: a sum of positive terms, each within 59 u. */
static inline double estimate_cosh(double x) {
  const double a = magnitude(x);
  if (a > 160) return ESTIMATE_HUGE;
  const double e = exp_of(a);
  return 0.5 * (e + 1 / e);
}

/* tanh x within 130 u. For |x| <= 1 it is sinh/cosh, 20 u + 60 u + u. Up to 20 it is (t - 1)/(t +
 * 1), t = e^(2 |x|) >= 7.38 within 58 u, which are multiplied by t/(t - 1) < 1.16 in the numerator
 * and less than one in the denominator. Beyond 20 the value is within 2 e^-40 < 2^-56 of 1. */
static inline double estimate_tanh(double x) {
  const double a = magnitude(x);
  if (a <= 1) return sinh_taylor(x) / estimate_cosh(x);
  if (a > 20) return with_sign_of(1, x);
  const double t = exp_of(2 * a);
  return with_sign_of((t - 1) / (t + 1), x);
}

/* sigmoid x within 60 u: a sum of positive terms. Beyond 160 the value is within 2^-230 of 1, or
 * below 2^-230. */
static inline double estimate_sigmoid(double x) {
  if (magnitude(x) > 160) return x > 0 ? 1 : ESTIMATE_TINY;
  return 1 / (1 + exp_of(-x));
}

/* erf x = 2/sqrt(pi) x e^(-x^2) S, S = sum of t_n = y^n/(3 * 5 * ... * (2n + 1)), y = 2 x^2
 * (exact). Within 210 u.
 *
 * All terms are positive. S is computed from the innermost term outwards, S_(n-1) = 1 + (y/(2n+1))
 * S_n from S_N = 1, with four roundings per step (1/(2n+1), its product with y, with S_n, the sum).
 * The first three change the terms from t_n onwards, the last one those from t_(n-1) onwards. Let
 * share(n) be the part of S in the terms from t_n onwards. The sum of share(n), n >= 1, is the mean
 * of n with weights t_n. As (2n + 1) t_n = y t_(n-1), the mean of 2n + 1 is y + 1/S <= y + 1, so
 * the mean of n is at most x^2 < 36: the error is below (4 * 36 + 1) u = 145 u.
 *
 * The remainder: erf_terms[k], used for k - 1 <= x^2 < k, is an N with t_N <= 2^-58 S and ratios of
 * later terms below 1/4, found at x^2 = k in f64 (accurate enough: 2^-57 would do). For smaller x
 * the share of these terms is smaller, since N is above the mean of n. So the remainder is below
 * 2^-58 S. Below x^2 = 2^-20 two terms leave y^3/105 < 2^-63. e^(-x^2) adds 58 u, and the products
 * four more. For |x| >= 6, 1 - erf x < e^-36/(6 sqrt(pi)) < 2^-55. */
static inline double estimate_erf(double x) {
  const double a = magnitude(x), square = x * x, y = 2 * square;
  if (a >= 6) return with_sign_of(1, x);
  double sum = 1;
  for (int n = constants.erf_terms[square < 0x1p-20 ? 0 : (int)square + 1]; n > 0; n--)
    sum = 1 + y * (1.0 / (2 * n + 1)) * sum;
  return constants.two_over_root_pi * x * exp_of(-square) * sum;
}
#endif
