/* SPDX-License-Identifier: Apache-2.0
 * flush.c - flushes subnormal results to zero. Many devices do this by default, and -ffast-math
 * switches it on for a whole process. */
#include "violation.h"

static const char *const ops[] = {"add", "mul", NULL};

static void flush_element(void *element) {
  float *x = element;
  const uint32_t bits = vt_f32_bits(*x);
  if ((bits & UINT32_C(0x7f800000)) == 0) *x = vt_f32_from_bits(bits & UINT32_C(0x80000000));
}

static void flush_results(vt_bk_program *p, const vt_bk_step *s) {
  violation_for_each_element(p, s, VT_DTYPE_F32, flush_element);
}

const violation vt_violation = {
    .about = "flushes subnormals to zero", .ops = ops, .after_step = flush_results};
