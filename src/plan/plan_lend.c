/* SPDX-License-Identifier: Apache-2.0
 * plan_lend.c - scratch of a step in bytes of other arenas that nobody needs while it runs. What
 * the core decided stays as it is; a step whose scratch fits into a gap takes it from there, and
 * the workspace holds what is left. A group may run as one, so a gap must be free from its first
 * step to its last. Steps with bodies and dense targets keep to the workspace. */
#include "gaps.h"
#include "planner.h"
#include "vt_sort.h"

typedef struct stay { /* of bytes in an arena, from step to step */
  uint32_t class, first, last;
  uint64_t offset, bytes;
} stay;
typedef struct lender {
  vt_plan *p;
  stay *at; /* in order of birth */
  uint32_t n, *ends;
  vt_gaps temp, output;
} lender;

static void add(lender *l, uint32_t class, uint32_t first, uint32_t last, uint64_t offset,
                uint64_t bytes) {
  const int lends = class == VT_CLASS_TEMP || class == VT_CLASS_OUTPUT;
  if (lends && bytes > 0 && first <= last)
    l->at[l->n++] = (stay){class, first, last, offset, vt_plan_rounded(bytes)};
}

static int by_first(const void *a, const void *b, const void *context) {
  (void)context;
  const stay *x = a, *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int by_last(const void *a, const void *b, const void *context) {
  const stay *at = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (at[x].last != at[y].last) return at[x].last < at[y].last ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* What is written over another value has its bytes to itself from the next step on. */
static void collect(lender *l) {
  const vt_plan *p = l->p;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    const vt_buffer *b = &p->buffers[v];
    if (b->place == VT_PLACE_OWN) add(l, b->class, b->first, b->last, b->offset, b->bytes);
    if (b->place == VT_PLACE_OVER) add(l, b->class, b->first + 1, b->last, b->offset, b->bytes);
  }
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    const vt_transfer *t = &p->transfers[i];
    if (t->class == VT_CLASS_TEMP)
      add(l, t->class, t->step, vt_plan_group_last(p, t->step), t->offset, t->bytes);
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    add(l, VT_CLASS_TEMP, i, i, p->nested[i].offset, p->nested[i].bytes);
}

static vt_status open(lender *l, vt_arena *scratch, vt_diag *d) {
  const vt_plan *p = l->p;
  const size_t most = (size_t)p->n_buffers + p->n_transfers + p->n_steps;
  l->at = VT_NEW_N(scratch, stay, most);
  l->ends = VT_NEW_N(scratch, uint32_t, most);
  if (vt_arena_status(scratch) != VT_OK) return vt_plan_no_memory(d);
  collect(l);
  for (uint32_t i = 0; i < l->n; i++) l->ends[i] = i;
  if (vt_sort(l->at, l->n, sizeof *l->at, by_first, NULL, scratch->a) != VT_OK ||
      vt_sort(l->ends, l->n, sizeof *l->ends, by_last, l->at, scratch->a) != VT_OK ||
      vt_gaps_init(&l->temp, l->n + 1, scratch) != VT_OK ||
      vt_gaps_init(&l->output, l->n + 1, scratch) != VT_OK)
    return vt_plan_no_memory(d);
  return VT_OK;
}

static vt_gaps *gaps_of(lender *l, uint32_t class) {
  return class == VT_CLASS_TEMP ? &l->temp : &l->output;
}

/* Nothing that is born up to step `to` will lie there; `next` is the first that is not born yet. */
static int stays_free(const lender *l, uint32_t next, uint32_t to, uint32_t class, uint64_t offset,
                      uint64_t bytes) {
  for (; next < l->n && l->at[next].first <= to; next++) {
    const stay *x = &l->at[next];
    if (x->class == class && x->offset < offset + bytes && offset < x->offset + x->bytes) return 0;
  }
  return 1;
}

static int borrow(lender *l, uint32_t class, uint32_t next, uint32_t to, vt_bk_step *s) {
  const uint64_t room = l->p->class_bytes[class], need = vt_plan_rounded(s->work_bytes);
  if (need > room) return 0;
  const uint64_t at = vt_gaps_lowest(gaps_of(l, class), need);
  if (at > room - need || !stays_free(l, next, to, class, at, need)) return 0;
  s->work_arena = class;
  s->work_offset = at;
  return 1;
}

/* One member of a group has it for the whole of it. */
static void lend(lender *l, uint32_t from, uint32_t next) {
  const uint32_t to = vt_plan_group_last(l->p, from);
  for (uint32_t i = from; i <= to; i++) {
    vt_bk_step *s = &l->p->runs[i];
    if (s->work_bytes == 0 || s->n_body > 0) continue;
    if (!borrow(l, VT_CLASS_TEMP, next, to, s)) (void)borrow(l, VT_CLASS_OUTPUT, next, to, s);
    return;
  }
}

vt_status vt_plan_lend(vt_plan *p, vt_arena *scratch, vt_diag *d) {
  lender l = {.p = p};
  uint32_t born = 0, gone = 0;
  if (p->dense_only) return VT_OK; /* there a step is several runs */
  VT_TRY(open(&l, scratch, d));
  for (uint32_t i = 0; i < p->n_steps; i++) {
    for (; gone < born && l.at[l.ends[gone]].last < i; gone++)
      vt_gaps_give(gaps_of(&l, l.at[l.ends[gone]].class), l.at[l.ends[gone]].offset,
                   l.at[l.ends[gone]].bytes);
    for (; born < l.n && l.at[born].first <= i; born++)
      if (!vt_gaps_take_at(gaps_of(&l, l.at[born].class), l.at[born].offset, l.at[born].bytes))
        return VT_FAIL(d, VT_INTERNAL, "the plan lets two tensors overlap at step %u", i);
    if (vt_plan_group_first(p, i) == i) lend(&l, i, born);
  }
  return VT_OK;
}
