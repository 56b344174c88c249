/* SPDX-License-Identifier: Apache-2.0
 * oracle_trig_test.c - a million inputs of each function of this family, judged by MPFR. */
#define JUDGED_FAMILY FAMILY_TRIG
#include "oracle_test.h"
