/* SPDX-License-Identifier: Apache-2.0
 * vec_avx2.h - the vector vocabulary of the kernels (listed in vec_scalar.h), 256 bits. V are
 * vectors of f32, VD of f64. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
#include <stdint.h>
/* Tile sizes of a matrix product, see kern_gemm_type.inc. */
#define GEMM_ROWS 6
#define GEMM_PANELS 5
#define GEMM_CACHED 1024

enum { V_REGISTERS = 16, V_N = 8, VD_N = 4 };
typedef __m256 V;
typedef __m256d VD;

/* A mask in which all bits of the first n lanes are set. */
static inline __m256i v_mask(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline V v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm256_storeu_ps(p, a); }
static inline V v_load_part(const float *p, int64_t n) { return _mm256_maskload_ps(p, v_mask(n)); }
static inline void v_store_part(float *p, int64_t n, V a) { _mm256_maskstore_ps(p, v_mask(n), a); }
static inline V v_zero(void) { return _mm256_setzero_ps(); }
static inline V v_broadcast(float x) { return _mm256_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm256_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm256_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }

/* Transposes 8 x 8: exchanges within pairs of rows, then pairs of pairs, then the 128-bit
 * halves. */
static inline void v_transpose(V x[V_N]) {
  V y[V_N];
  for (int i = 0; i < V_N; i += 2) {
    y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < V_N; i += 4) {
    x[i] = _mm256_shuffle_ps(y[i], y[i + 2], 0x44);
    x[i + 1] = _mm256_shuffle_ps(y[i], y[i + 2], 0xee);
    x[i + 2] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44);
    x[i + 3] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    const V low = x[i], high = x[i + 4];
    x[i] = _mm256_permute2f128_ps(low, high, 0x20);
    x[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
  }
}

static inline __m256i vd_mask(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline VD vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, VD a) { _mm256_storeu_pd(p, a); }
static inline VD vd_load_part(const double *p, int64_t n) {
  return _mm256_maskload_pd(p, vd_mask(n));
}
static inline void vd_store_part(double *p, int64_t n, VD a) {
  _mm256_maskstore_pd(p, vd_mask(n), a);
}
static inline VD vd_zero(void) { return _mm256_setzero_pd(); }
static inline VD vd_broadcast(double x) { return _mm256_set1_pd(x); }
static inline VD vd_add(VD a, VD b) { return _mm256_add_pd(a, b); }
static inline VD vd_fma(VD a, VD b, VD c) { return _mm256_fmadd_pd(a, b, c); }
static inline void vd_transpose(VD x[VD_N]) {
  const VD a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
  const VD c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
  x[0] = _mm256_permute2f128_pd(a, c, 0x20);
  x[1] = _mm256_permute2f128_pd(b, d, 0x20);
  x[2] = _mm256_permute2f128_pd(a, c, 0x31);
  x[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

/* Loads and stores of f16; stores round to nearest, ties to even. */
#define V_HAS_F16
static inline V v_load_f16(const uint16_t *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline void v_store_f16(uint16_t *p, V a) {
  _mm_storeu_si128((__m128i *)(void *)p,
                   _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* ---- words for quotients by fma, see kern_divide.inc ---- */
#define V_FUSED /* v_fma is one instruction */
static inline V v_div(V a, V b) { return _mm256_div_ps(a, b); }
static inline V v_fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a*b */
static inline unsigned v_below(V a, V b) { /* one bit per lane: a < b */
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
#endif
