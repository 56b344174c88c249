/* SPDX-License-Identifier: Apache-2.0
 * vt_words_cuda.h - the vocabulary of vt_core.h as device code: one lane a thread. Built with
 * -fmad=false, so that + - * stay single operations rounded to nearest. */
#ifndef VT_WORDS_H
#define VT_WORDS_H
#include <stdint.h>

#define VT_FN static __device__ __forceinline__
#define VT_RARE_FN static __device__ __noinline__ /* must not swell its caller */
#define VT_TABLE static __device__ const

typedef double vt_d;
typedef int64_t vt_i;
typedef int64_t vt_m;

VT_FN vt_i vt_bits_of(vt_d x) { return __double_as_longlong(x); }
VT_FN vt_d vt_of_bits(vt_i u) { return __longlong_as_double(u); }
VT_FN vt_m vt_lt(vt_d a, vt_d b) { return -(vt_m)(a < b); }
VT_FN vt_m vt_le(vt_d a, vt_d b) { return -(vt_m)(a <= b); }
VT_FN vt_m vt_eq(vt_d a, vt_d b) { return -(vt_m)(a == b); }
VT_FN vt_m vt_not(vt_m m) { return ~m; }
VT_FN int vt_any(vt_m m) { return m != 0; }
VT_FN vt_d vt_sel(vt_m m, vt_d a, vt_d b) { return m ? a : b; }
VT_FN vt_i vt_sel_i(vt_m m, vt_i a, vt_i b) { return m ? a : b; }
VT_FN vt_d vt_num(double c) { return c; }
VT_FN vt_i vt_int(int64_t c) { return c; }
VT_FN vt_d vt_get(const double *table, vt_i i) { return table[i]; }
VT_FN vt_d vt_root(vt_d x) { return __dsqrt_rn(x); }
VT_FN vt_d vt_abs(vt_d x) { return vt_of_bits(vt_bits_of(x) & INT64_MAX); }
VT_FN vt_d vt_sign_of(vt_d x, vt_d like) {
  return vt_of_bits(vt_bits_of(x) | (vt_bits_of(like) & INT64_MIN));
}

/* f32 lanes, for the short ways (vt_short.h). */
typedef float vt_s;
typedef uint32_t vt_u;

VT_FN vt_u vt_s_bits_of(vt_s x) { return __float_as_uint(x); }
VT_FN vt_s vt_s_of_bits(vt_u u) { return __uint_as_float(u); }
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) { return __fmaf_rn(a, b, c); }
VT_FN vt_u vt_s_lt(vt_s a, vt_s b) { return 0u - (vt_u)(a < b); }
VT_FN vt_u vt_s_le(vt_s a, vt_s b) { return 0u - (vt_u)(a <= b); }
VT_FN vt_u vt_s_eq(vt_s a, vt_s b) { return 0u - (vt_u)(a == b); }
VT_FN int vt_s_any(vt_u m) { return m != 0; }
VT_FN vt_s vt_s_sel(vt_u m, vt_s a, vt_s b) { return m ? a : b; }
VT_FN vt_s vt_s_num(float c) { return c; }
VT_FN vt_s vt_s_get(const float *table, vt_u i) { return table[i]; }
VT_FN vt_s vt_s_root(vt_s x) { return __fsqrt_rn(x); }
VT_FN vt_d vt_s_widen(vt_s x) { return (vt_d)x; }
VT_FN vt_s vt_s_narrow(vt_d x) { return __double2float_rn(x); }
#endif
