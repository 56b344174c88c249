/* SPDX-License-Identifier: Apache-2.0
 * dot_soft.c - the contraction D with the fused multiply-add in software: runs on every processor,
 * and tests compare dot_fma.c with it. dot_one_* compute one D; sa, sb and sp are strides in
 * elements, and a k whose `present` is 0 is left out. */
#include <stddef.h>
#include "vt_dot.h"
#include "vt_num.h"
#include "vt_words.h"

#define ELEMENT float
#define REAL vt_s
#define WORD(x) vt_s_##x
#define NAME(x) x##_f32
#define FMA(a, b, c) vt_f32_fma_soft((a), (b), (c))
#define WIDTH 64
#include "dot.inc"

#define ELEMENT double
#define REAL vt_d
#define WORD(x) vt_##x
#define NAME(x) x##_f64
#define FMA(a, b, c) vt_f64_fma_soft((a), (b), (c))
#define WIDTH 32
#include "dot.inc"

static float dot_one_f32(const float *a, int64_t sa, const float *b, int64_t sb,
                         const uint8_t *present, int64_t sp, int64_t n) {
  return dot_f32(a, sa, b, sb, 0, present, sp, n);
}
static double dot_one_f64(const double *a, int64_t sa, const double *b, int64_t sb,
                          const uint8_t *present, int64_t sp, int64_t n) {
  return dot_f64(a, sa, b, sb, 0, present, sp, n);
}

const vt_dot_kernels vt_dot_soft = {.usable = VT_FMA_ALWAYS,
                                    .fma_f32 = vt_f32_fma_soft,
                                    .fma_f64 = vt_f64_fma_soft,
                                    .dot_f32 = dot_one_f32,
                                    .dot_f64 = dot_one_f64,
                                    .row_f32 = row_f32,
                                    .row_f64 = row_f64};
