/* SPDX-License-Identifier: Apache-2.0
 * verify_schedule.c - the steps of a plan checked from the outside: each runs after what it reads,
 * members of a fusion group stay together, and what is handed to a backend says again, field by
 * field, what the graph and the buffers say. */
#include "vt_layout.h"
#include "vt_verify.h"

/* ---- order ---- */

static vt_status verify_operands(const vt_verify *v, uint32_t step) {
  const vt_graph *g = v->p->g;
  const vt_node *n = vt_verify_node(v, step);
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t root = v->root[g->operands[n->first_in + k]], node = g->values[root].node;
    if (node != VT_NO_NODE && v->step_of[node] >= step)
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan reads what step %u is to write", step,
                     v->step_of[node]);
  }
  return VT_OK;
}

/* Members of a group are neighbours in the order of the graph. `seen` tells the groups met. */
static vt_status verify_group(const vt_verify *v, uint32_t step, uint8_t *seen) {
  const uint32_t group = vt_verify_node(v, step)->group;
  if (group == 0) return VT_OK;
  if (group > v->p->g->n_nodes) return vt_verify_fail_step(v, step, "is of a group out of range");
  const int goes_on = step > 0 && vt_verify_node(v, step - 1)->group == group;
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
    VT_TRY(verify_operands(v, i));
    VT_TRY(verify_group(v, i, seen));
  }
  return VT_OK;
}

/* ---- tensors ---- */

/* 0 in what is not used. */
static int is_tensor(const vt_type *type, vt_spot at, const int64_t *stride,
                     const vt_bk_tensor *t) {
  int same = t->size == sizeof *t && t->dtype == type->dtype && t->rank == type->rank &&
             t->arena == vt_verify_arena(at.class) && t->offset == at.offset;
  for (uint32_t i = 0; same && i < VT_MAX_RANK; i++)
    same = t->dim[i] == (i < type->rank ? type->dim[i] : 0) && t->stride[i] == stride[i];
  return same;
}

/* A value as a step sees it; `copied`: a view that was made dense for this target. */
static int is_value(const vt_verify *v, uint32_t step, uint32_t value, const vt_bk_tensor *t) {
  const vt_type *type = &v->p->g->values[value].type;
  if (!vt_verify_is_copied(v, value))
    return is_tensor(type, vt_verify_spot(v, step, value), v->p->buffers[value].stride, t);
  vt_layout dense;
  vt_layout_dense(type, &dense);
  return is_tensor(type, (vt_spot){VT_CLASS_WORK, v->p->dense[value]}, dense.stride, t);
}

static int are_ports(const vt_verify *v, const vt_bk_tensor *t) {
  int same = 1;
  for (uint32_t i = 0; same && i < v->p->g->n_ports; i++)
    same = is_value(v, 0, v->p->g->ports[i].value, &t[i]);
  return same;
}

static int are_results(const vt_verify *v, const vt_bk_tensor *t) {
  int same = 1;
  for (uint32_t i = 0; same && i < v->p->g->n_results; i++)
    same = is_value(v, 0, v->p->g->results[i].value, &t[i]);
  return same;
}

/* ---- runs ---- */

static int is_node(const vt_bk_step *s, const vt_node *n) {
  return s->size == sizeof *s && s->op == n->op && s->n_in == n->n_in && s->n_out == n->n_out &&
         s->group == n->group && s->region == 0 && s->attrs == n->attrs &&
         s->attrs_size == vt_op_get(n->op)->attrs->size && s->n_body == n->n_body &&
         s->reserved == 0 && s->reserved_2 == 0 && (s->in != NULL || n->n_in == 0) &&
         (s->out != NULL || n->n_out == 0) && (s->body != NULL) == (n->n_body > 0);
}

static vt_status verify_run(const vt_verify *v, uint32_t run) {
  const vt_graph *g = v->p->g;
  const uint32_t step = v->run_step[run];
  const vt_node *n = &g->nodes[v->run_node[run]];
  const vt_bk_step *s = &v->p->runs[run];
  if (v->p->run_node[run] != v->run_node[run])
    return vt_verify_fail_step(v, step, "is handed over at another time");
  if (!is_node(s, n)) return vt_verify_fail_step(v, step, "is handed over as another node");
  for (uint32_t k = 0; k < n->n_in; k++)
    if (!is_value(v, step, g->operands[n->first_in + k], &s->in[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates operand %u", step, k);
  for (uint32_t k = 0; k < n->n_out; k++)
    if (!is_value(v, step, n->first_out + k, &s->out[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates result %u", step, k);
  return VT_OK;
}

static int is_body(const vt_verify *body, const vt_bk_body *b) {
  const vt_plan *p = body->p;
  return b->size == sizeof *b && b->n_in == p->g->n_ports && b->n_out == p->g->n_results &&
         b->reserved == 0 && b->n_steps == p->n_runs && b->steps == p->runs &&
         (b->in != NULL || b->n_in == 0) && (b->out != NULL || b->n_out == 0) &&
         are_ports(body, b->in) && are_results(body, b->out);
}

/* Only what is copied has a place to be copied to. */
static vt_status verify_copies(const vt_verify *v) {
  uint8_t *copied = VT_NEW_N(v->scratch, uint8_t, v->p->n_buffers);
  if (copied == NULL) return vt_verify_fail_memory(v);
  for (uint32_t r = 0; r < v->n_runs; r++) {
    const uint32_t value = v->p->g->nodes[v->run_node[r]].first_out;
    copied[value] = vt_verify_is_copied(v, value) != 0;
  }
  for (uint32_t i = 0; i < v->p->n_buffers; i++)
    if ((v->p->dense[i] != VT_NO_OFFSET) != copied[i])
      return vt_verify_fail_value(v, i, "misstates whether there is a copy of");
  return VT_OK;
}

static vt_status verify_plan(const vt_verify *v);

static vt_status verify_bodies(const vt_verify *v, uint32_t run) {
  const vt_bk_step *s = &v->p->runs[run];
  for (uint32_t k = 0; k < s->n_body; k++) {
    vt_verify body;
    VT_TRY(vt_verify_open_body(&body, v, v->run_step[run], k));
    if (!is_body(&body, &s->body[k]))
      return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan misstates body %u", v->run_step[run],
                     k);
    VT_TRY(verify_plan(&body));
  }
  return VT_OK;
}

static vt_status verify_plan(const vt_verify *v) {
  VT_TRY(verify_order(v));
  VT_TRY(verify_copies(v));
  for (uint32_t r = 0; r < v->n_runs; r++) {
    VT_TRY(verify_run(v, r));
    VT_TRY(verify_bodies(v, r));
  }
  return VT_OK;
}

vt_status vt_verify_schedule(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_verify v;
  vt_arena_init(&scratch, p->arena.a);
  vt_status s = vt_verify_open(&v, p, &scratch, d);
  if (s == VT_OK) s = verify_plan(&v);
  vt_arena_done(&scratch);
  return s;
}
