/* SPDX-License-Identifier: Apache-2.0
 * faultless.c - a backend without a fault, built like the others. It must pass, or the refusals of
 * the others would prove nothing. Its hooks compute what the reference computes. */
#include "violation.h"

static const char *const ops[] = {"add",     "mul",           "neg",
                                  "exp",     "maximum",       "max",
                                  "sum",     "matmul",        "scatter_nd_add",
                                  "literal", "random_normal", "broadcast",
                                  NULL};

static float dot_in_blocks_of_256(const float *a, int64_t sa, const float *b, int64_t sb,
                                  int64_t n) {
  return violation_dot_in_blocks(a, sa, b, sb, n, 256);
}

const violation vt_violation = {
    .about = "keeps every rule",
    .ops = ops,
    .has = VT_BK_FLOAT64 | VT_BK_DETERMINISTIC_REDUCTIONS | VT_BK_ROUNDED_MATH | VT_BK_ATOMIC_OPS,
    .scratch = 64,
    .dot = dot_in_blocks_of_256};
