/* SPDX-License-Identifier: Apache-2.0
 * vec_scalar.h - the vector vocabulary of the kernels in C11, one lane. Every vec_*.h defines:
 *   V, VD           vectors of V_N f32 and of VD_N f64; their functions begin with v_ and vd_
 *   load, store     from and to memory, aligned or not
 *   load_part       loads the first n lanes; the others are +0
 *   store_part      stores the first n lanes; the rest of the memory is not written
 *   zero, broadcast every lane +0; every lane x
 *   add, mul, fma   each rounded once; there is no vd_mul
 *   transpose       transposes a square of V_N or VD_N vectors
 * V_HAS_F16 and V_FUSED are defined if the processor converts f16 and has an fma instruction. */
#ifndef VT_VEC_H
#define VT_VEC_H
#include "vt_num.h"
/* Tile sizes of a matrix product, see kern_gemm_type.inc. */
#define GEMM_ROWS 4
#define GEMM_PANELS 2
#define GEMM_CACHED 1024

enum { V_REGISTERS = 16, V_N = 1, VD_N = 1 };
typedef float V;
typedef double VD;

static inline V v_load(const float *p) { return *p; }
static inline void v_store(float *p, V a) { *p = a; }
static inline V v_load_part(const float *p, int64_t n) { return n > 0 ? *p : 0; }
static inline void v_store_part(float *p, int64_t n, V a) { *p = n > 0 ? a : *p; }
static inline V v_zero(void) { return 0; }
static inline V v_broadcast(float x) { return x; }
static inline V v_add(V a, V b) { return a + b; }
static inline V v_mul(V a, V b) { return a * b; }
static inline V v_fma(V a, V b, V c) { return vt_f32_fma_soft(a, b, c); }
static inline void v_transpose(V x[V_N]) { (void)x; }

static inline VD vd_load(const double *p) { return *p; }
static inline void vd_store(double *p, VD a) { *p = a; }
static inline VD vd_load_part(const double *p, int64_t n) { return n > 0 ? *p : 0; }
static inline void vd_store_part(double *p, int64_t n, VD a) { *p = n > 0 ? a : *p; }
static inline VD vd_zero(void) { return 0; }
static inline VD vd_broadcast(double x) { return x; }
static inline VD vd_add(VD a, VD b) { return a + b; }
static inline VD vd_fma(VD a, VD b, VD c) { return vt_f64_fma_soft(a, b, c); }
static inline void vd_transpose(VD x[VD_N]) { (void)x; }
#endif
