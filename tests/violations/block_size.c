/* SPDX-License-Identifier: Apache-2.0
 * block_size.c - sums contractions in blocks of 512 products instead of 256, as hardware with tiles
 * of that size would. Contractions of at most 256 products do not show it. */
#include "violation.h"

static const char *const ops[] = {"matmul", NULL};

static float dot_in_blocks_of_512(const float *a, int64_t sa, const float *b, int64_t sb,
                                  int64_t n) {
  return violation_dot_in_blocks(a, sa, b, sb, n, 512);
}

const violation vt_violation = {.about = "contracts in blocks of 512",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .dot = dot_in_blocks_of_512};
