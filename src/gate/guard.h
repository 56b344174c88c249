/* SPDX-License-Identifier: Apache-2.0
 * guard.h - what surrounds every call to a backend: the numerics environment, whatever mode the
 * caller is in, and the token that says the gateway is inside; private to the gateway. */
#ifndef VT_GUARD_H
#define VT_GUARD_H
#include "vt_fpenv.h"

typedef struct vt_guard {
  vt_fpenv saved;
} vt_guard;
void vt_guard_enter(vt_guard *g);
void vt_guard_leave(const vt_guard *g);

/* What is counted; vt_gate_count reads it. */
typedef enum vt_counted {
  VT_COUNT_DEVICES,
  VT_COUNT_PROGRAMS,
  VT_COUNT_RUNS,
  VT_COUNT_COPIES,
  VT_COUNT_CHECKS,
  VT_COUNTED
} vt_counted;
void vt_guard_count(vt_counted what);
#endif
