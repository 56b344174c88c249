/* SPDX-License-Identifier: Apache-2.0
 * vec_gemm_scalar.h - the vocabulary of contractions, one lane of C11. */
#ifndef VT_VEC_GEMM_H
#define VT_VEC_GEMM_H
#include "vt_num.h"
#define GEMM_ROWS 4
#define GEMM_PANELS 2
#define GEMM_NEAR 1024
enum { GS_N = 1, GD_N = 1 };
typedef float GS;
typedef double GD;

static inline GS gs_load(const float *p) { return *p; }
static inline void gs_store(float *p, GS a) { *p = a; }
static inline GS gs_load_part(const float *p, int64_t n) { return n > 0 ? *p : 0; }
static inline void gs_store_part(float *p, int64_t n, GS a) { *p = n > 0 ? a : *p; }
static inline GS gs_zero(void) { return 0; }
static inline GS gs_one(float x) { return x; }
static inline GS gs_add(GS a, GS b) { return a + b; }
static inline GS gs_fma(GS a, GS b, GS c) { return vt_f32_fma_soft(a, b, c); }
static inline void gs_turn(GS x[GS_N]) { (void)x; }

static inline GD gd_load(const double *p) { return *p; }
static inline void gd_store(double *p, GD a) { *p = a; }
static inline GD gd_load_part(const double *p, int64_t n) { return n > 0 ? *p : 0; }
static inline void gd_store_part(double *p, int64_t n, GD a) { *p = n > 0 ? a : *p; }
static inline GD gd_zero(void) { return 0; }
static inline GD gd_one(double x) { return x; }
static inline GD gd_add(GD a, GD b) { return a + b; }
static inline GD gd_fma(GD a, GD b, GD c) { return vt_f64_fma_soft(a, b, c); }
static inline void gd_turn(GD x[GD_N]) { (void)x; }
#endif
