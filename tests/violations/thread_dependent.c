/* SPDX-License-Identifier: Apache-2.0
 * thread_dependent.c - cuts a contraction into one part per thread and adds the partial sums, the
 * obvious way to use threads. With one thread it is right. */
#include "violation.h"

static const char *const ops[] = {"matmul", NULL};

static float dot_in_thread_parts(const float *a, int64_t sa, const float *b, int64_t sb,
                                 int64_t n) {
  const int64_t asked = violation_current()->host->threads, threads = asked > 0 ? asked : 1;
  const int64_t part = (n + threads - 1) / threads;
  float sum = 0.0f;
  for (int64_t k = 0; k < n; k += part)
    sum += vt_dot_f32(a + k * sa, sa, b + k * sb, sb, NULL, 0, n - k < part ? n - k : part);
  return sum;
}

const violation vt_violation = {.about = "cuts sums by the number of threads",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .dot = dot_in_thread_parts};
