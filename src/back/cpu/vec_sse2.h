/* SPDX-License-Identifier: Apache-2.0
 * vec_sse2.h - the vocabulary of the kernels, four lanes; the fused multiply-add is made in
 * software, lane by lane. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include <emmintrin.h>
#include "vt_num.h"
enum { V_N = 4, V_REGISTERS = 16 };
typedef __m128 V;
static inline V v_load(const float *p) { return _mm_loadu_ps(p); }
static inline void v_store(float *p, V a) { _mm_storeu_ps(p, a); }
/* The transpose of V_N vectors. */
static inline void v_turn(V x[V_N]) { _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]); }
static inline V v_zero(void) { return _mm_setzero_ps(); }
static inline V v_one(float x) { return _mm_set1_ps(x); }
static inline V v_add(V a, V b) { return _mm_add_ps(a, b); }
static inline V v_mul(V a, V b) { return _mm_mul_ps(a, b); }
static inline V v_fma(V a, V b, V c) {
  float x[V_N], y[V_N], z[V_N];
  v_store(x, a), v_store(y, b), v_store(z, c);
  for (int i = 0; i < V_N; i++) z[i] = vt_f32_fma_soft(x[i], y[i], z[i]);
  return v_load(z);
}
#endif
