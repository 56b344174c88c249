/* SPDX-License-Identifier: Apache-2.0
 * estimate_pow.h - an estimate of x^y as e^(y log x) in f64. The contract is that of
 * estimate_base.h with the bound POW_BOUND = 2^-42. In the proofs u is 2^-53, and "within n u"
 * means: with a relative error of at most n u. */
#ifndef ESTIMATE_POW_H
#define ESTIMATE_POW_H
#include "estimate_exp.h"
#include "estimate_log.h"

#define POW_BOUND 0x1p-42

/* For finite x and y that are not 0. log |x| is within 10.1 u, t = y log |x| within 11.2 u. Up to
 * |t| = 120 (2^173; a computed 120 is certainly more than 2^160) the error of t is at most 1350 u,
 * and that of e^t as much plus the 58 u of exp_of: below 1410 u < 2^-42.5. A negative x has a real
 * power if y is an integer, and a negative one if y is odd; for |y| >= 2^24 an f32 is an even
 * integer. */
static inline double estimate_pow(double x, double y) {
  const int whole = magnitude(y) >= 0x1p24 || nearest_integer(y) == y;
  const int odd = magnitude(y) < 0x1p24 && whole && nearest_integer(0.5 * y) != 0.5 * y;
  if (x < 0 && !whole) return ESTIMATE_NAN;
  const double t = y * log_of(magnitude(x));
  const double beyond = t > 0 ? ESTIMATE_HUGE : ESTIMATE_TINY;
  const double size = magnitude(t) > 120 ? beyond : exp_of(t);
  return x < 0 && odd ? -size : size;
}
#endif
