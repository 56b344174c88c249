/* SPDX-License-Identifier: Apache-2.0
 * vt_words_cuda.h - the vocabulary of src/num (vt_words.h) as device code: one lane per thread.
 * Must be compiled with -fmad=false, so that + - * stay separate operations rounded to nearest.
 * vt_d and vt_s are lanes of f64 and f32; vt_i, vt_w and vt_u integer lanes (64 bits, 64 unsigned,
 * 32 unsigned); vt_m and vt_u also masks, in which a lane is 0 or all ones. vt_s_NAME, vt_w_NAME,
 * ... work on that type, vt_NAME on vt_d. num and int give a constant in every lane, get a table
 * entry for each lane, bits_of and of_bits bit patterns; sel(m, a, b) is a where the mask m is set
 * and b elsewhere; any tells whether m is set in any lane; root is the square root. */
#ifndef VT_WORDS_H
#define VT_WORDS_H
#include <stdint.h>
#include "vt_num.h"

#define VT_FN static __device__ __forceinline__
#define VT_RARE_FN static __device__ __noinline__ /* code for rare cases, which is not inlined */
#define VT_PART_FN VT_FN
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
VT_FN vt_d vt_with_sign_of(vt_d x, vt_d like) {
  return vt_of_bits(vt_bits_of(x) | (vt_bits_of(like) & INT64_MIN));
}

typedef uint64_t vt_w;

VT_FN vt_m vt_i_eq(vt_i a, vt_i b) { return -(vt_m)(a == b); }
VT_FN vt_m vt_w_lt(vt_w a, vt_w b) { return -(vt_m)(a < b); }
VT_FN vt_w vt_w_product_high(vt_w a, vt_w b) { return __umul64hi(a, b); }
VT_FN vt_i vt_w_leading_zeros(vt_w x) { return __clzll((long long)x); }
VT_FN vt_i vt_truncate(vt_d x) { return __double2ll_rz(x); }
VT_FN vt_d vt_of_int(vt_i n) { return __ll2double_rn(n); }
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) { return __fma_rn(a, b, c); }

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

VT_FN vt_u vt_u_num(uint32_t c) { return c; }
VT_FN vt_u vt_u_lt(vt_u a, vt_u b) { return 0u - (vt_u)(a < b); }
VT_FN vt_u vt_u_sel(vt_u m, vt_u a, vt_u b) { return m ? a : b; }
VT_FN vt_s vt_s_of_int(vt_u n) { return __int2float_rn((int)n); }
VT_FN vt_w vt_u_widen(vt_u x) { return x; }
VT_FN vt_u vt_u_narrow(vt_w x) { return (vt_u)x; }

enum { VT_WIDTH = 1 };
VT_FN vt_s vt_s_load(const float *p, int64_t stride) { return (void)stride, *p; }
VT_FN vt_d vt_load(const double *p, int64_t stride) { return (void)stride, *p; }
VT_FN void vt_s_store(float *p, int64_t stride, vt_s x) { (void)stride, *p = x; }
VT_FN void vt_store(double *p, int64_t stride, vt_d x) { (void)stride, *p = x; }
#endif
