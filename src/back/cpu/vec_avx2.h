/* SPDX-License-Identifier: Apache-2.0
 * vec_avx2.h - the vocabulary of the kernels, eight lanes. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <immintrin.h>
enum { V_N = 8, V_REGISTERS = 16 };
typedef __m256 V;
static inline V v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm256_storeu_ps(p, a); }
static inline V v_zero(void) { return _mm256_setzero_ps(); }
static inline V v_one(float x) { return _mm256_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm256_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm256_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
#endif
