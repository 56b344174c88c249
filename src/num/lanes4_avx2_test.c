/* SPDX-License-Identifier: Apache-2.0
 * lanes4_avx2_test.c - the functions over vectors of four, compiled with -mavx2. */
#define VT_LANES 4
#ifdef __AVX2__
#define LANES_MAY_RUN __builtin_cpu_supports("avx2")
#else
#define LANES_MAY_RUN 0
#endif
#include "lanes_test.h"
