/* SPDX-License-Identifier: Apache-2.0
 * remembers.c - stores the number of elements in a global variable when a program is built. With
 * one program at a time the number is right. With two it is that of the program built last, and the
 * other program leaves its elements beyond that number uncomputed. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static uint64_t length; /* elements in the last result of the program that was built last */

static void store_length(vt_bk_program *p) {
  length = p->n_steps > 0 ? violation_count_elements(&p->step[p->n_steps - 1].out[0]) : 0;
}

static void clear_beyond_length(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  uint64_t i = 0;
  int64_t at[8];
  if (s != &p->step[p->n_steps - 1] || y->dtype != VT_DTYPE_F32) return;
  for (int more = violation_first_position(y, at); more; more = violation_next_position(y, at))
    if (i++ >= length) *(float *)violation_element(p, y, y, at) = 0.0f;
}

const violation vt_violation = {.about = "takes the length of another program",
                                .ops = ops,
                                .on_build = store_length,
                                .after_step = clear_beyond_length};
