/* SPDX-License-Identifier: Apache-2.0
 * words_avx2.h - the vocabulary of the functions of src/num: four lanes, with AVX2 and FMA. vt_s
 * and vt_d are vectors of f32 and f64, vt_u and vt_i of integers and masks of their width, vt_m
 * a mask of f64 lanes, vt_f a vector of eight f32. vt_get reads a table at one index per lane;
 * vt_root is the square root. */
#include <immintrin.h>
#define VT_LANES 4
#define VT_OWN_WORDS
#define VT_QUICK_WORDS
#define VT_GROUP 4 /* vectors that are computed together */
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
VT_FN vt_d vt_s_widen(vt_s x) { return (vt_d)_mm256_cvtps_pd((__m128)x); }
VT_FN vt_s vt_s_narrow(vt_d x) { return (vt_s)_mm256_cvtpd_ps((__m256d)x); }

/* ---- words that fun_quick.inc needs ---- */

/* x limited to the given bounds. NaN stays NaN, because min and max return their second operand if
 * one is NaN. */
VT_FN vt_d vt_at_most(vt_d x, double hi) {
  return (vt_d)_mm256_min_pd(_mm256_set1_pd(hi), (__m256d)x);
}
VT_FN vt_d vt_within(vt_d x, double lo, double hi) {
  return vt_at_most((vt_d)_mm256_max_pd(_mm256_set1_pd(lo), (__m256d)x), hi);
}
/* Not 0 if some lane has none of these bits set. */
VT_FN int vt_any_lane_without(vt_i x, int64_t bits) {
  return _mm256_movemask_pd((__m256d)((x & bits) == 0));
}

/* ---- words that fun_swift.inc needs: vectors of eight f32 ---- */
#define SWIFT_ROWS 8
enum { VT_F_WIDTH = 8, SWIFT_GROUP = VT_GROUP * VT_LANES / VT_F_WIDTH };
typedef __m256 vt_f;

VT_FN vt_f vt_f_load(const float *p) { return _mm256_loadu_ps(p); }
VT_FN void vt_f_store(float *p, vt_f x) { _mm256_storeu_ps(p, x); }
VT_FN vt_f vt_f_num(float x) { return _mm256_set1_ps(x); }
VT_FN vt_f vt_f_fma(vt_f a, vt_f b, vt_f c) { return _mm256_fmadd_ps(a, b, c); }
/* Per lane, the entry of a table of 8 that the lowest 3 bits of `at` select. */
VT_FN vt_f vt_f_lookup(const void *table, vt_f at) {
  return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), _mm256_castps_si256(at));
}
/* Per lane, the bits of x plus those of `by` shifted left by `up`. */
VT_FN vt_f vt_f_add_bits_shifted(vt_f x, vt_f by, int up) {
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(_mm256_castps_si256(by), up)));
}
VT_FN int vt_f_any_differ(vt_f a, vt_f b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ));
}
VT_FN int vt_f_any_beyond(vt_f x, float most) { /* some |x| > most, or NaN */
  const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
  return _mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(most), _CMP_NLE_UQ));
}
