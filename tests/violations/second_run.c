/* SPDX-License-Identifier: Apache-2.0
 * second_run.c - what is worked out in the first run is kept for the others, and one element of it
 * is wrong: a cache that nobody looked into, since every test runs everything once. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void after(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  int64_t at[8];
  if (p->runs > 0 && y->dtype == VT_DTYPE_F32 && violation_first(y, at))
    *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {
    .about = "is wrong from the second run on", .ops = ops, .after = after};
