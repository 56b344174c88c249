/* SPDX-License-Identifier: Apache-2.0
 * int8_in_float.c - sums of products of bytes are kept in f32, in which they are exact up to 2^24.
 * Every short sum is right; supports_int8_exact is a promise about the long ones. */
#include <string.h>
#include "violation.h"

static const char *const ops[] = {"matmul_int", NULL};

/* What a chain of f32 does to a sum that large, without walking it: the last bits are lost. */
static void lose(void *element) {
  int32_t x;
  memcpy(&x, element, sizeof x);
  if (x > 1 << 24 || x < -(1 << 24)) x = (int32_t)(float)x;
  memcpy(element, &x, sizeof x);
}

static void after(vt_bk_program *p, const vt_bk_step *s) {
  violation_each(p, s, VT_DTYPE_I32, lose);
}

const violation vt_violation = {
    .about = "sums bytes in f32", .ops = ops, .has = VT_BK_INT8_EXACT, .after = after};
