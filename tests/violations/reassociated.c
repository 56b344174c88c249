/* SPDX-License-Identifier: Apache-2.0
 * reassociated.c - sums over four lanes instead of the thirty-two that are laid down: as many as
 * the registers of this processor hold. Every order is as good as another, and gives other bits. */
#include "violation.h"

static const char *const ops[] = {"sum", NULL};

static void add(vt_sum_f32 *s, float x) {
  const uint32_t i = s->n[0]++;
  float *lane = &s->lane[0][i % 4];
  *lane = i < 4 ? x : *lane + x;
}

static float done(vt_sum_f32 *s) {
  for (uint32_t i = s->n[0]; i < 4; i++) s->lane[0][i] = 0.0f;
  return (s->lane[0][0] + s->lane[0][2]) + (s->lane[0][1] + s->lane[0][3]);
}

const violation vt_violation = {.about = "sums over four lanes",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .sum_add = add,
                                .sum_done = done};
