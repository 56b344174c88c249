/* SPDX-License-Identifier: Apache-2.0
 * estimate_angle.h - estimates of sin, cos, tan, asin, acos and atan: argument reduction in
 * integers, and Taylor series. estimate_base.h has the contract and the notation of the proofs. In
 * the proofs u is 2^-53, and "within n u" means: with a relative error of at most n u. */
#ifndef ESTIMATE_ANGLE_H
#define ESTIMATE_ANGLE_H
#include "estimate_base.h"

__extension__ typedef unsigned __int128 wide_uint;
__extension__ typedef __int128 wide_int;

/* ---- sin, cos, tan ---- */

/* x = quadrant pi/2 + r with |r| < 0.7854 and an error of r of at most 4 u; the quadrant is modulo
 * 4. */
typedef struct angle {
  unsigned quadrant;
  double r;
} angle;

/* The 128 bits of 2/pi that begin with the bit worth 2^-k, -62 <= k <= 127, as an integer. */
static inline wide_uint two_over_pi_bits_from(int k) {
  const unsigned at = (unsigned)(k + 63), word = at / 64, shift = at % 64;
  const uint64_t *w = constants.two_over_pi + word;
  const wide_uint high = (wide_uint)w[0] << 64 | w[1];
  return shift == 0 ? high : high << shift | w[2] >> (64 - shift);
}

/* Reduces x. For |x| <= 0.785 r is x itself. Otherwise x = M 2^e, M an integer of 24 bits, -24 <= e
 * <= 104, and x 2/pi is needed modulo 4. Bits of 2/pi worth 2^-k with k <= e - 2 give multiples of
 * 4. The next 128 bits begin at k = e - 1: P = M W modulo 2^128 is x 2/pi modulo 4 in units of
 * 2^-126; the bits after them make an error of M < 2^24 units, that is, of 2^-102. The integer
 * nearest to P is the quadrant, and the rest f, exact until it is converted, has the size of r
 * 2/pi. If |f| < 2^-40 there is no estimate (r = 0); otherwise that error is 2^-62 of f. The
 * conversion, the constant pi/2 and the product add 3 u. */
static inline angle reduce_angle(double x) {
  if (magnitude(x) <= 0.785) return (angle){0, x};
  const uint64_t u = bits_of(x);
  const int e = (int)(u >> 52 & 0x7ff) - 1023 - 23;
  const uint64_t m = (u & 0xfffffffffffff) >> 29 | 1 << 23;
  const wide_uint product = m * two_over_pi_bits_from(e - 1);
  const wide_uint quadrant = (product + ((wide_uint)1 << 125)) >> 126;
  const double f = (double)(wide_int)(product - (quadrant << 126)) * 0x1p-126;
  const double r = magnitude(f) < 0x1p-40 ? 0 : f * constants.half_pi;
  return x > 0 ? (angle){(unsigned)quadrant, r} : (angle){(4 - (unsigned)quadrant) & 3, -r};
}

/* Taylor series of sin r and cos r for the reduced argument r of struct angle. z = r^2 <= 0.617,
 * within u for the given r. Horner's 18 u and z's 8 u are multiplied by sinh r/sin r <= 1.23 and
 * cosh r/cos r <= 1.88: 32 u and 49 u. The remainders are below 0.617^9/19! and 0.617^9/18!, 0.03
 * u. The 4 u of r are multiplied by at most one (r cot r <= 1, r tan r < 0.8), and the product of
 * the sine adds one rounding: within 40 u and 55 u. */
static inline double sin_taylor(double r) {
  static const double c[] = {1.0,
                             -1.0 / 6,
                             1.0 / 120,
                             -1.0 / 5040,
                             1.0 / 362880,
                             -1.0 / 39916800,
                             1.0 / 6227020800.0,
                             -1.0 / 1307674368000.0,
                             1.0 / 355687428096000.0};
  return r * horner(c, 1, 8, r * r);
}
static inline double cos_taylor(double r) {
  static const double c[] = {1.0,
                             -1.0 / 2,
                             1.0 / 24,
                             -1.0 / 720,
                             1.0 / 40320,
                             -1.0 / 3628800,
                             1.0 / 479001600,
                             -1.0 / 87178291200.0,
                             1.0 / 20922789888000.0};
  return horner(c, 1, 8, r * r);
}

/* The sine of an angle, within 55 u, or 0 if there is no estimate. */
static inline double sine_of(angle a) {
  if (a.r == 0) return 0;
  const double size = (a.quadrant & 1) != 0 ? cos_taylor(a.r) : sin_taylor(a.r);
  return (a.quadrant & 2) != 0 ? -size : size;
}

static inline double estimate_sin(double x) { return sine_of(reduce_angle(x)); }
static inline double estimate_cos(double x) {
  const angle a = reduce_angle(x);
  return sine_of((angle){a.quadrant + 1, a.r});
}
/* tan x within 100 u, or 0 if there is no estimate. */
static inline double estimate_tan(double x) {
  const angle a = reduce_angle(x);
  if (a.r == 0) return 0;
  const double s = sin_taylor(a.r), c = cos_taylor(a.r);
  return (a.quadrant & 1) != 0 ? -c / s : s / c;
}

/* ---- atan, asin, acos ---- */

/* atan t for 0 <= t <= 1, within 9 u. c = k/16 is the nearest to t, and atan t = atan c + atan z, z
 * = (t - c)/(1 + t c), |z| <= 1/32. t - c is exact (c = 0, or t between c/2 and 2 c), so z is
 * within 3 u (z = t for c = 0). atan z = z (1 - z^2/3 + ... - z^10/11): the remainder is below
 * 2^-60/13, the error of the terms after the first is multiplied by 2^-11; sum and product bring it
 * to 5.1 u. For c > 0, atan t >= atan(1/32) > 0.0312; the errors are 5.1 u/32, u atan c <= u (atan
 * t + 1/32), and the sum's u: below 6.1 u + 2 u. */
static inline double atan_of_0_to_1(double t) {
  static const double c[] = {1.0, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11};
  const int k = (int)(t * ATAN_STEPS + 0.5);
  const double grid = k * (1.0 / ATAN_STEPS), z = (t - grid) / (1 + t * grid);
  return constants.atan[k] + z * horner(c, 1, 5, z * z);
}

/* atan t, t >= 0, within 14 u. For t > 1 it is pi/2 - atan(1/t): at most pi/4, within 10 u, is
 * subtracted from pi/2, within u, and at least pi/4 is left: 10 u + 2 u + u. An error d of t
 * changes the value by less than d relatively. */
static inline double atan_of(double t) {
  return t > 1 ? constants.half_pi - atan_of_0_to_1(1 / t) : atan_of_0_to_1(t);
}

static inline double estimate_atan(double x) { return with_sign_of(atan_of(magnitude(x)), x); }

/* asin a = atan(a/sqrt((1 - a) (1 + a))): the product is within 3 u, the root 3 u, the quotient 4
 * u. Within 20 u. MPFR decides asin 1. */
static inline double estimate_asin(double x) {
  const double a = magnitude(x);
  if (a >= 1) return a == 1 ? 0 : ESTIMATE_NAN;
  return with_sign_of(atan_of(a / square_root((1 - a) * (1 + a))), x);
}

/* acos x = 2 atan(sqrt((1 - x)/(1 + x))), the root within 3 u: 17 u. For negative x it is pi minus
 * the same of |x|, which is at most pi/2, so that at least pi/2 is left: 17 u + 2 u + u. Within 20
 * u. */
static inline double estimate_acos(double x) {
  const double a = magnitude(x);
  if (a >= 1) return a == 1 ? 0 : ESTIMATE_NAN;
  const double positive = 2 * atan_of(square_root((1 - a) / (1 + a)));
  return x > 0 ? positive : constants.pi - positive;
}
#endif
