/* SPDX-License-Identifier: Apache-2.0
 * row_avx512.h - exp(x - m) and y / s along rows, sixteen f32 at a time. Both are the correctly
 * rounded results of docs/numerics.md by other means than f64 and the divider, which AVX-512 has no
 * more of than AVX2; kern_exp.inc and kern_row.inc have the text for everybody. */
#ifndef VT_ROW_AVX512_H
#define VT_ROW_AVX512_H
#include <immintrin.h>
#include "vt_num.h"

/* 2^(j/32) as pairs of f32, to 2^-49. */
static const float row_root[32] = {
    0x1p+0f,        0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f,
    0x1.2387a6p+0f, 0x1.29e9ep+0f,  0x1.306fep+0f,  0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f,
    0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f,
    0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f,
    0x1.ae89fap+0f, 0x1.b7f77p+0f,  0x1.c199bep+0f, 0x1.cb720ep+0f, 0x1.d5818ep+0f, 0x1.dfc974p+0f,
    0x1.ea4afap+0f, 0x1.f50766p+0f};
static const float row_root_lo[32] = {0.0f,
                                      -0x1.9d4f52p-25f,
                                      0x1.9f3122p-25f,
                                      -0x1.fdb496p-25f,
                                      -0x1.c15742p-27f,
                                      -0x1.d2e8cap-25f,
                                      0x1.ceac48p-25f,
                                      -0x1.5c0424p-25f,
                                      0x1.4636e2p-25f,
                                      -0x1.18aac6p-25f,
                                      0x1.824684p-25f,
                                      0x1.8624b4p-30f,
                                      -0x1.593abcp-25f,
                                      -0x1.2c561p-25f,
                                      -0x1.5bd5ecp-27f,
                                      -0x1.f8b55p-25f,
                                      0x1.9fcef4p-26f,
                                      0x1.1d8beep-25f,
                                      -0x1.829fdp-25f,
                                      -0x1.accc7cp-26f,
                                      0x1.15506ep-27f,
                                      -0x1.e64744p-25f,
                                      0x1.51f848p-27f,
                                      -0x1.b83b54p-25f,
                                      -0x1.a94b14p-26f,
                                      -0x1.a09438p-25f,
                                      -0x1.3d56b2p-27f,
                                      -0x1.8837ccp-27f,
                                      -0x1.822dbcp-27f,
                                      -0x1.908c94p-25f,
                                      0x1.52486cp-27f,
                                      -0x1.246ebp-26f};

/* z = n*STEP + r, STEP = ln(2)/32 as HI + LO, so that e^z = 2^(n/32) * e^r, |r| < 2^-6.5. HI is a
 * multiple of 2^-29 and z, where n is not 0, of 2^-30: `most` = z - n*HI is exact. n*LO is below
 * 2^-21.7 and known to 2^-45.
 *   e^r = 1 + most + v,  v = r^2*(1/2 + r/6 + r^2/24) - n*LO
 * r is rounded by 2^-31, which enters v times 2^-6.5; the polynomial leaves out 2^-39.4 and has
 * roundings of less than 2^-13.8 * 2^-22.3. So v is good to 2^-35.5. With u + u_lo = 2^(n/32) but
 * for its power of two, u < 2:
 *   y = s + lo = u + u*most + (u*v + u_lo*(1 + most))
 * where u*most and its sum with u are exact pairs; the three sums of what is below 2^-12.6 are
 * rounded by 2^-36.6 each: y is good to 2^-34. The test allows 2^-33: when both ends of the
 * interval round to one f32, so does the value. */
static inline __m512 row_exp_16(__m512 z, __mmask16 *open) {
  const __m512 magic = _mm512_set1_ps(0x1.8p23f), slack = _mm512_set1_ps(0x1p-33f);
  const __m512 t = _mm512_fmadd_ps(z, _mm512_set1_ps(0x1.715476p+5f), magic);
  const __m512 n = _mm512_sub_ps(t, magic);
  const __m512 most = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.62e43p-6f), z);
  const __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(0x1.05c61p-34f), most);
  __m512 v = _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.555556p-5f), _mm512_set1_ps(0x1.555556p-3f));
  v = _mm512_mul_ps(_mm512_fmadd_ps(v, r, _mm512_set1_ps(0.5f)), _mm512_mul_ps(r, r));
  v = _mm512_fmadd_ps(n, _mm512_set1_ps(0x1.05c61p-34f), v);
  const __m512i bits = _mm512_castps_si512(t); /* n in the last ones, of which five are looked at */
  const __m512 u =
      _mm512_permutex2var_ps(_mm512_loadu_ps(row_root), bits, _mm512_loadu_ps(row_root + 16));
  const __m512 u_lo =
      _mm512_permutex2var_ps(_mm512_loadu_ps(row_root_lo), bits, _mm512_loadu_ps(row_root_lo + 16));
  const __m512 q = _mm512_mul_ps(u, most), q_lo = _mm512_fmsub_ps(u, most, q);
  const __m512 s = _mm512_add_ps(u, q), s_lo = _mm512_sub_ps(q, _mm512_sub_ps(s, u));
  const __m512 w = _mm512_fmadd_ps(u, v, _mm512_fmadd_ps(u_lo, most, u_lo));
  const __m512 lo = _mm512_add_ps(s_lo, _mm512_add_ps(q_lo, w));
  const __m512 y = _mm512_add_ps(s, _mm512_sub_ps(lo, slack));
  const __mmask16 sure =
      _mm512_cmp_ps_mask(y, _mm512_add_ps(s, _mm512_add_ps(lo, slack)), _CMP_EQ_OQ);
  const __m512i power =
      _mm512_and_si512(_mm512_slli_epi32(bits, 18), _mm512_set1_epi32((int)0xff800000));
  const __mmask16 zero = _mm512_cmp_ps_mask(z, _mm512_set1_ps(-104.0f), _CMP_LT_OQ);
  const __mmask16 high = _mm512_mask_cmp_ps_mask(sure, z, _mm512_set1_ps(-87.0f), _CMP_GE_OQ);
  const __mmask16 inside = _mm512_mask_cmp_ps_mask(high, z, _mm512_set1_ps(88.0f), _CMP_LE_OQ);
  *open = (__mmask16) ~(inside | zero);
  return _mm512_castsi512_ps(
      _mm512_maskz_add_epi32((__mmask16)~zero, _mm512_castps_si512(y), power));
}

static void row_exp_open(float *y, __m512 z, __mmask16 open) {
  float from[16];
  _mm512_storeu_ps(from, z);
  for (int i = 0; i < 16; i++)
    if (open >> i & 1) y[i] = vt_f32_exp(from[i]);
}

static void exp_row(float *y, const float *x, float m, int64_t n) {
  const __m512 shift = _mm512_set1_ps(m);
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 here = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)0xffff;
    const __m512 z = _mm512_sub_ps(_mm512_maskz_loadu_ps(here, x + i), shift);
    __mmask16 open;
    _mm512_mask_storeu_ps(y + i, here, row_exp_16(z, &open));
    if (open & here) row_exp_open(y + i, z, open & here);
  }
}

/* e / s for 1 <= s < 2^24. r is the f32 nearest to 1/s, q within 1.5 of the last place of e/s, and
 * after one correction within 0.6; by Markstein's theorem the next one gives the quotient rounded.
 * The remainders are exact while e is not below 2^-100; what is goes to the divider. */
static inline __m512 row_quotient_16(__m512 e, __m512 s, __m512 r) {
  const __mmask16 low = _mm512_cmp_ps_mask(e, _mm512_set1_ps(0x1p-100f), _CMP_LT_OQ);
  __m512 q = _mm512_mul_ps(e, r);
  q = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, s, e), r, q);
  q = _mm512_fmadd_ps(_mm512_fnmadd_ps(q, s, e), r, q);
  return low ? _mm512_mask_div_ps(q, low, e, s) : q;
}

/* y[i] / s in place, of values that are at most 1; others of s are left to the caller. */
static int divide_row(float *y, int64_t n, float sum) {
  const __m512 s = _mm512_set1_ps(sum), r = _mm512_set1_ps(1.0f / sum);
  if (!(sum >= 1.0f && sum < 0x1p24f)) return 0;
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 here = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)0xffff;
    const __m512 e = _mm512_maskz_loadu_ps(here, y + i);
    _mm512_mask_storeu_ps(y + i, here, row_quotient_16(e, s, r));
  }
  return 1;
}
#endif
