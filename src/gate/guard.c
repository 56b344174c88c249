/* SPDX-License-Identifier: Apache-2.0
 * guard.c - enters and leaves the guard around calls to backends, and counts events. Guards may be
 * nested, because a progress report during a run may call the gateway. */
#include "guard.h"
#include <stdatomic.h>
#include "vt_gate.h"

/* Number of guards that this thread has entered and not left. */
static _Thread_local unsigned depth;
/* Number of times that a backend left the mode changed in this thread. */
static _Thread_local uint64_t strayed;
static _Atomic uint64_t counts[VT_COUNTED];

void vt_guard_enter(vt_guard *g) {
  vt_fpenv_enter(&g->saved);
  depth++;
}

/* Leaves a guard. Only the outermost guard checks the mode: inside it, the host's listeners may
 * have changed the mode, which is not the backend's fault. */
void vt_guard_leave(const vt_guard *g) {
  if (--depth == 0 && !vt_fpenv_is_active()) strayed++;
  vt_fpenv_leave(&g->saved);
}

int vt_gate_is_inside_call(void) { return depth > 0; }

uint64_t vt_gate_count_mode_changes(void) { return strayed; }

void vt_guard_count_event(vt_guard_counter what) {
  atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed);
}

vt_gate_counts vt_gate_get_counts(void) {
  return (vt_gate_counts){.devices = counts[VT_COUNT_DEVICES],
                          .programs = counts[VT_COUNT_PROGRAMS],
                          .runs = counts[VT_COUNT_RUNS],
                          .copies = counts[VT_COUNT_COPIES],
                          .checks = counts[VT_COUNT_CHECKS]};
}
