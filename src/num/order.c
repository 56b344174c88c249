/* SPDX-License-Identifier: Apache-2.0
 * order.c - bit patterns of numbers and the order of values (order.inc), compiled as scalar C11. */
#include "vt_num.h"
#include "order.inc"

uint32_t vt_f32_bits(float x) { return vt_s_bits_of(x); }
float vt_f32_from_bits(uint32_t u) { return vt_s_of_bits(u); }
uint64_t vt_f64_bits(double x) { return (uint64_t)vt_bits_of(x); }
double vt_f64_from_bits(uint64_t u) { return vt_of_bits((int64_t)u); }

int vt_f32_above(float a, float b) { return vt_s_above(a, b) != 0; }
int vt_f64_above(double a, double b) { return vt_above(a, b) != 0; }
float vt_f32_max(float a, float b) { return vt_s_max(a, b); }
float vt_f32_min(float a, float b) { return vt_s_min(a, b); }
double vt_f64_max(double a, double b) { return vt_max(a, b); }
double vt_f64_min(double a, double b) { return vt_min(a, b); }
