/* SPDX-License-Identifier: Apache-2.0
 * vt_core.h - the language in which the numerics are written once for every width. The source files
 * *.inc of this folder use C operators on lanes (+ - * / on the floating lanes vt_d, f64, and vt_s,
 * f32; integer operators on vt_i, vt_w and vt_u) and the vocabulary: the primitives of this file
 * and of one vt_words*.h. They use no library, no errno and no state. So the same text compiles as
 * scalar C (vt_words.h), over vector types (vt_words_vector.h) and as device code
 * (vt_words_cuda.h); num_all.inc includes all of it. Values that differ between lanes are selected
 * by masks (vt_m: 0 or -1 in each lane) or by margins (integers that are negative where a condition
 * holds); a loop or a branch depends only on values that are equal in all lanes. A midpoint is
 * halfway between two neighbouring f32: those of normal f32, or with "any" of subnormal f32 too.
 * vt_w_num gives a constant in every lane, vt_sel_w selects lanes by a mask. A core function
 * (fn_*.inc) takes an f32 value as vt_d and returns a vt_d that rounds to the correctly rounded
 * f32; the caller converts it to f32. */
#ifndef VT_CORE_H
#define VT_CORE_H
#ifndef VT_WORDS_H /* the includer may have included the vocabulary for another width */
#include "vt_words.h"
#endif

/* ---- primitives made of other primitives: the same for every width ---- */

/* The integer nearest to x, ties to even, for |x| < 2^50, as vt_d and as vt_i. */
#define VT_MAGIC 0x1.8p52
VT_FN vt_d vt_nearest(vt_d x) { return (x + VT_MAGIC) - VT_MAGIC; }
VT_FN vt_i vt_nearest_int(vt_d x) {
  return vt_bits_of(x + VT_MAGIC) - vt_bits_of(vt_num(VT_MAGIC));
}
/* 2^n for -1022 <= n <= 1023. */
VT_FN vt_d vt_power_of_2(vt_i n) { return vt_of_bits((n + 1023) << 52); }

/* vt_w_num gives the constant c in every unsigned lane; vt_sel_w gives a where m is set and b
 * elsewhere. */
VT_FN vt_w vt_w_num(uint64_t c) { return (vt_w)vt_int((int64_t)c); }
VT_FN vt_w vt_sel_w(vt_m m, vt_w a, vt_w b) { return (vt_w)vt_sel_i(m, (vt_i)a, (vt_i)b); }
/* m / 2^by rounded to the nearest integer, ties to even; m < 2^62, 1 <= by <= 63. */
VT_FN vt_w vt_shift_right_rounded(vt_w m, vt_w by) {
  const vt_w below_half = (vt_w_num(1) << (by - 1)) - 1, odd = m >> by & 1;
  return (m + below_half + odd) >> by;
}
VT_FN vt_m vt_is_finite(vt_d x) { return vt_eq(x - x, vt_num(0)); }

/* x truncated to its first 26 bits, so that the product of two such numbers is exact. */
VT_FN vt_d vt_high_26_bits(vt_d x) { return vt_of_bits(vt_bits_of(x) & vt_int(-0x8000000)); }

/* Some tests return a margin: an integer that is negative if the condition holds. A margin costs
 * less than a mask; the union of conditions is the bitwise or of their margins, and >> 63 turns a
 * margin into a mask. */

/* A margin, which is negative if a is 0, infinite or NaN. The sign bit of a must be clear. */
VT_FN vt_i vt_zero_inf_nan_margin(vt_d a) {
  const vt_i u = vt_bits_of(a);
  return (u - vt_int(1)) | (vt_int(INT64_C(0x7fefffffffffffff)) - u);
}
/* A mask, set where x is 0, negative, infinite or NaN. */
VT_FN vt_m vt_not_finite_positive(vt_d x) {
  return (vt_zero_inf_nan_margin(vt_abs(x)) | vt_bits_of(x)) >> 63;
}

/* A margin, which is negative if y is so close to a midpoint between two f32 that the f32 nearest
 * to the exact value is undecided. The exact value is within `units` units in the last place of y,
 * and the f32 changes at an f64 whose last 29 bits are 2^28. Every function has a quick phase, and
 * this test decides whether its result suffices, as it does for all but about units/2^28 of all
 * results. A relative error of 2^-n is below 2^(53-n) units. Subnormal f32 have other midpoints: if
 * the result may be subnormal, use vt_near_any_midpoint. */
VT_FN vt_i vt_near_midpoint_margin(vt_d y, int64_t units) {
  /* 2^28 is added, because subtracting it would overflow for y = -0. */
  const vt_i from = vt_bits_of(y) + vt_int(units + 0x10000000);
  return (from & vt_int(0x1fffffff)) - vt_int(2 * units + 1);
}
VT_FN vt_m vt_near_midpoint(vt_d y, int64_t units) {
  return vt_near_midpoint_margin(y, units) >> 63;
}
/* A mask, set where y, known to `units` units in its last place, is close to a midpoint between any
 * two f32, subnormal or not. All such midpoints have zeros in their last 28 bits, but so have all
 * f32; so results close to an f32 count as undecided as well. */
VT_FN vt_m vt_near_any_midpoint(vt_d y, int64_t units) {
  const vt_i from = vt_bits_of(y) + vt_int(units);
  return ((from & vt_int(0xfffffff)) - vt_int(2 * units + 1)) >> 63;
}

/* A double-double: the unevaluated sum hi + lo represents a real number to about 2^-60 of its size;
 * |lo| is much smaller than |hi|. */
typedef struct vt_dd {
  vt_d hi, lo;
} vt_dd;

/* a + b exactly (fast two-sum), if |a| >= |b| or a == 0. */
VT_FN vt_dd vt_fast_two_sum(vt_d a, vt_d b) {
  const vt_d s = a + b;
  const vt_dd p = {s, b - (s - a)};
  return p;
}
/* a + b exactly (Knuth's two-sum). */
VT_FN vt_dd vt_two_sum(vt_d a, vt_d b) {
  const vt_d s = a + b, t = s - a;
  const vt_dd p = {s, (a - (s - t)) + (b - t)};
  return p;
}
/* a * b exactly (Dekker's product), if |a| and |b| are below 2^996 and the product does not
 * underflow. */
VT_FN vt_dd vt_two_product(vt_d a, vt_d b) {
  const vt_d ca = 0x1p27 * a + a, cb = 0x1p27 * b + b;
  const vt_d ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
  const vt_d p = a * b;
  const vt_dd r = {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
  return r;
}
/* n / d with a relative error of about 2^-100. */
VT_FN vt_dd vt_dd_quotient(vt_dd n, vt_dd d) {
  const vt_d q = n.hi / d.hi;
  const vt_dd p = vt_two_product(q, d.hi);
  const vt_d rest = (((n.hi - p.hi) - p.lo) + n.lo) - q * d.lo;
  return vt_fast_two_sum(q, rest / d.hi);
}

/* Rounds hi + lo to an f64 whose conversion to f32 gives the f32 nearest to the exact sum. It is
 * rounding to odd: an inexact sum becomes the neighbouring f64 whose last bit is 1. An odd f64 is
 * never a midpoint between two f32 and is always on the same side of every midpoint as the exact
 * sum, so the conversion decides as if it saw the exact sum. Requires |hi| >= |lo| or hi == 0, and
 * finite numbers. */
VT_FN vt_d vt_round_to_odd(vt_dd x) {
  const vt_dd s = vt_fast_two_sum(x.hi, x.lo);
  /* The pattern of |s.hi|: without the sign, size - 1 cannot overflow. */
  const vt_i size = vt_bits_of(vt_abs(s.hi));
  /* If the lost part s.lo has the sign of s.hi, the exact magnitude is above |s.hi|. */
  const vt_m outward = vt_lt(vt_num(0), s.lo * vt_with_sign_of(vt_num(1), s.hi));
  const vt_i odd = vt_sel_i(outward, size | 1, (size - 1) | 1);
  const vt_i rounded = vt_sel_i(vt_eq(s.lo, vt_num(0)), size, odd);
  return vt_with_sign_of(vt_of_bits(rounded), s.hi);
}
#endif
