/* SPDX-License-Identifier: Apache-2.0
 * vec_avx2.h - the vocabulary of the kernels, eight lanes. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
#include <stdint.h>
enum { V_N = 8, V_REGISTERS = 16 };
typedef __m256 V;
static inline V v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm256_storeu_ps(p, a); }
/* The transpose of V_N vectors: pairs, then fours, then the halves of the registers. */
static inline void v_turn(V x[V_N]) {
  V y[V_N];
  for (int i = 0; i < V_N; i += 2) {
    y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < V_N; i += 4)
    for (int k = 0; k < 2; k++) {
      x[i + 2 * k] = _mm256_shuffle_ps(y[i + k], y[i + k + 2], 0x44);
      x[i + 2 * k + 1] = _mm256_shuffle_ps(y[i + k], y[i + k + 2], 0xee);
    }
  for (int i = 0; i < 4; i++) {
    y[i] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x20);
    y[i + 4] = _mm256_permute2f128_ps(x[i], x[i + 4], 0x31);
  }
  for (int i = 0; i < V_N; i++) x[i] = y[i];
}
static inline V v_zero(void) { return _mm256_setzero_ps(); }
static inline V v_one(float x) { return _mm256_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm256_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm256_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
/* f16 in memory; rounded to nearest, ties to even. */
#define V_HAS_F16
static inline V v_load_f16(const uint16_t *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline void v_store_f16(uint16_t *p, V a) {
  _mm_storeu_si128((__m128i *)(void *)p,
                   _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* ---- quotients by fused products ---- */
#define V_FUSED /* v_fma is one instruction */
static inline V v_div(V a, V b) { return _mm256_div_ps(a, b); }
static inline V v_fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a*b */
static inline unsigned v_below(V a, V b) { /* the lanes in which a < b */
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
#endif
