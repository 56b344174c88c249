/* SPDX-License-Identifier: Apache-2.0
 * minus_zero_lost.c - computes -x as 0 - x, which is right for every number but +0: the result is
 * +0 instead of -0, and dividing by it gives the wrong infinity. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void add_zero_to_element(void *element) { *(float *)element += 0.0f; } /* turns -0 into +0 */

static void add_zero_to_results(vt_bk_program *p, const vt_bk_step *s) {
  violation_for_each_element(p, s, VT_DTYPE_F32, add_zero_to_element);
}

const violation vt_violation = {.about = "loses -0", .ops = ops, .after_step = add_zero_to_results};
