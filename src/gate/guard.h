/* SPDX-License-Identifier: Apache-2.0
 * guard.h - the guard around every call to a backend. It sets the floating-point mode of the
 * numerics environment, restores the caller's mode afterwards, and marks the thread as inside a
 * backend. Private to the gateway. */
#ifndef VT_GUARD_H
#define VT_GUARD_H
#include "vt_fpenv.h"

typedef struct vt_guard {
  vt_fpenv saved;
} vt_guard;
void vt_guard_enter(vt_guard *g);
void vt_guard_leave(const vt_guard *g);

/* The events that the gateway counts; vt_gate_get_counts returns the counts. */
typedef enum vt_guard_counter {
  VT_COUNT_DEVICES,
  VT_COUNT_PROGRAMS,
  VT_COUNT_RUNS,
  VT_COUNT_COPIES,
  VT_COUNT_CHECKS,
  VT_COUNTED
} vt_guard_counter;
void vt_guard_count_event(vt_guard_counter what);
#endif
