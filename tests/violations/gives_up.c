/* SPDX-License-Identifier: Apache-2.0
 * gives_up.c - accepts a step when the plan is made and fails when it runs. A backend must refuse
 * an unsupported step while planning, because only then can another backend be chosen. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void fail_at_length_8(vt_bk_program *p, const vt_bk_step *s) {
  if (s->out[0].dtype == VT_DTYPE_F32 && s->out[0].rank == 1 && s->out[0].dim[0] == 8)
    p->error.status = VT_UNSUPPORTED;
}

const violation vt_violation = {
    .about = "fails while it runs", .ops = ops, .after_step = fail_at_length_8};
