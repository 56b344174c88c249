/* SPDX-License-Identifier: Apache-2.0
 * interim.c - the functions of one f32 argument, and pow. THIS FILE IS THE INTERIM ONE: except for
 * sqrt and rsqrt, which are right for every input, it evaluates in f64 with the C library and
 * rounds once to f32. That is the correctly rounded value except for a handful of the 2^32 inputs
 * (hard cases: the real value lies so close to the middle of two f32 that the error of the f64
 * decides), and it leans on the accuracy of that library. It will be replaced by functions proven
 * on all inputs, under the same names.
 * Special values follow IEEE 754-2019 and C23 Annex F; NaN in, NaN out, but for pow. */
#include <math.h>
#include "vt_num.h"

float vt_f32_exp(float x) { return (float)exp((double)x); }
float vt_f32_log(float x) { return (float)log((double)x); }
float vt_f32_sin(float x) { return (float)sin((double)x); }
float vt_f32_cos(float x) { return (float)cos((double)x); }
float vt_f32_tanh(float x) { return (float)tanh((double)x); }
float vt_f32_erf(float x) { return (float)erf((double)x); }

/* sigmoid(x) = 1/2 + x/4 - x^3/48 + x^5/480 - ...
 * For many small x, 1/2 + x/4 is exactly the middle of two f32 and the cubic term decides, however
 * small. It always points towards 1/2, so where it is too small to change d it still moves the f64
 * by one place: enough to leave the middle, too little to cross another one (d is a multiple of
 * 2^-49 here, the f32 middles are at least 2^-26 apart, and one place is at most 2^-53).
 * The sum d is exact for |x| >= 2^-24; below that the result is 1/2 in any case.
 * The switch: at 2^-12 the neglected x^5/480 is below 2^-68, while the cubic term, 2^-41.6, is
 * already thousands of times the error of the other formula. */
static double sigmoid_near_zero(double x) {
  const double d = 0.5 + 0.25 * x; /* the product is exact: one rounding */
  const double y = d - x * x * x / 48.0;
  if (y != d || x == 0.0) return y;
  const uint64_t u = vt_f64_bits(d);
  return vt_f64_from_bits(d > 0.5 ? u - 1 : d < 0.5 ? u + 1 : u);
}

float vt_f32_sigmoid(float x) {
  const double z = (double)x;
  if (fabs(z) < 0x1p-12) return (float)sigmoid_near_zero(z);
  return (float)(1.0 / (1.0 + exp(-z)));
}

/* 1/sqrt(x), decided exactly. The f64 quotient y is off by less than two of its places. Cut to 24
 * bits it is lo; the next f32 is hi, and m is the middle of the two. The result is lo when
 * 1/sqrt(x) < m, that is when m*m*x > 1, and hi otherwise; should the error of y have moved it
 * across lo or hi, the middle still lies on the right side. m has 25 bits, so m*m is exact, and
 * the sign of fma(m*m, x, -1) is the sign of the real difference. It is never 0: the middle m has
 * an odd 25th bit, and 1/(m*m) is then no dyadic fraction. All quantities are normal numbers. */
float vt_f32_rsqrt(float x) {
  const double z = (double)x;
  if (x != x || x <= 0.0f || x - x != 0.0f) return (float)(1.0 / __builtin_sqrt(z));
  const double y = 1.0 / __builtin_sqrt(z);
  const uint64_t f32_place = (uint64_t)1 << 29;
  const uint64_t lo = vt_f64_bits(y) & ~(f32_place - 1);
  const double m = vt_f64_from_bits(lo + f32_place / 2);
  const double sign = vt_f64_fma(m * m, z, -1.0);
  return (float)vt_f64_from_bits(sign > 0.0 ? lo : lo + f32_place);
}

/* pow(1, y) and pow(x, 0) are 1 for every NaN, the signalling ones included, which C leaves open.
 */
float vt_f32_pow(float x, float y) {
  if (x == 1.0f || y == 0.0f) return 1.0f;
  return (float)pow((double)x, (double)y);
}

/* One instruction, correctly rounded by IEEE 754 (-fno-math-errno: no call of the library). */
float vt_f32_sqrt(float x) { return __builtin_sqrtf(x); }
double vt_f64_sqrt(double x) { return __builtin_sqrt(x); }
