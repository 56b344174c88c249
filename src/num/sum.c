/* SPDX-License-Identifier: Apache-2.0
 * sum.c - the ordered sum S for f32 and f64 as a stream of elements; see sum.inc. */
#include "vt_num.h"
#include "vt_words.h"

#define REAL vt_s
#define ZERO 0.0f
#define STATE vt_sum_f32
#define NAME(x) x##_f32
#include "sum.inc"

#define REAL vt_d
#define ZERO 0.0
#define STATE vt_sum_f64
#define NAME(x) x##_f64
#include "sum.inc"

void vt_sum_f32_init(vt_sum_f32 *s) { init_f32(s); }
void vt_sum_f32_add(vt_sum_f32 *s, float x) { push_f32(s, 0, x); }
float vt_sum_f32_done(vt_sum_f32 *s) { return done_f32(s); }

void vt_sum_f64_init(vt_sum_f64 *s) { init_f64(s); }
void vt_sum_f64_add(vt_sum_f64 *s, double x) { push_f64(s, 0, x); }
double vt_sum_f64_done(vt_sum_f64 *s) { return done_f64(s); }
