/* SPDX-License-Identifier: Apache-2.0
 * plan_life.c - finds the lifetime of each value, the results that are written in place over an
 * operand that dies, and the transfers between host and device. A member is a step of a fusion
 * group. */
#include "planner.h"
#include "vt_op.h"

/* ---- lifetimes ---- */

static void extend_lifetime(vt_buffer *b, uint32_t step) {
  if (step > b->last) b->last = step;
}

static const vt_node *node_of_step(const vt_plan *p, uint32_t step) {
  return &p->g->nodes[p->step_node[step]];
}

/* Sets the lifetimes of the results of step `i` and extends those of its operands. A backend may
 * run a group as one launch, so operands from outside the group live until its last step, `end`. */
static void set_lifetimes_at_step(vt_planner *q, uint32_t i, uint32_t end) {
  const vt_graph *g = q->p->g;
  const vt_node *n = node_of_step(q->p, i);
  vt_buffer *b = q->p->buffers;
  for (uint32_t k = 0; k < n->n_out; k++) b[n->first_out + k].first = b[n->first_out + k].last = i;
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t v = g->operands[n->first_in + k], from = g->values[v].node;
    const int inside = from != VT_NO_NODE && n->group != 0 && g->nodes[from].group == n->group;
    extend_lifetime(&b[v], inside ? i : end);
    extend_lifetime(&b[q->holder[v]], inside ? i : end);
  }
}

void vt_plan_set_lifetimes_from_reads(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) set_lifetimes_at_step(q, i, vt_plan_group_last(p, i));
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    const uint32_t at_end = vt_plan_state_changes(port) ? port->next : port->value;
    p->buffers[at_end].last = p->buffers[q->holder[at_end]].last = p->n_steps;
  }
  for (uint32_t i = 0; i < p->g->n_results; i++)
    p->buffers[p->g->results[i].value].last = p->n_steps;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    if (p->buffers[v].place != VT_PLACE_VIEW) continue;
    p->buffers[v].first = p->buffers[q->holder[v]].first;
    extend_lifetime(&p->buffers[v], p->buffers[v].first);
  }
}

/* ---- in place ---- */

/* 1 if the node reads the bytes of `value` through a view, which may have another order. */
static int reads_view_of(const vt_planner *q, const vt_node *n, uint32_t value) {
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t other = q->p->g->operands[n->first_in + k];
    if (other != value && q->holder[other] == value) return 1;
  }
  return 0;
}

static int reads_value(const vt_planner *q, const vt_node *n, uint32_t value) {
  for (uint32_t k = 0; k < n->n_in; k++)
    if (q->p->g->operands[n->first_in + k] == value) return 1;
  return 0;
}

int vt_plan_reads_at_own_position(const vt_plan *p, const vt_node *n, uint32_t value) {
  const vt_type *t = &p->g->values[value].type, *made = &p->g->values[n->first_out].type;
  return vt_op_form(n->op) == VT_FORM_POINTWISE && made->rank == t->rank &&
         memcmp(made->dim, t->dim, sizeof t->dim) == 0;
}

/* 1 if an earlier member of the step's group reads `value` at other positions than the one that it
 * writes. If the group runs as one launch, such a member may read `value` after the step has
 * overwritten a part of it. */
static int group_reads_at_other_positions(const vt_planner *q, uint32_t value, uint32_t step) {
  const uint32_t group = node_of_step(q->p, step)->group;
  for (uint32_t i = step; group != 0 && i-- > 0 && node_of_step(q->p, i)->group == group;) {
    const vt_node *n = node_of_step(q->p, i);
    const int elsewhere = !vt_plan_reads_at_own_position(q->p, n, value);
    if (reads_view_of(q, n, value) || (elsewhere && reads_value(q, n, value))) return 1;
  }
  return 0;
}

/* 1 if the pointwise node may write its result in place over its operand number `operand`: that is
 * a temporary of the same shape that dies at this step, and no operand reads the same bytes in
 * another order. */
static int can_write_over_operand(const vt_planner *q, const vt_node *n, uint32_t operand,
                                  uint32_t step) {
  const vt_graph *g = q->p->g;
  const uint32_t v = g->operands[n->first_in + operand];
  const vt_buffer *b = &q->p->buffers[v], *y = &q->p->buffers[n->first_out];
  const vt_type *t = &g->values[v].type, *made = &g->values[n->first_out].type;
  if (g->values[v].node == VT_NO_NODE || b->class != VT_CLASS_TEMP || b->last != step) return 0;
  if (b->place != VT_PLACE_OWN && b->place != VT_PLACE_OVER) return 0;
  if (b->bytes == 0 || b->bytes != y->bytes || t->rank != made->rank ||
      memcmp(t->dim, made->dim, sizeof t->dim) != 0)
    return 0;
  return !reads_view_of(q, n, v) && !group_reads_at_other_positions(q, v, step);
}

static void choose_results_in_place(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    vt_buffer *y = &p->buffers[n->first_out];
    if (n->n_out != 1 || y->class != VT_CLASS_TEMP || vt_op_form(n->op) != VT_FORM_POINTWISE)
      continue;
    for (uint32_t k = 0; k < n->n_in && y->place == VT_PLACE_OWN; k++) {
      if (!can_write_over_operand(q, n, k, i)) continue;
      y->place = VT_PLACE_OVER;
      y->of = p->g->operands[n->first_in + k];
    }
  }
}

/* The last value of the group that is written in place into the bytes of `v`, a result of step `i`;
 * `v` itself if no value is. The group ends with step `end`. */
static uint32_t last_value_in_bytes_of(const vt_planner *q, uint32_t v, uint32_t i, uint32_t end) {
  for (uint32_t step = i + 1; step <= end; step++) {
    const uint32_t y = node_of_step(q->p, step)->first_out;
    if (q->p->buffers[y].place == VT_PLACE_OVER && q->p->buffers[y].of == v) v = y;
  }
  return v;
}

/* Extends lifetimes for groups. If a group runs as one launch, its pointwise results are never in
 * memory, but the result of an anchor is, and members read it until the group ends, even if its
 * last reader is an earlier step. So its bytes live until the group ends. Only results that are
 * computed position by position may be written over it. */
void vt_plan_extend_lives_for_groups(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = node_of_step(p, i);
    if (n->group == 0 || vt_op_form(n->op) == VT_FORM_POINTWISE) continue;
    const uint32_t end = vt_plan_group_last(p, i);
    for (uint32_t k = 0; k < n->n_out; k++)
      extend_lifetime(&p->buffers[last_value_in_bytes_of(q, n->first_out + k, i, end)], end);
  }
}

/* ---- transfers ---- */

static void add_transfer(vt_plan *p, uint32_t v, uint32_t direction, uint32_t step,
                         uint32_t class) {
  if (p->buffers[v].bytes == 0) return;
  p->transfers[p->n_transfers++] = (vt_transfer){.value = v,
                                                 .direction = direction,
                                                 .step = step,
                                                 .class = class,
                                                 .bytes = p->buffers[v].bytes};
}

/* The streamed parameter with the lowest id, not below `least`, that the node reads; VT_NO_VALUE if
 * it reads none. */
static uint32_t lowest_streamed_param_from(const vt_planner *q, const vt_node *n, uint32_t least) {
  uint32_t next = VT_NO_VALUE;
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t v = q->holder[q->p->g->operands[n->first_in + k]];
    if (q->p->buffers[v].class == VT_CLASS_HOST && v >= least && v < next) next = v;
  }
  return next;
}

/* Adds the uploads of the streamed parameters that a step reads, in ascending order of value. A
 * group's parameters are uploaded once, before its first step. */
static void add_uploads_of_step(vt_planner *q, uint32_t i) {
  const uint32_t last = vt_plan_group_last(q->p, i);
  if (vt_plan_group_first(q->p, i) != i) return;
  for (uint32_t least = 0;;) {
    uint32_t next = VT_NO_VALUE;
    for (uint32_t k = i; k <= last; k++) {
      const uint32_t v = lowest_streamed_param_from(q, node_of_step(q->p, k), least);
      if (v < next) next = v;
    }
    if (next == VT_NO_VALUE) return;
    add_transfer(q->p, next, VT_TO_DEVICE, i, VT_CLASS_TEMP);
    least = next + 1;
  }
}

vt_status vt_plan_list_transfers(vt_planner *q) {
  vt_plan *p = q->p;
  const vt_graph *g = p->g;
  int streams = 0;
  for (uint32_t i = 0; i < g->n_ports; i++)
    streams |= p->buffers[g->ports[i].value].class == VT_CLASS_HOST;
  p->transfers = VT_NEW_N(&p->arena, vt_transfer,
                          (size_t)g->n_ports + g->n_results + (streams ? g->n_operands : 0));
  if (p->transfers == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_INPUT)
      add_transfer(p, g->ports[i].value, VT_TO_DEVICE, 0, VT_CLASS_INPUT);
  for (uint32_t i = 0; streams && i < p->n_steps; i++) add_uploads_of_step(q, i);
  for (uint32_t i = 0; i < g->n_results; i++) {
    const uint32_t v = g->results[i].value, class = p->buffers[v].class;
    if (class != VT_CLASS_HOST) add_transfer(p, v, VT_FROM_DEVICE, p->n_steps, class);
  }
  return VT_OK;
}

vt_status vt_plan_set_lifetimes(vt_planner *q) {
  vt_plan_set_lifetimes_from_reads(q);
  choose_results_in_place(q);
  vt_plan_extend_lives_for_groups(q);
  return q->owner == NULL ? vt_plan_list_transfers(q) : VT_OK;
}
