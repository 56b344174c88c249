/* SPDX-License-Identifier: Apache-2.0
 * plan_life.c - from which step to which each value lives, which results are written over an
 * operand that dies, and what crosses between host and device when. */
#include "planner.h"
#include "vt_op.h"

/* ---- lifetimes ---- */

static void lives_to(vt_buffer *b, uint32_t step) {
  if (step > b->last) b->last = step;
}

static const vt_node *node_at(const vt_plan *p, uint32_t step) {
  return &p->g->nodes[p->step_node[step]];
}

/* A backend may run a group as one step, and then reads what comes from outside until its end. */
static void live_step(vt_planner *q, uint32_t i, uint32_t end) {
  const vt_graph *g = q->p->g;
  const vt_node *n = node_at(q->p, i);
  vt_buffer *b = q->p->buffers;
  for (uint32_t k = 0; k < n->n_out; k++) b[n->first_out + k].first = b[n->first_out + k].last = i;
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t v = g->operands[n->first_in + k], from = g->values[v].node;
    const int inside = from != VT_NO_NODE && n->group != 0 && g->nodes[from].group == n->group;
    lives_to(&b[v], inside ? i : end);
    lives_to(&b[q->holder[v]], inside ? i : end);
  }
}

void vt_plan_lifetimes(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) live_step(q, i, vt_plan_group_last(p, i));
  for (uint32_t i = 0; i < p->g->n_ports; i++) p->buffers[p->g->ports[i].value].last = p->n_steps;
  for (uint32_t i = 0; i < p->g->n_results; i++)
    p->buffers[p->g->results[i].value].last = p->n_steps;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    if (p->buffers[v].place != VT_PLACE_VIEW) continue;
    p->buffers[v].first = p->buffers[q->holder[v]].first;
    lives_to(&p->buffers[v], p->buffers[v].first);
  }
}

/* ---- in place ---- */

/* The node reads the bytes of `v` in another order than its own. */
static int sees_otherwise(const vt_planner *q, const vt_node *n, uint32_t v) {
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t other = q->p->g->operands[n->first_in + k];
    if (other != v && q->holder[other] == v) return 1;
  }
  return 0;
}

static int reads(const vt_planner *q, const vt_node *n, uint32_t v) {
  for (uint32_t k = 0; k < n->n_in; k++)
    if (q->p->g->operands[n->first_in + k] == v) return 1;
  return 0;
}

/* Run as one, earlier members of the group may read `v` after the last one has written a part of
 * it: they must do so at the same place. */
static int group_sees(const vt_planner *q, uint32_t v, uint32_t step) {
  const uint32_t group = node_at(q->p, step)->group;
  const vt_type *t = &q->p->g->values[v].type;
  for (uint32_t i = step; group != 0 && i-- > 0 && node_at(q->p, i)->group == group;) {
    const vt_node *n = node_at(q->p, i);
    const vt_type *made = &q->p->g->values[n->first_out].type;
    const int apart = vt_op_form(n->op) != VT_FORM_POINTWISE || made->rank != t->rank ||
                      memcmp(made->dim, t->dim, sizeof t->dim) != 0;
    if (sees_otherwise(q, n, v) || (apart && reads(q, n, v))) return 1;
  }
  return 0;
}

/* Element by element, the operand is read where the result is then written. No other operand may
 * see the same bytes in another order. */
static int can_overwrite(const vt_planner *q, const vt_node *n, uint32_t operand, uint32_t step) {
  const vt_graph *g = q->p->g;
  const uint32_t v = g->operands[n->first_in + operand];
  const vt_buffer *b = &q->p->buffers[v], *y = &q->p->buffers[n->first_out];
  const vt_type *t = &g->values[v].type, *made = &g->values[n->first_out].type;
  if (g->values[v].node == VT_NO_NODE || b->class != VT_CLASS_TEMP || b->last != step) return 0;
  if (b->place != VT_PLACE_OWN && b->place != VT_PLACE_OVER) return 0;
  if (b->bytes == 0 || b->bytes != y->bytes || t->rank != made->rank ||
      memcmp(t->dim, made->dim, sizeof t->dim) != 0)
    return 0;
  return !sees_otherwise(q, n, v) && !group_sees(q, v, step);
}

static void overwrite(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    vt_buffer *y = &p->buffers[n->first_out];
    if (n->n_out != 1 || y->class != VT_CLASS_TEMP || vt_op_form(n->op) != VT_FORM_POINTWISE)
      continue;
    for (uint32_t k = 0; k < n->n_in && y->place == VT_PLACE_OWN; k++) {
      if (!can_overwrite(q, n, k, i)) continue;
      y->place = VT_PLACE_OVER;
      y->of = p->g->operands[n->first_in + k];
    }
  }
}

/* What stands last in the bytes of `v`, which step `i` made, when the group ends. */
static uint32_t last_in_bytes(const vt_planner *q, uint32_t v, uint32_t i, uint32_t end) {
  for (uint32_t step = i + 1; step <= end; step++) {
    const uint32_t y = node_at(q->p, step)->first_out;
    if (q->p->buffers[y].place == VT_PLACE_OVER && q->p->buffers[y].of == v) v = y;
  }
  return v;
}

/* Run as one, pointwise members of a group are never in memory, but what another member made is:
 * the others read it until the group ends, also when its last reader comes earlier. The group's
 * result may be written over it at the same places, and nowhere else in it. */
void vt_plan_keep_for_groups(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = node_at(p, i);
    if (n->group == 0 || vt_op_form(n->op) == VT_FORM_POINTWISE) continue;
    const uint32_t end = vt_plan_group_last(p, i);
    for (uint32_t k = 0; k < n->n_out; k++)
      lives_to(&p->buffers[last_in_bytes(q, n->first_out + k, i, end)], end);
  }
}

/* ---- transfers ---- */

static void cross(vt_plan *p, uint32_t v, uint32_t direction, uint32_t step, uint32_t class) {
  if (p->buffers[v].bytes == 0) return;
  p->transfers[p->n_transfers++] = (vt_transfer){.value = v,
                                                 .direction = direction,
                                                 .step = step,
                                                 .class = class,
                                                 .bytes = p->buffers[v].bytes};
}

/* The least parameter from `least` on that the node reads from host memory. */
static uint32_t next_guest(const vt_planner *q, const vt_node *n, uint32_t least) {
  uint32_t next = VT_NO_VALUE;
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t v = q->holder[q->p->g->operands[n->first_in + k]];
    if (q->p->buffers[v].class == VT_CLASS_HOST && v >= least && v < next) next = v;
  }
  return next;
}

/* Parameters that a step reads from host memory come in for that step alone, those that a group
 * reads for the group: ascending, each once. */
static void visit_step(vt_planner *q, uint32_t i) {
  const uint32_t last = vt_plan_group_last(q->p, i);
  if (vt_plan_group_first(q->p, i) != i) return;
  for (uint32_t least = 0;;) {
    uint32_t next = VT_NO_VALUE;
    for (uint32_t k = i; k <= last; k++) {
      const uint32_t guest = next_guest(q, node_at(q->p, k), least);
      if (guest < next) next = guest;
    }
    if (next == VT_NO_VALUE) return;
    cross(q->p, next, VT_TO_DEVICE, i, VT_CLASS_TEMP);
    least = next + 1;
  }
}

vt_status vt_plan_transfers(vt_planner *q) {
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
      cross(p, g->ports[i].value, VT_TO_DEVICE, 0, VT_CLASS_INPUT);
  for (uint32_t i = 0; streams && i < p->n_steps; i++) visit_step(q, i);
  for (uint32_t i = 0; i < g->n_results; i++) {
    const uint32_t v = g->results[i].value, class = p->buffers[v].class;
    if (class != VT_CLASS_HOST) cross(p, v, VT_FROM_DEVICE, p->n_steps, class);
  }
  return VT_OK;
}

vt_status vt_plan_live(vt_planner *q) {
  vt_plan_lifetimes(q);
  overwrite(q);
  vt_plan_keep_for_groups(q);
  return q->owner == NULL ? vt_plan_transfers(q) : VT_OK;
}
