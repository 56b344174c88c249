/* SPDX-License-Identifier: Apache-2.0
 * oracle_exp_test.c - a million inputs of each function of this family against MPFR
 * (oracle_test.h). */
#define TESTED_FAMILY FAMILY_EXP
#include "oracle_test.h"
