/* SPDX-License-Identifier: Apache-2.0
 * wide_accumulation.c - sums contractions in f64 and rounds once at the end. This is more precise
 * than the specified sum, and it is wrong because its bits differ. */
#include "violation.h"

static const char *const ops[] = {"matmul", NULL};

static float dot_in_f64(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) {
  double sum = 0.0;
  for (int64_t k = 0; k < n; k++) sum += (double)a[k * sa] * (double)b[k * sb];
  return (float)sum;
}

const violation vt_violation = {.about = "accumulates in f64",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .dot = dot_in_f64};
