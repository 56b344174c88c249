/* SPDX-License-Identifier: Apache-2.0
 * plan_steps.c - turns a placed plan into backend steps (bk steps): each step with its tensors and
 * scratch. A dense_only target also gets the node of each strided view as a backend step, a dense
 * copy, before the first step that reads the view. Copies and scratch are packed into the free
 * bytes of the core, or above it if they do not fit: first all dense copies ("copies" below), then,
 * once the target has said how much it needs, all scratch. The copies of a step's bodies share one
 * item that lives for that step. */
#include "planner.h"
#include "vt_layout.h"

/* The bodies of backend step `i`; an empty list if it is a dense copy. *step must be the schedule
 * step that `i` belongs to; it is increased if `i` is that step itself, not a copy made for it. */
static const vt_nested *next_bodies_of_bk_step(const vt_plan *p, uint32_t i, uint32_t *step) {
  static const vt_nested none = {0};
  return p->bk_step_node[i] == p->step_node[*step] ? &p->nested[(*step)++] : &none;
}

/* ---- listing backend steps ---- */

/* 1 if the target is dense_only and the value is a view with strides. */
static int needs_dense_copy(const vt_plan *p, uint32_t value) {
  const vt_buffer *b = &p->buffers[value];
  vt_layout l = {.first = 0};
  memcpy(l.stride, b->stride, sizeof l.stride);
  return p->dense_only && b->place == VT_PLACE_VIEW &&
         !vt_layout_is_dense(&p->g->values[value].type, &l);
}

/* Adds the dense copy of `v`, after those of the views that `v` is a view of, because each copy
 * reads the one before. `chain` is an array for this, with an entry per node. */
static void add_dense_copies(vt_plan *p, uint32_t v, uint32_t *chain) {
  uint32_t n = 0;
  for (; needs_dense_copy(p, v) && p->dense[v] == VT_NO_OFFSET; v = p->buffers[v].of)
    chain[n++] = v;
  while (n-- > 0) {
    p->dense[chain[n]] = 0;
    p->bk_step_node[p->n_bk_steps++] = p->g->values[chain[n]].node;
  }
}

static vt_status list_bk_steps(vt_plan *p, vt_arena *scratch, vt_diag *d) {
  const uint32_t n = p->g->n_nodes;
  p->bk_steps = VT_NEW_N(&p->arena, vt_bk_step, n);
  p->bk_step_node = VT_NEW_N(&p->arena, uint32_t, n);
  p->dense = VT_NEW_N(&p->arena, uint64_t, p->n_buffers);
  uint32_t *chain = VT_NEW_N(scratch, uint32_t, n);
  if (vt_arena_status(&p->arena) != VT_OK || chain == NULL) return vt_plan_no_memory(d);
  memset(p->dense, 0xff, p->n_buffers * sizeof *p->dense);
  p->n_bk_steps = 0;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *node = &p->g->nodes[p->step_node[i]];
    for (uint32_t k = 0; k < node->n_in; k++)
      add_dense_copies(p, p->g->operands[node->first_in + k], chain);
    p->bk_step_node[p->n_bk_steps++] = p->step_node[i];
  }
  return VT_OK;
}

/* ---- placing dense copies ---- */

void vt_plan_lifetimes_of_copies(const vt_plan *p, uint32_t *first, uint32_t *last) {
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    const vt_node *n = &p->g->nodes[p->bk_step_node[r]];
    const uint32_t end = vt_plan_group_last(p, step);
    for (uint32_t k = 0; k < n->n_out; k++) first[n->first_out + k] = step;
    for (uint32_t k = 0; k < n->n_in; k++) last[p->g->operands[n->first_in + k]] = end;
    step += p->bk_step_node[r] == p->step_node[step];
  }
}

static void shift_dense_copies(vt_plan *p, uint64_t bytes) {
  for (uint32_t v = 0; v < p->n_buffers; v++)
    if (p->dense[v] != VT_NO_OFFSET) p->dense[v] += bytes;
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) shift_dense_copies(p->nested[i].plan[k], bytes);
}

static vt_status place_dense_copies(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d);

/* Places the dense copies of a step's bodies at offsets from 0; *end becomes the end of the
 * highest copy. */
static vt_status place_body_copies(const vt_nested *bodies, uint32_t dense_only, vt_arena *scratch,
                                   uint64_t *end, vt_diag *d) {
  *end = 0;
  for (uint32_t i = 0; i < bodies->n; i++) {
    vt_plan *body = bodies->plan[i];
    vt_packing own = {.at = VT_NEW_N(scratch, vt_pack_item, 2 * (size_t)body->g->n_nodes)};
    body->dense_only = dense_only;
    if (own.at == NULL) return vt_plan_no_memory(d);
    VT_TRY(place_dense_copies(body, &own, scratch, d));
    if (own.top > *end) *end = own.top;
  }
  return VT_OK;
}

static vt_status place_dense_copies(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d) {
  uint32_t *first = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *last = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint64_t *bodies = VT_NEW_N(scratch, uint64_t, p->n_steps), bytes, count;
  if (vt_arena_status(scratch) != VT_OK) return vt_plan_no_memory(d);
  VT_TRY(list_bk_steps(p, scratch, d));
  vt_plan_lifetimes_of_copies(p, first, last);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    if (p->dense[v] == VT_NO_OFFSET) continue;
    VT_TRY(vt_type_size(&p->g->values[v].type, &count, &bytes, d));
    vt_plan_add_item(k, first[v], last[v], bytes, &p->dense[v]);
  }
  for (uint32_t i = 0; i < p->n_steps; i++) {
    VT_TRY(place_body_copies(&p->nested[i], p->dense_only, scratch, &bytes, d));
    vt_plan_add_item(k, i, i, bytes, &bodies[i]);
  }
  VT_TRY(vt_pack(k, scratch, d));
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t b = 0; b < p->nested[i].n; b++)
      shift_dense_copies(p->nested[i].plan[b], bodies[i]);
  return VT_OK;
}

/* ---- tensors ---- */

/* The tensor of a value at the value's own offset and strides. */
static vt_bk_tensor tensor_of_value(const vt_plan *p, uint32_t v) {
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

/* The tensor of a value as `step` reads it: at its dense copy if it has one, at the upload if it is
 * a streamed parameter, else at its own offset. */
static vt_bk_tensor tensor_for_step(const vt_plan *p, uint32_t step, uint32_t v) {
  vt_bk_tensor x = tensor_of_value(p, v);
  vt_layout dense;
  if (p->dense[v] == VT_NO_OFFSET) {
    uint32_t class, holder = v;
    while (p->buffers[holder].place == VT_PLACE_VIEW) holder = p->buffers[holder].of;
    vt_plan_locate_value(p, step, v, holder, &class, &x.offset);
    x.arena = vt_class_arena(class);
    return x;
  }
  vt_layout_dense(&p->g->values[v].type, &dense);
  memcpy(x.stride, dense.stride, sizeof x.stride);
  x.arena = vt_class_arena(VT_CLASS_WORK);
  x.offset = p->dense[v];
  return x;
}

/* Fills the ABI's description of a body. Its arguments and results are never views. */
static vt_status fill_bk_body(vt_plan *p, const vt_plan *body, vt_bk_body *out, vt_diag *d) {
  const vt_graph *g = body->g;
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_ports);
  vt_bk_tensor *results = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_results);
  if (in == NULL || results == NULL) return vt_plan_no_memory(d);
  for (uint32_t i = 0; i < g->n_ports; i++) in[i] = tensor_of_value(body, g->ports[i].value);
  for (uint32_t i = 0; i < g->n_results; i++)
    results[i] = tensor_of_value(body, g->results[i].value);
  *out = (vt_bk_body){.size = sizeof *out,
                      .n_in = g->n_ports,
                      .n_out = g->n_results,
                      .in = in,
                      .out = results,
                      .n_steps = body->n_bk_steps,
                      .steps = body->bk_steps};
  return VT_OK;
}

/* Fills backend step `r`, which belongs to schedule step `step`. */
static vt_status fill_bk_step(vt_plan *p, uint32_t r, uint32_t step, vt_diag *d) {
  const vt_graph *g = p->g;
  const vt_node *n = &g->nodes[p->bk_step_node[r]];
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_in);
  vt_bk_tensor *out = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_out);
  vt_bk_body *body = VT_NEW_N(&p->arena, vt_bk_body, n->n_body);
  if (in == NULL || out == NULL || body == NULL) return vt_plan_no_memory(d);
  for (uint32_t k = 0; k < n->n_in; k++)
    in[k] = tensor_for_step(p, step, g->operands[n->first_in + k]);
  for (uint32_t k = 0; k < n->n_out; k++) out[k] = tensor_for_step(p, step, n->first_out + k);
  for (uint32_t k = 0; k < n->n_body; k++)
    VT_TRY(fill_bk_body(p, p->nested[step].plan[k], &body[k], d));
  p->bk_steps[r] = (vt_bk_step){.size = sizeof *p->bk_steps,
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

/* Fills all backend steps, those of bodies first, because a step points to them. */
static vt_status fill_all_bk_steps(vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      VT_TRY(fill_all_bk_steps(p->nested[i].plan[k], d));
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    VT_TRY(fill_bk_step(p, r, step, d));
    (void)next_bodies_of_bk_step(p, r, &step);
  }
  return VT_OK;
}

/* ---- scratch ---- */

/* Asks the target for the scratch bytes of every backend step, bodies included. */
static vt_status ask_target_for_scratch(vt_plan *p, const vt_target *t, vt_diag *d) {
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    uint64_t bytes = 0;
    VT_TRY(t->workspace(t->self, &p->bk_steps[r], &bytes, d));
    if (bytes > VT_PLAN_MOST_BYTES)
      return VT_FAIL(d, VT_LIMIT, "step %u asks for scratch beyond 2^48 bytes", r);
    p->bk_steps[r].work_bytes = bytes;
    const vt_nested *bodies = next_bodies_of_bk_step(p, r, &step);
    for (uint32_t k = 0; k < bodies->n; k++) VT_TRY(ask_target_for_scratch(bodies->plan[k], t, d));
  }
  return VT_OK;
}

/* Sets the scratch offsets of a step to `at` and of its bodies after it, and returns the bytes that
 * they need together. The steps of a body do not run at the same time, so they share one offset. A
 * body runs during its step, so its scratch comes after that of the step. Bodies are at most
 * sixteen deep and each level needs at most 2^48 bytes, so the sum does not overflow. */
static uint64_t set_scratch_offsets(vt_bk_step *s, const vt_nested *bodies, uint64_t at) {
  const uint64_t own = vt_plan_align_up(s->work_bytes);
  uint64_t inner = 0;
  if (own > 0) s->work_offset = at;
  for (uint32_t k = 0; k < bodies->n; k++) {
    const vt_plan *body = bodies->plan[k];
    for (uint32_t r = 0, step = 0; r < body->n_bk_steps; r++) {
      const uint64_t need =
          set_scratch_offsets(&body->bk_steps[r], next_bodies_of_bk_step(body, r, &step), at + own);
      if (need > inner) inner = need;
    }
  }
  return own + inner;
}

/* Places the scratch of all steps. A group may run as one launch, so the scratch of its members
 * lives from its first step to its last; the members do not run at the same time, so they share
 * it. */
static vt_status place_scratch(vt_plan *p, vt_packing *k, vt_arena *scratch, vt_diag *d) {
  uint64_t *need = VT_NEW_N(scratch, uint64_t, p->n_steps);
  uint64_t *at = VT_NEW_N(scratch, uint64_t, p->n_steps);
  if (need == NULL || at == NULL) return vt_plan_no_memory(d);
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    const uint32_t unit = vt_plan_group_first(p, step);
    const uint64_t bytes =
        set_scratch_offsets(&p->bk_steps[r], next_bodies_of_bk_step(p, r, &step), 0);
    if (bytes > need[unit]) need[unit] = bytes;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    vt_plan_add_item(k, i, vt_plan_group_last(p, i), need[i], &at[i]);
  VT_TRY(vt_pack(k, scratch, d));
  for (uint32_t r = 0, step = 0; r < p->n_bk_steps; r++) {
    const uint32_t unit = vt_plan_group_first(p, step);
    (void)set_scratch_offsets(&p->bk_steps[r], next_bodies_of_bk_step(p, r, &step), at[unit]);
  }
  return VT_OK;
}

vt_status vt_plan_build_bk_steps(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) {
  vt_packing k;
  p->fingerprint = vt_arena_string(&p->arena, t->fingerprint, strlen(t->fingerprint));
  if (p->fingerprint == NULL) return vt_plan_no_memory(d);
  p->dense_only = t->dense_only;
  VT_TRY(vt_plan_list_items(p, scratch, &k, d));
  vt_pack_fix_all(&k);
  const uint64_t core = k.top;
  VT_TRY(place_dense_copies(p, &k, scratch, d));
  VT_TRY(fill_all_bk_steps(p, d));
  VT_TRY(ask_target_for_scratch(p, t, d));
  VT_TRY(place_scratch(p, &k, scratch, d));
  p->class_bytes[VT_CLASS_WORK] = k.top - core;
  if (k.top > VT_PLAN_MOST_BYTES) return VT_FAIL(d, VT_LIMIT, "the workspace is beyond 2^48 bytes");
  return VT_OK;
}
