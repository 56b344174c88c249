/* SPDX-License-Identifier: Apache-2.0
 * lanes8_test.c - the numerics over vectors of eight lanes, for the baseline instruction set
 * (lanes_test.h). */
#define VT_LANES 8
#define LANES_MAY_RUN 1
#include "lanes_test.h"
