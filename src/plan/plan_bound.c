/* SPDX-License-Identifier: Apache-2.0
 * plan_bound.c - finds the most bytes that are live on the device at any one step. No placement of
 * this step order needs less, so reports compare the planned peak with this bound. A tally has the
 * live bytes of each step. */
#include "planner.h"

/* Live bytes of each step, stored as differences to the step before. The last entry is for the time
 * after the last step. */
typedef struct tally {
  uint64_t *change; /* bytes that start to live at the step minus those that ended with the step
                       before; may wrap, but the sums do not */
  uint32_t n;       /* number of entries: of steps, and one for the end */
} tally;

static void count_lifetime(tally *t, uint32_t first, uint32_t last, uint64_t bytes) {
  if (first > last) return;
  t->change[first] += bytes;
  if (last + 1 < t->n) t->change[last + 1] -= bytes;
}

/* Counts the lifetime of a value. A value written in place shares its bytes with the value below it
 * during its own step, so it counts from the next step; a state may have ended before. */
static void count_lifetime_of_value(tally *t, const vt_plan *p, uint32_t value) {
  const vt_buffer *b = &p->buffers[value];
  if (!vt_class_is_on_device(b->class)) return;
  if (b->place == VT_PLACE_OWN) count_lifetime(t, b->first, b->last, b->bytes);
  if (b->place == VT_PLACE_OVER)
    count_lifetime(t, b->first + (p->buffers[b->of].last == b->first), b->last, b->bytes);
}

/* Live bytes of the body that has most, because the bodies of a step do not run at the same
 * time. */
static uint64_t live_bytes_of_largest_body(const vt_nested *nested) {
  uint64_t most = 0;
  for (uint32_t k = 0; k < nested->n; k++)
    if (nested->plan[k]->live_bytes > most) most = nested->plan[k]->live_bytes;
  return most;
}

static vt_status count_dense_copies(const vt_plan *p, tally *t, vt_arena *scratch, vt_diag *d) {
  uint32_t *first = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *last = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  if (first == NULL || last == NULL) return vt_plan_no_memory(d);
  vt_plan_lifetimes_of_copies(p, first, last);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    uint64_t elements, bytes;
    if (p->dense[v] == VT_NO_OFFSET) continue;
    VT_TRY(vt_type_size(&p->g->values[v].type, &elements, &bytes, d));
    count_lifetime(t, first[v], last[v], bytes);
  }
  return VT_OK;
}

/* Counts scratch and bodies. A step and the dense copies made for it are backend steps that run one
 * after the other, so only the backend step that needs most bytes counts. */
static void count_scratch_and_bodies(const vt_plan *p, tally *t) {
  uint64_t most = 0;
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    const int is_step = p->bk_step_node[r] == p->step_node[step];
    const uint64_t inner = is_step ? live_bytes_of_largest_body(&p->nested[step]) : 0;
    if (p->bk_steps[r].work_bytes + inner > most) most = p->bk_steps[r].work_bytes + inner;
    if (!is_step) continue;
    count_lifetime(t, step, step, most);
    most = 0;
    step++;
  }
}

vt_status vt_plan_set_live_bytes(vt_plan *p, vt_arena *scratch, vt_diag *d) {
  tally t = {VT_NEW_N(scratch, uint64_t, (size_t)p->n_steps + 1), p->n_steps + 1};
  if (t.change == NULL) return vt_plan_no_memory(d);
  for (uint32_t v = 0; v < p->n_buffers; v++) count_lifetime_of_value(&t, p, v);
  for (uint32_t i = 0; i < p->n_transfers; i++)
    if (p->transfers[i].class == VT_CLASS_TEMP)
      count_lifetime(&t, p->transfers[i].step, vt_plan_group_last(p, p->transfers[i].step),
                     p->transfers[i].bytes);
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      VT_TRY(vt_plan_set_live_bytes(p->nested[i].plan[k], scratch, d));
  VT_TRY(count_dense_copies(p, &t, scratch, d));
  count_scratch_and_bodies(p, &t);
  uint64_t live = 0;
  p->live_bytes = 0;
  p->live_step = 0;
  for (uint32_t i = 0; i < t.n; i++) {
    live += t.change[i];
    if (live <= p->live_bytes) continue;
    p->live_bytes = live;
    p->live_step = i;
  }
  p->live_bytes += p->class_bytes[VT_CLASS_KEPT]; /* they are in use at every step */
  return VT_OK;
}
