/* SPDX-License-Identifier: Apache-2.0
 * vec_avx512.h - the vector vocabulary of the kernels (listed in vec_scalar.h), 512 bits. V are
 * vectors of f32, VD of f64. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
#include <stdint.h>
/* Tile sizes of a matrix product, see kern_gemm_type.inc. */
#define GEMM_ROWS 14
#define GEMM_PANELS 8
#define GEMM_CACHED 4096

enum { V_REGISTERS = 32, V_N = 16, VD_N = 8 };
typedef __m512 V;
typedef __m512d VD;

/* A mask with a bit set for each of the first n lanes. */
static inline __mmask16 v_mask(int64_t n) { return (__mmask16)((1u << n) - 1); }
static inline V v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm512_storeu_ps(p, a); }
static inline V v_load_part(const float *p, int64_t n) {
  return _mm512_maskz_loadu_ps(v_mask(n), p);
}
static inline void v_store_part(float *p, int64_t n, V a) {
  _mm512_mask_storeu_ps(p, v_mask(n), a);
}
static inline V v_zero(void) { return _mm512_setzero_ps(); }
static inline V v_broadcast(float x) { return _mm512_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm512_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm512_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }

/* Transposes 16 x 16: exchanges within pairs of rows, then pairs of pairs. Then quarter l of x[4g +
 * j] holds column 4l + j of rows 4g .. 4g + 3, and the quarters are exchanged. */
static inline void v_transpose(V x[V_N]) {
  V y[V_N];
#pragma GCC unroll 16
  for (int i = 0; i < V_N; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < V_N; i += 4) {
    x[i] = _mm512_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm512_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 4; j++) {
    const V a = _mm512_shuffle_f32x4(x[j], x[4 + j], 0x88);
    const V b = _mm512_shuffle_f32x4(x[j], x[4 + j], 0xdd);
    const V c = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0x88);
    const V d = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0xdd);
    x[j] = _mm512_shuffle_f32x4(a, c, 0x88);
    x[4 + j] = _mm512_shuffle_f32x4(b, d, 0x88);
    x[8 + j] = _mm512_shuffle_f32x4(a, c, 0xdd);
    x[12 + j] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

static inline __mmask8 vd_mask(int64_t n) { return (__mmask8)((1u << n) - 1); }
static inline VD vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, VD a) { _mm512_storeu_pd(p, a); }
static inline VD vd_load_part(const double *p, int64_t n) {
  return _mm512_maskz_loadu_pd(vd_mask(n), p);
}
static inline void vd_store_part(double *p, int64_t n, VD a) {
  _mm512_mask_storeu_pd(p, vd_mask(n), a);
}
static inline VD vd_zero(void) { return _mm512_setzero_pd(); }
static inline VD vd_broadcast(double x) { return _mm512_set1_pd(x); }
static inline VD vd_add(VD a, VD b) { return _mm512_add_pd(a, b); }
static inline VD vd_fma(VD a, VD b, VD c) { return _mm512_fmadd_pd(a, b, c); }
/* Transposes 8 x 8: exchanges within pairs of rows, then quarters of pairs. */
static inline void vd_transpose(VD x[VD_N]) {
  VD y[VD_N];
#pragma GCC unroll 16
  for (int i = 0; i < VD_N; i += 2) {
    y[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 2; j++) {
    const VD a = _mm512_shuffle_f64x2(y[j], y[2 + j], 0x88);
    const VD b = _mm512_shuffle_f64x2(y[j], y[2 + j], 0xdd);
    const VD c = _mm512_shuffle_f64x2(y[4 + j], y[6 + j], 0x88);
    const VD d = _mm512_shuffle_f64x2(y[4 + j], y[6 + j], 0xdd);
    x[j] = _mm512_shuffle_f64x2(a, c, 0x88);
    x[2 + j] = _mm512_shuffle_f64x2(b, d, 0x88);
    x[4 + j] = _mm512_shuffle_f64x2(a, c, 0xdd);
    x[6 + j] = _mm512_shuffle_f64x2(b, d, 0xdd);
  }
}

/* Loads and stores of f16; stores round to nearest, ties to even. */
#define V_HAS_F16
static inline V v_load_f16(const uint16_t *p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline void v_store_f16(uint16_t *p, V a) {
  _mm256_storeu_si256((__m256i *)(void *)p,
                      _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* ---- words for quotients by fma, see kern_divide.inc ---- */
#define V_FUSED /* v_fma is one instruction */
static inline V v_div(V a, V b) { return _mm512_div_ps(a, b); }
static inline V v_fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); } /* c - a*b */
static inline unsigned v_below(V a, V b) { /* one bit per lane: a < b */
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
#endif
