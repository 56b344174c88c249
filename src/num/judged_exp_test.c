/* SPDX-License-Identifier: Apache-2.0
 * judged_exp_test.c - a million inputs of each of these functions, judged by MPFR. */
#define JUDGED_FUNCTIONS                                                     \
  JUDGED(exp, mpfr_exp), JUDGED(exp2, mpfr_exp2), JUDGED(expm1, mpfr_expm1), \
      JUDGED(sigmoid, right_sigmoid), JUDGED(tanh, mpfr_tanh)
#include "judged_test.h"
