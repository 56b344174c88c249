/* SPDX-License-Identifier: Apache-2.0
 * reassociated.c - sums in four lanes instead of the specified thirty-two, because a register of
 * this processor holds four. The order is as precise as the specified one but gives other bits. */
#include "violation.h"

static const char *const ops[] = {"sum", NULL};

static void add_to_lane(vt_sum_f32 *s, float x) {
  const uint32_t i = s->n[0]++;
  float *lane = &s->lane[0][i % 4];
  *lane = i < 4 ? x : *lane + x;
}

static float sum_of_lanes(vt_sum_f32 *s) {
  for (uint32_t i = s->n[0]; i < 4; i++) s->lane[0][i] = 0.0f;
  return (s->lane[0][0] + s->lane[0][2]) + (s->lane[0][1] + s->lane[0][3]);
}

const violation vt_violation = {.about = "sums over four lanes",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .sum_add = add_to_lane,
                                .sum_done = sum_of_lanes};
