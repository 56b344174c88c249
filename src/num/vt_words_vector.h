/* SPDX-License-Identifier: Apache-2.0
 * vt_words_vector.h - the vocabulary of vt_core.h over vector types of GCC and clang: VT_LANES f64
 * at a time. Only the lookup and the root go lane by lane. */
#ifndef VT_WORDS_H
#define VT_WORDS_H
#include <stdint.h>
#include <string.h>

#define VT_FN static inline
#define VT_RARE_FN static __attribute__((noinline)) /* must not swell its caller */
#define VT_TABLE static const
#ifndef VT_LANES
#define VT_LANES 4
#endif

typedef double vt_d __attribute__((vector_size(8 * VT_LANES)));
typedef int64_t vt_i __attribute__((vector_size(8 * VT_LANES)));
typedef vt_i vt_m;

VT_FN vt_i vt_bits_of(vt_d x) { return (vt_i)x; } /* vector casts keep the bits */
VT_FN vt_d vt_of_bits(vt_i u) { return (vt_d)u; }
VT_FN vt_m vt_lt(vt_d a, vt_d b) { return (vt_m)(a < b); }
VT_FN vt_m vt_le(vt_d a, vt_d b) { return (vt_m)(a <= b); }
VT_FN vt_m vt_eq(vt_d a, vt_d b) { return (vt_m)(a == b); }
VT_FN vt_m vt_not(vt_m m) { return ~m; }
VT_FN int vt_any(vt_m m) {
  int64_t all = 0;
  for (int i = 0; i < VT_LANES; i++) all |= m[i];
  return all != 0;
}
VT_FN vt_i vt_sel_i(vt_m m, vt_i a, vt_i b) { return (a & m) | (b & ~m); }
VT_FN vt_d vt_sel(vt_m m, vt_d a, vt_d b) { return (vt_d)vt_sel_i(m, (vt_i)a, (vt_i)b); }
VT_FN vt_d vt_num(double c) { return c - (vt_d){0}; } /* c - (+0) is c for every c */
VT_FN vt_i vt_int(int64_t c) { return c - (vt_i){0}; }
VT_FN vt_d vt_get(const double *table, vt_i i) {
  vt_d x;
  for (int k = 0; k < VT_LANES; k++) x[k] = table[i[k]];
  return x;
}
VT_FN vt_d vt_root(vt_d x) {
  for (int k = 0; k < VT_LANES; k++) x[k] = __builtin_sqrt(x[k]);
  return x;
}
VT_FN vt_d vt_abs(vt_d x) { return (vt_d)((vt_i)x & INT64_MAX); }
VT_FN vt_d vt_sign_of(vt_d x, vt_d like) { return (vt_d)((vt_i)x | ((vt_i)like & INT64_MIN)); }
#endif
