/* SPDX-License-Identifier: Apache-2.0
 * record.c - records the times, copies and costs of runs. All memory is allocated when the
 * execution is created, so measuring adds no allocation to a run. Without measuring, a run reads
 * the clock only twice. It also records phases, which are parts of a program's preparation such as
 * opening the device. */
#include "record.h"
#include <string.h>
#include "registry.h"
#include "vt_clock.h"

/* ---- creating a record ---- */

/* The most copies that a record lists: the transfers of the plan, and some more that a caller may
 * make, such as reading a result under two names. Further copies are counted but not listed. */
static size_t most_copies_listed(const vt_plan *p) {
  return (size_t)p->n_transfers + p->g->n_ports + p->g->n_results;
}

vt_status vt_record_init(vt_record *r, const vt_plan *p, int measure, vt_alloc a, vt_diag *d) {
  vt_arena_init(&r->arena, a);
  r->measure = measure;
  r->n_bk_steps = p->n_bk_steps;
  r->costs = VT_NEW_N(&r->arena, vt_cost, p->n_bk_steps);
  if (measure) {
    r->begin = VT_NEW_N(&r->arena, uint64_t, p->n_bk_steps);
    r->end = VT_NEW_N(&r->arena, uint64_t, p->n_bk_steps);
    r->max_copies = (uint32_t)most_copies_listed(p);
    r->copies = VT_NEW_N(&r->arena, vt_copy_record, most_copies_listed(p));
  }
  if (vt_arena_status(&r->arena) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < p->n_bk_steps; i++)
    VT_TRY(vt_step_cost(&p->bk_steps[i], a, &r->costs[i], d));
  return VT_OK;
}

void vt_record_done(vt_record *r) { vt_arena_done(&r->arena); }

/* ---- a run ---- */

uint64_t vt_record_now_if_measuring(const vt_record *r) { return r->measure ? vt_clock_ns() : 0; }

void vt_record_begin_run(vt_record *r) {
  if (r->measure) {
    memset(r->begin, 0, r->n_bk_steps * sizeof *r->begin);
    memset(r->end, 0, r->n_bk_steps * sizeof *r->end);
  }
  r->counts.runs++;
  r->counts.begin_ns = vt_clock_ns();
}

void vt_record_end_run(vt_record *r) { r->counts.wall_ns = vt_clock_ns() - r->counts.begin_ns; }

void vt_record_step_begins(vt_record *r) { r->mark = vt_record_now_if_measuring(r); }

void vt_record_step_ends(vt_record *r, uint32_t step) {
  if (!r->measure) return;
  r->begin[step] = r->mark;
  r->end[step] = r->mark = vt_clock_ns();
}

/* Stores the times of a step that a backend gave as nanoseconds since `origin`. The backend is not
 * trusted: times are cut off at `elapsed`, the time that has passed since `origin`, and a step that
 * ends before it begins is ignored. */
static void set_step_time(vt_record *r, uint32_t step, uint64_t origin, uint64_t begin,
                          uint64_t end, uint64_t elapsed) {
  if (begin > end) return;
  r->begin[step] = origin + (begin < elapsed ? begin : elapsed);
  r->end[step] = origin + (end < elapsed ? end : elapsed);
}

void vt_record_set_backend_times(vt_record *r, uint32_t first, uint32_t end, const vt_bk_metrics *m,
                                 uint64_t begin) {
  const uint64_t had = vt_clock_ns() - begin;
  for (uint32_t i = first; i < end; i++) r->begin[i] = r->end[i] = 0;
  if (m == NULL || m->n_steps != end - first || m->begin == NULL || m->end == NULL) return;
  for (uint32_t i = first; i < end; i++)
    set_step_time(r, i, begin, m->begin[i - first], m->end[i - first], had);
}

void vt_record_add_copy(vt_record *r, const vt_transfer *t, uint64_t begin) {
  const int to_device = t->direction == VT_TO_DEVICE;
  *(to_device ? &r->counts.to_device : &r->counts.from_device) += t->bytes;
  *(to_device ? &r->counts.copies_to_device : &r->counts.copies_from_device) += 1;
  if (r->n_copies == r->max_copies) return;
  r->copies[r->n_copies++] =
      (vt_copy_record){t->value, t->direction, t->bytes, begin, vt_clock_ns()};
}

void vt_record_reset_copies(vt_record *r) {
  r->counts.to_device = r->counts.from_device = 0;
  r->counts.copies_to_device = r->counts.copies_from_device = 0;
  r->n_copies = 0;
}

/* ---- reading a record ---- */

int vt_record_step_time(const vt_record *r, uint32_t step, uint64_t *out_begin, uint64_t *out_end) {
  if (!r->measure || r->begin[step] == 0) return 0;
  *out_begin = r->begin[step];
  *out_end = r->end[step];
  return 1;
}

vt_exec_counts vt_record_counts(const vt_record *r) {
  vt_exec_counts c = r->counts;
  for (uint32_t i = 0; r->measure && i < r->n_bk_steps; i++) c.timed += r->begin[i] != 0;
  return c;
}

/* ---- phases ---- */

uint64_t vt_phase_begin(void) { return vt_clock_ns(); }

void vt_phase_end(vt_device *dev, const char *name, uint64_t begin) {
  if (dev->n_phases == VT_PHASES) return;
  dev->phases[dev->n_phases++] = (vt_phase){name, begin, vt_clock_ns()};
}

const vt_phase *vt_device_phase(const vt_device *dev, uint32_t i) {
  return i < dev->n_phases ? &dev->phases[i] : NULL;
}
