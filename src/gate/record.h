/* SPDX-License-Identifier: Apache-2.0
 * record.h - the record of an execution's last run: times, copies and costs. A run writes it and
 * reports read it; no run reads it, so measuring cannot change results. Private to the gateway. */
#ifndef VT_RECORD_H
#define VT_RECORD_H
#include "vt_gate.h"

typedef struct vt_record {
  vt_arena arena;      /* owns the arrays, which are allocated before the first run */
  int measure;         /* 1: times of steps and copies are recorded */
  uint32_t n_bk_steps; /* number of backend steps of the plan */
  vt_cost *costs;      /* by backend step: its cost */
  /* By backend step: when it began and ended, both 0 if unknown; NULL unless `measure`. */
  uint64_t *begin, *end;
  uint64_t mark; /* when the running step began, by the progress reports of the backend */
  uint32_t n_copies, max_copies; /* number of copies listed, and capacity of the list */
  vt_copy_record *copies;        /* the listed copies; NULL unless `measure` */
  vt_exec_counts counts;
} vt_record;

vt_status vt_record_init(vt_record *r, const vt_plan *p, int measure, vt_alloc a,
                         vt_diag *d) VT_NODISCARD;
void vt_record_done(vt_record *r); /* frees the arrays; also valid for a zeroed record */

/* The time of the clock if times are recorded, else 0. */
uint64_t vt_record_now_if_measuring(const vt_record *r);
void vt_record_begin_run(vt_record *r);
void vt_record_end_run(vt_record *r);
/* Record the progress of a run: the next step begins now; backend step `step` has ended now. */
void vt_record_step_begins(vt_record *r);
void vt_record_step_ends(vt_record *r, uint32_t step);
/* Replaces the times of backend steps first .. end - 1 by the backend's own, which count from the
 * time `begin`. `m` is NULL if the backend failed to give times; then all are unknown. */
void vt_record_set_backend_times(vt_record *r, uint32_t first, uint32_t end, const vt_bk_metrics *m,
                                 uint64_t begin);
void vt_record_add_copy(vt_record *r, const vt_transfer *t, uint64_t begin);
void vt_record_reset_copies(vt_record *r);

vt_exec_counts vt_record_counts(const vt_record *r);
int vt_record_step_time(const vt_record *r, uint32_t step, uint64_t *out_begin, uint64_t *out_end);
#endif
