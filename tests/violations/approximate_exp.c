/* SPDX-License-Identifier: Apache-2.0
 * approximate_exp.c - exp(x) as 2^(x * log2 e) in f32, which is one instruction and a product on
 * many devices. The product is rounded, and the power makes it visible. */
#include "violation.h"

static const char *const ops[] = {"exp", NULL};

static float approximate(float x) { return vt_f32_exp2(x * 1.44269504f); }

const violation vt_violation = {
    .about = "approximates exp", .ops = ops, .has = VT_BK_ROUNDED_MATH, .exp = approximate};
