/* SPDX-License-Identifier: Apache-2.0
 * minus_zero_lost.c - the negative of x as 0 - x, which is right for all numbers but one: of +0 it
 * gives +0. Dividing by it goes to the other infinity. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void add_zero(void *element) { *(float *)element += 0.0f; } /* of -0: +0 */

static void after(vt_bk_program *p, const vt_bk_step *s) {
  violation_each(p, s, VT_DTYPE_F32, add_zero);
}

const violation vt_violation = {.about = "loses -0", .ops = ops, .after = after};
