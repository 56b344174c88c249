/* SPDX-License-Identifier: Apache-2.0
 * estimate_base.h - the contract of the estimators of the exhaustive check, and their common parts.
 *
 * An estimator estimate_NAME(x), for every f32 x that is finite and not 0, returns
 *
 *   NaN            if the function has no real value,
 *   0              if it gives no estimate (zeros, poles), so that MPFR decides,
 *   |v| >= 2^160   if the value has this size too, with the same sign,
 *   |v| <= 2^-160  if the value has this size too, with the same sign,
 *   v otherwise    within ESTIMATE_BOUND = 2^-44 of the value, relative to the value.
 *
 * The last line is proved in the comment of each estimator. No code here comes from the library
 * under test or from the C library: textbook series in f64 with + - * / sqrt, and constants that
 * MPFR computes at the start.
 *
 * Notation of the proofs. u = 2^-53. The result of one operation is the exact result times 1 + d,
 * |d| <= u, since nothing here overflows or underflows. n such factors are together 1 + d, |d| <= n
 * u/(1 - n u); we write n u. In the proofs for 2^-44, which is 512 u, n < 600, and each error is
 * below 300 u; in that of estimate_pow.h for 2^-42, which is 2048 u, n <= 1410, and the error is
 * below 1410 u. So the neglected terms are below 2^-43 of the bound. "Within n u" means relative to
 * the exact value. A constant rounded to f64 is within u. Horner's scheme (horner) for c0 + c1 z +
 * ... + cn z^n, each ck within u, gives the sum of terms ck z^k, each within (2k + 2) u: its error
 * is at most (2n + 2) u times the sum of the terms' sizes, plus n d if z itself is within d. */
#ifndef ESTIMATE_BASE_H
#define ESTIMATE_BASE_H
#include <mpfr.h>
#include <stdint.h>
#include <string.h>

#define ESTIMATE_BOUND 0x1p-44
#define ESTIMATE_HUGE 0x1p200
#define ESTIMATE_TINY 0x1p-200
#define ESTIMATE_NAN __builtin_nan("")

enum { ATAN_STEPS = 16, ERF_RANGES = 37, TWO_OVER_PI_WORDS = 5 };

static struct constants {
  double ln2, ln2_high, ln2_low, log2e, log10e; /* ln2_high is a multiple of 2^-32 */
  double pi, half_pi, two_over_root_pi;
  double atan[ATAN_STEPS + 1];             /* atan(k/16) */
  uint64_t two_over_pi[TWO_OVER_PI_WORDS]; /* 64 zero bits, then the bits of 2/pi after the point */
  int erf_terms[ERF_RANGES];               /* number of terms of the series of erf for x^2 < k */
} constants;

/* 1/n!; n! is an exact f64 up to 22!, so each is rounded once. */
static const double inverse_factorial[] = {1.0,
                                           1.0,
                                           1.0 / 2,
                                           1.0 / 6,
                                           1.0 / 24,
                                           1.0 / 120,
                                           1.0 / 720,
                                           1.0 / 5040,
                                           1.0 / 40320,
                                           1.0 / 362880,
                                           1.0 / 3628800,
                                           1.0 / 39916800,
                                           1.0 / 479001600,
                                           1.0 / 6227020800.0,
                                           1.0 / 87178291200.0,
                                           1.0 / 1307674368000.0,
                                           1.0 / 20922789888000.0,
                                           1.0 / 355687428096000.0};

static inline uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static inline double of_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}
static inline double magnitude(double x) { return __builtin_fabs(x); }
static inline double square_root(double x) { return __builtin_sqrt(x); } /* correctly rounded */
static inline double with_sign_of(double size, double x) { return __builtin_copysign(size, x); }
/* 2^n, -1022 <= n <= 1023. */
static inline double power_of_two(int n) { return of_bits((uint64_t)(n + 1023) << 52); }
/* The integer nearest to x, |x| < 2^50. */
static inline double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* Horner's scheme: the sum of c[k * stride] z^k, k = 0..n. */
static inline double horner(const double *c, int stride, int n, double z) {
  double sum = c[n * stride];
  for (int k = n - 1; k >= 0; k--) sum = c[k * stride] + z * sum;
  return sum;
}

/* ---- constants, by MPFR ---- */

static void set_logarithm_constants(mpfr_t t, mpfr_t s) {
  mpfr_const_log2(t, MPFR_RNDN);
  constants.ln2 = mpfr_get_d(t, MPFR_RNDN);
  mpfr_mul_2ui(s, t, 32, MPFR_RNDN);
  mpfr_rint(s, s, MPFR_RNDN);
  mpfr_div_2ui(s, s, 32, MPFR_RNDN);
  constants.ln2_high = mpfr_get_d(s, MPFR_RNDN); /* ln2_high is exact, because it has 32 bits */
  mpfr_sub(s, t, s, MPFR_RNDN);
  constants.ln2_low = mpfr_get_d(s, MPFR_RNDN);
  mpfr_ui_div(s, 1, t, MPFR_RNDN);
  constants.log2e = mpfr_get_d(s, MPFR_RNDN);
  mpfr_log_ui(s, 10, MPFR_RNDN);
  mpfr_ui_div(s, 1, s, MPFR_RNDN);
  constants.log10e = mpfr_get_d(s, MPFR_RNDN);
}

static void set_angle_constants(mpfr_t t, mpfr_t s) {
  mpfr_const_pi(t, MPFR_RNDN);
  constants.pi = mpfr_get_d(t, MPFR_RNDN);
  constants.half_pi = 0.5 * constants.pi;
  mpfr_rec_sqrt(s, t, MPFR_RNDN);
  constants.two_over_root_pi = 2 * mpfr_get_d(s, MPFR_RNDN);
  for (unsigned k = 0; k <= ATAN_STEPS; k++) {
    mpfr_set_ui_2exp(s, k, -4, MPFR_RNDN);
    mpfr_atan(s, s, MPFR_RNDN);
    constants.atan[k] = mpfr_get_d(s, MPFR_RNDN);
  }
  mpfr_ui_div(s, 2, t, MPFR_RNDN);
  for (int word = 1; word < TWO_OVER_PI_WORDS; word++) {
    uint64_t bits = 0;
    for (int part = 0; part < 2;
         part++) { /* 32 bits at a time: an unsigned long may have no more */
      mpfr_mul_2ui(s, s, 32, MPFR_RNDN);
      const unsigned long whole = mpfr_get_ui(s, MPFR_RNDD);
      mpfr_sub_ui(s, s, whole, MPFR_RNDN);
      bits = bits << 32 | whole;
    }
    constants.two_over_pi[word] = bits;
  }
}

/* Computes the number of terms of the series of erf for x^2 < k: see estimate_erf. */
static void set_erf_terms(void) {
  constants.erf_terms[0] = 2;
  for (int k = 1; k < ERF_RANGES; k++) {
    const double y = 2.0 * k;
    double term = 1, sum = 1;
    int n = 0;
    while (4 * y > 2 * n + 3 || term > 0x1p-58 * sum) {
      n++;
      term *= y / (2 * n + 1);
      sum += term;
    }
    constants.erf_terms[k] = n;
  }
}

/* Computes the constants. Must be called once before any estimator, with MPFR's widest exponents.
 */
static void estimate_init_constants(void) {
  mpfr_t t, s;
  mpfr_inits2(600, t, s, (mpfr_ptr)0);
  set_logarithm_constants(t, s);
  set_angle_constants(t, s);
  set_erf_terms();
  mpfr_clears(t, s, (mpfr_ptr)0);
}
#endif
