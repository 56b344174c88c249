/* SPDX-License-Identifier: Apache-2.0
 * lanes4_test.c - the numerics over vectors of four lanes, for the baseline instruction set
 * (lanes_test.h). */
#define VT_LANES 4
#define LANES_MAY_RUN 1
#include "lanes_test.h"
