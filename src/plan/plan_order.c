/* SPDX-License-Identifier: Apache-2.0
 * plan_order.c - which node runs when. Views run never; members of a fusion group run in a row.
 *
 * The order of the graph is one answer. The other keeps little alive: of the units (nodes or whole
 * groups) whose operands are there, the one comes next that frees most bytes and takes fewest; the
 * graph's order decides between equals, so there is one outcome. The price of a unit that waits
 * falls when it becomes the last reader of an operand: it then enters the heap once more, and what
 * is stale there is skipped. Each edge enters it once, so the whole is n log n. */
#include "planner.h"

static void order_as_written(vt_plan *p) {
  for (uint32_t i = 0; i < p->g->n_nodes; i++)
    if (!vt_plan_is_view(p, &p->g->nodes[i])) p->step_node[p->n_steps++] = i;
}

typedef struct unit { /* neighbouring nodes of one group, or one node */
  uint32_t first, n;  /* nodes, views among them */
  uint32_t waits;     /* for so many operands of other units */
  int done;
  int64_t price; /* bytes taken minus bytes freed, as last reckoned */
} unit;
typedef struct entry { /* of the heap */
  int64_t price;
  uint32_t unit;
} entry;
typedef struct reader { /* one edge: `unit` reads the value whose list this is in */
  uint32_t unit, next;
} reader;

typedef struct scheduler {
  vt_planner *q;
  unit *units;
  uint32_t n_units, n_readers, n_heap, stamp;
  uint32_t *stamped;             /* by value: the reckoning that has counted it */
  uint32_t *unit_of;             /* by node */
  uint32_t *first_reader, *left; /* by holder: its readers; how many of them have not run */
  reader *readers;
  entry *heap;
} scheduler;
#define NONE UINT32_MAX

/* ---- the heap: least price first, then the graph's order ---- */

static int before(const entry *a, const entry *b) {
  return a->price != b->price ? a->price < b->price : a->unit < b->unit;
}

static void swap(entry *a, entry *b) {
  const entry t = *a;
  *a = *b;
  *b = t;
}

static void push(scheduler *s, uint32_t u) {
  uint32_t i = s->n_heap++;
  s->heap[i] = (entry){s->units[u].price, u};
  for (; i > 0 && before(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static entry pop(scheduler *s) {
  const entry top = s->heap[0];
  s->heap[0] = s->heap[--s->n_heap];
  for (uint32_t i = 0, child; (child = 2 * i + 1) < s->n_heap; i = child) {
    if (child + 1 < s->n_heap && before(&s->heap[child + 1], &s->heap[child])) child++;
    if (!before(&s->heap[child], &s->heap[i])) break;
    swap(&s->heap[child], &s->heap[i]);
  }
  return top;
}

/* ---- units and who reads what ---- */

static int is_temporary(const scheduler *s, uint32_t v) {
  return s->q->p->buffers[v].class == VT_CLASS_TEMP && s->q->p->g->values[v].node != VT_NO_NODE;
}

static void find_units(scheduler *s) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const uint32_t group = g->nodes[i].group;
    const int joins = i > 0 && group != 0 && group == g->nodes[i - 1].group;
    if (!joins) s->units[s->n_units++] = (unit){.first = i};
    s->unit_of[i] = s->n_units - 1;
    s->units[s->n_units - 1].n++;
  }
}

/* An edge for each unit and value of another that it reads, however often. A view is a unit of its
 * own that waits for what it views; who reads it also reads the bytes behind it. */
static void add_edge(scheduler *s, uint32_t u, uint32_t v, int waits) {
  const uint32_t node = s->q->p->g->values[v].node;
  if (node == VT_NO_NODE || s->unit_of[node] == u) return;
  if (s->first_reader[v] != NONE && s->readers[s->first_reader[v]].unit == u) return;
  s->readers[s->n_readers] = (reader){u, s->first_reader[v]};
  s->first_reader[v] = s->n_readers++;
  s->left[v]++;
  s->units[u].waits += waits != 0;
}

static void find_edges(scheduler *s) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t v = 0; v < g->n_values; v++) s->first_reader[v] = NONE;
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
      const uint32_t v = g->operands[g->nodes[i].first_in + k];
      add_edge(s, s->unit_of[i], v, 1);
      if (s->q->holder[v] != v) add_edge(s, s->unit_of[i], s->q->holder[v], 1);
    }
}

/* Bytes that the unit takes and leaves behind, less those that die with it: each once. What is made
 * and read inside a group is neither. */
static int64_t price_of(scheduler *s, uint32_t u) {
  const vt_graph *g = s->q->p->g;
  int64_t price = 0;
  s->stamp++;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++) {
    const vt_node *n = &g->nodes[i];
    if (vt_plan_is_view(s->q->p, n)) continue;
    for (uint32_t k = 0; k < n->n_out; k++)
      if (is_temporary(s, n->first_out + k) && s->first_reader[n->first_out + k] != NONE)
        price += (int64_t)s->q->p->buffers[n->first_out + k].bytes;
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t v = s->q->holder[g->operands[n->first_in + k]];
      if (s->stamped[v] != s->stamp && s->left[v] == 1 && is_temporary(s, v))
        price -= (int64_t)s->q->p->buffers[v].bytes;
      s->stamped[v] = s->stamp;
    }
  }
  return price;
}

static void offer(scheduler *s, uint32_t u) {
  s->units[u].price = price_of(s, u);
  push(s, u);
}

/* ---- running through ---- */

static void emit(scheduler *s, uint32_t u) {
  vt_plan *p = s->q->p;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    if (!vt_plan_is_view(p, &p->g->nodes[i])) p->step_node[p->n_steps++] = i;
  s->units[u].done = 1;
}

/* A unit that waited for a value of `u` waits for one less. */
static void wake_readers(scheduler *s, uint32_t u) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_out; k++)
      for (uint32_t r = s->first_reader[g->nodes[i].first_out + k]; r != NONE;
           r = s->readers[r].next)
        if (--s->units[s->readers[r].unit].waits == 0) offer(s, s->readers[r].unit);
}

/* The one reader that is left of `v` now frees it. */
static void cheapen_last(scheduler *s, uint32_t v) {
  for (uint32_t r = s->first_reader[v]; r != NONE; r = s->readers[r].next) {
    const uint32_t u = s->readers[r].unit;
    if (s->units[u].done) continue;
    if (s->units[u].waits == 0) offer(s, u);
    return;
  }
}

static void leave_operand(scheduler *s, uint32_t u, uint32_t v) {
  const uint32_t node = s->q->p->g->values[v].node;
  if (node == VT_NO_NODE || s->unit_of[node] == u || s->left[v] == 0) return;
  if (--s->left[v] == 1) cheapen_last(s, v);
}

/* Every edge into the unit is left once, as it was added once. */
static void leave_operands(scheduler *s, uint32_t u, uint32_t *mark) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
      const uint32_t v = g->operands[g->nodes[i].first_in + k], h = s->q->holder[v];
      if (mark[v] != u) leave_operand(s, u, v);
      mark[v] = u;
      if (mark[h] != u) leave_operand(s, u, h);
      mark[h] = u;
    }
}

static vt_status order_for_memory(vt_planner *q) {
  const vt_graph *g = q->p->g;
  scheduler s = {.q = q};
  s.units = VT_NEW_N(q->scratch, unit, g->n_nodes);
  s.unit_of = VT_NEW_N(q->scratch, uint32_t, g->n_nodes);
  s.first_reader = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  s.left = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  s.readers = VT_NEW_N(q->scratch, reader, 2 * (size_t)g->n_operands + 1);
  s.heap = VT_NEW_N(q->scratch, entry, (size_t)g->n_values + 2 * (size_t)g->n_nodes + 1);
  s.stamped = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  uint32_t *mark = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (vt_arena_status(q->scratch) != VT_OK) return vt_plan_no_memory(q->d);
  memset(mark, 0xff, (size_t)g->n_values * sizeof *mark); /* a unit that does not exist */
  find_units(&s);
  find_edges(&s);
  for (uint32_t u = 0; u < s.n_units; u++)
    if (s.units[u].waits == 0) offer(&s, u);
  while (s.n_heap > 0) {
    const entry next = pop(&s);
    if (s.units[next.unit].done || s.units[next.unit].price != next.price) continue;
    emit(&s, next.unit);
    leave_operands(&s, next.unit, mark);
    wake_readers(&s, next.unit);
  }
  return VT_OK;
}

vt_status vt_plan_order(vt_planner *q) {
  q->p->schedule = q->o->schedule;
  if (q->o->schedule == VT_SCHEDULE_MEMORY) return order_for_memory(q);
  order_as_written(q->p);
  return VT_OK;
}
