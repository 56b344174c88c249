/* SPDX-License-Identifier: Apache-2.0
 * guard.c - entering and leaving backends, counted. Calls nest: a report of progress may ask for
 * something. */
#include "guard.h"
#include <stdatomic.h>
#include "vt_gate.h"

static _Thread_local unsigned depth;
static _Thread_local uint64_t strayed;
static _Atomic uint64_t counts[VT_COUNTED];

void vt_guard_enter(vt_guard *g) {
  vt_fpenv_enter(&g->saved);
  depth++;
}

/* Inside, listeners of ours may have been called, which are no fault of a backend. */
void vt_guard_leave(const vt_guard *g) {
  if (--depth == 0 && !vt_fpenv_kept()) strayed++;
  vt_fpenv_leave(&g->saved);
}

int vt_gate_inside(void) { return depth > 0; }

uint64_t vt_gate_strayed(void) { return strayed; }

void vt_guard_count(vt_counted what) {
  atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed);
}

vt_gate_counts vt_gate_count(void) {
  return (vt_gate_counts){.devices = counts[VT_COUNT_DEVICES],
                          .programs = counts[VT_COUNT_PROGRAMS],
                          .runs = counts[VT_COUNT_RUNS],
                          .copies = counts[VT_COUNT_COPIES],
                          .checks = counts[VT_COUNT_CHECKS]};
}
