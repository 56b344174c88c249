/* SPDX-License-Identifier: Apache-2.0
 * vt_words.h - the vocabulary of src/num for one lane, in C11: the types of lanes and the
 * primitives on them. vt_words_vector.h and vt_words_cuda.h have the same primitives; vt_core.h
 * says what uses them.
 * vt_d and vt_s are lanes of f64 and f32; vt_i, vt_w and vt_u integer lanes (64 bits, 64 unsigned,
 * 32 unsigned); vt_m and vt_u also masks, in which a lane is 0 or all ones. vt_s_NAME, vt_w_NAME,
 * ... work on that type, vt_NAME on vt_d. num and int give a constant in every lane, get a table
 * entry for each lane, bits_of and of_bits bit patterns; sel(m, a, b) is a where the mask m is set
 * and b elsewhere; any tells whether m is set in any lane; root is the square root. */
#ifndef VT_WORDS_H
#define VT_WORDS_H
#include <stdint.h>
#include <string.h>
#include "vt_num.h"

#define VT_FN static inline
/* code for rare cases, which is not inlined */
#define VT_RARE_FN static __attribute__((noinline))
/* always inlined, so that the compiler sees constant arguments */
#define VT_PART_FN static inline __attribute__((always_inline))
#define VT_TABLE static const

typedef double vt_d;  /* lanes of f64 */
typedef int64_t vt_i; /* integer lanes of 64 bits; >> is arithmetic */
typedef int64_t vt_m; /* masks: each lane is 0 or -1 */

VT_FN vt_i vt_bits_of(vt_d x) {
  vt_i u;
  memcpy(&u, &x, sizeof u);
  return u;
}
VT_FN vt_d vt_of_bits(vt_i u) {
  vt_d x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Comparisons of IEEE 754 as masks: false if an operand is NaN. */
VT_FN vt_m vt_lt(vt_d a, vt_d b) { return -(vt_m)(a < b); }
VT_FN vt_m vt_le(vt_d a, vt_d b) { return -(vt_m)(a <= b); }
VT_FN vt_m vt_eq(vt_d a, vt_d b) { return -(vt_m)(a == b); }
VT_FN vt_m vt_not(vt_m m) { return ~m; }
/* Returns 1 if m is set in any lane, so that callers can skip a slow branch. */
VT_FN int vt_any(vt_m m) { return m != 0; }

/* Returns a in the lanes where m is set, and b elsewhere. */
VT_FN vt_d vt_sel(vt_m m, vt_d a, vt_d b) { return m ? a : b; }
VT_FN vt_i vt_sel_i(vt_m m, vt_i a, vt_i b) { return m ? a : b; }
VT_FN vt_d vt_num(double c) { return c; } /* the same number in every lane */
VT_FN vt_i vt_int(int64_t c) { return c; }
VT_FN vt_d vt_get(const double *table, vt_i i) { return table[i]; }
/* The square root, correctly rounded by IEEE 754. */
VT_FN vt_d vt_root(vt_d x) { return __builtin_sqrt(x); }
VT_FN vt_d vt_abs(vt_d x) { return vt_of_bits(vt_bits_of(x) & INT64_MAX); }
/* x with the sign of `like`; the sign bit of x must be clear. */
VT_FN vt_d vt_with_sign_of(vt_d x, vt_d like) {
  return vt_of_bits(vt_bits_of(x) | (vt_bits_of(like) & INT64_MIN));
}

/* ---- unsigned integer lanes: they wrap, and >> shifts in zeros ---- */
typedef uint64_t vt_w; /* a cast between vt_i and vt_w keeps the bits */
__extension__ typedef unsigned __int128 vt_w_product;

VT_FN vt_m vt_i_eq(vt_i a, vt_i b) { return -(vt_m)(a == b); }
VT_FN vt_m vt_w_lt(vt_w a, vt_w b) { return -(vt_m)(a < b); }
VT_FN vt_w vt_w_product_high(vt_w a, vt_w b) { return (vt_w)((vt_w_product)a * b >> 64); }
/* The number of leading zeros; x is not 0. */
VT_FN vt_i vt_w_leading_zeros(vt_w x) { return __builtin_clzll(x); }
VT_FN vt_i vt_truncate(vt_d x) { return (vt_i)x; } /* rounds towards 0; |x| < 2^63 */
VT_FN vt_d vt_of_int(vt_i n) { return (vt_d)n; }   /* rounds to nearest even */

/* ---- f32 lanes ---- */
typedef float vt_s;
typedef uint32_t vt_u; /* integer lanes of 32 bits, which wrap; as a mask 0 or all ones */

VT_FN vt_u vt_s_bits_of(vt_s x) {
  vt_u u;
  memcpy(&u, &x, sizeof u);
  return u;
}
VT_FN vt_s vt_s_of_bits(vt_u u) {
  vt_s x;
  memcpy(&x, &u, sizeof x);
  return x;
}
/* a*b + c, rounded once. Without an fma instruction the product of vt_s_fma is computed exactly in
 * f64. Its f64 sum with c is on the same side of every midpoint between two f32 as the exact sum,
 * unless it is itself a midpoint; then, and for results that may be subnormal, the software fma
 * decides. */
#ifdef __FMA__
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) { return __builtin_fmaf(a, b, c); }
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) { return __builtin_fma(a, b, c); }
#else
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) { return vt_f64_fma(a, b, c); }
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) {
  const vt_d sum = (vt_d)a * (vt_d)b + (vt_d)c;
  const int midpoint = (vt_bits_of(sum) & 0x1fffffff) == 0x10000000;
  return midpoint || vt_abs(sum) < 0x1p-126 ? vt_f32_fma(a, b, c) : (vt_s)sum;
}
#endif
VT_FN vt_u vt_s_lt(vt_s a, vt_s b) { return 0u - (vt_u)(a < b); }
VT_FN vt_u vt_s_le(vt_s a, vt_s b) { return 0u - (vt_u)(a <= b); }
VT_FN vt_u vt_s_eq(vt_s a, vt_s b) { return 0u - (vt_u)(a == b); }
VT_FN int vt_s_any(vt_u m) { return m != 0; }
VT_FN vt_s vt_s_sel(vt_u m, vt_s a, vt_s b) { return m ? a : b; }
VT_FN vt_s vt_s_num(float c) { return c; }
VT_FN vt_s vt_s_get(const float *table, vt_u i) { return table[i]; }
VT_FN vt_s vt_s_root(vt_s x) { return __builtin_sqrtf(x); }
VT_FN vt_d vt_s_widen(vt_s x) { return (vt_d)x; }
VT_FN vt_s vt_s_narrow(vt_d x) { return (vt_s)x; } /* rounds to nearest even */

VT_FN vt_u vt_u_num(uint32_t c) { return c; }
VT_FN vt_u vt_u_lt(vt_u a, vt_u b) { return 0u - (vt_u)(a < b); }
VT_FN vt_u vt_u_sel(vt_u m, vt_u a, vt_u b) { return m ? a : b; }
/* Converts an integer n < 2^31, exactly or rounded to nearest even. */
VT_FN vt_s vt_s_of_int(vt_u n) { return (vt_s)(int32_t)n; }
VT_FN vt_w vt_u_widen(vt_u x) { return x; }        /* zero-extended */
VT_FN vt_u vt_u_narrow(vt_w x) { return (vt_u)x; } /* truncates to the low half */

/* ---- lanes in memory, `stride` elements apart ---- */
enum { VT_WIDTH = 1 }; /* number of lanes of a vt_d or vt_s */
VT_FN vt_s vt_s_load(const float *p, int64_t stride) { return (void)stride, *p; }
VT_FN vt_d vt_load(const double *p, int64_t stride) { return (void)stride, *p; }
VT_FN void vt_s_store(float *p, int64_t stride, vt_s x) { (void)stride, *p = x; }
VT_FN void vt_store(double *p, int64_t stride, vt_d x) { (void)stride, *p = x; }
#endif
