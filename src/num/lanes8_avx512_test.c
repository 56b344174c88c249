/* SPDX-License-Identifier: Apache-2.0
 * lanes8_avx512_test.c - the numerics over vectors of eight lanes, compiled with -mavx512f
 * (lanes_test.h). */
#define VT_LANES 8
#ifdef __AVX512F__
#define LANES_MAY_RUN __builtin_cpu_supports("avx512f")
#else
#define LANES_MAY_RUN 0
#endif
#include "lanes_test.h"
