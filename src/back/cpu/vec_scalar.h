/* SPDX-License-Identifier: Apache-2.0
 * vec_scalar.h - the vocabulary of the kernels, one lane of C11. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include "vt_num.h"
enum { V_N = 1, V_REGISTERS = 16 };
typedef float V;
static inline V v_load(const float *p) { return *p; }
static inline void v_store(float *p, V a) { *p = a; }
/* The transpose of V_N vectors. */
static inline void v_turn(V x[V_N]) { (void)x; }
static inline V v_zero(void) { return 0.0f; }
static inline V v_one(float x) { return x; }
static inline V v_add(V a, V b) { return a + b; }
static inline V v_mul(V a, V b) { return a * b; }
static inline V v_fma(V a, V b, V c) { return vt_f32_fma_soft(a, b, c); }
#endif
