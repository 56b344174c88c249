/* SPDX-License-Identifier: Apache-2.0
 * lanes4_avx2_test.c - the numerics over vectors of four lanes, compiled with -mavx2 -mfma
 * (lanes_test.h). */
#define VT_LANES 4
#if defined(__AVX2__) && defined(__FMA__)
#define LANES_MAY_RUN (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define LANES_MAY_RUN 0
#endif
#include "lanes_test.h"
