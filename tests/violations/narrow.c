/* SPDX-License-Identifier: Apache-2.0
 * narrow.c - accepts neg for vectors of 1023 elements only, and is wrong with more than one thread.
 * A check that runs only some cases with other thread counts may miss the only case that fails. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static int has_length_1023(const vt_bk_step *s) {
  const vt_bk_tensor *x = &s->in[0];
  return x->dtype == VT_DTYPE_F32 && x->rank == 1 && x->dim[0] == 1023;
}

static void clear_first_if_threaded(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  int64_t at[8];
  if (p->host->threads > 1 && violation_first_position(y, at))
    *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {.about = "is wrong with threads for the one length it takes",
                                .ops = ops,
                                .accepts = has_length_1023,
                                .after_step = clear_first_if_threaded};
