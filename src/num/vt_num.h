/* SPDX-License-Identifier: Apache-2.0
 * vt_num.h - the numerics library: defines the result of every elementary operation to the last
 * bit. It has correctly rounded functions, the fused multiply-add, the order of values, casts, the
 * ordered sum S and the contraction D, and Philox random numbers. All of it are pure functions: no
 * memory, no state, no errors. They must be called inside the environment of vt_fpenv.h. The
 * contract is docs/numerics.md. */
#ifndef VT_NUM_H
#define VT_NUM_H
#include <stdint.h>

#ifdef __FAST_MATH__
#error "Volta does not build with fast-math: it changes results."
#endif

/* ---- functions (f32): correctly rounded; NaN gives NaN, but see pow in docs/numerics.md ---- */
float vt_f32_exp(float x);
float vt_f32_exp2(float x);
float vt_f32_expm1(float x);
float vt_f32_log(float x);
float vt_f32_log2(float x);
float vt_f32_log10(float x);
float vt_f32_log1p(float x);
float vt_f32_sin(float x);
float vt_f32_cos(float x);
float vt_f32_tan(float x);
float vt_f32_asin(float x);
float vt_f32_acos(float x);
float vt_f32_atan(float x);
float vt_f32_sinh(float x);
float vt_f32_cosh(float x);
float vt_f32_tanh(float x);
float vt_f32_asinh(float x);
float vt_f32_acosh(float x);
float vt_f32_atanh(float x);
float vt_f32_erf(float x);
float vt_f32_sigmoid(float x);
float vt_f32_rsqrt(float x);
float vt_f32_pow(float x, float y);
float vt_f32_sqrt(float x);
double vt_f64_sqrt(double x);

/* ---- fused multiply-add: one rounding. vt_*_fma use the processor's instruction if it has one,
 * the *_soft functions always software; the bits are the same ---- */
float vt_f32_fma(float a, float b, float c);
double vt_f64_fma(double a, double b, double c);
float vt_f32_fma_soft(float a, float b, float c);
double vt_f64_fma_soft(double a, double b, double c);

/* ---- the order of values: -inf < ... < -0 < +0 < ... < +inf < NaN ---- */
float vt_f32_max(float a, float b); /* NaN if a or b is NaN */
float vt_f32_min(float a, float b);
double vt_f64_max(double a, double b);
double vt_f64_min(double a, double b);
/* 1 if a > b in this order, in which NaN is the highest value. */
int vt_f32_above(float a, float b);
int vt_f64_above(double a, double b);

/* ---- bits, and the canonical NaN ---- */
uint32_t vt_f32_bits(float x);
float vt_f32_from_bits(uint32_t u);
uint64_t vt_f64_bits(double x);
double vt_f64_from_bits(uint64_t u);
/* Makes `n` elements of type `dtype` (its number in dtypes.def) canonical in place: every NaN
 * becomes the canonical NaN, and a bool becomes 0 or 1. Integers are not changed. */
void vt_canonical(void *data, uint32_t dtype, uint64_t n);
/* Returns 1 if vt_canonical would change nothing. */
int vt_is_canonical(const void *data, uint32_t dtype, uint64_t n);

/* ---- casts: the source value is rounded once, directly to the result type ---- */
/* Converts `n` elements from type `from` to type `to` (numbers in dtypes.def); strides are in
 * elements. */
void vt_cast(const void *src, int64_t src_stride, uint32_t from, void *dst, int64_t dst_stride,
             uint32_t to, uint64_t n);
float vt_f16_to_f32(uint16_t h);
float vt_bf16_to_f32(uint16_t h);
uint16_t vt_f16_from_f64(double x);  /* rounds x once, to nearest even */
uint16_t vt_bf16_from_f64(double x); /* rounds x once, to nearest even */

/* ---- integers: two's complement, wrapping, defined for all operands ---- */
int64_t vt_i64_wrap_add(int64_t a, int64_t b);
int64_t vt_i64_wrap_sub(int64_t a, int64_t b);
int64_t vt_i64_wrap_mul(int64_t a, int64_t b);
int64_t vt_i64_div(int64_t a, int64_t b); /* truncates; x/0 = 0, MIN/-1 = MIN */
int64_t vt_i64_mod(int64_t a, int64_t b); /* has the sign of a; x mod 0 = x */

/* ---- the ordered sum S as a stream: constant memory for any number of elements ---- */
/* S adds chunks of 1024 elements, each in 32 lanes and then a tree over the lanes:
 *
 *   level 0   elements   |---- 1024 ----|---- 1024 ----|-- rest --|
 *                               |              |            |
 *   level 1   chunk sums       c[0]           c[1]         c[2]   ... in chunks of 1024 again
 *
 * and so on; sum.inc has the definition. */
enum { VT_SUM_LANES = 32, VT_SUM_CHUNK = 1024, VT_SUM_LEVELS = 7 };
typedef struct vt_sum_f32 {
  float lane[VT_SUM_LEVELS][VT_SUM_LANES]; /* partial sums of the current chunk of each level */
  uint32_t n[VT_SUM_LEVELS];               /* elements in that chunk; 0: level not used yet */
} vt_sum_f32;
typedef struct vt_sum_f64 {
  double lane[VT_SUM_LEVELS][VT_SUM_LANES];
  uint32_t n[VT_SUM_LEVELS];
} vt_sum_f64;
void vt_sum_f32_init(vt_sum_f32 *s);
void vt_sum_f32_add(vt_sum_f32 *s, float x);
float vt_sum_f32_done(vt_sum_f32 *s);
void vt_sum_f64_init(vt_sum_f64 *s);
void vt_sum_f64_add(vt_sum_f64 *s, double x);
double vt_sum_f64_done(vt_sum_f64 *s);

/* ---- the contraction D (order fma256) ---- */
/* Returns the sum over k of a[k*sa] * b[k*sb], in the order D. If `present` (stride sp) is not
 * NULL, a k with present[k*sp] == 0 is left out: no fma is performed, but the other k keep their
 * positions in the order. */
float vt_dot_f32(const float *a, int64_t sa, const float *b, int64_t sb, const uint8_t *present,
                 int64_t sp, int64_t n);
double vt_dot_f64(const double *a, int64_t sa, const double *b, int64_t sb, const uint8_t *present,
                  int64_t sp, int64_t n);
/* Computes a row of m results: y[j*sy] = D over k of a[k*sa] * b[k*sbk + j*sbj]. The bits are those
 * of m calls of vt_dot_*; several columns are computed at a time. */
void vt_dot_row_f32(float *y, int64_t sy, const float *a, int64_t sa, const float *b, int64_t sbk,
                    int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m);
void vt_dot_row_f64(double *y, int64_t sy, const double *a, int64_t sa, const double *b,
                    int64_t sbk, int64_t sbj, const uint8_t *present, int64_t sp, int64_t n,
                    int64_t m);

/* ---- Philox4x32-10 ---- */
/* Computes the four words of block number `block` with the key (seed low, seed high) and the
 * counter (block low, block high, stream, step). */
void vt_philox(uint64_t seed, uint32_t stream, uint32_t step, uint64_t block, uint32_t out[4]);
/* The random number of element `i` of a tensor; `words` is the block i/4. */
float vt_philox_uniform(const uint32_t words[4], uint64_t i); /* a uniform number in [0, 1) */
float vt_philox_normal(const uint32_t words[4], uint64_t i);

/* ---- self-test: NULL if this binary keeps the rules of the numerics, otherwise the rule that it
 * breaks: "contracts a*b+c", "flushes subnormal results to zero", ... ---- */
const char *vt_num_self_test(void);
#endif
