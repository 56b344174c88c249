/* SPDX-License-Identifier: Apache-2.0
 * approximate_exp.c - computes exp(x) as 2^(x * log2 e) in f32, which takes many devices one
 * multiplication and one instruction. The product is rounded, and the power enlarges the error. */
#include "violation.h"

static const char *const ops[] = {"exp", NULL};

static float approximate_exp(float x) { return vt_f32_exp2(x * 1.44269504f); }

const violation vt_violation = {
    .about = "approximates exp", .ops = ops, .has = VT_BK_ROUNDED_MATH, .exp = approximate_exp};
