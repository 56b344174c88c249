/* SPDX-License-Identifier: Apache-2.0
 * vec_sse2.h - the vector vocabulary of the kernels (listed in vec_scalar.h), 128 bits. V are
 * vectors of f32, VD of f64. fma is computed in software, as src/num/fma.inc explains. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
#include <string.h>
#include "vt_num.h"
/* Tile sizes of a matrix product, see kern_gemm_type.inc. */
#define GEMM_ROWS 4
#define GEMM_PANELS 2
#define GEMM_CACHED 1024

enum { V_REGISTERS = 16, V_N = 4, VD_N = 2 };
typedef __m128 V;
typedef __m128d VD;

static inline V v_load(const float *p) { return _mm_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm_storeu_ps(p, a); }
static inline V v_zero(void) { return _mm_setzero_ps(); }
static inline V v_broadcast(float x) { return _mm_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm_mul_ps(a, b); }
static inline V v_load_part(const float *p, int64_t n) {
  float x[V_N] = {0};
  memcpy(x, p, (size_t)n * sizeof *p);
  return v_load(x);
}
static inline void v_store_part(float *p, int64_t n, V a) {
  float x[V_N];
  v_store(x, a);
  memcpy(p, x, (size_t)n * sizeof *p);
}

/* Returns a*b + c of two lanes, rounded to odd: if the exact sum is not an f64, the result is the
 * one of the two nearest f64 whose last bit is 1. `inward` is -1 in lanes in which the rounded sum
 * s is too large in size; added to the bits of s, it gives the next f64 towards 0. */
static inline __m128d v_fma_to_odd(__m128d a, __m128d b, __m128d c) {
  const __m128d p = _mm_mul_pd(a, b), s = _mm_add_pd(p, c);
  const __m128d cc = _mm_sub_pd(s, p), pp = _mm_sub_pd(s, cc);
  const __m128d e = _mm_add_pd(_mm_sub_pd(p, pp), _mm_sub_pd(c, cc));
  const __m128i u = _mm_castpd_si128(s), differ = _mm_xor_si128(_mm_castpd_si128(e), u);
  const __m128i signs = _mm_srai_epi32(differ, 31);
  const __m128i inward = _mm_shuffle_epi32(signs, _MM_SHUFFLE(3, 3, 1, 1));
  const __m128i odd = _mm_or_si128(_mm_add_epi64(u, inward), _mm_set_epi32(0, 1, 0, 1));
  const __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), e);
  const __m128i inexact = _mm_castpd_si128(_mm_cmplt_pd(_mm_setzero_pd(), size));
  return _mm_castsi128_pd(_mm_or_si128(_mm_and_si128(inexact, odd), _mm_andnot_si128(inexact, u)));
}
static inline V v_fma(V a, V b, V c) {
  const __m128d low = v_fma_to_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
  const __m128d high =
      v_fma_to_odd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b)),
                   _mm_cvtps_pd(_mm_movehl_ps(c, c)));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
static inline void v_transpose(V x[V_N]) { _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]); }

static inline VD vd_load(const double *p) { return _mm_loadu_pd(p); }
static inline void vd_store(double *p, VD a) { _mm_storeu_pd(p, a); }
static inline VD vd_load_part(const double *p, int64_t n) {
  return n == VD_N ? _mm_loadu_pd(p) : _mm_load_sd(p);
}
static inline void vd_store_part(double *p, int64_t n, VD a) {
  if (n == VD_N) {
    _mm_storeu_pd(p, a);
  } else {
    _mm_store_sd(p, a);
  }
}
static inline VD vd_zero(void) { return _mm_setzero_pd(); }
static inline VD vd_broadcast(double x) { return _mm_set1_pd(x); }
static inline VD vd_add(VD a, VD b) { return _mm_add_pd(a, b); }
static inline VD vd_fma(VD a, VD b, VD c) {
  double x[VD_N], y[VD_N], z[VD_N];
  vd_store(x, a);
  vd_store(y, b);
  vd_store(z, c);
  for (int i = 0; i < VD_N; i++) z[i] = vt_f64_fma_soft(x[i], y[i], z[i]);
  return vd_load(z);
}
static inline void vd_transpose(VD x[VD_N]) {
  const VD low = _mm_unpacklo_pd(x[0], x[1]), high = _mm_unpackhi_pd(x[0], x[1]);
  x[0] = low;
  x[1] = high;
}
#endif
