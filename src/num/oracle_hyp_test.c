/* SPDX-License-Identifier: Apache-2.0
 * oracle_hyp_test.c - a million inputs of each function of this family, judged by MPFR. */
#define JUDGED_FAMILY FAMILY_HYP
#include "oracle_test.h"
