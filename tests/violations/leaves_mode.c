/* SPDX-License-Identifier: Apache-2.0
 * leaves_mode.c - switches to rounding upwards while it builds a program and does not restore the
 * mode. Its own results are right; what its caller computes next in that thread is wrong. (If a run
 * changed the mode, the gateway would refuse each such run by itself.) */
#include <fenv.h>
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void leave_upward_mode(vt_bk_program *p) {
  (void)p;
  fesetround(FE_UPWARD);
}

const violation vt_violation = {
    .about = "leaves another rounding mode", .ops = ops, .on_build = leave_upward_mode};
