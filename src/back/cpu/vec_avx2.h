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

/* ---- rows of exp and of quotients, kern_exp.inc: bits of a number, sets of lanes ---- */
#define V_ROOTS 16 /* entries of a table that is looked into by the last bits of a number */
static inline V v_sub(V a, V b) { return _mm256_sub_ps(a, b); }
static inline V v_div(V a, V b) { return _mm256_div_ps(a, b); }
static inline V v_fms(V a, V b, V c) { return _mm256_fmsub_ps(a, b, c); }   /* a*b - c */
static inline V v_fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a*b */
static inline V v_look(const float *table, V at) {
  const __m256i bits = _mm256_castps_si256(at);
  const V low = v_load(table), change = _mm256_xor_ps(low, v_load(table + 8));
  const __m256i high = _mm256_srai_epi32(_mm256_slli_epi32(bits, 28), 31);
  const V changed =
      _mm256_and_ps(_mm256_permutevar8x32_ps(change, bits), _mm256_castsi256_ps(high));
  return _mm256_xor_ps(_mm256_permutevar8x32_ps(low, bits), changed);
}
/* y * 2^floor(n/V_ROOTS), n in the last bits of t; y and the result are normal */
static inline V v_raise(V y, V t) {
  const __m256i fields = _mm256_set1_epi32((int)0xff800000);
  const __m256i n = _mm256_and_si256(_mm256_slli_epi32(_mm256_castps_si256(t), 19), fields);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(y), n));
}
static inline unsigned v_equal(V a, V b) {
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
static inline unsigned v_below(V a, V b) {
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
/* Lanes in which a is b and z lies between -most and most. */
static inline unsigned v_equal_within(V a, V b, V z, V most) {
  const V size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), z);
  const V near = _mm256_cmp_ps(size, most, _CMP_LE_OQ);
  return (unsigned)_mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ), near));
}
#endif
