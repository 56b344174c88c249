/* SPDX-License-Identifier: Apache-2.0
 * one_shape.c - leaves out the last of 33 elements, like a kernel with one full vector of 32 and a
 * remainder whose mask is off by one. Every other length is right. */
#include "violation.h"

static const char *const ops[] = {"neg", NULL};

static void clear_element_32(vt_bk_program *p, const vt_bk_step *s) {
  const vt_bk_tensor *y = &s->out[0];
  const int64_t last[8] = {32};
  if (y->dtype == VT_DTYPE_F32 && y->rank == 1 && y->dim[0] == 33)
    *(float *)violation_element(p, y, y, last) = 0.0f;
}

const violation vt_violation = {
    .about = "is wrong at one length", .ops = ops, .after_step = clear_element_32};
