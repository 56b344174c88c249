/* SPDX-License-Identifier: Apache-2.0
 * one_shape.c - the last element of 33 is forgotten: one full vector of 32 and a tail whose mask is
 * off by one. Every other length goes another way through the kernel and is right. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void after(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  const int64_t last[8] = {32};
  if (y->dtype == VT_DTYPE_F32 && y->rank == 1 && y->dim[0] == 33)
    *(float *)violation_element(p, y, y, last) = 0.0f;
}

const violation vt_violation = {.about = "is wrong at one length", .ops = ops, .after = after};
