/* SPDX-License-Identifier: Apache-2.0
 * fused_block.c - matmul by itself is right. In a group with other steps, as in a layer with bias
 * and relu, it sums in blocks of 128 instead of 256. Tests of single ops never show it; a model
 * does. */
#include "violation.h"

static const char *const ops[] = {"matmul",  "add",           "maximum",   "mul",
                                  "literal", "random_normal", "broadcast", NULL};

static _Thread_local int
    fused; /* 1 while the step that runs has another step after it in its group */

static uint64_t run_one_step(vt_bk_program *p, uint64_t i) {
  const vt_bk_step *s = &p->step[i];
  fused = s->group != 0 && i + 1 < p->n_steps && s[1].group == s->group;
  violation_run_reference(p, i);
  return 1;
}

static float dot_by_grouping(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) {
  return fused ? violation_dot_in_blocks(a, sa, b, sb, n, 128)
               : vt_dot_f32(a, sa, b, sb, NULL, 0, n);
}

const violation vt_violation = {.about = "is wrong where ops are fused",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .run_steps = run_one_step,
                                .dot = dot_by_grouping};
