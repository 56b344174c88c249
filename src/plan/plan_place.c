/* SPDX-License-Identifier: Apache-2.0
 * plan_place.c - where every tensor lies. What is kept lies one after the other in its class.
 * Temporaries share one arena over time:
 *
 *   offset
 *     |  [ a  steps 0..2 ][ d  3..5 ]
 *     |  [ b  steps 1..4      ]
 *     +------------------------------> steps
 *
 * In order of birth, each takes the lowest gap it fits into. A value written over another one is
 * not born: it prolongs the life of those bytes. */
#include "gaps.h"
#include "planner.h"
#include "vt_sort.h"

/* Buffers that live to the end lie one after the other. */
static vt_status place_kept(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    vt_buffer *b = &p->buffers[v];
    if (b->class == VT_CLASS_TEMP || b->place != VT_PLACE_OWN) continue;
    uint64_t *top = &p->class_bytes[b->class];
    b->offset = *top;
    if (!vt_size_add(*top, vt_plan_rounded(b->bytes), top) || *top > VT_PLAN_MOST_BYTES)
      return VT_FAIL(q->d, VT_LIMIT, "the %s tensors are beyond 2^48 bytes together",
                     vt_class_name(b->class));
  }
  return VT_OK;
}

/* ---- temporaries ---- */

typedef struct stretch {
  uint32_t first, last;
  uint64_t bytes;
  uint64_t *offset; /* where its place is written to */
} stretch;
typedef struct stretches {
  stretch *at;
  uint32_t n;
} stretches;

static void add(stretches *s, uint32_t first, uint32_t last, uint64_t bytes, uint64_t *offset) {
  *offset = 0;
  if (bytes > 0) s->at[s->n++] = (stretch){first, last, vt_plan_rounded(bytes), offset};
}

/* To when the bytes of each value are needed, by it or by what is written over it. */
static uint32_t *find_ends(const vt_planner *q) {
  const vt_plan *p = q->p;
  uint32_t *end = VT_NEW_N(q->scratch, uint32_t, p->n_buffers);
  uint32_t *root = VT_NEW_N(q->scratch, uint32_t, p->n_buffers);
  if (end == NULL || root == NULL) return NULL;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    root[v] = v;
    end[v] = p->buffers[v].last;
  }
  for (uint32_t v = 0; v < p->n_buffers; v++) { /* an operand is numbered before its result */
    if (p->buffers[v].place != VT_PLACE_OVER) continue;
    root[v] = root[p->buffers[v].of];
    end[root[v]] = p->buffers[v].last; /* the last of the chain comes last */
  }
  return end;
}

static void add_value(stretches *s, vt_plan *p, const uint32_t *end, uint32_t v) {
  vt_buffer *b = &p->buffers[v];
  if (b->class == VT_CLASS_TEMP && b->place == VT_PLACE_OWN)
    add(s, b->first, end[v], b->bytes, &b->offset);
}

/* In order of birth: arguments that a body keeps, then for each step the parameters that visit it,
 * its results, and the stretch that its bodies share. */
static vt_status collect(const vt_planner *q, stretches *s) {
  vt_plan *p = q->p;
  const uint32_t *end = find_ends(q);
  uint32_t t = 0;
  s->at = VT_NEW_N(q->scratch, stretch, (size_t)p->n_buffers + p->n_steps + p->n_transfers + 1);
  if (end == NULL || s->at == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t i = 0; i < p->g->n_ports; i++) add_value(s, p, end, p->g->ports[i].value);
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    for (; t < p->n_transfers && p->transfers[t].step <= i; t++)
      if (p->transfers[t].class == VT_CLASS_TEMP)
        add(s, i, i, p->transfers[t].bytes, &p->transfers[t].offset);
    for (uint32_t k = 0; k < n->n_out; k++) add_value(s, p, end, n->first_out + k);
    add(s, i, i, p->nested[i].bytes, &p->nested[i].offset);
  }
  return VT_OK;
}

static int by_end(const void *a, const void *b, const void *context) {
  const stretch *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (s[x].last != s[y].last) return s[x].last < s[y].last ? -1 : 1;
  return x < y ? -1 : x > y;
}

static vt_status place_temporaries(vt_planner *q) {
  stretches s = {0};
  vt_gaps gaps;
  VT_TRY(collect(q, &s));
  uint32_t *ends = VT_NEW_N(q->scratch, uint32_t, s.n), gone = 0;
  if (ends == NULL || vt_gaps_init(&gaps, s.n, q->scratch) != VT_OK) return vt_plan_no_memory(q->d);
  for (uint32_t i = 0; i < s.n; i++) ends[i] = i;
  if (vt_sort(ends, s.n, sizeof *ends, by_end, s.at, q->p->arena.a) != VT_OK)
    return vt_plan_no_memory(q->d);
  uint64_t *top = &q->p->class_bytes[VT_CLASS_TEMP];
  for (uint32_t i = 0; i < s.n; i++) {
    for (; s.at[ends[gone]].last < s.at[i].first; gone++)
      vt_gaps_give(&gaps, *s.at[ends[gone]].offset, s.at[ends[gone]].bytes);
    *s.at[i].offset = vt_gaps_take(&gaps, s.at[i].bytes);
    if (*s.at[i].offset + s.at[i].bytes > *top) *top = *s.at[i].offset + s.at[i].bytes;
    if (*top > VT_PLAN_MOST_BYTES)
      return VT_FAIL(q->d, VT_LIMIT, "the temporaries are beyond 2^48 bytes together");
  }
  return VT_OK;
}

vt_status vt_plan_place(vt_planner *q) {
  if (q->owner == NULL) VT_TRY(place_kept(q));
  return place_temporaries(q);
}

/* ---- those that lie where others do ---- */

static const vt_transfer *find_visit(const vt_plan *p, uint32_t step, uint32_t value) {
  uint32_t low = 0, high = p->n_transfers;
  while (low < high) { /* the first of this step */
    const uint32_t middle = low + (high - low) / 2;
    if (p->transfers[middle].step < step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < p->n_transfers && p->transfers[low].step == step; low++)
    if (p->transfers[low].value == value && p->transfers[low].class == VT_CLASS_TEMP)
      return &p->transfers[low];
  return NULL;
}

void vt_plan_locate(const vt_plan *p, uint32_t step, uint32_t v, uint32_t holder, uint32_t *class,
                    uint64_t *offset) {
  const vt_buffer *b = &p->buffers[v];
  *class = b->class;
  *offset = b->offset;
  if (b->class != VT_CLASS_HOST) return;
  const vt_transfer *visit = find_visit(p, step, holder);
  *class = VT_CLASS_TEMP;
  *offset = (visit == NULL ? 0 : visit->offset) + (b->offset - p->buffers[holder].offset);
}

/* An argument lies where an operand or a result of the step lies; neither is a view. */
static void settle_argument(const vt_plan *p, uint32_t step, uint32_t which, uint32_t arg,
                            vt_buffer *b) {
  const vt_node *n = &p->g->nodes[p->step_node[step]];
  uint32_t index;
  const vt_arg_place place = vt_op_body_place(n->op, n->attrs, which, arg, &index);
  const uint32_t from =
      place == VT_ARG_RESULT ? n->first_out + index : p->g->operands[n->first_in + index];
  vt_plan_locate(p, step, from, from, &b->class, &b->offset);
}

static void settle_body(const vt_plan *p, uint32_t step, uint32_t which) {
  vt_plan *body = p->nested[step].plan[which];
  const uint64_t base = p->nested[step].offset;
  for (uint32_t i = 0; i < body->n_steps; i++)
    if (body->nested[i].bytes > 0) body->nested[i].offset += base;
  for (uint32_t v = 0; v < body->n_buffers; v++) {
    vt_buffer *b = &body->buffers[v];
    if (b->place == VT_PLACE_ARG) settle_argument(p, step, which, body->g->values[v].index, b);
    if (b->place == VT_PLACE_OWN && b->bytes > 0) b->offset += base;
  }
  vt_plan_settle(body);
}

void vt_plan_settle(vt_plan *p) {
  for (uint32_t v = 0; v < p->n_buffers; v++) { /* what it depends on is numbered before it */
    vt_buffer *b = &p->buffers[v];
    if (b->place == VT_PLACE_OVER) b->offset = p->buffers[b->of].offset;
    if (b->place != VT_PLACE_VIEW) continue;
    b->class = p->buffers[b->of].class;
    b->offset += p->buffers[b->of].offset;
  }
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    vt_transfer *t = &p->transfers[i];
    if (t->class != VT_CLASS_TEMP) t->offset = p->buffers[t->value].offset;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) settle_body(p, i, k);
}
