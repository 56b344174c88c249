/* SPDX-License-Identifier: Apache-2.0
 * plan_place.c - where every tensor lies. What is kept lies one after the other in its class.
 * Temporaries share one arena over time:
 *
 *   offset
 *     |  [ a  steps 0..2 ][ d  3..5 ]
 *     |  [ b  steps 1..4      ]
 *     +------------------------------> steps
 *
 * and they may lie among the outputs as long as those are not there yet. Outputs are laid out the
 * last to be made first, so that what is free until some step is always the front of the arena.
 * A value written over another one takes no room: it prolongs the life of those bytes.
 *
 * Two rules are tried, and the better one counts: in order of birth, each into the lowest gap it
 * fits into; and the largest first, each as low as those that live with it allow. The second takes
 * n^2 steps and is left to graphs of a few thousand nodes. */
#include "gaps.h"
#include "planner.h"
#include "vt_sort.h"

enum { BY_SIZE_MOST = 4096 };

/* ---- what is kept ---- */

static int by_value(const void *a, const void *b, const void *context) {
  (void)context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* The last to be made first. */
static int by_late_birth(const void *a, const void *b, const void *context) {
  const vt_buffer *buffers = context;
  const uint32_t x = buffers[*(const uint32_t *)a].first, y = buffers[*(const uint32_t *)b].first;
  if (x != y) return x > y ? -1 : 1;
  return by_value(a, b, NULL);
}

static vt_status place_kept(vt_planner *q) {
  vt_plan *p = q->p;
  uint32_t *order = VT_NEW_N(q->scratch, uint32_t, p->n_buffers), n = 0;
  if (order == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t v = 0; v < p->n_buffers; v++)
    if (p->buffers[v].class != VT_CLASS_TEMP && p->buffers[v].place == VT_PLACE_OWN) order[n++] = v;
  if (vt_sort(order, n, sizeof *order, by_late_birth, p->buffers, p->arena.a) != VT_OK)
    return vt_plan_no_memory(q->d);
  for (uint32_t i = 0; i < n; i++) {
    vt_buffer *b = &p->buffers[order[i]];
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
  uint64_t bytes, front; /* front: so much of the outputs' arena is free as long as it lives */
  uint64_t *offset;      /* where its place is written to */
  uint32_t *class;       /* NULL: among the temporaries, whatever else is free */
} stretch;
typedef struct spot {
  uint32_t class;
  uint64_t offset;
} spot;
typedef struct placing {
  vt_planner *q;
  stretch *at; /* in order of birth */
  uint32_t n;
  uint64_t *free_until; /* by step: bytes at the front of the outputs' arena that are free at it */
} placing;

/* An output is there from the step that makes it. */
static vt_status find_front(placing *s) {
  const vt_plan *p = s->q->p;
  s->free_until = VT_NEW_N(s->q->scratch, uint64_t, (size_t)p->n_steps + 1);
  if (s->free_until == NULL) return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i <= p->n_steps; i++) s->free_until[i] = p->class_bytes[VT_CLASS_OUTPUT];
  for (uint32_t i = 0; s->q->owner == NULL && i < p->g->n_results; i++) {
    const vt_buffer *b = &p->buffers[p->g->results[i].value];
    if (b->class == VT_CLASS_OUTPUT && b->bytes > 0 && b->offset < s->free_until[b->first])
      s->free_until[b->first] = b->offset;
  }
  for (uint32_t i = 1; i <= p->n_steps; i++)
    if (s->free_until[i] > s->free_until[i - 1]) s->free_until[i] = s->free_until[i - 1];
  return VT_OK;
}

static void add(placing *s, uint32_t first, uint32_t last, uint64_t bytes, uint64_t *offset,
                uint32_t *class) {
  *offset = 0;
  if (bytes == 0) return;
  s->at[s->n++] =
      (stretch){first, last, vt_plan_rounded(bytes), s->free_until[last], offset, class};
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

static void add_value(placing *s, const uint32_t *end, uint32_t v) {
  vt_buffer *b = &s->q->p->buffers[v];
  if (b->class == VT_CLASS_TEMP && b->place == VT_PLACE_OWN)
    add(s, b->first, end[v], b->bytes, &b->offset, &b->class);
}

/* In order of birth: arguments that a body keeps, then for each step the parameters that visit it,
 * its results, and the stretch that its bodies share. */
static vt_status collect(placing *s) {
  vt_plan *p = s->q->p;
  const uint32_t *end = find_ends(s->q);
  uint32_t t = 0;
  VT_TRY(find_front(s));
  s->at = VT_NEW_N(s->q->scratch, stretch, (size_t)p->n_buffers + p->n_steps + p->n_transfers + 1);
  if (end == NULL || s->at == NULL) return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i < p->g->n_ports; i++) add_value(s, end, p->g->ports[i].value);
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    for (; t < p->n_transfers && p->transfers[t].step <= i; t++)
      if (p->transfers[t].class == VT_CLASS_TEMP)
        add(s, i, vt_plan_group_last(p, i), p->transfers[t].bytes, &p->transfers[t].offset, NULL);
    for (uint32_t k = 0; k < n->n_out; k++) add_value(s, end, n->first_out + k);
    add(s, i, i, p->nested[i].bytes, &p->nested[i].offset, NULL);
  }
  return VT_OK;
}

/* ---- by birth: n log n ---- */

static int by_end(const void *a, const void *b, const void *context) {
  const stretch *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (s[x].last != s[y].last) return s[x].last < s[y].last ? -1 : 1;
  return by_value(a, b, NULL);
}

static vt_status place_by_birth(const placing *s, spot *spots) {
  vt_arena *scratch = s->q->scratch;
  uint32_t *ends = VT_NEW_N(scratch, uint32_t, s->n), gone = 0;
  vt_gaps temp, out;
  if (ends == NULL || vt_gaps_init(&temp, s->n, scratch) != VT_OK ||
      vt_gaps_init(&out, s->n, scratch) != VT_OK)
    return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i < s->n; i++) ends[i] = i;
  if (vt_sort(ends, s->n, sizeof *ends, by_end, s->at, s->q->p->arena.a) != VT_OK)
    return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i < s->n; i++) {
    const stretch *x = &s->at[i];
    for (; s->at[ends[gone]].last < x->first; gone++) {
      const spot *dead = &spots[ends[gone]];
      vt_gaps_give(dead->class == VT_CLASS_OUTPUT ? &out : &temp, dead->offset,
                   s->at[ends[gone]].bytes);
    }
    const int fits = x->class != NULL && x->bytes <= x->front &&
                     vt_gaps_lowest(&out, x->bytes) <= x->front - x->bytes;
    spots[i].class = fits ? VT_CLASS_OUTPUT : VT_CLASS_TEMP;
    spots[i].offset = vt_gaps_take(fits ? &out : &temp, x->bytes);
  }
  return VT_OK;
}

/* ---- by size: n^2 ---- */

static int by_size(const void *a, const void *b, const void *context) {
  const stretch *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (s[x].bytes != s[y].bytes) return s[x].bytes > s[y].bytes ? -1 : 1;
  return by_value(a, b, NULL);
}

/* Those that have a place, ascending by offset in each class. */
typedef struct placed {
  uint32_t *at;
  uint32_t n;
} placed;

/* The lowest offset at which nothing that lives with stretch `i` is in the way. */
static uint64_t lowest_beside(const placing *s, const spot *spots, const placed *in, uint32_t i) {
  const stretch *x = &s->at[i];
  uint64_t at = 0;
  for (uint32_t k = 0; k < in->n; k++) {
    const stretch *y = &s->at[in->at[k]];
    const uint64_t from = spots[in->at[k]].offset;
    if (y->last < x->first || y->first > x->last) continue;
    if (from >= at + x->bytes) break;
    if (from + y->bytes > at) at = from + y->bytes;
  }
  return at;
}

static void insert(const spot *spots, placed *in, uint32_t i) {
  uint32_t k = in->n++;
  for (; k > 0 && spots[in->at[k - 1]].offset > spots[i].offset; k--) in->at[k] = in->at[k - 1];
  in->at[k] = i;
}

static vt_status place_by_size(const placing *s, spot *spots) {
  vt_arena *scratch = s->q->scratch;
  uint32_t *order = VT_NEW_N(scratch, uint32_t, s->n);
  placed temp = {VT_NEW_N(scratch, uint32_t, s->n), 0},
         out = {VT_NEW_N(scratch, uint32_t, s->n), 0};
  if (vt_arena_status(scratch) != VT_OK) return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i < s->n; i++) order[i] = i;
  if (vt_sort(order, s->n, sizeof *order, by_size, s->at, s->q->p->arena.a) != VT_OK)
    return vt_plan_no_memory(s->q->d);
  for (uint32_t k = 0; k < s->n; k++) {
    const uint32_t i = order[k];
    const stretch *x = &s->at[i];
    int fits = x->class != NULL && x->bytes <= x->front;
    if (fits) spots[i] = (spot){VT_CLASS_OUTPUT, lowest_beside(s, spots, &out, i)};
    fits = fits && spots[i].offset <= x->front - x->bytes;
    if (!fits) spots[i] = (spot){VT_CLASS_TEMP, lowest_beside(s, spots, &temp, i)};
    insert(spots, fits ? &out : &temp, i);
  }
  return VT_OK;
}

/* ---- the better of the two ---- */

static uint64_t height(const placing *s, const spot *spots) {
  uint64_t top = 0;
  for (uint32_t i = 0; i < s->n; i++)
    if (spots[i].class == VT_CLASS_TEMP && spots[i].offset + s->at[i].bytes > top)
      top = spots[i].offset + s->at[i].bytes;
  return top;
}

static vt_status place_temporaries(vt_planner *q) {
  placing s = {.q = q};
  VT_TRY(collect(&s));
  spot *spots = VT_NEW_N(q->scratch, spot, s.n), *other = VT_NEW_N(q->scratch, spot, s.n);
  if (spots == NULL || other == NULL) return vt_plan_no_memory(q->d);
  VT_TRY(place_by_birth(&s, spots));
  if (s.n <= BY_SIZE_MOST) {
    VT_TRY(place_by_size(&s, other));
    if (height(&s, other) < height(&s, spots)) spots = other;
  }
  for (uint32_t i = 0; i < s.n; i++) {
    *s.at[i].offset = spots[i].offset;
    if (s.at[i].class != NULL) *s.at[i].class = spots[i].class;
  }
  q->p->class_bytes[VT_CLASS_TEMP] = height(&s, spots);
  if (q->p->class_bytes[VT_CLASS_TEMP] > VT_PLAN_MOST_BYTES)
    return VT_FAIL(q->d, VT_LIMIT, "the temporaries are beyond 2^48 bytes together");
  return VT_OK;
}

vt_status vt_plan_place(vt_planner *q) {
  if (q->owner == NULL) VT_TRY(place_kept(q));
  return place_temporaries(q);
}

/* ---- those that lie where others do ---- */

static const vt_transfer *find_visit(const vt_plan *p, uint32_t step, uint32_t value) {
  step = vt_plan_group_first(p, step);
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
    if (b->of == VT_NO_VALUE) continue;
    b->class = p->buffers[b->of].class;
    b->offset = p->buffers[b->of].offset + (b->place == VT_PLACE_VIEW ? b->offset : 0);
  }
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    vt_transfer *t = &p->transfers[i];
    if (t->class != VT_CLASS_TEMP) t->offset = p->buffers[t->value].offset;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) settle_body(p, i, k);
}
