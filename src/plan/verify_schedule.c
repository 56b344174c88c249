/* SPDX-License-Identifier: Apache-2.0
 * verify_schedule.c - checks the steps of a plan without code of the planner. Each step must run
 * after the steps that write its operands, members of a fusion group must stay together, and each
 * field of a backend step (bk step) must agree with the graph and the buffers. A value "is copied"
 * if a dense_only target gets a dense copy of it. */
#include "vt_layout.h"
#include "vt_verify.h"

/* ---- order ---- */

static vt_status verify_operands_come_before(const vt_verify *v, uint32_t step) {
  const vt_graph *g = v->p->g;
  const vt_node *n = vt_verify_node_of_step(v, step);
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t root = v->root[g->operands[n->first_in + k]], node = g->values[root].node;
    if (node != VT_NO_NODE && v->step_of[node] >= step)
      return VT_FAIL(v->d, VT_INTERNAL,
                     "step %u of the plan reads the result of step %u, which is not earlier", step,
                     v->step_of[node]);
  }
  return VT_OK;
}

/* The members of a group must be next to each other, in the order of the graph. `seen`, by group,
 * is 1 once a member of the group was verified. */
static vt_status verify_group_of_step(const vt_verify *v, uint32_t step, uint8_t *seen) {
  const uint32_t group = vt_verify_node_of_step(v, step)->group;
  if (group == 0) return VT_OK;
  if (group > v->p->g->n_nodes)
    return vt_verify_fail_step(v, step, "has a group number out of range");
  const int goes_on = step > 0 && vt_verify_node_of_step(v, step - 1)->group == group;
  if (seen[group - 1] && (!goes_on || v->p->step_node[step - 1] > v->p->step_node[step]))
    return vt_verify_fail_step(v, step, "is torn from its fusion group");
  seen[group - 1] = 1;
  return VT_OK;
}

static vt_status verify_order(const vt_verify *v) {
  const vt_plan *p = v->p;
  uint8_t *seen = VT_NEW_N(v->scratch, uint8_t, p->g->n_nodes);
  if (seen == NULL) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < p->n_steps; i++) {
    if (p->schedule == VT_SCHEDULE_SOURCE && i > 0 && p->step_node[i] <= p->step_node[i - 1])
      return vt_verify_fail_step(v, i, "is not in the order of the graph");
    VT_TRY(verify_operands_come_before(v, i));
    VT_TRY(verify_group_of_step(v, i, seen));
  }
  return VT_OK;
}

/* ---- tensors ---- */

/* 1 if a tensor of the ABI agrees with a type, location and strides; unused entries must be 0. */
static int tensor_agrees_with(const vt_type *type, vt_location location, const int64_t *stride,
                              const vt_bk_tensor *t) {
  int same = t->size == sizeof *t && t->dtype == type->dtype && t->rank == type->rank &&
             t->arena == vt_verify_arena_of_class(location.class) && t->offset == location.offset;
  for (uint32_t i = 0; same && i < VT_MAX_RANK; i++)
    same = t->dim[i] == (i < type->rank ? type->dim[i] : 0) && t->stride[i] == stride[i];
  return same;
}

/* 1 if the tensor is `value` as `step` reads it: at the dense copy of the value if the target needs
 * one. */
static int tensor_is_value(const vt_verify *v, uint32_t step, uint32_t value,
                           const vt_bk_tensor *t) {
  const vt_type *type = &v->p->g->values[value].type;
  if (!vt_verify_needs_copy(v, value))
    return tensor_agrees_with(type, vt_verify_location(v, step, value), v->p->buffers[value].stride,
                              t);
  vt_layout dense;
  vt_layout_dense(type, &dense);
  return tensor_agrees_with(type, (vt_location){VT_CLASS_WORK, v->p->dense[value]}, dense.stride,
                            t);
}

/* 1 if the tensors are the ports of a body's graph, in order. */
static int tensors_are_ports(const vt_verify *v, const vt_bk_tensor *t) {
  int same = 1;
  for (uint32_t i = 0; same && i < v->p->g->n_ports; i++)
    same = tensor_is_value(v, 0, v->p->g->ports[i].value, &t[i]);
  return same;
}

/* 1 if the tensors are the results of a body's graph, in order. */
static int tensors_are_results(const vt_verify *v, const vt_bk_tensor *t) {
  int same = 1;
  for (uint32_t i = 0; same && i < v->p->g->n_results; i++)
    same = tensor_is_value(v, 0, v->p->g->results[i].value, &t[i]);
  return same;
}

/* ---- backend steps ---- */

/* 1 if the fields of a backend step, except tensors, agree with its node. */
static int bk_step_agrees_with_node(const vt_bk_step *s, const vt_node *n) {
  return s->size == sizeof *s && s->op == n->op && s->n_in == n->n_in && s->n_out == n->n_out &&
         s->group == n->group && s->region == 0 && s->attrs == n->attrs &&
         s->attrs_size == vt_op_get(n->op)->attrs->size && s->n_body == n->n_body &&
         s->reserved == 0 && s->reserved_2 == 0 && (s->in != NULL || n->n_in == 0) &&
         (s->out != NULL || n->n_out == 0) && (s->body != NULL) == (n->n_body > 0);
}

static vt_status verify_bk_step(const vt_verify *v, uint32_t bk_step) {
  const vt_graph *g = v->p->g;
  const uint32_t step = v->bk_step_owner[bk_step];
  const vt_node *n = &g->nodes[v->bk_step_node[bk_step]];
  const vt_bk_step *s = &v->p->bk_steps[bk_step];
  if (v->p->bk_step_node[bk_step] != v->bk_step_node[bk_step])
    return vt_verify_fail_step(v, step, "is out of order among the backend steps");
  if (!bk_step_agrees_with_node(s, n))
    return vt_verify_fail_step(v, step, "differs from its node as a backend step");
  for (uint32_t k = 0; k < n->n_in; k++)
    if (!tensor_is_value(v, step, g->operands[n->first_in + k], &s->in[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates operand %u", step, k);
  for (uint32_t k = 0; k < n->n_out; k++)
    if (!tensor_is_value(v, step, n->first_out + k, &s->out[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates result %u", step, k);
  return VT_OK;
}

/* 1 if the ABI's description of a body agrees with the body's plan. */
static int bk_body_agrees_with_plan(const vt_verify *body, const vt_bk_body *b) {
  const vt_plan *p = body->p;
  return b->size == sizeof *b && b->n_in == p->g->n_ports && b->n_out == p->g->n_results &&
         b->reserved == 0 && b->n_steps == p->n_bk_steps && b->steps == p->bk_steps &&
         (b->in != NULL || b->n_in == 0) && (b->out != NULL || b->n_out == 0) &&
         tensors_are_ports(body, b->in) && tensors_are_results(body, b->out);
}

/* Fails unless exactly the values that the plan copies have an offset for a dense copy. */
static vt_status verify_which_values_are_copied(const vt_verify *v) {
  uint8_t *copied = VT_NEW_N(v->scratch, uint8_t, v->p->n_buffers);
  if (copied == NULL) return vt_verify_fail_memory(v);
  for (uint32_t r = 0; r < v->n_bk_steps; r++) {
    const uint32_t value = v->p->g->nodes[v->bk_step_node[r]].first_out;
    copied[value] = vt_verify_needs_copy(v, value) != 0;
  }
  for (uint32_t i = 0; i < v->p->n_buffers; i++)
    if ((v->p->dense[i] != VT_NO_OFFSET) != copied[i])
      return vt_verify_fail_value(v, i, "misstates whether there is a copy of");
  return VT_OK;
}

static vt_status verify_schedule_of_plan(const vt_verify *v);

static vt_status verify_schedule_of_bodies(const vt_verify *v, uint32_t bk_step) {
  const vt_bk_step *s = &v->p->bk_steps[bk_step];
  for (uint32_t k = 0; k < s->n_body; k++) {
    vt_verify body;
    VT_TRY(vt_verify_open_body(&body, v, v->bk_step_owner[bk_step], k));
    if (!bk_body_agrees_with_plan(&body, &s->body[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates body %u",
                     v->bk_step_owner[bk_step], k);
    VT_TRY(verify_schedule_of_plan(&body));
  }
  return VT_OK;
}

static vt_status verify_schedule_of_plan(const vt_verify *v) {
  VT_TRY(verify_order(v));
  VT_TRY(vt_verify_safe_stores(v));
  VT_TRY(verify_which_values_are_copied(v));
  for (uint32_t r = 0; r < v->n_bk_steps; r++) {
    VT_TRY(verify_bk_step(v, r));
    VT_TRY(verify_schedule_of_bodies(v, r));
  }
  return VT_OK;
}

vt_status vt_verify_schedule(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_verify v;
  vt_arena_init(&scratch, p->arena.a);
  vt_status s = vt_verify_open(&v, p, &scratch, d);
  if (s == VT_OK) s = verify_schedule_of_plan(&v);
  vt_arena_done(&scratch);
  return s;
}
