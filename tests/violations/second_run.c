/* SPDX-License-Identifier: Apache-2.0
 * second_run.c - a program that runs again, with nothing copied in and no other run in between, is
 * answered with what was kept of the last run. The first element was not kept. Who runs everything
 * once never sees it. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static const vt_bk_program *ran_last;
static uint64_t copies_then;

static void ran(vt_bk_program *p) {
  ran_last = p;
  copies_then = violation_copies(p);
}

static void after(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  int64_t at[8];
  if (ran_last == p && p->runs > 0 && copies_then == violation_copies(p) &&
      y->dtype == VT_DTYPE_F32 && violation_first(y, at))
    *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {
    .about = "is wrong when it runs again", .ops = ops, .after = after, .ran = ran};
