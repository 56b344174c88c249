/* SPDX-License-Identifier: Apache-2.0
 * functions.c - the correctly rounded functions for one lane of C11: the cores of fn_*.inc over
 * vt_words.h, and the one rounding to f32 at their end. Each is the real value rounded to nearest
 * even on all 2^32 inputs (tests/exhaustive; src/num/exhaustive.digests). */
#include "vt_core.h"
#include "vt_num.h"
#include "fn_exp.inc"
#include "fn_log.inc"
#include "fn_trig.inc"
#include "fn_arc.inc"
#include "fn_erf.inc"
#include "fn_pow.inc"

#define VT_FUNCTION(name, estimate, judge) \
  float vt_f32_##name(float x) { return (float)vt_core_##name((double)x); }
#include "functions.def"
#undef VT_FUNCTION

float vt_f32_pow(float x, float y) { return (float)vt_core_pow((double)x, (double)y); }

/* One instruction, correctly rounded by IEEE 754 (-fno-math-errno: no call of the library). */
float vt_f32_sqrt(float x) { return __builtin_sqrtf(x); }
double vt_f64_sqrt(double x) { return __builtin_sqrt(x); }
