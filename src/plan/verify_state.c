/* SPDX-License-Identifier: Apache-2.0
 * verify_state.c - checks what a plan says about states, without code of the planner: each state
 * that changes is written by one value, at offsets that depend on the declarations only, and in a
 * plan with safe_state after all other steps. That no step reads a state after it was written is
 * checked with the lifetimes (verify_allocation.c). */
#include <string.h>
#include "vt_verify.h"

int vt_verify_state_changes(const vt_port *p) {
  return p->kind == VT_PORT_STATE && p->next != p->value;
}

/* The value that holds the bytes of the state's next value. Places are not verified yet when this
 * is called, so a view is only followed to a lower number, which ends. */
static uint32_t writer_of_state(const vt_verify *v, const vt_port *state) {
  uint32_t value = state->next;
  const vt_buffer *b = &v->p->buffers[value];
  while (b->place == VT_PLACE_VIEW && b->of < value) {
    value = b->of;
    b = &v->p->buffers[value];
  }
  return value;
}

int vt_verify_writes_state(const vt_verify *v, uint32_t value) {
  const vt_graph *g = v->p->g;
  const uint32_t of = v->p->buffers[value].of;
  if (of >= g->n_values || g->values[of].node != VT_NO_NODE) return 0;
  const vt_port *p = &g->ports[g->values[of].index];
  return vt_verify_state_changes(p) && writer_of_state(v, p) == value;
}

/* Checks that the states follow each other in the order of their declaration: programs that share
 * them have other plans, which agree on nothing but the declarations. */
static vt_status verify_offsets(const vt_verify *v) {
  const vt_graph *g = v->p->g;
  uint64_t end = 0;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_buffer *b = &v->p->buffers[g->ports[i].value];
    if (g->ports[i].kind != VT_PORT_STATE) continue;
    if (b->offset != end)
      return vt_verify_fail_value(v, g->ports[i].value, "does not place in order the state");
    end += (b->bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
  }
  return VT_OK;
}

/* 1 if the next value is where the state is, element by element. Both have one type. */
static int is_at_state(const vt_verify *v, const vt_port *p) {
  const vt_buffer *at = &v->p->buffers[p->value], *next = &v->p->buffers[p->next];
  return next->class == at->class && next->offset == at->offset && next->bytes == at->bytes &&
         memcmp(next->stride, at->stride, sizeof next->stride) == 0;
}

vt_status vt_verify_states(const vt_verify *v) {
  const vt_graph *g = v->p->g;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    if (!vt_verify_state_changes(p)) continue;
    const vt_buffer *b = &v->p->buffers[writer_of_state(v, p)];
    if (b->place != VT_PLACE_OVER || b->of != p->value || !is_at_state(v, p))
      return vt_verify_fail_value(v, p->value, "does not store the next value of");
  }
  return verify_offsets(v);
}

vt_status vt_verify_safe_stores(const vt_verify *v) {
  const vt_graph *g = v->p->g;
  uint32_t stores = 0, first = v->p->n_steps;
  if (!v->p->safe_state) return VT_OK;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    if (!vt_verify_state_changes(p)) continue;
    const uint32_t node = g->values[writer_of_state(v, p)].node;
    if (node == VT_NO_NODE || v->step_of[node] == VT_NO_STEP || g->nodes[node].op != VT_OP_reshape)
      return vt_verify_fail_value(v, p->value, "has safe states and no step that stores");
    stores++;
    if (v->step_of[node] < first) first = v->step_of[node];
  }
  if (stores > 0 && first == v->p->n_steps - stores) return VT_OK;
  return VT_FAIL(v->d, VT_INTERNAL, "the plan has safe states but does not store them last");
}
