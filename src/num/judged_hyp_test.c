/* SPDX-License-Identifier: Apache-2.0
 * judged_hyp_test.c - a million inputs of each of these functions, judged by MPFR. */
#define JUDGED_FUNCTIONS                                                       \
  JUDGED(sinh, mpfr_sinh), JUDGED(cosh, mpfr_cosh), JUDGED(asinh, mpfr_asinh), \
      JUDGED(acosh, mpfr_acosh), JUDGED(atanh, mpfr_atanh), JUDGED(erf, mpfr_erf)
#include "judged_test.h"
