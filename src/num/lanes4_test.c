/* SPDX-License-Identifier: Apache-2.0
 * lanes4_test.c - the functions over vectors of four, with the registers that every processor has.
 */
#define VT_LANES 4
#define LANES_MAY_RUN 1
#include "lanes_test.h"
