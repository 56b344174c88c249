/* SPDX-License-Identifier: Apache-2.0
 * nan_dropped.c - computes the maximum with a > b ? a : b, or with an instruction that prefers a
 * number to NaN. A NaN that should be passed on is lost, and with it the only sign of an error. */
#include "violation.h"

static const char *const ops[] = {"max", "maximum", NULL};

static float max_without_nan(float a, float b) {
  if (a != a) return b;
  return b != b ? a : vt_f32_above(a, b) ? a : b;
}

const violation vt_violation = {.about = "drops NaN in max",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .max = max_without_nan};
