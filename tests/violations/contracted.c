/* SPDX-License-Identifier: Apache-2.0
 * contracted.c - computes a*b + c with one rounding where the model has a mul and an add.
 * Compilers contract like this unless -ffp-contract=off forbids it. The result is faster to compute
 * and closer to the exact value, but its bits differ. */
#include "violation.h"

static const char *const ops[] = {"mul", "add", NULL};

static int start_at_same_memory(const vt_bk_tensor *a, const vt_bk_tensor *b) {
  return a->arena == b->arena && a->offset == b->offset;
}

/* Runs a mul and the add after it as one step, if they are in one group. This reads the operands of
 * the mul late, which is safe: values read from outside a group live until its end, and a result
 * aliases an operand only if each element is read before it is written. */
static uint64_t run_contracted(vt_bk_program *p, uint64_t i) {
  const vt_bk_step *mul = &p->step[i], *add = mul + 1;
  if (i + 1 == p->n_steps || mul->group == 0 || add->group != mul->group || mul->op != VT_OP_mul ||
      add->op != VT_OP_add || mul->out->dtype != VT_DTYPE_F32 ||
      start_at_same_memory(mul->out, &add->in[0]) == start_at_same_memory(mul->out, &add->in[1]))
    return 0;
  const vt_bk_tensor *y = add->out, *c = &add->in[start_at_same_memory(mul->out, &add->in[0])];
  int64_t at[8];
  for (int more = violation_first_position(y, at); more; more = violation_next_position(y, at))
    *(float *)violation_element(p, y, y, at) =
        vt_f32_fma(*(float *)violation_element(p, &mul->in[0], y, at),
                   *(float *)violation_element(p, &mul->in[1], y, at),
                   *(float *)violation_element(p, c, y, at));
  return 2;
}

const violation vt_violation = {
    .about = "adds products before they are rounded", .ops = ops, .run_steps = run_contracted};
