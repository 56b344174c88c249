/* SPDX-License-Identifier: Apache-2.0
 * plan_state.c - plans the states of a model. The pass `state` left one store per state that
 * changes, at the end of the graph: a reshape of the next value v to the same shape. There are two
 * ways to plan it:
 *
 *   in place   the node of v writes v over the state, and the store is a view of v, no step
 *   otherwise  v is a temporary or a result, and the store is a step that copies it over the state
 *
 * v, and the state as an operand, may be reshaped: a reshape is a view with the same bytes in the
 * same order, an image of the whole value.
 *
 * The first is chosen before the steps are ordered, if in the order of the graph every node that
 * reads the state comes before the node of v, or is that node and reads each element only before it
 * writes it. Both the order of the graph and VT_SCHEDULE_MEMORY then keep all those reads before
 * the write. */
#include <stdio.h>
#include "planner.h"
#include "vt_layout.h"

/* ---- the stores of a graph ---- */

/* The operand of the store of a state that changes: its next value in the model. */
static uint32_t stored_value(const vt_graph *g, const vt_port *state) {
  return g->operands[g->nodes[g->values[state->next].node].first_in];
}

static vt_status fail_no_store(const vt_planner *q, const vt_port *state) {
  const vt_status s =
      VT_FAIL(q->d, VT_USAGE, "the state '%s' has no store at the end of the graph", state->name);
  if (q->d != NULL && q->d->hint[0] == 0)
    snprintf(q->d->hint, sizeof q->d->hint,
             "end the list of passes with 'state', or leave the choice of passes out");
  return s;
}

/* Fails unless the next value of the state is a store of its own: the one result of a reshape that
 * reads no state itself, is declared after the state, and is not the store of another state. */
static vt_status add_store(vt_planner *q, const vt_port *state) {
  const vt_graph *g = q->p->g;
  const uint32_t node = g->values[state->next].node;
  if (node == VT_NO_NODE || g->nodes[node].op != VT_OP_reshape || state->value > state->next ||
      q->stores[state->next] != VT_NO_VALUE || vt_plan_is_state(g, stored_value(g, state)))
    return fail_no_store(q, state);
  q->stores[state->next] = state->value;
  return VT_OK;
}

/* Fails if a node or result reads the store of a state, or if another node follows a store. */
static vt_status check_stores_are_last(const vt_planner *q) {
  const vt_graph *g = q->p->g;
  const uint32_t *state_of = q->stores;
  uint32_t stored = VT_NO_VALUE; /* the state of the last store so far */
  uint32_t read = VT_NO_VALUE;   /* a state whose store is read */
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    const uint32_t state = state_of[n->first_out];
    for (uint32_t k = 0; k < n->n_in; k++)
      if (state_of[g->operands[n->first_in + k]] != VT_NO_VALUE)
        read = state_of[g->operands[n->first_in + k]];
    if (stored != VT_NO_VALUE && state == VT_NO_VALUE) read = stored;
    if (state != VT_NO_VALUE) stored = state;
  }
  for (uint32_t i = 0; i < g->n_results; i++)
    if (state_of[g->results[i].value] != VT_NO_VALUE) read = state_of[g->results[i].value];
  return read == VT_NO_VALUE ? VT_OK : fail_no_store(q, &g->ports[g->values[read].index]);
}

/* Fails if a result is the value of a state that changes: it would be overwritten before it is
 * copied out. */
static vt_status check_no_result_is_overwritten(const vt_planner *q) {
  const vt_graph *g = q->p->g;
  for (uint32_t i = 0; i < g->n_results; i++) {
    if (!vt_plan_is_state(g, g->results[i].value)) continue;
    const vt_port *state = &g->ports[g->values[g->results[i].value].index];
    if (vt_plan_state_changes(state)) return fail_no_store(q, state);
  }
  return VT_OK;
}

vt_status vt_plan_find_stores(vt_planner *q) {
  const vt_graph *g = q->p->g;
  q->stores = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (q->stores == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t v = 0; v < g->n_values; v++) q->stores[v] = VT_NO_VALUE;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    if (!vt_plan_state_changes(&g->ports[i])) continue;
    VT_TRY(add_store(q, &g->ports[i]));
    q->n_stores++;
    q->p->safe_state = q->o->safe_state != 0;
  }
  VT_TRY(check_stores_are_last(q));
  return check_no_result_is_overwritten(q);
}

/* ---- in place ---- */

/* The readers of each value, for deciding which next values are written in place. */
typedef struct readers {
  const uint8_t *viewable; /* by value: a vt_plan_viewable */
  uint32_t *last_reader;   /* by state's value: 1 + the last node that reads it or a view of it */
  uint32_t *n_stores;      /* by value: number of stores that read it or a view of it */
} readers;

static vt_status find_readers(const vt_planner *q, readers *r) {
  const vt_graph *g = q->p->g;
  r->last_reader = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  r->n_stores = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (r->last_reader == NULL || r->n_stores == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    if (vt_plan_is_view(q->p, n)) continue;
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t v = g->operands[n->first_in + k];
      r->last_reader[q->holder[v]] = i + 1;
      r->n_stores[q->holder[v]] += q->stores[n->first_out] != VT_NO_VALUE;
    }
  }
  return VT_OK;
}

/* 1 if `value` has all bytes of the value `of` that holds them, in their order: it is that value
 * itself, or an image of it. */
static int is_whole(const vt_planner *q, uint32_t value, uint32_t of) {
  const vt_buffer *b = &q->p->buffers[value];
  vt_layout l = {.first = 0};
  memcpy(l.stride, b->stride, sizeof l.stride);
  return b->bytes == q->p->buffers[of].bytes &&
         vt_layout_is_dense(&q->p->g->values[value].type, &l);
}

/* 1 if operand `k` of the node, the state or a view of it, may be overwritten by the node's
 * result. */
static int may_overwrite_operand(const vt_planner *q, const vt_node *n, uint32_t k,
                                 uint32_t state) {
  const uint32_t v = q->p->g->operands[n->first_in + k];
  if (!is_whole(q, v, state)) return 0;
  return vt_op_form(n->op) == VT_FORM_UPDATE ? k == 0 : vt_plan_reads_at_own_position(q->p, n, v);
}

/* 1 if the node and the members of its group before it, which may run as one launch with it, read
 * each element of the state only before it is overwritten. */
static int group_may_overwrite(const vt_planner *q, uint32_t node, uint32_t state) {
  const vt_graph *g = q->p->g;
  const uint32_t group = g->nodes[node].group;
  for (uint32_t i = node;; i--) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_in; k++)
      if (q->holder[g->operands[n->first_in + k]] == state &&
          !may_overwrite_operand(q, n, k, state))
        return 0;
    if (i == 0 || group == 0 || g->nodes[i - 1].group != group) return 1;
  }
}

static int can_write_in_place(const vt_planner *q, const readers *r, const vt_port *state) {
  const vt_graph *g = q->p->g;
  const uint32_t stored = stored_value(g, state), v = q->holder[stored], node = g->values[v].node;
  const vt_buffer *b = &q->p->buffers[v];
  if (!is_whole(q, stored, v)) return 0;
  if (node == VT_NO_NODE || g->nodes[node].n_out != 1 || b->place != VT_PLACE_OWN ||
      b->bytes == 0 || state->value > v)
    return 0;
  return r->viewable[v] != VT_PLAN_NO_VIEW && r->n_stores[v] == 1 &&
         r->last_reader[state->value] <= node + 1 && group_may_overwrite(q, node, state->value);
}

static void write_in_place(vt_planner *q, const vt_port *state) {
  vt_buffer *b = &q->p->buffers[q->holder[stored_value(q->p->g, state)]];
  b->place = VT_PLACE_OVER;
  b->of = state->value;
  b->class = VT_CLASS_MODEL_STATE;
  /* a reshape of a dense value can always be a view */
  (void)vt_plan_try_view(q, state->next, &q->p->buffers[state->next]);
}

vt_status vt_plan_choose_states_in_place(vt_planner *q, const uint8_t *viewable) {
  vt_plan *p = q->p;
  readers r = {.viewable = viewable};
  uint32_t n = 0;
  if (p->safe_state || q->n_stores == 0) return VT_OK;
  VT_TRY(find_readers(q, &r));
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *state = &p->g->ports[i];
    if (!vt_plan_state_changes(state) || !can_write_in_place(q, &r, state)) continue;
    write_in_place(q, state);
    n++;
  }
  for (uint32_t v = 0; n > 0 && v < p->n_buffers; v++) /* views have the class of their bytes */
    if (p->buffers[v].place == VT_PLACE_VIEW)
      p->buffers[v].class = p->buffers[p->buffers[v].of].class;
  return VT_OK;
}
