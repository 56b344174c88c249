/* SPDX-License-Identifier: Apache-2.0
 * vec_gemm_avx512.h - the vocabulary of contractions, 512 bits. */
#ifndef VT_VEC_GEMM_H
#define VT_VEC_GEMM_H
#include <immintrin.h>
#include <stdint.h>
#define GEMM_ROWS 14
#define GEMM_PANELS 8
#define GEMM_NEAR 4096
enum { GS_N = 16, GD_N = 8 };
typedef __m512 GS;
typedef __m512d GD;

/* The first n of the lanes. */
static inline __mmask16 gs_mask(int64_t n) { return (__mmask16)((1u << n) - 1); }
static inline GS gs_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void gs_store(float *p, GS a) { _mm512_storeu_ps(p, a); }
static inline GS gs_load_part(const float *p, int64_t n) {
  return _mm512_maskz_loadu_ps(gs_mask(n), p);
}
static inline void gs_store_part(float *p, int64_t n, GS a) {
  _mm512_mask_storeu_ps(p, gs_mask(n), a);
}
static inline GS gs_zero(void) { return _mm512_setzero_ps(); }
static inline GS gs_one(float x) { return _mm512_set1_ps(x); }
static inline GS gs_add(GS a, GS b) { return _mm512_add_ps(a, b); }
static inline GS gs_fma(GS a, GS b, GS c) { return _mm512_fmadd_ps(a, b, c); }

/* Pairs of rows, then pairs of pairs: x[4g + j] then holds column 4l + j of the rows 4g .. 4g + 3
 * in its quarter l, and the quarters are exchanged. */
static inline void gs_turn(GS x[GS_N]) {
  GS y[GS_N];
#pragma GCC unroll 16
  for (int i = 0; i < GS_N; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < GS_N; i += 4) {
    x[i] = _mm512_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm512_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 4; j++) {
    const GS a = _mm512_shuffle_f32x4(x[j], x[4 + j], 0x88);
    const GS b = _mm512_shuffle_f32x4(x[j], x[4 + j], 0xdd);
    const GS c = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0x88);
    const GS d = _mm512_shuffle_f32x4(x[8 + j], x[12 + j], 0xdd);
    x[j] = _mm512_shuffle_f32x4(a, c, 0x88);
    x[4 + j] = _mm512_shuffle_f32x4(b, d, 0x88);
    x[8 + j] = _mm512_shuffle_f32x4(a, c, 0xdd);
    x[12 + j] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

static inline __mmask8 gd_mask(int64_t n) { return (__mmask8)((1u << n) - 1); }
static inline GD gd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void gd_store(double *p, GD a) { _mm512_storeu_pd(p, a); }
static inline GD gd_load_part(const double *p, int64_t n) {
  return _mm512_maskz_loadu_pd(gd_mask(n), p);
}
static inline void gd_store_part(double *p, int64_t n, GD a) {
  _mm512_mask_storeu_pd(p, gd_mask(n), a);
}
static inline GD gd_zero(void) { return _mm512_setzero_pd(); }
static inline GD gd_one(double x) { return _mm512_set1_pd(x); }
static inline GD gd_add(GD a, GD b) { return _mm512_add_pd(a, b); }
static inline GD gd_fma(GD a, GD b, GD c) { return _mm512_fmadd_pd(a, b, c); }
/* The same with pairs of rows and quarters of pairs. */
static inline void gd_turn(GD x[GD_N]) {
  GD y[GD_N];
#pragma GCC unroll 16
  for (int i = 0; i < GD_N; i += 2) {
    y[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 2; j++) {
    const GD a = _mm512_shuffle_f64x2(y[j], y[2 + j], 0x88);
    const GD b = _mm512_shuffle_f64x2(y[j], y[2 + j], 0xdd);
    const GD c = _mm512_shuffle_f64x2(y[4 + j], y[6 + j], 0x88);
    const GD d = _mm512_shuffle_f64x2(y[4 + j], y[6 + j], 0xdd);
    x[j] = _mm512_shuffle_f64x2(a, c, 0x88);
    x[2 + j] = _mm512_shuffle_f64x2(b, d, 0x88);
    x[4 + j] = _mm512_shuffle_f64x2(a, c, 0xdd);
    x[6 + j] = _mm512_shuffle_f64x2(b, d, 0xdd);
  }
}
#endif
