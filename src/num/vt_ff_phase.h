/* SPDX-License-Identifier: Apache-2.0
 * vt_ff_phase.h - float-float arithmetic on f32 lanes, for the float-float phase (fs_*.inc; the
 * prefix fs_ means float-float) of the functions. Such a function computes hi + lo, two f32 that
 * represent about 44 bits, with + - * / and one fma, and ends in a rounding test. Lanes that pass
 * have the correctly rounded result; the others go to the f64 core. So the bits are those of the
 * core as long as the error bound given to the test holds: each bound is proved in a comment next
 * to its code, and tests/device compares all 2^32 inputs of each function with the published
 * digests. This pays if f64 is much slower than f32, as on most GPUs. Errors are relative to the
 * value unless called absolute; one rounding of f32 is 2^-24. */
#ifndef VT_FF_PHASE_H
#define VT_FF_PHASE_H
#include "vt_core.h"
#ifdef VT_FMA_IS_SOFT
#include "fma.inc"
#endif

/* A float-float: the unevaluated sum hi + lo of two f32; |lo| is much smaller than |hi|. */
typedef struct vt_ff {
  vt_s hi, lo;
} vt_ff;

/* A result y and a mask `sure`, all ones in the lanes where y is known to be correctly rounded. */
typedef struct vt_ff_rounded {
  vt_s y;
  vt_u sure;
} vt_ff_rounded;

VT_FN vt_s vt_s_abs(vt_s x) { return vt_s_of_bits(vt_s_bits_of(x) & 0x7fffffffu); }
VT_FN vt_s
/* x with the sign of `like`; the sign bit of x must be clear. */
vt_s_with_sign_of(vt_s x, vt_s like) {
  return vt_s_of_bits(vt_s_bits_of(x) | (vt_s_bits_of(like) & 0x80000000u));
}
/* min(x, limit) and max(x, limit); NaN stays NaN. */
VT_FN vt_s vt_s_at_most(vt_s x, float limit) {
  return vt_s_sel(vt_s_lt(vt_s_num(limit), x), vt_s_num(limit), x);
}
VT_FN vt_s vt_s_at_least(vt_s x, float limit) {
  return vt_s_sel(vt_s_lt(x, vt_s_num(limit)), vt_s_num(limit), x);
}

/* a + b exactly (fast two-sum), if |a| >= |b| or a == 0. */
VT_FN vt_ff fs_fast_two_sum(vt_s a, vt_s b) {
  const vt_s s = a + b;
  const vt_ff t = {s, b - (s - a)};
  return t;
}
/* a + b exactly (Knuth's two-sum). */
VT_FN vt_ff fs_two_sum(vt_s a, vt_s b) {
  const vt_s s = a + b, t = s - a;
  const vt_ff r = {s, (a - (s - t)) + (b - t)};
  return r;
}
/* a * b exactly, if the product is 0 or above 2^-102. */
VT_FN vt_ff fs_two_product(vt_s a, vt_s b) {
  const vt_s p = a * b;
  const vt_ff t = {p, vt_s_fma(a, b, -p)};
  return t;
}
/* n / d with a relative error of 2^-44.2: q, the quotient of the high parts, plus the remainder n -
 * q*d divided by d.hi. q has two roundings, so it is within 2^-23 of n.hi / d.hi, and the remainder
 * is below 2^-22 of n. The three roundings of the remainder, the rounding of the last product and
 * the error of `inverse` add up to 2^-44.2 of the result. */
VT_FN vt_ff fs_quotient(vt_ff n, vt_ff d) {
  const vt_s inverse = 1.0f / d.hi, q = n.hi * inverse;
  const vt_s rest = vt_s_fma(-q, d.hi, n.hi) + vt_s_fma(-q, d.lo, n.lo);
  return fs_fast_two_sum(q, rest * inverse);
}

/* The rounding test: the f32 nearest to the exact value is decided if x - error and x + error round
 * to the same f32, because rounding is monotonic. `error` must exceed the absolute error of x by
 * 2^-46 of hi, the roundings of lo - error and lo + error: |lo| is below 2^-22 of |hi|. NaN never
 * passes. */
VT_FN vt_ff_rounded fs_round_test_absolute(vt_ff x, vt_s error) {
  const vt_s y = x.hi + (x.lo - error);
  const vt_ff_rounded r = {y, vt_s_eq(y, x.hi + (x.lo + error))};
  return r;
}
/* The rounding test, given the error relative to hi. hi * error must not underflow, unless the
 * exact value differs from hi by less than a quarter of hi's last place. */
VT_FN vt_ff_rounded fs_round_test(vt_ff x, float error) {
  return fs_round_test_absolute(x, vt_s_abs(x.hi) * error);
}
#endif
