/* SPDX-License-Identifier: Apache-2.0
 * vt_short.h - what the short ways (fs_*.inc) are written in: pairs of f32.
 * A short way takes f32 lanes (vt_s) and evaluates the function as hi + lo, two f32 that stand for
 * about 44 bits, with + - * / and one fma. It ends in a rounding test, which either settles the
 * correctly rounded result or says that it cannot; such lanes go to the f64 core. So the bits are
 * those of the core, as long as the bound given to the test holds: each is argued where it stands,
 * and tests/device compares all 2^32 inputs of each function with the published digests.
 * It pays where f64 runs at a small fraction of the speed of f32: on most graphics processors.
 * Errors are given relative to the value unless called absolute; a rounding of f32 is 2^-24. */
#ifndef VT_SHORT_H
#define VT_SHORT_H
#include "vt_core.h"
#ifdef VT_FMA_IS_SOFT
#include "fma.inc"
#endif

/* hi + lo, |lo| well below |hi|. */
typedef struct vt_twin {
  vt_s hi, lo;
} vt_twin;

/* A result, and where (all ones) it is settled. */
typedef struct vt_short {
  vt_s y;
  vt_u sure;
} vt_short;

VT_FN vt_s vt_s_abs(vt_s x) { return vt_s_of_bits(vt_s_bits_of(x) & 0x7fffffffu); }
VT_FN vt_s vt_s_sign_of(vt_s x, vt_s like) { /* x >= +0 with the sign of `like` */
  return vt_s_of_bits(vt_s_bits_of(x) | (vt_s_bits_of(like) & 0x80000000u));
}
/* x, but not beyond the limit; NaN stays NaN. */
VT_FN vt_s vt_s_at_most(vt_s x, float limit) {
  return vt_s_sel(vt_s_lt(vt_s_num(limit), x), vt_s_num(limit), x);
}
VT_FN vt_s vt_s_at_least(vt_s x, float limit) {
  return vt_s_sel(vt_s_lt(x, vt_s_num(limit)), vt_s_num(limit), x);
}

/* a + b exactly, when |a| >= |b| or a == 0. */
VT_FN vt_twin fs_fast_sum(vt_s a, vt_s b) {
  const vt_s s = a + b;
  const vt_twin t = {s, b - (s - a)};
  return t;
}
/* a + b exactly. */
VT_FN vt_twin fs_sum(vt_s a, vt_s b) {
  const vt_s s = a + b, t = s - a;
  const vt_twin r = {s, (a - (s - t)) + (b - t)};
  return r;
}
/* a * b exactly, when the product is above 2^-102 or 0. */
VT_FN vt_twin fs_product(vt_s a, vt_s b) {
  const vt_s p = a * b;
  const vt_twin t = {p, vt_s_fma(a, b, -p)};
  return t;
}
/* n / d to 2^-44.2: the quotient of the heads, and what is left of n divided once more. The first
 * is within two roundings, 2^-23, so what is left is below 2^-22 of n; its three roundings, that of
 * the product, and the error of `inverse` make 2^-44.2. */
VT_FN vt_twin fs_quotient(vt_twin n, vt_twin d) {
  const vt_s inverse = 1.0f / d.hi, q = n.hi * inverse;
  const vt_s rest = vt_s_fma(-q, d.hi, n.hi) + vt_s_fma(-q, d.lo, n.lo);
  return fs_fast_sum(q, rest * inverse);
}

/* The rounding test. |lo| is below 2^-22 of |hi|, so lo - e and lo + e are rounded by less than
 * 2^-46 of hi, and e must exceed the error of hi + lo by that. Rounding is monotonic: when both
 * ends of the interval round to one f32, so does the value. NaN is never settled. */
VT_FN vt_short fs_settle_within(vt_twin x, vt_s e) {
  const vt_s y = x.hi + (x.lo - e);
  const vt_short r = {y, vt_s_eq(y, x.hi + (x.lo + e))};
  return r;
}
/* The same for an error relative to hi. It must not underflow when multiplied by hi, unless the
 * value is hi but for less than a quarter of its last place. */
VT_FN vt_short fs_settle(vt_twin x, float error) {
  return fs_settle_within(x, vt_s_abs(x.hi) * error);
}
#endif
