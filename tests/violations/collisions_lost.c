/* SPDX-License-Identifier: Apache-2.0
 * collisions_lost.c - declares supports_atomic_ops, although updates of the same element are not
 * atomic. A few updates of one element are right; of more than 2048 the last one is lost. */
#include "violation.h"

static const char *const ops[] = {"scatter_nd_add", NULL};
enum { UPDATES_WITHOUT_LOSS = 2048 };

/* Undoes the last update of a one-dimensional table by subtracting it. */
static void undo_last_update(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0], *i = &s->in[1], *u = &s->in[2];
  if (y->dtype != VT_DTYPE_I32 || i->dtype != VT_DTYPE_I64 || y->rank != 1 || i->rank != 2 ||
      u->rank != 1 || u->dim[0] <= UPDATES_WITHOUT_LOSS)
    return;
  const int64_t last[8] = {u->dim[0] - 1};
  const int64_t at[8] = {*(int64_t *)violation_element(p, i, i, last)};
  int32_t *sum = violation_element(p, y, y, at);
  *sum = (int32_t)vt_i64_wrap_sub(*sum, *(int32_t *)violation_element(p, u, u, last));
}

const violation vt_violation = {.about = "loses updates that meet",
                                .ops = ops,
                                .has = VT_BK_ATOMIC_OPS | VT_BK_DETERMINISTIC_REDUCTIONS,
                                .after_step = undo_last_update};
