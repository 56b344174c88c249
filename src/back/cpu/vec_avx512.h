/* SPDX-License-Identifier: Apache-2.0
 * vec_avx512.h - the vocabulary of the kernels, sixteen lanes. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
enum { V_N = 16, V_REGISTERS = 32 };
typedef __m512 V;
static inline V v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm512_storeu_ps(p, a); }
static inline V v_zero(void) { return _mm512_setzero_ps(); }
static inline V v_one(float x) { return _mm512_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm512_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm512_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
#endif
