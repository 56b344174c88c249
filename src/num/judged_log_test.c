/* SPDX-License-Identifier: Apache-2.0
 * judged_log_test.c - a million inputs of each of these functions, judged by MPFR. */
#define JUDGED_FUNCTIONS                                                     \
  JUDGED(log, mpfr_log), JUDGED(log2, mpfr_log2), JUDGED(log10, mpfr_log10), \
      JUDGED(log1p, mpfr_log1p), JUDGED(rsqrt, right_rsqrt)
#include "judged_test.h"
