/* SPDX-License-Identifier: Apache-2.0
 * estimate_log.h - estimates of log, log2, log10, log1p, asinh, acosh, atanh and rsqrt by the
 * series of the inverse hyperbolic tangent. estimate_base.h has the contract and the notation of
 * the proofs. In the proofs u is 2^-53, and "within n u" means: with a relative error of at most n
 * u. */
#ifndef ESTIMATE_LOG_H
#define ESTIMATE_LOG_H
#include "estimate_base.h"

/* 2 atanh(s) within 5 u, for |s| <= 0.172 given within 2 u. It is 2 s (1 + z Q), z = s^2 <= 0.0296
 * within 5 u, Q = 1/3 + z/5 + ... + z^9/21. The terms of Q are positive; Horner's 20 u, z's 45 u
 * and the product's 6 u are multiplied by z Q < 0.0101: 0.8 u. The remainder of the series is below
 * z^11/22.3 < 0.01 u. The sum and the product with s round once each, and s adds its 2 u. */
static inline double twice_atanh(double s) {
  static const double odd[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                               1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  const double z = s * s;
  return 2 * s * (1 + z * horner(odd, 1, 9, z));
}

/* log x for a positive normal f64, within 10.1 u. x = 2^e m, m in [0.7071, 1.4142]; log m = 2
 * atanh((m - 1)/(m + 1)), m - 1 exact, so s is within 2 u and |s| <= 0.1716. If e = 0 this is all:
 * 5 u. Otherwise the sum L has |L| >= ln 2 - 0.3466 > 0.346, and |e ln 2| <= |L| + 0.3466; the
 * errors are 5 u 0.3466 + 2 u |e ln 2| + u |L| < 2.43 u + 3 u |L| < 10.1 u |L| (for |L| = 0.346;
 * near 5 u elsewhere). */
static inline double log_of(double x) {
  const uint64_t u = bits_of(x);
  int e = (int)(u >> 52) - 1023;
  double m = of_bits((u & 0xfffffffffffff) | bits_of(1.0));
  if (m > 1.4142) {
    m *= 0.5;
    e++;
  }
  const double log = twice_atanh((m - 1) / (m + 1));
  return e == 0 ? log : e * constants.ln2 + log;
}

/* log(1 + t) for t > -1, within 14 u. Near 0 it is 2 atanh(t/(2 + t)), and t/(2 + t), at most
 * 0.1703 in size, has two roundings: 5 u. Elsewhere |log(1 + t)| >= 0.342, and the rounding of 1 +
 * t changes it by u: 3 u. */
static inline double log1p_of(double t) {
  if (t > -0.29 && t < 0.41) return twice_atanh(t / (2 + t));
  return log_of(1 + t);
}

/* log x within 11 u. log 1 gives 0, which means no estimate. */
static inline double estimate_log(double x) { return x < 0 ? ESTIMATE_NAN : log_of(x); }
/* log2 x and log10 x within 13 u: two more roundings, of the constant and the product. */
static inline double estimate_log2(double x) { return constants.log2e * estimate_log(x); }
static inline double estimate_log10(double x) { return constants.log10e * estimate_log(x); }

static inline double estimate_log1p(double x) {
  if (x <= -1) return x == -1 ? 0 : ESTIMATE_NAN;
  return log1p_of(x);
}

/* asinh, acosh and atanh are log1p_of(t) of a positive t: an error d of t changes log(1 + t) by
 * less than d relatively, because t/((1 + t) log(1 + t)) <= 1. asinh a = log1p(a + a^2/(1 + sqrt(1
 * + a^2))): a^2 is exact, the root within 2 u (the error of 1 + a^2 is halved), the sum 3 u, the
 * quotient 4 u, t 5 u. Within 20 u. */
static inline double estimate_asinh(double x) {
  const double a = magnitude(x), square = a * a;
  return with_sign_of(log1p_of(a + square / (1 + square_root(1 + square))), x);
}

/* acosh x = log1p((x - 1) + sqrt((x - 1) (x + 1))): the product is within 3 u, the root 3 u, t 4 u.
 * Within 20 u. */
static inline double estimate_acosh(double x) {
  if (x <= 1) return x == 1 ? 0 : ESTIMATE_NAN;
  return log1p_of((x - 1) + square_root((x - 1) * (x + 1)));
}

/* atanh a = log1p(2 a/(1 - a))/2: t within 2 u. Within 20 u. */
static inline double estimate_atanh(double x) {
  const double a = magnitude(x);
  if (a >= 1) return a == 1 ? 0 : ESTIMATE_NAN;
  return with_sign_of(0.5 * log1p_of(2 * a / (1 - a)), x);
}

/* rsqrt x within 2 u. */
static inline double estimate_rsqrt(double x) { return x < 0 ? ESTIMATE_NAN : 1 / square_root(x); }
#endif
