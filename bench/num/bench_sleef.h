/* SPDX-License-Identifier: Apache-2.0
 * bench_sleef.h - SLEEF's functions of one and two arguments where the build found them, elsewhere
 * null pointers. Its header gives them the result `const float`, which some compilers hold to be
 * another type than float: hence the casts. */
#ifndef BENCH_SLEEF_H
#define BENCH_SLEEF_H
#ifdef VOLTA_BENCH_SLEEF
#include <sleef.h>
#define SLEEF(name) (float (*)(float)) Sleef_##name
#define SLEEF_TWO(name) (float (*)(float, float)) Sleef_##name
#else
#define SLEEF(name) 0
#define SLEEF_TWO(name) 0
#endif
#endif
