/* SPDX-License-Identifier: Apache-2.0
 * words_avx512.h - the vocabulary of the functions of src/num: eight lanes, with AVX-512. vt_s
 * and vt_d are vectors of f32 and f64, vt_u and vt_i of integers and masks of their width, vt_m
 * a mask of f64 lanes, vt_f a vector of sixteen f32. vt_get reads a table at one index per lane;
 * vt_root is the square root. */
#include <immintrin.h>
#define VT_LANES 8
#define VT_OWN_WORDS
#define VT_QUICK_WORDS
#define VT_GROUP 4 /* vectors that are computed together */
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
VT_FN vt_d vt_s_widen(vt_s x) { return (vt_d)_mm512_cvtps_pd((__m256)x); }
VT_FN vt_s vt_s_narrow(vt_d x) { return (vt_s)_mm512_cvtpd_ps((__m512d)x); }

/* ---- words that fun_quick.inc needs ---- */

/* x limited to the given bounds. NaN stays NaN, because min and max return their second operand if
 * one is NaN. */
VT_FN vt_d vt_at_most(vt_d x, double hi) {
  return (vt_d)_mm512_min_pd(_mm512_set1_pd(hi), (__m512d)x);
}
VT_FN vt_d vt_within(vt_d x, double lo, double hi) {
  return vt_at_most((vt_d)_mm512_max_pd(_mm512_set1_pd(lo), (__m512d)x), hi);
}
/* Not 0 if some lane has none of these bits set. */
VT_FN int vt_any_lane_without(vt_i x, int64_t bits) {
  return _mm512_testn_epi64_mask((__m512i)x, _mm512_set1_epi64(bits));
}

/* ---- words that fun_swift.inc needs: vectors of sixteen f32 ---- */
#define SWIFT_ROWS 32
enum { VT_F_WIDTH = 16, SWIFT_GROUP = VT_GROUP * VT_LANES / VT_F_WIDTH };
typedef __m512 vt_f;

VT_FN vt_f vt_f_load(const float *p) { return _mm512_loadu_ps(p); }
VT_FN void vt_f_store(float *p, vt_f x) { _mm512_storeu_ps(p, x); }
VT_FN vt_f vt_f_num(float x) { return _mm512_set1_ps(x); }
VT_FN vt_f vt_f_fma(vt_f a, vt_f b, vt_f c) { return _mm512_fmadd_ps(a, b, c); }
/* Per lane, the entry of a table of 32 that the lowest 5 bits of `at` select. */
VT_FN vt_f vt_f_lookup(const void *table, vt_f at) {
  const float *t = table;
  return _mm512_permutex2var_ps(_mm512_loadu_ps(t), _mm512_castps_si512(at),
                                _mm512_loadu_ps(t + 16));
}
/* Per lane, the bits of x plus those of `by` shifted left by `up`. */
VT_FN vt_f vt_f_add_bits_shifted(vt_f x, vt_f by, unsigned up) {
  return _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(_mm512_castps_si512(by), up)));
}
VT_FN int vt_f_any_differ(vt_f a, vt_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
VT_FN int vt_f_any_beyond(vt_f x, float most) { /* some |x| > most, or NaN */
  return _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(most), _CMP_NLE_UQ);
}
