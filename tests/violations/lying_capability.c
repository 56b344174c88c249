/* SPDX-License-Identifier: Apache-2.0
 * lying_capability.c - declares supports_float64 but computes f64 in f32, as drivers do for devices
 * without f64 units: programs run, and nobody is told. */
#include "violation.h"

static const char *const ops[] = {"div", NULL};

static void narrow_element(void *element) {
  double *x = element;
  *x = (double)(float)*x;
}

static void narrow_results(vt_bk_program *p, const vt_bk_step *s) {
  violation_for_each_element(p, s, VT_DTYPE_F64, narrow_element);
}

const violation vt_violation = {.about = "declares f64 and computes in f32",
                                .ops = ops,
                                .has = VT_BK_FLOAT64,
                                .after_step = narrow_results};
