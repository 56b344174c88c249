/* SPDX-License-Identifier: Apache-2.0
 * lanes8_test.c - the functions over vectors of eight, with the registers that every processor has.
 */
#define VT_LANES 8
#define LANES_MAY_RUN 1
#include "lanes_test.h"
