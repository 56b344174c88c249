/* SPDX-License-Identifier: Apache-2.0
 * words_avx2.h - the vocabulary of the functions: four lanes, with AVX2 and FMA. */
#include <immintrin.h>
#define VT_LANES 4
#define VT_OWN_WORDS
#include "vt_words_vector.h"

VT_FN int vt_any(vt_m m) { return _mm256_movemask_pd((__m256d)m) != 0; }
VT_FN vt_d vt_get(const double *table, vt_i i) {
  return (vt_d)_mm256_i64gather_pd(table, (__m256i)i, 8);
}
VT_FN vt_d vt_root(vt_d x) { return (vt_d)_mm256_sqrt_pd((__m256d)x); }
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) {
  return (vt_d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
VT_FN int vt_s_any(vt_u m) { return _mm_movemask_ps((__m128)m) != 0; }
VT_FN vt_s vt_s_get(const float *table, vt_u i) {
  return (vt_s)_mm_i32gather_ps(table, (__m128i)i, 4);
}
VT_FN vt_s vt_s_root(vt_s x) { return (vt_s)_mm_sqrt_ps((__m128)x); }
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) {
  return (vt_s)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
}
