/* SPDX-License-Identifier: Apache-2.0
 * stale_workspace.c - counts the finished parts of a sum in scratch memory and expects the counter
 * to be 0 when a run begins, because memory starts as 0 and every run resets it. But between runs
 * the scratch may be used for anything. If the counter is not 0, the sum is lost. */
#include "violation.h"

static const char *const ops[] = {"sum", NULL};

static void clear_element(void *element) { *(float *)element = 0.0f; }

/* Trusts the counter in programs of one step only: with more steps, the plan may place the scratch
 * over values of other steps, and even this backend takes care of that. */
static void lose_sum_if_counter_set(vt_bk_program *p, const vt_bk_step *s) {
  uint32_t *counter = violation_scratch(p, s);
  if (p->n_steps != 1) return;
  if (*counter != 0) violation_for_each_element(p, s, VT_DTYPE_F32, clear_element);
  *counter = 0;
}

const violation vt_violation = {.about = "trusts the contents of its scratch",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .scratch = sizeof(uint32_t),
                                .after_step = lose_sum_if_counter_set};
