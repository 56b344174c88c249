/* SPDX-License-Identifier: Apache-2.0
 * dot_soft.c - the contraction with the fused multiply-add in software: runs on every processor,
 * and is what the other table is compared with. */
#include <stddef.h>
#include "vt_dot.h"
#include "vt_num.h"

#define REAL float
#define NAME(x) x##_f32
#define FMA(a, b, c) vt_f32_fma_soft((a), (b), (c))
#define WIDTH 64
#include "dot.inc"

#define REAL double
#define NAME(x) x##_f64
#define FMA(a, b, c) vt_f64_fma_soft((a), (b), (c))
#define WIDTH 32
#include "dot.inc"

const vt_dot_kernels vt_dot_soft = {.usable = VT_FMA_ALWAYS,
                                    .fma_f32 = vt_f32_fma_soft,
                                    .fma_f64 = vt_f64_fma_soft,
                                    .dot_f32 = dot_f32,
                                    .dot_f64 = dot_f64,
                                    .row_f32 = row_f32,
                                    .row_f64 = row_f64};
