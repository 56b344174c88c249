/* SPDX-License-Identifier: Apache-2.0
 * vec_gemm_avx2.h - the vocabulary of contractions, 256 bits. */
#ifndef VT_VEC_GEMM_H
#define VT_VEC_GEMM_H
#include <immintrin.h>
#include <stdint.h>
#define GEMM_ROWS 6
#define GEMM_PANELS 5
#define GEMM_NEAR 1024
enum { GS_N = 8, GD_N = 4 };
typedef __m256 GS;
typedef __m256d GD;

/* The first n of the lanes. */
static inline __m256i gs_mask(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline GS gs_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void gs_store(float *p, GS a) { _mm256_storeu_ps(p, a); }
static inline GS gs_load_part(const float *p, int64_t n) {
  return _mm256_maskload_ps(p, gs_mask(n));
}
static inline void gs_store_part(float *p, int64_t n, GS a) {
  _mm256_maskstore_ps(p, gs_mask(n), a);
}
static inline GS gs_zero(void) { return _mm256_setzero_ps(); }
static inline GS gs_one(float x) { return _mm256_set1_ps(x); }
static inline GS gs_add(GS a, GS b) { return _mm256_add_ps(a, b); }
static inline GS gs_fma(GS a, GS b, GS c) { return _mm256_fmadd_ps(a, b, c); }

/* Pairs of rows, then pairs of pairs, then the halves. */
static inline void gs_turn(GS x[GS_N]) {
  GS y[GS_N];
  for (int i = 0; i < GS_N; i += 2) {
    y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < GS_N; i += 4) {
    x[i] = _mm256_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm256_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    const GS low = x[i], high = x[i + 4];
    x[i] = _mm256_permute2f128_ps(low, high, 0x20);
    x[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
  }
}

static inline __m256i gd_mask(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline GD gd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void gd_store(double *p, GD a) { _mm256_storeu_pd(p, a); }
static inline GD gd_load_part(const double *p, int64_t n) {
  return _mm256_maskload_pd(p, gd_mask(n));
}
static inline void gd_store_part(double *p, int64_t n, GD a) {
  _mm256_maskstore_pd(p, gd_mask(n), a);
}
static inline GD gd_zero(void) { return _mm256_setzero_pd(); }
static inline GD gd_one(double x) { return _mm256_set1_pd(x); }
static inline GD gd_add(GD a, GD b) { return _mm256_add_pd(a, b); }
static inline GD gd_fma(GD a, GD b, GD c) { return _mm256_fmadd_pd(a, b, c); }
static inline void gd_turn(GD x[GD_N]) {
  const GD a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
  const GD c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
  x[0] = _mm256_permute2f128_pd(a, c, 0x20), x[1] = _mm256_permute2f128_pd(b, d, 0x20);
  x[2] = _mm256_permute2f128_pd(a, c, 0x31), x[3] = _mm256_permute2f128_pd(b, d, 0x31);
}
#endif
