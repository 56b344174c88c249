/* SPDX-License-Identifier: Apache-2.0
 * words_avx512.h - the vocabulary of the functions: eight lanes, with AVX-512. */
#include <immintrin.h>
#define VT_LANES 8
#define VT_OWN_WORDS
#include "vt_words_vector.h"

VT_FN int vt_any(vt_m m) { return _mm512_movepi64_mask((__m512i)m) != 0; }
VT_FN vt_d vt_get(const double *table, vt_i i) {
  return (vt_d)_mm512_i64gather_pd((__m512i)i, table, 8);
}
VT_FN vt_d vt_root(vt_d x) { return (vt_d)_mm512_sqrt_pd((__m512d)x); }
VT_FN vt_d vt_fma(vt_d a, vt_d b, vt_d c) {
  return (vt_d)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
VT_FN int vt_s_any(vt_u m) { return _mm256_movemask_ps((__m256)m) != 0; }
VT_FN vt_s vt_s_get(const float *table, vt_u i) {
  return (vt_s)_mm256_i32gather_ps(table, (__m256i)i, 4);
}
VT_FN vt_s vt_s_root(vt_s x) { return (vt_s)_mm256_sqrt_ps((__m256)x); }
VT_FN vt_s vt_s_fma(vt_s a, vt_s b, vt_s c) {
  return (vt_s)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
