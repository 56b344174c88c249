/* SPDX-License-Identifier: Apache-2.0
 * oracle_hyp_test.c - a million inputs of each function of this family against MPFR
 * (oracle_test.h). */
#define TESTED_FAMILY FAMILY_HYP
#include "oracle_test.h"
