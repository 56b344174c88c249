/* SPDX-License-Identifier: Apache-2.0
 * record.h - what an execution remembers of its last run: times, copies, costs. It is written to
 * while a run goes on and read by reports; nothing that runs reads it. Private to the gateway. */
#ifndef VT_RECORD_H
#define VT_RECORD_H
#include "vt_gate.h"

typedef struct vt_record {
  vt_arena arena;        /* all of it, taken before the first run */
  int measure;           /* times are wanted */
  uint32_t n_runs;       /* of the plan */
  vt_cost *costs;        /* by run */
  uint64_t *begin, *end; /* by run, NULL unless times are wanted; both 0: not known */
  uint64_t mark;         /* when the step under way began, as far as progress tells */
  uint32_t n_copies, room_copies;
  vt_copied *copies;
  vt_exec_counts counts;
} vt_record;

vt_status vt_record_init(vt_record *r, const vt_plan *p, int measure, vt_alloc a,
                         vt_diag *d) VT_NODISCARD;
void vt_record_done(vt_record *r); /* of a zeroed one, too */

/* The clock if times are wanted, else 0. */
uint64_t vt_record_now(const vt_record *r);
void vt_record_begin(vt_record *r); /* a run */
void vt_record_end(vt_record *r);
/* Progress: the next step begins now; run `run` has ended now. */
void vt_record_resume(vt_record *r);
void vt_record_step(vt_record *r, uint32_t run);
/* What a backend says of runs first .. end-1, which it began at `begin`; NULL: it could not say.
 * Replaces what progress told. */
void vt_record_steps(vt_record *r, uint32_t first, uint32_t end, const vt_bk_metrics *m,
                     uint64_t begin);
void vt_record_copy(vt_record *r, const vt_transfer *t, uint64_t begin);
void vt_record_forget_copies(vt_record *r);

vt_exec_counts vt_record_counts(const vt_record *r);
int vt_record_time(const vt_record *r, uint32_t run, uint64_t *out_begin, uint64_t *out_end);
#endif
