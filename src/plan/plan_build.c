/* SPDX-License-Identifier: Apache-2.0
 * plan_build.c - builds a plan from a bound, lowered graph: it calls the stages of planner.h in
 * order, for the model's graph and, before placing a graph, for the bodies of its nodes. */
#include "planner.h"

vt_plan *vt_plan_new(const vt_graph *g, vt_alloc a) {
  vt_plan *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return NULL;
  vt_arena_init(&p->arena, a);
  p->g = g;
  p->n_buffers = g->n_values;
  return p;
}

vt_status vt_plan_alloc_arrays(vt_plan *p, vt_diag *d) {
  p->step_node = VT_NEW_N(&p->arena, uint32_t, p->g->n_nodes);
  p->buffers = VT_NEW_N(&p->arena, vt_buffer, p->n_buffers);
  p->nested = VT_NEW_N(&p->arena, vt_nested, p->g->n_nodes);
  return vt_arena_status(&p->arena) == VT_OK ? VT_OK : vt_plan_no_memory(d);
}

static vt_status build_core(vt_planner *q);

/* Builds the plans of a step's bodies. The bodies share one range of bytes, as large as the largest
 * of them needs. */
static vt_status build_bodies(const vt_planner *q, uint32_t step) {
  const vt_node *n = &q->p->g->nodes[q->p->step_node[step]];
  vt_nested *nested = &q->p->nested[step];
  for (uint32_t k = 0; k < n->n_body; k++) {
    vt_plan *body = vt_plan_new(n->body[k], q->p->arena.a);
    if (body == NULL) return vt_plan_no_memory(q->d);
    nested->plan[nested->n++] = body;
    vt_planner inner = {.p = body, .o = q->o, .owner = n, .which = k, .d = q->d};
    inner.scratch = q->scratch;
    VT_TRY(build_core(&inner));
    if (body->class_bytes[VT_CLASS_TEMP] > nested->bytes)
      nested->bytes = body->class_bytes[VT_CLASS_TEMP];
  }
  return VT_OK;
}

/* Builds the core part: sizes, order, lifetimes and offsets. The offsets of a body count from the
 * start of the range that its step reserves for bodies. */
static vt_status build_core(vt_planner *q) {
  VT_TRY(vt_plan_alloc_arrays(q->p, q->d));
  VT_TRY(vt_plan_find_stores(q));
  VT_TRY(vt_plan_init_buffers(q));
  VT_TRY(vt_plan_order_steps(q));
  VT_TRY(vt_plan_set_lifetimes(q));
  for (uint32_t i = 0; i < q->p->n_steps; i++) VT_TRY(build_bodies(q, i));
  return vt_plan_place_values(q);
}

static vt_status ask_target_for_kept_bytes(vt_plan *p, const vt_target *t, vt_diag *d) {
  uint64_t bytes = 0;
  if (t->kept != NULL) VT_TRY(t->kept(t->self, p->bk_steps, p->n_bk_steps, &bytes, d));
  if (bytes > VT_PLAN_MOST_BYTES)
    return VT_FAIL(d, VT_LIMIT, "the backend keeps more than 2^48 bytes for the steps");
  p->class_bytes[VT_CLASS_KEPT] = bytes;
  return VT_OK;
}

vt_status vt_plan_add_target_part(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) {
  VT_TRY(vt_plan_build_bk_steps(p, t, scratch, d));
  VT_TRY(ask_target_for_kept_bytes(p, t, d));
  VT_TRY(vt_plan_set_live_bytes(p, scratch, d));
  if (vt_plan_hash(p, &p->core, &p->target) != VT_OK) return vt_plan_no_memory(d);
  return vt_plan_verify(p, d);
}

static vt_status check_streamed_names(const vt_graph *g, const vt_plan_options *o, vt_diag *d) {
  for (uint32_t i = 0; i < o->n_stream; i++) {
    int known = strcmp(o->stream[i], "*") == 0;
    for (uint32_t k = 0; !known && k < g->n_ports; k++)
      known = g->ports[k].kind == VT_PORT_PARAM && strcmp(g->ports[k].name, o->stream[i]) == 0;
    if (!known) return VT_FAIL(d, VT_NAME, "the model has no param '%.100s'", o->stream[i]);
  }
  return VT_OK;
}

static vt_status build_plan(vt_plan *p, const vt_plan_options *o, const vt_target *t,
                            vt_arena *scratch, vt_diag *d) {
  vt_planner q = {.p = p, .o = o, .scratch = scratch, .d = d};
  VT_TRY(check_streamed_names(p->g, o, d));
  VT_TRY(build_core(&q));
  vt_plan_place_aliases(p);
  return vt_plan_add_target_part(p, t, scratch, d);
}

vt_status vt_plan_build(const vt_graph *g, const vt_plan_options *o, const vt_target *t, vt_alloc a,
                        vt_plan **out, vt_diag *d) {
  static const vt_plan_options defaults = {.schedule = VT_SCHEDULE_SOURCE};
  vt_arena scratch;
  if (g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "the graph cannot be planned before its dimensions are bound");
  vt_plan *p = vt_plan_new(g, a);
  if (p == NULL) return vt_plan_no_memory(d);
  vt_arena_init(&scratch, a);
  const vt_status s = build_plan(p, o != NULL ? o : &defaults, t, &scratch, d);
  vt_arena_done(&scratch);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_plan_free(p);
  }
  return s;
}

void vt_plan_free(vt_plan *p) {
  if (p == NULL) return;
  const vt_alloc a = p->arena.a;
  for (uint32_t i = 0; p->nested != NULL && i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) vt_plan_free(p->nested[i].plan[k]);
  vt_arena_done(&p->arena);
  vt_alloc_free(a, p, sizeof *p);
}
