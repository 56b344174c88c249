/* SPDX-License-Identifier: Apache-2.0
 * narrow.c - one op of one length is taken, and with more than one thread it is wrong: who tries
 * some cases under other circumstances need not meet the only one that there is. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static int is_taken(const vt_bk_step *s) {
  const vt_bk_tensor *x = &s->in[0];
  return x->dtype == VT_DTYPE_F32 && x->rank == 1 && x->dim[0] == 1023;
}

static void after(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  int64_t at[8];
  if (p->host->threads > 1 && violation_first(y, at))
    *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {.about = "is wrong with threads for the one length it takes",
                                .ops = ops,
                                .is_taken = is_taken,
                                .after = after};
