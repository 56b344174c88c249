/* SPDX-License-Identifier: Apache-2.0
 * half_accumulation.c - sums contractions in f16, as some matrix units do that were built for
 * networks that tolerate it. */
#include "violation.h"

static const char *const ops[] = {"matmul", NULL};

static float dot_in_f16(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) {
  float sum = 0.0f;
  for (int64_t k = 0; k < n; k++)
    sum = vt_f16_to_f32(vt_f16_from_f64((double)vt_f32_fma(a[k * sa], b[k * sb], sum)));
  return sum;
}

const violation vt_violation = {.about = "accumulates in f16",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .dot = dot_in_f16};
