/* SPDX-License-Identifier: Apache-2.0
 * vec_avx512.h - the vocabulary of the kernels, sixteen lanes. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
#include <stdint.h>
enum { V_N = 16, V_REGISTERS = 32 };
typedef __m512 V;
static inline V v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm512_storeu_ps(p, a); }
/* The transpose of V_N vectors: pairs, then fours, then the quarters of the registers. */
static inline void v_turn(V x[V_N]) {
  V y[V_N];
  for (int i = 0; i < V_N; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < V_N; i += 4)
    for (int k = 0; k < 2; k++) {
      x[i + 2 * k] = _mm512_shuffle_ps(y[i + k], y[i + k + 2], 0x44);
      x[i + 2 * k + 1] = _mm512_shuffle_ps(y[i + k], y[i + k + 2], 0xee);
    }
  for (int i = 0; i < 4; i++)
    for (int h = 0; h < V_N; h += 8) {
      y[h + i] = _mm512_shuffle_f32x4(x[h + i], x[h + i + 4], 0x88);
      y[h + i + 4] = _mm512_shuffle_f32x4(x[h + i], x[h + i + 4], 0xdd);
    }
  for (int i = 0; i < 8; i++) {
    x[i] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0xdd);
  }
}
static inline V v_zero(void) { return _mm512_setzero_ps(); }
static inline V v_one(float x) { return _mm512_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm512_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm512_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
/* f16 in memory; rounded to nearest, ties to even. */
#define V_HAS_F16
static inline V v_load_f16(const uint16_t *p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline void v_store_f16(uint16_t *p, V a) {
  _mm256_storeu_si256((__m256i *)(void *)p,
                      _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* ---- quotients by fused products ---- */
#define V_FUSED /* v_fma is one instruction */
static inline V v_div(V a, V b) { return _mm512_div_ps(a, b); }
static inline V v_fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); } /* c - a*b */
static inline unsigned v_below(V a, V b) { /* the lanes in which a < b */
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
#endif
