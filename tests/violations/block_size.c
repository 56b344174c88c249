/* SPDX-License-Identifier: Apache-2.0
 * block_size.c - contractions in blocks of 512 products instead of 256, because the tiles of this
 * machine are of that size. No contraction of up to 256 shows it. */
#include "violation.h"

static const char *const ops[] = {"matmul", NULL};

static float dot(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) {
  return violation_dot_in_blocks(a, sa, b, sb, n, 512);
}

const violation vt_violation = {.about = "contracts in blocks of 512",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .dot = dot};
