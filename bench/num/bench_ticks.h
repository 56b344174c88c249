/* SPDX-License-Identifier: Apache-2.0
 * bench_ticks.h - a clock that is cheap to read: the time stamp counter of x86, nanoseconds on
 * other processors. */
#ifndef BENCH_TICKS_H
#define BENCH_TICKS_H
#include <stdint.h>
#if defined(__x86_64__)
#define BENCH_TICK "cycles of the time stamp counter"
static inline uint64_t ticks(void) { return __builtin_ia32_rdtsc(); }
#else
#include <time.h>
#define BENCH_TICK "nanoseconds"
static inline uint64_t ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif
#endif
