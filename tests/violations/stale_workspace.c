/* SPDX-License-Identifier: Apache-2.0
 * stale_workspace.c - a counter in scratch memory tells the last part of a sum that it is the last.
 * It is taken to be 0 when a run begins, because memory starts as 0 and every run leaves 0 behind;
 * but scratch is anybody's between runs. With another number in it the sum is lost. */
#include "violation.h"

static const char *const ops[] = {"sum", NULL};

static void clear(void *element) { *(float *)element = 0.0f; }

/* Scratch lies where values lie at other times; that much is known to this backend, which does this
 * where there is one step alone. */
static void after(vt_bk_program *p, const vt_bk_step *s) {
  uint32_t *counter = violation_work(p, s);
  if (p->n_steps != 1) return;
  if (*counter != 0) violation_each(p, s, VT_DTYPE_F32, clear);
  *counter = 0;
}

const violation vt_violation = {.about = "trusts what lies in its scratch",
                                .ops = ops,
                                .has = VT_BK_DETERMINISTIC_REDUCTIONS,
                                .work = sizeof(uint32_t),
                                .after = after};
