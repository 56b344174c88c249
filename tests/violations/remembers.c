/* SPDX-License-Identifier: Apache-2.0
 * remembers.c - how many elements there are is put where every kernel finds it, when a program is
 * built. With one program at a time that is its own number; with two it is the younger one's, and
 * what lies beyond is not computed. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static uint64_t length; /* of the program built last */

static void built(vt_bk_program *p) {
  length = p->n_steps > 0 ? violation_count(&p->step[p->n_steps - 1].out[0]) : 0;
}

static void after(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  uint64_t i = 0;
  int64_t at[8];
  if (s != &p->step[p->n_steps - 1] || y->dtype != VT_DTYPE_F32) return;
  for (int more = violation_first(y, at); more; more = violation_next(y, at))
    if (i++ >= length) *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {
    .about = "takes the length of another program", .ops = ops, .built = built, .after = after};
