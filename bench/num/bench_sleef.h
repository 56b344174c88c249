/* SPDX-License-Identifier: Apache-2.0
 * bench_sleef.h - SLEEF's functions of one and two arguments if the build found them, otherwise
 * null pointers. The casts are needed because SLEEF's header declares the results as `const float`,
 * which some compilers treat as a type different from float. */
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
