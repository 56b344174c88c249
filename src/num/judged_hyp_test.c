/* SPDX-License-Identifier: Apache-2.0
 * judged_hyp_test.c - a million inputs of each function of this family, judged by MPFR. */
#define JUDGED_FAMILY FAMILY_HYP
#include "judged_test.h"
