/* SPDX-License-Identifier: Apache-2.0
 * vt_clock.h - monotonic time in nanoseconds, for reports only: no computation and no decision
 * reads it. */
#ifndef VT_CLOCK_H
#define VT_CLOCK_H
#include <stdint.h>
uint64_t vt_clock_ns(void);
#endif
