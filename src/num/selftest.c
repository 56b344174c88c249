/* SPDX-License-Identifier: Apache-2.0
 * selftest.c - checks that this object code, in this floating-point environment, keeps the rules of
 * the numerics. A compiler flag that changes results may reach a build unnoticed, and a host
 * program may have set the processor to flush subnormals. Each check is a short computation that
 * has one bit pattern under the rule and another one if the rule is broken; its function returns 1
 * if the rule is broken and is named after that. Inputs are volatile, so that the compiler emits
 * code for them instead of computing the result itself. This file depends on no other source file,
 * so that it can be compiled and linked separately. */
#include <float.h>
#include <stddef.h>
#include "vt_num.h"

_Static_assert(FLT_EVAL_METHOD == 0, "f32 and f64 must be computed without excess precision");
_Static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "float and double must be IEEE 754's");

/* (1 + h)^2 - (1 + 2h): the square rounds to 1 + 2h, unless it is contracted into an fma. */
static int contracts_to_fma(void) {
  volatile float a = 1.0f + 0x1p-12f, b = -(1.0f + 0x1p-11f);
  volatile double c = 1.0 + 0x1p-27, d = -(1.0 + 0x1p-26);
  const float x = a, y = b;
  const double z = c, w = d;
  const float plus = x * x + y, minus = x * x - -y;
  const double plus64 = z * z + w, minus64 = z * z - -w;
  return plus != 0.0f || minus != 0.0f || plus64 != 0.0 || minus64 != 0.0;
}

/* (1 + tiny) - 1 is 0 in the order written, and tiny in another order. Likewise a sum that a
 * compiler might split over lanes: 2^24 + 1 + 1 + ... loses each 1, and -2^24 at the end leaves 0.
 */
static int reassociates_sums(void) {
  volatile float a = 1.0f, b = 0x1p-30f;
  volatile double c = 1.0, d = 0x1p-60;
  volatile float element[8] = {0x1p24f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, -0x1p24f};
  const float x = a, y = b;
  const double z = c, w = d;
  float s = 0.0f, e[8];
  for (int i = 0; i < 8; i++) e[i] = element[i];
  for (int i = 0; i < 8; i++) s += e[i];
  return (x + y) - x != 0.0f || (z + w) - z != 0.0 || s != 0.0f;
}

/* 5 * (1/3), with 1/3 rounded, is not the f32 or f64 nearest to 5/3. A constant divisor, and
 * several quotients with one divisor, tempt a compiler to multiply by the reciprocal. */
static int divides_by_multiplying(void) {
  volatile float three = 3.0f, dividend[3] = {5.0f, 7.0f, 11.0f};
  volatile double three64 = 3.0, dividend64[3] = {5.0, 7.0, 11.0};
  const float y = three, third = dividend[0] / 3.0f, want = 0x1.aaaaaap+0f;
  const double w = three64, third64 = dividend64[0] / 3.0, want64 = 0x1.aaaaaaaaaaaabp+0;
  volatile float quotient[3] = {dividend[0] / y, dividend[1] / y, dividend[2] / y};
  volatile double quotient64[3] = {dividend64[0] / w, dividend64[1] / w, dividend64[2] / w};
  return third != want || quotient[0] != want || third64 != want64 || quotient64[0] != want64;
}

/* Signed zeros: -0 + 0 is +0, and 1/+0 is +inf. */
static int loses_signs_of_zero(void) {
  volatile float a = -0.0f, one = 1.0f;
  volatile double c = -0.0, one64 = 1.0;
  const float x = a;
  const double z = c;
  return !(one / (x + 0.0f) > 0.0f) || !(one64 / (z + 0.0) > 0.0);
}

static int loses_nan(void) {
  volatile float zero = 0.0f;
  volatile double zero64 = 0.0;
  const float x = zero / zero;
  const double z = zero64 / zero64;
  return x == x || z == z;
}

/* The largest subnormals times 2^30: the product is 0 if a subnormal operand is taken for 0. */
static int ignores_subnormal_inputs(void) {
  volatile float a = FLT_MIN - FLT_TRUE_MIN, scale = 0x1p30f;
  volatile double c = DBL_MIN - DBL_TRUE_MIN, scale64 = 0x1p30;
  return a * scale == 0.0f || c * scale64 == 0.0;
}

/* Half of the smallest normal number, a subnormal. It is doubled before the comparison, so that the
 * comparison has normal operands; if the result was flushed, the double is 0. */
static int flushes_subnormal_results(void) {
  volatile float a = FLT_MIN, half = 0.5f;
  volatile double c = DBL_MIN, half64 = 0.5;
  volatile float x = a * half;
  volatile double z = c * half64;
  return x + x != FLT_MIN || z + z != DBL_MIN;
}

/* Rounding to nearest, ties to even, on both sides of zero. In units of the last place of 1: 1 +
 * 1/2 becomes 1, 1 + 1 1/2 becomes 1 + 2, and 1 + 3/4 becomes 1 + 1. */
static int rounds_wrongly(void) {
  volatile float one = 1.0f, half = 0x1p-24f, more = 0x1.8p-24f, odd = 1.0f + 0x1p-23f;
  volatile double one64 = 1.0, half64 = 0x1p-53, more64 = 0x1.8p-53, odd64 = 1.0 + 0x1p-52;
  const float even = 1.0f + 0x1p-22f;
  const double even64 = 1.0 + 0x1p-51;
  const int f32 = one + half == 1.0f && -one - half == -1.0f && odd + half == even &&
                  -odd - half == -even && one + more == odd && -one - more == -odd;
  const int f64 = one64 + half64 == 1.0 && -one64 - half64 == -1.0 && odd64 + half64 == even64 &&
                  -odd64 - half64 == -even64 && one64 + more64 == odd64 &&
                  -one64 - more64 == -odd64;
  return !f32 || !f64;
}

const char *vt_num_self_test(void) {
  static const struct {
    int (*broken)(void);
    const char *what;
  } check[] = {
      {rounds_wrongly, "does not round to nearest even"},
      {ignores_subnormal_inputs, "takes subnormal operands for zero"},
      {flushes_subnormal_results, "flushes subnormal results to zero"},
      {contracts_to_fma, "contracts a*b+c"},
      {reassociates_sums, "reassociates sums"},
      {divides_by_multiplying, "replaces a division by a multiplication"},
      {loses_signs_of_zero, "loses the sign of zero"},
      {loses_nan, "assumes that there is no NaN"},
  };
  for (size_t i = 0; i < sizeof check / sizeof check[0]; i++)
    if (check[i].broken()) return check[i].what;
  return NULL;
}
