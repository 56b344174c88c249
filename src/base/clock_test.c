/* SPDX-License-Identifier: Apache-2.0
 * clock_test.c - vt_clock_ns agrees with the system's monotonic clock. */
#include "vt_clock.h"
#include <time.h>
#include "vt_test.h"

static uint64_t system_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(void) {
  int outside = 0;
  for (int i = 0; i < 100000; i++) {
    const uint64_t before = system_ns(), now = vt_clock_ns(), after = system_ns();
    outside += now < before || now > after;
  }
  CHECK(outside == 0);
  TEST_DONE();
}
