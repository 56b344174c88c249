/* SPDX-License-Identifier: Apache-2.0
 * nan_dropped.c - the greatest of some numbers by a > b ? a : b, or by an instruction that prefers
 * the operand that is a number. A NaN that should be passed on is lost, and with it the only sign
 * that something went wrong. */
#include "violation.h"

static const char *const ops[] = {"max", "maximum", NULL};

static float number_wins(float a, float b) {
  if (a != a) return b;
  return b != b ? a : vt_f32_above(a, b) ? a : b;
}

const violation vt_violation = {.about = "drops NaN in max",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .max = number_wins};
