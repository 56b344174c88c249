/* SPDX-License-Identifier: Apache-2.0
 * plan_order.c - chooses the order of the steps. Nodes of views are not steps; members of a fusion
 * group stay next to each other.
 *
 * VT_SCHEDULE_SOURCE is the order of the graph. VT_SCHEDULE_MEMORY is a greedy list schedule that
 * keeps few bytes live. Its unit is a node or a whole group. Next is the ready unit of lowest
 * price: bytes that it allocates minus bytes that it frees. Equal prices go by graph order, so the
 * result is unique. The price of a ready unit falls when it becomes the last reader of an operand;
 * it is then pushed on the heap again and its stale entry is skipped later. Each edge pushes at
 * most one entry, so the schedule takes O(n log n).
 *
 * A unit that writes the bytes of a state, the writer, also waits for all other units that read the
 * state. With safe_state the writers are all scheduled last. */
#include "planner.h"

/* A schedulable unit: one node, or the neighbouring nodes of one group. */
typedef struct unit {
  uint32_t first, n; /* its nodes, views included: the first and their number */
  uint32_t waits;    /* number of edges into the unit whose value is not yet computed, and of
                        readers of a state that it waits for */
  uint32_t writer;   /* the first element of its list of writers that wait for it, or NONE */
  int done;          /* 1: the unit has been scheduled */
  int64_t price;     /* bytes allocated minus bytes freed, when last computed */
} unit;
/* An entry of the heap of ready units; it is stale if its price differs from the unit's. */
typedef struct entry {
  int64_t price;
  uint32_t unit;
} entry;
/* An element of a value's linked list of readers, or of a unit's list of writers. */
typedef struct reader {
  uint32_t unit; /* the unit that reads the value; the unit that writes the state */
  uint32_t next; /* index of the next element in `readers`, or NONE */
} reader;

typedef struct scheduler {
  vt_planner *q;
  unit *units;
  uint32_t n_units, n_readers, n_heap; /* used lengths of units, readers and heap */
  uint32_t stamp;                      /* number of the current call of price_of_unit */
  uint32_t *stamped;      /* by value: the last call of price_of_unit that counted the value */
  uint32_t *unit_of;      /* by node: its unit */
  uint32_t *first_reader; /* by value: the first element of its list of readers, or NONE */
  uint32_t *left;         /* by value: number of readers not yet scheduled */
  reader *readers;
  entry *heap;
} scheduler;
#define NONE UINT32_MAX

/* ---- the heap: lowest price first, equal prices in graph order ---- */

static int has_lower_price(const entry *a, const entry *b) {
  return a->price != b->price ? a->price < b->price : a->unit < b->unit;
}

static void swap_entries(entry *a, entry *b) {
  const entry t = *a;
  *a = *b;
  *b = t;
}

static void push_unit(scheduler *s, uint32_t u) {
  uint32_t i = s->n_heap++;
  s->heap[i] = (entry){s->units[u].price, u};
  for (; i > 0 && has_lower_price(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    swap_entries(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static entry pop_cheapest_entry(scheduler *s) {
  const entry top = s->heap[0];
  s->heap[0] = s->heap[--s->n_heap];
  for (uint32_t i = 0, child; (child = 2 * i + 1) < s->n_heap; i = child) {
    if (child + 1 < s->n_heap && has_lower_price(&s->heap[child + 1], &s->heap[child])) child++;
    if (!has_lower_price(&s->heap[child], &s->heap[i])) break;
    swap_entries(&s->heap[child], &s->heap[i]);
  }
  return top;
}

/* ---- units, and the readers of each value ---- */

static int is_temporary_value(const scheduler *s, uint32_t value) {
  return s->q->p->buffers[value].class == VT_CLASS_TEMP &&
         s->q->p->g->values[value].node != VT_NO_NODE;
}

static void find_units(scheduler *s) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const uint32_t group = g->nodes[i].group;
    const int joins = i > 0 && group != 0 && group == g->nodes[i - 1].group;
    if (!joins) s->units[s->n_units++] = (unit){.first = i, .writer = NONE};
    s->unit_of[i] = s->n_units - 1;
    s->units[s->n_units - 1].n++;
  }
}

/* Adds an edge from value `v` of another unit to the unit `reader_unit`, which reads it; at most
 * one edge even if `reader_unit` reads `v` twice. A view is a unit of its own, which waits for the
 * viewed value; a reader of the view also gets an edge from the value that holds the bytes. */
static void add_edge(scheduler *s, uint32_t reader_unit, uint32_t v, int waits) {
  const uint32_t node = s->q->p->g->values[v].node;
  if (node == VT_NO_NODE || s->unit_of[node] == reader_unit) return;
  if (s->first_reader[v] != NONE && s->readers[s->first_reader[v]].unit == reader_unit) return;
  s->readers[s->n_readers] = (reader){reader_unit, s->first_reader[v]};
  s->first_reader[v] = s->n_readers++;
  s->left[v]++;
  s->units[reader_unit].waits += waits != 0;
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

/* ---- writers of states ---- */

/* By value of a state: the unit that writes its bytes; NONE for any other value, and for a state
 * that does not change. NULL if there is no memory. */
static uint32_t *find_writers(const scheduler *s) {
  const vt_plan *p = s->q->p;
  uint32_t *writer = VT_NEW_N(s->q->scratch, uint32_t, p->n_buffers);
  for (uint32_t v = 0; writer != NULL && v < p->n_buffers; v++) writer[v] = NONE;
  for (uint32_t v = 0; writer != NULL && v < p->n_buffers; v++) {
    const vt_buffer *b = &p->buffers[v];
    if (b->place == VT_PLACE_OVER && vt_plan_is_state(p->g, b->of))
      writer[b->of] = s->unit_of[p->g->values[v].node];
  }
  return writer;
}

static void let_writer_wait(scheduler *s, uint32_t writer, uint32_t reader_unit) {
  unit *u = &s->units[reader_unit];
  s->readers[s->n_readers] = (reader){writer, u->writer};
  u->writer = s->n_readers++;
  s->units[writer].waits++;
}

/* Lets each writer wait for the units that read its state, or a view of it; with safe_state for
 * ever, because the writers are scheduled after all other units. */
static vt_status let_writers_wait(scheduler *s) {
  const vt_graph *g = s->q->p->g;
  const uint32_t *writer = find_writers(s);
  if (writer == NULL) return vt_plan_no_memory(s->q->d);
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    if (vt_plan_is_view(s->q->p, &g->nodes[i])) continue;
    for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
      const uint32_t w = writer[s->q->holder[g->operands[g->nodes[i].first_in + k]]];
      if (w != NONE && w != s->unit_of[i]) let_writer_wait(s, w, s->unit_of[i]);
    }
  }
  for (uint32_t v = 0; s->q->p->safe_state && v < g->n_values; v++)
    if (writer[v] != NONE) s->units[writer[v]].waits++;
  return VT_OK;
}

/* The price of a unit: the bytes of its results that other units read, minus the bytes of the
 * operands of which it is the last reader. Each value counts once; values made and read inside the
 * unit do not count. */
static int64_t price_of_unit(scheduler *s, uint32_t u) {
  const vt_graph *g = s->q->p->g;
  int64_t price = 0;
  s->stamp++;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++) {
    const vt_node *n = &g->nodes[i];
    if (vt_plan_is_view(s->q->p, n)) continue;
    for (uint32_t k = 0; k < n->n_out; k++)
      if (is_temporary_value(s, n->first_out + k) && s->first_reader[n->first_out + k] != NONE)
        price += (int64_t)s->q->p->buffers[n->first_out + k].bytes;
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t v = s->q->holder[g->operands[n->first_in + k]];
      if (s->stamped[v] != s->stamp && s->left[v] == 1 && is_temporary_value(s, v))
        price -= (int64_t)s->q->p->buffers[v].bytes;
      s->stamped[v] = s->stamp;
    }
  }
  return price;
}

static void price_and_push_unit(scheduler *s, uint32_t u) {
  s->units[u].price = price_of_unit(s, u);
  push_unit(s, u);
}

/* ---- scheduling ---- */

/* Appends the nodes of a unit to the schedule. */
static void schedule_unit(scheduler *s, uint32_t u) {
  vt_plan *p = s->q->p;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    if (!vt_plan_is_view(p, &p->g->nodes[i])) p->step_node[p->n_steps++] = i;
  s->units[u].done = 1;
}

/* Readers of the results of `u` wait for one operand less, writers of states that `u` reads for one
 * reader less; the units that are ready now are pushed on the heap. */
static void wake_readers(scheduler *s, uint32_t u) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_out; k++)
      for (uint32_t r = s->first_reader[g->nodes[i].first_out + k]; r != NONE;
           r = s->readers[r].next)
        if (--s->units[s->readers[r].unit].waits == 0) price_and_push_unit(s, s->readers[r].unit);
  for (uint32_t r = s->units[u].writer; r != NONE; r = s->readers[r].next)
    if (--s->units[s->readers[r].unit].waits == 0) price_and_push_unit(s, s->readers[r].unit);
}

/* Only one reader of `v` is left, which will free it; if ready, that unit is pushed again with its
 * lower price. */
static void reprice_last_reader(scheduler *s, uint32_t v) {
  for (uint32_t r = s->first_reader[v]; r != NONE; r = s->readers[r].next) {
    const uint32_t u = s->readers[r].unit;
    if (s->units[u].done) continue;
    if (s->units[u].waits == 0) price_and_push_unit(s, u);
    return;
  }
}

/* The scheduled unit `u` no longer counts as a reader of `v`. */
static void release_operand(scheduler *s, uint32_t u, uint32_t v) {
  const uint32_t node = s->q->p->g->values[v].node;
  if (node == VT_NO_NODE || s->unit_of[node] == u || s->left[v] == 0) return;
  if (--s->left[v] == 1) reprice_last_reader(s, v);
}

/* Releases the operands of a scheduled unit, each once, because add_edge added one edge for each.
 * `mark` has, by value, the last unit that released it. */
static void release_operands(scheduler *s, uint32_t u, uint32_t *mark) {
  const vt_graph *g = s->q->p->g;
  for (uint32_t i = s->units[u].first; i < s->units[u].first + s->units[u].n; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
      const uint32_t v = g->operands[g->nodes[i].first_in + k], h = s->q->holder[v];
      if (mark[v] != u) release_operand(s, u, v);
      mark[v] = u;
      if (mark[h] != u) release_operand(s, u, h);
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
  s.readers = VT_NEW_N(q->scratch, reader, 3 * (size_t)g->n_operands + 1);
  s.heap = VT_NEW_N(q->scratch, entry, (size_t)g->n_values + 2 * (size_t)g->n_nodes + 1);
  s.stamped = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  uint32_t *mark = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (vt_arena_status(q->scratch) != VT_OK) return vt_plan_no_memory(q->d);
  memset(mark, 0xff, (size_t)g->n_values * sizeof *mark); /* no unit has the number UINT32_MAX */
  find_units(&s);
  find_edges(&s);
  if (q->n_stores > 0) VT_TRY(let_writers_wait(&s));
  for (uint32_t u = 0; u < s.n_units; u++)
    if (s.units[u].waits == 0) price_and_push_unit(&s, u);
  while (s.n_heap > 0) {
    const entry next = pop_cheapest_entry(&s);
    if (s.units[next.unit].done || s.units[next.unit].price != next.price) continue;
    schedule_unit(&s, next.unit);
    release_operands(&s, next.unit, mark);
    wake_readers(&s, next.unit);
  }
  for (uint32_t u = 0; q->p->safe_state && u < s.n_units; u++)
    if (!s.units[u].done) schedule_unit(&s, u);
  return VT_OK;
}

vt_status vt_plan_order_steps(vt_planner *q) {
  vt_plan *p = q->p;
  p->schedule = q->o->schedule;
  if (p->schedule == VT_SCHEDULE_MEMORY) return order_for_memory(q);
  for (uint32_t i = 0; i < p->g->n_nodes; i++)
    if (!vt_plan_is_view(p, &p->g->nodes[i])) p->step_node[p->n_steps++] = i;
  return VT_OK;
}
