/* SPDX-License-Identifier: Apache-2.0
 * pass_state.c - the pass `state`: makes the stores of states explicit. The store of a state is the
 * last node that concerns it: a reshape of its next value v to the same shape, at the end of the
 * graph, which becomes the next value. The planner writes the store over the bytes of the state, or
 * writes v there and makes the store a view of it.
 *
 *   state a, b            _1 = reshape(b)      a copy, because the store of b is to overwrite b
 *   _0 = a + b            _2 = reshape(_1)     the store of a
 *   next a = b            _3 = reshape(_0)     the store of b
 *   next b = _0           next a = _2          next b = _3
 *
 * So that no store overwrites what a later one reads, a next value that is the value of another
 * state is copied before the first store; the same holds for an output that is the value of a state
 * that changes. */
#include "rewrite.h"

/* Groups stay as they are, because this pass runs after the pass that forms them. */
static vt_status keep_groups(vt_rewrite_state *s) {
  uint32_t *group = VT_NEW_N(s->scratch, uint32_t, s->g->n_nodes);
  if (group == NULL) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < s->g->n_nodes; i++) group[i] = s->g->nodes[i].group;
  s->group = group;
  return VT_OK;
}

/* The port of the state that has this value; NULL if it is not the value of a state. */
static const vt_port *find_state(const vt_graph *g, uint32_t value) {
  const vt_value *v = &g->values[value];
  const vt_port *p = v->node == VT_NO_NODE ? &g->ports[v->index] : NULL;
  return p != NULL && p->kind == VT_PORT_STATE ? p : NULL;
}

static int state_changes(const vt_port *p) {
  return p->kind == VT_PORT_STATE && p->next != p->value;
}

static uint32_t add_copy_node(vt_graph_builder *gb, uint32_t value) {
  const vt_type *t = gb->b.type(&gb->b, value);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type type = *t; /* adding a node may move the array that t points into */
  return vt_build_reshape(&gb->b, value, type.rank, type.dim);
}

/* The value of the new graph that replaces `value`; a copy of it if `copied` is 1, which is made
 * once and then found in copy[value]. */
static uint32_t new_value_or_copy(const vt_rewrite_state *s, uint32_t *copy, uint32_t value,
                                  int copied) {
  const uint32_t made = vt_rewrite_new_value_of(s, value);
  if (!copied) return made;
  if (copy[value] == VT_NO_VALUE) copy[value] = add_copy_node(s->gb, made);
  return copy[value];
}

static vt_status add_copies_and_stores(vt_rewrite_state *s) {
  const vt_graph *g = s->g;
  uint32_t *copy = VT_NEW_N(s->scratch, uint32_t, g->n_values);
  uint32_t *next = VT_NEW_N(s->scratch, uint32_t, g->n_ports);
  uint32_t *result = VT_NEW_N(s->scratch, uint32_t, g->n_results);
  if (vt_arena_status(s->scratch) != VT_OK) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < g->n_values; i++) copy[i] = VT_NO_VALUE;
  s->gb->line = s->gb->column = s->gb->group = 0;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    if (p->kind != VT_PORT_STATE) continue;
    next[i] =
        new_value_or_copy(s, copy, p->next, state_changes(p) && find_state(g, p->next) != NULL);
  }
  for (uint32_t i = 0; i < g->n_results; i++) {
    const vt_port *p = find_state(g, g->results[i].value);
    result[i] = new_value_or_copy(s, copy, g->results[i].value, p != NULL && state_changes(p));
  }
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (state_changes(&g->ports[i])) next[i] = add_copy_node(s->gb, next[i]);
  s->next = next;
  s->result = result;
  return s->gb->status;
}

vt_status vt_pass_state(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite_hooks hooks = {.begin = keep_groups, .end = add_copies_and_stores};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
