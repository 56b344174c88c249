/* SPDX-License-Identifier: Apache-2.0
 * order.c - the bits of a number, and the one order of values:
 *   -inf < ... < -0 < +0 < ... < +inf < NaN
 * The key of a value is an unsigned integer that grows with this order. */
#include <string.h>
#include "vt_num.h"

uint32_t vt_f32_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

float vt_f32_from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

uint64_t vt_f64_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

double vt_f64_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Negative patterns grow away from zero: they are turned over. Positive ones go above them. Every
 * NaN is the one highest value. */
static uint32_t key_f32(float x) {
  const uint32_t u = vt_f32_bits(x), sign = (uint32_t)1 << 31;
  if (x != x) return UINT32_MAX;
  return (u & sign) != 0 ? ~u : u | sign;
}

static uint64_t key_f64(double x) {
  const uint64_t u = vt_f64_bits(x), sign = (uint64_t)1 << 63;
  if (x != x) return UINT64_MAX;
  return (u & sign) != 0 ? ~u : u | sign;
}

int vt_f32_above(float a, float b) { return key_f32(a) > key_f32(b); }
int vt_f64_above(double a, double b) { return key_f64(a) > key_f64(b); }

/* NaN is above everything, so max keeps it by itself; min has to ask. */
float vt_f32_max(float a, float b) { return vt_f32_above(a, b) ? a : b; }
double vt_f64_max(double a, double b) { return vt_f64_above(a, b) ? a : b; }

float vt_f32_min(float a, float b) {
  if (a != a || b != b) return a + b;
  return vt_f32_above(a, b) ? b : a;
}

double vt_f64_min(double a, double b) {
  if (a != a || b != b) return a + b;
  return vt_f64_above(a, b) ? b : a;
}
