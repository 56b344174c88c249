/* SPDX-License-Identifier: Apache-2.0
 * dot_fma.c - the contraction D with the processor's fused multiply-add. On x86-64 this is the only
 * object compiled with -mavx2 -mfma, so nothing in it may be executed before the processor's
 * features are known. On AArch64 the instruction always exists. On other processors, or without the
 * flags, the table holds the software fma and says that it must not be used. The built-in functions
 * become single instructions, never calls of the C library. dot_one_* compute one D; sa, sb and sp
 * are strides in elements, and a k whose `present` is 0 is left out. */
#include <stddef.h>
#include "vt_dot.h"
#include "vt_num.h"
#include "vt_words.h"

#if defined(__FMA__) && defined(__AVX2__)
enum { USABLE = VT_FMA_IF_CPU_HAS };
#define FMA_F32(a, b, c) __builtin_fmaf((a), (b), (c))
#define FMA_F64(a, b, c) __builtin_fma((a), (b), (c))
#elif defined(__aarch64__)
enum { USABLE = VT_FMA_ALWAYS };
#define FMA_F32(a, b, c) __builtin_fmaf((a), (b), (c))
#define FMA_F64(a, b, c) __builtin_fma((a), (b), (c))
#else
enum { USABLE = VT_FMA_NEVER };
#define FMA_F32(a, b, c) vt_f32_fma_soft((a), (b), (c))
#define FMA_F64(a, b, c) vt_f64_fma_soft((a), (b), (c))
#endif

#define ELEMENT float
#define REAL vt_s
#define WORD(x) vt_s_##x
#define NAME(x) x##_f32
#define FMA FMA_F32
#define WIDTH 64
#include "dot.inc"

#define ELEMENT double
#define REAL vt_d
#define WORD(x) vt_##x
#define NAME(x) x##_f64
#define FMA FMA_F64
#define WIDTH 32
#include "dot.inc"

static float fma_f32(float a, float b, float c) { return FMA_F32(a, b, c); }
static double fma_f64(double a, double b, double c) { return FMA_F64(a, b, c); }

static float dot_one_f32(const float *a, int64_t sa, const float *b, int64_t sb,
                         const uint8_t *present, int64_t sp, int64_t n) {
  return dot_f32(a, sa, b, sb, 0, present, sp, n);
}
static double dot_one_f64(const double *a, int64_t sa, const double *b, int64_t sb,
                          const uint8_t *present, int64_t sp, int64_t n) {
  return dot_f64(a, sa, b, sb, 0, present, sp, n);
}

const vt_dot_kernels vt_dot_fma = {.usable = USABLE,
                                   .fma_f32 = fma_f32,
                                   .fma_f64 = fma_f64,
                                   .dot_f32 = dot_one_f32,
                                   .dot_f64 = dot_one_f64,
                                   .row_f32 = row_f32,
                                   .row_f64 = row_f64};
