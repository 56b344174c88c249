/* SPDX-License-Identifier: Apache-2.0
 * vt_core.h - what the numerics are written in, for any width.
 * The texts of this room (*.inc) use the operators of C on lanes (+ - * / on vt_d and vt_s, those
 * of integers on vt_i, vt_w and vt_u) and the words here and in a vt_words*.h; nothing else: no
 * library, no errno, no state. So the same text compiles as scalar C (vt_words.h), over vector
 * types (vt_words_vector.h) and as device code (vt_words_cuda.h); num_all.inc is all of it. What
 * differs from lane to lane is selected; loops and branches follow what is the same in all lanes.
 * A core function (fn_*.inc) takes an f32 value as vt_d and returns a vt_d that rounds to the
 * correctly rounded f32: conversion to f32 is the last step and belongs to the caller. */
#ifndef VT_CORE_H
#define VT_CORE_H
#ifndef VT_WORDS_H /* the includer may have chosen another width */
#include "vt_words.h"
#endif

/* ---- words made of words: the same for every width ---- */

/* The nearest integer of |x| < 2^50, ties to even, and the same as an integer. */
#define VT_MAGIC 0x1.8p52
VT_FN vt_d vt_nearest(vt_d x) { return (x + VT_MAGIC) - VT_MAGIC; }
VT_FN vt_i vt_to_int(vt_d x) { return vt_bits_of(x + VT_MAGIC) - vt_bits_of(vt_num(VT_MAGIC)); }
/* 2^n for -1022 <= n <= 1023. */
VT_FN vt_d vt_power(vt_i n) { return vt_of_bits((n + 1023) << 52); }

/* The same for lanes without a sign. */
VT_FN vt_w vt_word(uint64_t c) { return (vt_w)vt_int((int64_t)c); }
VT_FN vt_w vt_sel_w(vt_m m, vt_w a, vt_w b) { return (vt_w)vt_sel_i(m, (vt_i)a, (vt_i)b); }
/* m / 2^by to the nearest integer, ties to even; m < 2^62, 1 <= by <= 63. */
VT_FN vt_w vt_round_off(vt_w m, vt_w by) {
  const vt_w below_half = (vt_word(1) << (by - 1)) - 1, odd = m >> by & 1;
  return (m + below_half + odd) >> by;
}
VT_FN vt_m vt_finite(vt_d x) { return vt_eq(x - x, vt_num(0)); }

/* x without its last 27 bits: 26 are left, so that products of two such numbers are exact. */
VT_FN vt_d vt_head(vt_d x) { return vt_of_bits(vt_bits_of(x) & vt_int(-0x8000000)); }

/* Some tests come as a margin: an integer less than 0 where they hold. That costs less than a truth
 * value; margins can be joined by |, and >> 63 makes a truth value of the outcome. */

/* a, which has no minus sign, is 0, infinite or NaN. */
VT_FN vt_i vt_size_margin(vt_d a) {
  const vt_i u = vt_bits_of(a);
  return (u - vt_int(1)) | (vt_int(INT64_C(0x7fefffffffffffff)) - u);
}
/* Where x is anything but a positive finite number: 0, less than 0, infinite, NaN. */
VT_FN vt_m vt_not_positive(vt_d x) { return (vt_size_margin(vt_abs(x)) | vt_bits_of(x)) >> 63; }

/* Where y, known to `units` of its last place either way, leaves the f32 open: every function has a
 * quick way that this test decides to be enough or not. The f32 changes at the middle of two f32,
 * an f64 that has 2^28 in its last 29 bits; open is what lies within so many units of one. That is
 * units/2^28 of all numbers. A relative error of 2^-n is below 2^(53-n) units.
 * Subnormal f32 have other middles: where the result may be one, ask vt_near_any_middle. */
VT_FN vt_i vt_middle_margin(vt_d y, int64_t units) {
  const vt_i from = vt_bits_of(y) + vt_int(units + 0x10000000); /* never less: -0 has no room */
  return (from & vt_int(0x1fffffff)) - vt_int(2 * units + 1);
}
VT_FN vt_m vt_near_middle(vt_d y, int64_t units) { return vt_middle_margin(y, units) >> 63; }
/* The same for every f32: the middle of two subnormal ones has nothing in its last 28 bits, like
 * any f32, so what is close to an f32 is open as well. */
VT_FN vt_m vt_near_any_middle(vt_d y, int64_t units) {
  const vt_i from = vt_bits_of(y) + vt_int(units);
  return ((from & vt_int(0xfffffff)) - vt_int(2 * units + 1)) >> 63;
}

/* A pair hi + lo stands for a real number to about 2^-60 of itself, |lo| well below |hi|. */
typedef struct vt_pair {
  vt_d hi, lo;
} vt_pair;

/* a + b exactly, when |a| >= |b| or a == 0. */
VT_FN vt_pair vt_fast_sum(vt_d a, vt_d b) {
  const vt_d s = a + b;
  const vt_pair p = {s, b - (s - a)};
  return p;
}
/* a + b exactly. */
VT_FN vt_pair vt_sum(vt_d a, vt_d b) {
  const vt_d s = a + b, t = s - a;
  const vt_pair p = {s, (a - (s - t)) + (b - t)};
  return p;
}
/* a * b exactly (Dekker), for |a|, |b| below 2^996 and a product that does not underflow. */
VT_FN vt_pair vt_product(vt_d a, vt_d b) {
  const vt_d ca = 0x1p27 * a + a, cb = 0x1p27 * b + b;
  const vt_d ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
  const vt_d p = a * b;
  const vt_pair r = {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
  return r;
}
/* n / d to about 2^-100. */
VT_FN vt_pair vt_quotient(vt_pair n, vt_pair d) {
  const vt_d q = n.hi / d.hi;
  const vt_pair p = vt_product(q, d.hi);
  const vt_d rest = (((n.hi - p.hi) - p.lo) + n.lo) - q * d.lo;
  return vt_fast_sum(q, rest / d.hi);
}

/* The f64 that rounds to the f32 nearest to hi + lo, as if the sum were exact. The sum is rounded
 * to f64 "to odd": when inexact, to the neighbour whose last bit is 1. An odd f64 is never the
 * middle of two f32 and never on the wrong side of one, so the rounding that follows decides as if
 * it saw the exact sum. |hi| >= |lo|, or hi == 0; neither is NaN or infinite. */
VT_FN vt_d vt_settle(vt_pair x) {
  const vt_pair s = vt_fast_sum(x.hi, x.lo);
  const vt_i size = vt_bits_of(vt_abs(s.hi)); /* without the sign, size - 1 cannot overflow */
  /* lost > 0 with s > 0, or lost < 0 with s < 0: the magnitude is above |s|. */
  const vt_m outward = vt_lt(vt_num(0), s.lo * vt_sign_of(vt_num(1), s.hi));
  const vt_i odd = vt_sel_i(outward, size | 1, (size - 1) | 1);
  const vt_i settled = vt_sel_i(vt_eq(s.lo, vt_num(0)), size, odd);
  return vt_sign_of(vt_of_bits(settled), s.hi);
}
#endif
