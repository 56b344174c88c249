/* SPDX-License-Identifier: Apache-2.0
 * gives_up.c - a step is accepted when it is asked about and fails when it runs. What is not
 * supported has to be said while there is still a choice. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void after(vt_bk_program *p, const vt_bk_step *s) {
  if (s->out[0].dtype == VT_DTYPE_F32 && s->out[0].rank == 1 && s->out[0].dim[0] == 8)
    p->error.status = VT_UNSUPPORTED;
}

const violation vt_violation = {.about = "fails while it runs", .ops = ops, .after = after};
