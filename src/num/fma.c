/* SPDX-License-Identifier: Apache-2.0
 * fma.c - the fused multiply-add, compiled as scalar C11: in software (fma.inc), or by the
 * processor's instruction if it has one. Both give the same bits. */
#include "vt_dot.h"
#include "vt_num.h"
#include "fma.inc"

float vt_f32_fma(float a, float b, float c) { return vt_dot_best_kernels()->fma_f32(a, b, c); }
double vt_f64_fma(double a, double b, double c) { return vt_dot_best_kernels()->fma_f64(a, b, c); }

float vt_f32_fma_soft(float a, float b, float c) { return vt_s_fma_soft(a, b, c); }
double vt_f64_fma_soft(double a, double b, double c) { return vt_fma_soft(a, b, c); }
