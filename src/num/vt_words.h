/* SPDX-License-Identifier: Apache-2.0
 * vt_words.h - the vocabulary of vt_core.h for one lane of C11. */
#ifndef VT_WORDS_H
#define VT_WORDS_H
#include <stdint.h>
#include <string.h>

#define VT_FN static inline
#define VT_RARE_FN static __attribute__((noinline)) /* must not swell its caller */
#define VT_TABLE static const

typedef double vt_d;  /* f64 lanes */
typedef int64_t vt_i; /* integer lanes of the same width; >> is arithmetic */
typedef int64_t vt_m; /* truth lanes: 0 or -1 */

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

/* Comparisons as IEEE 754 makes them: false with NaN. */
VT_FN vt_m vt_lt(vt_d a, vt_d b) { return -(vt_m)(a < b); }
VT_FN vt_m vt_le(vt_d a, vt_d b) { return -(vt_m)(a <= b); }
VT_FN vt_m vt_eq(vt_d a, vt_d b) { return -(vt_m)(a == b); }
VT_FN vt_m vt_not(vt_m m) { return ~m; }
VT_FN int vt_any(vt_m m) { return m != 0; } /* in some lane: a slow way may be branched around */

VT_FN vt_d vt_sel(vt_m m, vt_d a, vt_d b) { return m ? a : b; } /* a where m, b elsewhere */
VT_FN vt_i vt_sel_i(vt_m m, vt_i a, vt_i b) { return m ? a : b; }
VT_FN vt_d vt_num(double c) { return c; } /* the same number in every lane */
VT_FN vt_i vt_int(int64_t c) { return c; }
VT_FN vt_d vt_get(const double *table, vt_i i) { return table[i]; }
VT_FN vt_d vt_root(vt_d x) { return __builtin_sqrt(x); } /* correctly rounded by IEEE 754 */
VT_FN vt_d vt_abs(vt_d x) { return vt_of_bits(vt_bits_of(x) & INT64_MAX); }
VT_FN vt_d vt_sign_of(vt_d x, vt_d like) { /* x >= +0 with the sign of `like` */
  return vt_of_bits(vt_bits_of(x) | (vt_bits_of(like) & INT64_MIN));
}

#endif
