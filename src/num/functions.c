/* SPDX-License-Identifier: Apache-2.0
 * functions.c - the correctly rounded functions (fn_all.inc), compiled as scalar C11. On all 2^32
 * inputs the result is the real value rounded to nearest even (tests/exhaustive;
 * src/num/exhaustive.digests). */
#include "vt_num.h"
#include "fn_all.inc"

#define VT_FUNCTION(name, estimate, oracle) \
  float vt_f32_##name(float x) { return vt_s_##name(x); }
#include "functions.def"
#undef VT_FUNCTION

float vt_f32_pow(float x, float y) { return vt_s_pow(x, y); }

/* Square root: one instruction, correctly rounded by IEEE 754; with -fno-math-errno the compiler
 * does not call the library. */
float vt_f32_sqrt(float x) { return vt_s_root(x); }
double vt_f64_sqrt(double x) { return vt_root(x); }
