/* SPDX-License-Identifier: Apache-2.0
 * plan_steps.c - a placed plan as a backend gets it: every step with its tensors and scratch. A
 * target that takes no strides gets the node of each view that is not dense as a step of its own,
 * before the first step that reads it. Copies and scratch go where the core leaves room while they
 * are there, and above it where there is none: first all copies, then, when the target was asked,
 * all scratch. What is in the bodies of a step lies in one stretch that is there for that step. */
#include "planner.h"
#include "vt_layout.h"

/* The bodies of a run; none when it is the dense copy of a view. `step` follows the runs: it is the
 * one that comes next. */
static const vt_nested *bodies_of(const vt_plan *p, uint32_t run, uint32_t *step) {
  static const vt_nested none = {0};
  return p->run_node[run] == p->step_node[*step] ? &p->nested[(*step)++] : &none;
}

/* ---- which runs there are ---- */

static int needs_copy(const vt_plan *p, uint32_t v) {
  const vt_buffer *b = &p->buffers[v];
  vt_layout l = {.first = 0};
  memcpy(l.stride, b->stride, sizeof l.stride);
  return p->dense_only && b->place == VT_PLACE_VIEW &&
         !vt_layout_is_dense(&p->g->values[v].type, &l);
}

/* Copies of `v` and of the views it is seen through, the outermost first. `chain` has room. */
static void add_copies(vt_plan *p, uint32_t v, uint32_t *chain) {
  uint32_t n = 0;
  for (; needs_copy(p, v) && p->dense[v] == VT_NO_OFFSET; v = p->buffers[v].of) chain[n++] = v;
  while (n-- > 0) {
    p->dense[chain[n]] = 0;
    p->run_node[p->n_runs++] = p->g->values[chain[n]].node;
  }
}

static vt_status list_runs(vt_plan *p, vt_arena *scratch, vt_diag *d) {
  const uint32_t n = p->g->n_nodes;
  p->runs = VT_NEW_N(&p->arena, vt_bk_step, n);
  p->run_node = VT_NEW_N(&p->arena, uint32_t, n);
  p->dense = VT_NEW_N(&p->arena, uint64_t, p->n_buffers);
  uint32_t *chain = VT_NEW_N(scratch, uint32_t, n);
  if (vt_arena_status(&p->arena) != VT_OK || chain == NULL) return vt_plan_no_memory(d);
  memset(p->dense, 0xff, p->n_buffers * sizeof *p->dense);
  p->n_runs = 0;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *node = &p->g->nodes[p->step_node[i]];
    for (uint32_t k = 0; k < node->n_in; k++)
      add_copies(p, p->g->operands[node->first_in + k], chain);
    p->run_node[p->n_runs++] = p->step_node[i];
  }
  return VT_OK;
}

/* ---- where copies lie ---- */

void vt_plan_copy_lives(const vt_plan *p, uint32_t *first, uint32_t *last) {
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    const vt_node *n = &p->g->nodes[p->run_node[r]];
    const uint32_t end = vt_plan_group_last(p, step);
    for (uint32_t k = 0; k < n->n_out; k++) first[n->first_out + k] = step;
    for (uint32_t k = 0; k < n->n_in; k++) last[p->g->operands[n->first_in + k]] = end;
    step += p->run_node[r] == p->step_node[step];
  }
}

static void lift_copies(vt_plan *p, uint64_t by) {
  for (uint32_t v = 0; v < p->n_buffers; v++)
    if (p->dense[v] != VT_NO_OFFSET) p->dense[v] += by;
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) lift_copies(p->nested[i].plan[k], by);
}

static vt_status place_copies(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d);

/* Copies in the bodies of a step, from 0 on; *most is where they end. */
static vt_status copy_in_bodies(const vt_nested *bodies, uint32_t dense_only, vt_arena *scratch,
                                uint64_t *most, vt_diag *d) {
  *most = 0;
  for (uint32_t i = 0; i < bodies->n; i++) {
    vt_plan *body = bodies->plan[i];
    vt_packing own = {.at = VT_NEW_N(scratch, vt_lifetime, 2 * (size_t)body->g->n_nodes)};
    body->dense_only = dense_only;
    if (own.at == NULL) return vt_plan_no_memory(d);
    VT_TRY(place_copies(body, &own, scratch, d));
    if (own.top > *most) *most = own.top;
  }
  return VT_OK;
}

static vt_status place_copies(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d) {
  uint32_t *first = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *last = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint64_t *bodies = VT_NEW_N(scratch, uint64_t, p->n_steps), bytes, count;
  if (vt_arena_status(scratch) != VT_OK) return vt_plan_no_memory(d);
  VT_TRY(list_runs(p, scratch, d));
  vt_plan_copy_lives(p, first, last);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    if (p->dense[v] == VT_NO_OFFSET) continue;
    VT_TRY(vt_type_size(&p->g->values[v].type, &count, &bytes, d));
    vt_plan_add(k, first[v], last[v], bytes, &p->dense[v]);
  }
  for (uint32_t i = 0; i < p->n_steps; i++) {
    VT_TRY(copy_in_bodies(&p->nested[i], p->dense_only, scratch, &bytes, d));
    vt_plan_add(k, i, i, bytes, &bodies[i]);
  }
  VT_TRY(vt_pack(k, scratch, d));
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t b = 0; b < p->nested[i].n; b++) lift_copies(p->nested[i].plan[b], bodies[i]);
  return VT_OK;
}

/* ---- tensors ---- */

/* A value where its own bytes lie. */
static vt_bk_tensor tensor_at(const vt_plan *p, uint32_t v) {
  const vt_type *t = &p->g->values[v].type;
  vt_bk_tensor x = {.size = sizeof x,
                    .dtype = t->dtype,
                    .rank = t->rank,
                    .arena = vt_class_arena(p->buffers[v].class),
                    .offset = p->buffers[v].offset};
  memcpy(x.dim, t->dim, t->rank * sizeof *x.dim);
  memcpy(x.stride, p->buffers[v].stride, sizeof x.stride);
  return x;
}

/* A value where a step finds it: its copy, or the place of its visit, or its own. */
static vt_bk_tensor tensor_for(const vt_plan *p, uint32_t step, uint32_t v) {
  vt_bk_tensor x = tensor_at(p, v);
  vt_layout dense;
  if (p->dense[v] == VT_NO_OFFSET) {
    uint32_t class, holder = v;
    while (p->buffers[holder].place == VT_PLACE_VIEW) holder = p->buffers[holder].of;
    vt_plan_locate(p, step, v, holder, &class, &x.offset);
    x.arena = vt_class_arena(class);
    return x;
  }
  vt_layout_dense(&p->g->values[v].type, &dense);
  memcpy(x.stride, dense.stride, sizeof x.stride);
  x.arena = vt_class_arena(VT_CLASS_WORK);
  x.offset = p->dense[v];
  return x;
}

/* What a body takes and gives is never a view. */
static vt_status make_body(vt_plan *p, const vt_plan *body, vt_bk_body *out, vt_diag *d) {
  const vt_graph *g = body->g;
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_ports);
  vt_bk_tensor *given = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_results);
  if (in == NULL || given == NULL) return vt_plan_no_memory(d);
  for (uint32_t i = 0; i < g->n_ports; i++) in[i] = tensor_at(body, g->ports[i].value);
  for (uint32_t i = 0; i < g->n_results; i++) given[i] = tensor_at(body, g->results[i].value);
  *out = (vt_bk_body){.size = sizeof *out,
                      .n_in = g->n_ports,
                      .n_out = g->n_results,
                      .in = in,
                      .out = given,
                      .n_steps = body->n_runs,
                      .steps = body->runs};
  return VT_OK;
}

static vt_status make_run(vt_plan *p, uint32_t r, uint32_t step, vt_diag *d) {
  const vt_graph *g = p->g;
  const vt_node *n = &g->nodes[p->run_node[r]];
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_in);
  vt_bk_tensor *out = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_out);
  vt_bk_body *body = VT_NEW_N(&p->arena, vt_bk_body, n->n_body);
  if (in == NULL || out == NULL || body == NULL) return vt_plan_no_memory(d);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = tensor_for(p, step, g->operands[n->first_in + k]);
  for (uint32_t k = 0; k < n->n_out; k++) out[k] = tensor_for(p, step, n->first_out + k);
  for (uint32_t k = 0; k < n->n_body; k++)
    VT_TRY(make_body(p, p->nested[step].plan[k], &body[k], d));
  p->runs[r] = (vt_bk_step){.size = sizeof *p->runs,
                            .op = n->op,
                            .n_in = n->n_in,
                            .n_out = n->n_out,
                            .group = n->group,
                            .in = in,
                            .out = out,
                            .attrs = n->attrs,
                            .attrs_size = vt_op_get(n->op)->attrs->size,
                            .work_arena = vt_class_arena(VT_CLASS_WORK),
                            .n_body = n->n_body,
                            .body = n->n_body > 0 ? body : NULL};
  return VT_OK;
}

/* Those of bodies first: a step points to them. */
static vt_status make_runs(vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) VT_TRY(make_runs(p->nested[i].plan[k], d));
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    VT_TRY(make_run(p, r, step, d));
    (void)bodies_of(p, r, &step);
  }
  return VT_OK;
}

/* ---- scratch ---- */

static vt_status ask_all(vt_plan *p, const vt_target *t, vt_diag *d) {
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    uint64_t bytes = 0;
    VT_TRY(t->workspace(t->self, &p->runs[r], &bytes, d));
    if (bytes > VT_PLAN_MOST_BYTES)
      return VT_FAIL(d, VT_LIMIT, "step %u asks for scratch beyond 2^48 bytes", r);
    p->runs[r].work_bytes = bytes;
    const vt_nested *bodies = bodies_of(p, r, &step);
    for (uint32_t k = 0; k < bodies->n; k++) VT_TRY(ask_all(bodies->plan[k], t, d));
  }
  return VT_OK;
}

/* Runs follow each other, so all runs of a body have the same place; bodies run while their step
 * does, so theirs is behind its own. Gives places from `at` on; returns how much it takes. Sixteen
 * deep at most, each level at most 2^48: no overflow. */
static uint64_t put_scratch(vt_bk_step *s, const vt_nested *bodies, uint64_t at) {
  const uint64_t own = vt_plan_rounded(s->work_bytes);
  uint64_t inner = 0;
  if (own > 0) s->work_offset = at;
  for (uint32_t k = 0; k < bodies->n; k++) {
    const vt_plan *body = bodies->plan[k];
    for (uint32_t r = 0, step = 0; r < body->n_runs; r++) {
      const uint64_t need = put_scratch(&body->runs[r], bodies_of(body, r, &step), at + own);
      if (need > inner) inner = need;
    }
  }
  return own + inner;
}

/* A group may run as one: what its members need is there from its first step to its last, and since
 * they do not run side by side they share it. */
static vt_status place_scratch(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d) {
  uint64_t *need = VT_NEW_N(scratch, uint64_t, p->n_steps);
  uint64_t *at = VT_NEW_N(scratch, uint64_t, p->n_steps);
  if (need == NULL || at == NULL) return vt_plan_no_memory(d);
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    const uint32_t unit = vt_plan_group_first(p, step);
    const uint64_t bytes = put_scratch(&p->runs[r], bodies_of(p, r, &step), 0);
    if (bytes > need[unit]) need[unit] = bytes;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    vt_plan_add(k, i, vt_plan_group_last(p, i), need[i], &at[i]);
  VT_TRY(vt_pack(k, scratch, d));
  for (uint32_t r = 0, step = 0; r < p->n_runs; r++) {
    const uint32_t unit = vt_plan_group_first(p, step);
    (void)put_scratch(&p->runs[r], bodies_of(p, r, &step), at[unit]);
  }
  return VT_OK;
}

vt_status vt_plan_hand(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) {
  vt_packing k;
  p->fingerprint = vt_arena_string(&p->arena, t->fingerprint, strlen(t->fingerprint));
  if (p->fingerprint == NULL) return vt_plan_no_memory(d);
  p->dense_only = t->dense_only;
  VT_TRY(vt_plan_stretches(p, scratch, &k, d));
  vt_pack_keep(&k);
  const uint64_t core = k.top;
  VT_TRY(place_copies(p, &k, scratch, d));
  VT_TRY(make_runs(p, d));
  VT_TRY(ask_all(p, t, d));
  VT_TRY(place_scratch(p, &k, scratch, d));
  p->class_bytes[VT_CLASS_WORK] = k.top - core;
  if (k.top > VT_PLAN_MOST_BYTES) return VT_FAIL(d, VT_LIMIT, "the workspace is beyond 2^48 bytes");
  return VT_OK;
}
