/* SPDX-License-Identifier: Apache-2.0
 * lanes8_avx512_test.c - the functions over vectors of eight, compiled with -mavx512f. */
#define VT_LANES 8
#ifdef __AVX512F__
#define LANES_MAY_RUN __builtin_cpu_supports("avx512f")
#else
#define LANES_MAY_RUN 0
#endif
#include "lanes_test.h"
