/* SPDX-License-Identifier: Apache-2.0
 * vt_words_vector.h - the vocabulary of src/num (vt_words.h) over the vector types of GCC and
 * clang: VT_LANES lanes of f64 or of f32. Primitives for which the compilers have no vector
 * operator (table lookup, square root, fma, high half of a product, leading zeros) loop over the
 * lanes. Without an fma instruction the software fma of fma.inc is used (VT_FMA_IS_SOFT). An
 * includer that targets one instruction set may define some primitives itself (VT_OWN_WORDS).
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
#ifndef VT_LANES
#define VT_LANES 4
#endif

typedef double vt_d __attribute__((vector_size(8 * VT_LANES)));
typedef int64_t vt_i __attribute__((vector_size(8 * VT_LANES)));
typedef vt_i vt_m;

VT_FN vt_i vt_bits_of(vt_d x) { return (vt_i)x; } /* a cast between vectors keeps the bits */
VT_FN vt_d vt_of_bits(vt_i u) { return (vt_d)u; }
VT_FN vt_m vt_lt(vt_d a, vt_d b) { return (vt_m)(a < b); }
VT_FN vt_m vt_le(vt_d a, vt_d b) { return (vt_m)(a <= b); }
VT_FN vt_m vt_eq(vt_d a, vt_d b) { return (vt_m)(a == b); }
VT_FN vt_m vt_not(vt_m m) { return ~m; }
VT_FN vt_i vt_sel_i(vt_m m, vt_i a, vt_i b) { return (a & m) | (b & ~m); }
VT_FN vt_d vt_sel(vt_m m, vt_d a, vt_d b) { return (vt_d)vt_sel_i(m, (vt_i)a, (vt_i)b); }
/* number minus vector gives a vector; c - (+0) is c for every c, also for -0 */
VT_FN vt_d vt_num(double c) { return c - (vt_d){0}; }
VT_FN vt_i vt_int(int64_t c) { return c - (vt_i){0}; }
VT_FN vt_d vt_abs(vt_d x) { return (vt_d)((vt_i)x & INT64_MAX); }
VT_FN vt_d vt_with_sign_of(vt_d x, vt_d like) { return (vt_d)((vt_i)x | ((vt_i)like & INT64_MIN)); }

/* ---- unsigned integer lanes ---- */
typedef uint64_t vt_w __attribute__((vector_size(8 * VT_LANES)));
__extension__ typedef unsigned __int128 vt_w_product;

VT_FN vt_m vt_i_eq(vt_i a, vt_i b) { return (vt_m)(a == b); }
VT_FN vt_m vt_w_lt(vt_w a, vt_w b) { return (vt_m)(a < b); }
VT_FN vt_w vt_w_product_high(vt_w a, vt_w b) {
  for (int k = 0; k < VT_LANES; k++) a[k] = (uint64_t)((vt_w_product)a[k] * b[k] >> 64);
  return a;
}
VT_FN vt_i vt_w_leading_zeros(vt_w x) {
  vt_i n;
  for (int k = 0; k < VT_LANES; k++) n[k] = __builtin_clzll(x[k]);
  return n;
}
VT_FN vt_i vt_truncate(vt_d x) { return __builtin_convertvector(x, vt_i); }
VT_FN vt_d vt_of_int(vt_i n) { return __builtin_convertvector(n, vt_d); }

/* ---- f32 lanes ---- */
typedef float vt_s __attribute__((vector_size(4 * VT_LANES)));
typedef uint32_t vt_u __attribute__((vector_size(4 * VT_LANES)));
typedef int32_t vt_u_signed __attribute__((vector_size(4 * VT_LANES)));

VT_FN vt_u vt_s_bits_of(vt_s x) { return (vt_u)x; }
VT_FN vt_s vt_s_of_bits(vt_u u) { return (vt_s)u; }
VT_FN vt_u vt_s_lt(vt_s a, vt_s b) { return (vt_u)(a < b); }
VT_FN vt_u vt_s_le(vt_s a, vt_s b) { return (vt_u)(a <= b); }
VT_FN vt_u vt_s_eq(vt_s a, vt_s b) { return (vt_u)(a == b); }
VT_FN vt_u vt_u_num(uint32_t c) { return c - (vt_u){0}; }
VT_FN vt_u vt_u_lt(vt_u a, vt_u b) { return (vt_u)(a < b); }
VT_FN vt_u vt_u_sel(vt_u m, vt_u a, vt_u b) { return (a & m) | (b & ~m); }
VT_FN vt_s vt_s_sel(vt_u m, vt_s a, vt_s b) { return (vt_s)vt_u_sel(m, (vt_u)a, (vt_u)b); }
VT_FN vt_s vt_s_num(float c) { return c - (vt_s){0}; }
VT_FN vt_s vt_s_of_int(vt_u n) { return __builtin_convertvector((vt_u_signed)n, vt_s); }
VT_FN vt_w vt_u_widen(vt_u x) { return __builtin_convertvector(x, vt_w); }
VT_FN vt_u vt_u_narrow(vt_w x) { return __builtin_convertvector(x, vt_u); }

/* ---- primitives that a processor may have instructions for: an includer that has its own defines
 * VT_OWN_WORDS and defines them after this file ---- */
#ifndef VT_OWN_WORDS
VT_FN vt_d vt_s_widen(vt_s x) { return __builtin_convertvector(x, vt_d); }
VT_FN vt_s vt_s_narrow(vt_d x) { return __builtin_convertvector(x, vt_s); }
VT_FN int vt_any(vt_m m) {
  int64_t all = 0;
  for (int i = 0; i < VT_LANES; i++) all |= m[i];
  return all != 0;
}
VT_FN vt_d vt_get(const double *table, vt_i i) {
  vt_d x;
  for (int k = 0; k < VT_LANES; k++) x[k] = table[i[k]];
  return x;
}
VT_FN vt_d vt_root(vt_d x) {
  for (int k = 0; k < VT_LANES; k++) x[k] = __builtin_sqrt(x[k]);
  return x;
}
VT_FN int vt_s_any(vt_u m) {
  uint32_t all = 0;
  for (int i = 0; i < VT_LANES; i++) all |= m[i];
  return all != 0;
}
VT_FN vt_s vt_s_get(const float *table, vt_u i) {
  vt_s x;
  for (int k = 0; k < VT_LANES; k++) x[k] = table[i[k]];
  return x;
}
VT_FN vt_s vt_s_root(vt_s x) {
  for (int k = 0; k < VT_LANES; k++) x[k] = __builtin_sqrtf(x[k]);
  return x;
}
#ifdef __FMA__
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) {
  for (int k = 0; k < VT_LANES; k++) c[k] = __builtin_fmaf(a[k], b[k], c[k]);
  return c;
}
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) {
  for (int k = 0; k < VT_LANES; k++) c[k] = __builtin_fma(a[k], b[k], c[k]);
  return c;
}
#else
#define VT_FMA_IS_SOFT
#endif
#endif

/* ---- lanes in memory, `stride` elements apart ---- */
enum { VT_WIDTH = VT_LANES };
VT_FN vt_s vt_s_load(const float *p, int64_t stride) {
  vt_s x;
  for (int k = 0; k < VT_LANES; k++) x[k] = p[k * stride];
  return x;
}
VT_FN vt_d vt_load(const double *p, int64_t stride) {
  vt_d x;
  for (int k = 0; k < VT_LANES; k++) x[k] = p[k * stride];
  return x;
}
VT_FN void vt_s_store(float *p, int64_t stride, vt_s x) {
  for (int k = 0; k < VT_LANES; k++) p[k * stride] = x[k];
}
VT_FN void vt_store(double *p, int64_t stride, vt_d x) {
  for (int k = 0; k < VT_LANES; k++) p[k * stride] = x[k];
}
#endif
