/* SPDX-License-Identifier: Apache-2.0
 * leaves_mode.c - rounds upwards while it builds a program, and does not put the mode back: what it
 * computes is right, what its host computes next in that thread is not. */
#include <fenv.h>
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void built(vt_bk_program *p) {
  (void)p;
  fesetround(FE_UPWARD);
}

const violation vt_violation = {
    .about = "leaves another rounding mode", .ops = ops, .built = built};
