/* SPDX-License-Identifier: Apache-2.0
 * clock.c - the monotonic clock in nanoseconds. */
#include "vt_clock.h"
#include <time.h>

uint64_t vt_clock_ns(void) {
  struct timespec t = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
