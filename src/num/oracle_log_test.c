/* SPDX-License-Identifier: Apache-2.0
 * oracle_log_test.c - a million inputs of each function of this family against MPFR
 * (oracle_test.h). */
#define TESTED_FAMILY FAMILY_LOG
#include "oracle_test.h"
