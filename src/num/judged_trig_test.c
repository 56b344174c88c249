/* SPDX-License-Identifier: Apache-2.0
 * judged_trig_test.c - a million inputs of each of these functions, judged by MPFR. */
#define JUDGED_FUNCTIONS                                                                        \
  JUDGED(sin, mpfr_sin), JUDGED(cos, mpfr_cos), JUDGED(tan, mpfr_tan), JUDGED(asin, mpfr_asin), \
      JUDGED(acos, mpfr_acos), JUDGED(atan, mpfr_atan)
#include "judged_test.h"
