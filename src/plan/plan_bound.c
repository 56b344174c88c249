/* SPDX-License-Identifier: Apache-2.0
 * plan_bound.c - the most bytes that are alive on the device at one time. In this order of steps
 * nothing does with less, so it is what a placement is measured against. */
#include "planner.h"

/* Bytes by step, as differences: what begins at a step less what has ended before it. One more
 * step, the end, holds what is kept. */
typedef struct tally {
  uint64_t *change; /* modulo 2^64: only sums are meant */
  uint32_t n;
} tally;

static void count(tally *t, uint32_t first, uint32_t last, uint64_t bytes) {
  if (first > last) return;
  t->change[first] += bytes;
  if (last + 1 < t->n) t->change[last + 1] -= bytes;
}

/* A value written over another takes its bytes over after the step they share. */
static void count_value(tally *t, const vt_buffer *b) {
  if (!vt_class_on_device(b->class)) return;
  if (b->place == VT_PLACE_OWN) count(t, b->first, b->last, b->bytes);
  if (b->place == VT_PLACE_OVER) count(t, b->first + 1, b->last, b->bytes);
}

/* What the larger of the bodies of a step takes while it runs. */
static uint64_t bound_of_bodies(const vt_nested *nested) {
  uint64_t most = 0;
  for (uint32_t k = 0; k < nested->n; k++)
    if (nested->plan[k]->live_bytes > most) most = nested->plan[k]->live_bytes;
  return most;
}

static vt_status count_copies(const vt_plan *p, tally *t, vt_arena *scratch, vt_diag *d) {
  uint32_t *first = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *last = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  if (first == NULL || last == NULL) return vt_plan_no_memory(d);
  vt_plan_copy_lives(p, first, last);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    uint64_t elements, bytes;
    if (p->dense[v] == VT_NO_OFFSET) continue;
    VT_TRY(vt_type_size(&p->g->values[v].type, &elements, &bytes, d));
    count(t, first[v], last[v], bytes);
  }
  return VT_OK;
}

/* Of each step the run that takes most: scratch and bodies. */
static void count_runs(const vt_plan *p, tally *t) {
  uint64_t most = 0;
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    const int is_step = p->run_node[r] == p->step_node[step];
    const uint64_t inner = is_step ? bound_of_bodies(&p->nested[step]) : 0;
    if (p->runs[r].work_bytes + inner > most) most = p->runs[r].work_bytes + inner;
    if (!is_step) continue;
    count(t, step, step, most);
    most = 0;
    step++;
  }
}

vt_status vt_plan_bound(vt_plan *p, vt_arena *scratch, vt_diag *d) {
  tally t = {VT_NEW_N(scratch, uint64_t, (size_t)p->n_steps + 1), p->n_steps + 1};
  if (t.change == NULL) return vt_plan_no_memory(d);
  for (uint32_t v = 0; v < p->n_buffers; v++) count_value(&t, &p->buffers[v]);
  for (uint32_t i = 0; i < p->n_transfers; i++)
    if (p->transfers[i].class == VT_CLASS_TEMP)
      count(&t, p->transfers[i].step, vt_plan_group_last(p, p->transfers[i].step),
            p->transfers[i].bytes);
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      VT_TRY(vt_plan_bound(p->nested[i].plan[k], scratch, d));
  VT_TRY(count_copies(p, &t, scratch, d));
  count_runs(p, &t);
  uint64_t there = 0;
  p->live_bytes = 0;
  p->live_step = 0;
  for (uint32_t i = 0; i < t.n; i++) {
    there += t.change[i];
    if (there <= p->live_bytes) continue;
    p->live_bytes = there;
    p->live_step = i;
  }
  return VT_OK;
}
