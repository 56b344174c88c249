/* SPDX-License-Identifier: Apache-2.0
 * plan_steps.c - a placed plan as a backend gets it: every step with its tensors and scratch. A
 * target that takes no strides gets the node of each view that is not dense as a step of its own,
 * before the first step that reads it; the copies lie in the workspace:
 *
 *   | copies of the model | copies of its bodies | scratch of the step at work |
 *
 * unless the scratch finds room elsewhere (plan_lend.c). */
#include "gaps.h"
#include "planner.h"
#include "vt_layout.h"
#include "vt_sort.h"

#define NONE UINT32_MAX

typedef struct copy { /* of a view, from the run that makes it to the last that reads it */
  uint32_t value, first, last;
  uint64_t bytes;
} copy;
typedef struct hander {
  vt_plan *p;
  vt_arena *scratch;
  uint32_t *holder;   /* by value */
  uint32_t *run_step; /* by run: the step it belongs to */
  uint32_t *copy_of;  /* by value: index of its copy, or NONE */
  copy *copies;
  uint32_t n_copies;
} hander;

/* ---- which runs there are ---- */

static void find_holders(hander *h) {
  for (uint32_t v = 0; v < h->p->n_buffers; v++) {
    const vt_buffer *b = &h->p->buffers[v];
    h->holder[v] = b->place == VT_PLACE_VIEW ? h->holder[b->of] : v;
  }
}

static int needs_copy(const hander *h, uint32_t v) {
  const vt_buffer *b = &h->p->buffers[v];
  vt_layout l = {.first = 0};
  memcpy(l.stride, b->stride, sizeof l.stride);
  return h->p->dense_only && b->place == VT_PLACE_VIEW &&
         !vt_layout_is_dense(&h->p->g->values[v].type, &l);
}

static void note_use(const hander *h, uint32_t v) {
  if (h->copy_of[v] != NONE) h->copies[h->copy_of[v]].last = h->p->n_runs;
}

static void add_run(hander *h, uint32_t node, uint32_t step) {
  const vt_graph *g = h->p->g;
  const vt_node *n = &g->nodes[node];
  for (uint32_t k = 0; k < n->n_in; k++) note_use(h, g->operands[n->first_in + k]);
  h->run_step[h->p->n_runs] = step;
  h->p->run_node[h->p->n_runs++] = node;
}

/* Copies of `v` and of the views it is seen through, the outermost first. `chain` has room. */
static void add_copies(hander *h, uint32_t v, uint32_t step, uint32_t *chain) {
  uint32_t n = 0;
  for (; needs_copy(h, v) && h->copy_of[v] == NONE; v = h->p->buffers[v].of) chain[n++] = v;
  while (n-- > 0) {
    const vt_type *t = &h->p->g->values[chain[n]].type;
    vt_layout dense;
    vt_layout_dense(t, &dense);
    h->copy_of[chain[n]] = h->n_copies;
    h->copies[h->n_copies++] =
        (copy){chain[n], h->p->n_runs, h->p->n_runs, vt_layout_span(t, &dense)};
    add_run(h, h->p->g->values[chain[n]].node, step);
  }
}

static vt_status list_runs(hander *h, vt_diag *d) {
  vt_plan *p = h->p;
  const uint32_t n = p->g->n_nodes;
  p->runs = VT_NEW_N(&p->arena, vt_bk_step, n);
  p->run_node = VT_NEW_N(&p->arena, uint32_t, n);
  p->dense = VT_NEW_N(&p->arena, uint64_t, p->n_buffers);
  h->holder = VT_NEW_N(h->scratch, uint32_t, p->n_buffers);
  h->copy_of = VT_NEW_N(h->scratch, uint32_t, p->n_buffers);
  h->run_step = VT_NEW_N(h->scratch, uint32_t, n);
  h->copies = VT_NEW_N(h->scratch, copy, n);
  uint32_t *chain = VT_NEW_N(h->scratch, uint32_t, n);
  if (vt_arena_status(&p->arena) != VT_OK || vt_arena_status(h->scratch) != VT_OK)
    return vt_plan_no_memory(d);
  memset(h->copy_of, 0xff, p->n_buffers * sizeof *h->copy_of);
  memset(p->dense, 0xff, p->n_buffers * sizeof *p->dense);
  find_holders(h);
  p->n_runs = 0;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *node = &p->g->nodes[p->step_node[i]];
    for (uint32_t k = 0; k < node->n_in; k++)
      add_copies(h, p->g->operands[node->first_in + k], i, chain);
    add_run(h, p->step_node[i], i);
  }
  return VT_OK;
}

/* ---- where copies lie ---- */

static int by_last(const void *a, const void *b, const void *context) {
  const copy *c = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (c[x].last != c[y].last) return c[x].last < c[y].last ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* From `base` on; *top is where they end. */
static vt_status place_copies(hander *h, uint64_t base, uint64_t *top, vt_diag *d) {
  vt_gaps gaps;
  uint32_t *ends = VT_NEW_N(h->scratch, uint32_t, h->n_copies), gone = 0;
  *top = base;
  if (ends == NULL || vt_gaps_init(&gaps, h->n_copies, h->scratch) != VT_OK)
    return vt_plan_no_memory(d);
  for (uint32_t i = 0; i < h->n_copies; i++) ends[i] = i;
  if (vt_sort(ends, h->n_copies, sizeof *ends, by_last, h->copies, h->p->arena.a) != VT_OK)
    return vt_plan_no_memory(d);
  for (uint32_t i = 0; i < h->n_copies; i++) {
    const copy *c = &h->copies[i];
    const uint64_t bytes = vt_plan_rounded(c->bytes);
    for (; h->copies[ends[gone]].last < c->first; gone++) {
      const copy *dead = &h->copies[ends[gone]];
      if (dead->bytes > 0)
        vt_gaps_give(&gaps, h->p->dense[dead->value] - base, vt_plan_rounded(dead->bytes));
    }
    h->p->dense[c->value] = base + (bytes > 0 ? vt_gaps_take(&gaps, bytes) : 0);
    if (h->p->dense[c->value] + bytes > *top) *top = h->p->dense[c->value] + bytes;
    if (*top > VT_PLAN_MOST_BYTES)
      return VT_FAIL(d, VT_LIMIT, "the dense copies are beyond 2^48 bytes together");
  }
  return VT_OK;
}

/* ---- tensors ---- */

/* A value where its own bytes lie. */
static vt_bk_tensor tensor_at(const vt_plan *p, uint32_t v) {
  const vt_type *t = &p->g->values[v].type;
  vt_bk_tensor x = {.size = sizeof x,
                    .dtype = t->dtype,
                    .rank = t->rank,
                    .arena = p->buffers[v].class,
                    .offset = p->buffers[v].offset};
  memcpy(x.dim, t->dim, t->rank * sizeof *x.dim);
  memcpy(x.stride, p->buffers[v].stride, sizeof x.stride);
  return x;
}

/* A value where a step finds it: its copy, or the place of its visit, or its own. */
static vt_bk_tensor tensor_for(const hander *h, uint32_t step, uint32_t v) {
  vt_bk_tensor x = tensor_at(h->p, v);
  vt_layout dense;
  if (h->p->dense[v] == VT_NO_OFFSET) {
    vt_plan_locate(h->p, step, v, h->holder[v], &x.arena, &x.offset);
    return x;
  }
  vt_layout_dense(&h->p->g->values[v].type, &dense);
  memcpy(x.stride, dense.stride, sizeof x.stride);
  x.arena = VT_CLASS_WORK;
  x.offset = h->p->dense[v];
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

static vt_status make_run(const hander *h, uint32_t r, vt_diag *d) {
  vt_plan *p = h->p;
  const vt_graph *g = p->g;
  const vt_node *n = &g->nodes[p->run_node[r]];
  const uint32_t step = h->run_step[r];
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_in);
  vt_bk_tensor *out = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_out);
  vt_bk_body *body = VT_NEW_N(&p->arena, vt_bk_body, n->n_body);
  if (in == NULL || out == NULL || body == NULL) return vt_plan_no_memory(d);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = tensor_for(h, step, g->operands[n->first_in + k]);
  for (uint32_t k = 0; k < n->n_out; k++) out[k] = tensor_for(h, step, n->first_out + k);
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
                            .work_arena = VT_CLASS_WORK,
                            .n_body = n->n_body,
                            .body = n->n_body > 0 ? body : NULL};
  return VT_OK;
}

/* Runs of the plan and of its bodies; *top is where the last of all copies ends. */
static vt_status make_runs(vt_plan *p, uint64_t base, vt_arena *scratch, uint64_t *top,
                           vt_diag *d) {
  hander h = {.p = p, .scratch = scratch};
  uint64_t own;
  VT_TRY(list_runs(&h, d));
  VT_TRY(place_copies(&h, base, &own, d));
  *top = own;
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) {
      uint64_t end;
      p->nested[i].plan[k]->dense_only = p->dense_only;
      VT_TRY(make_runs(p->nested[i].plan[k], own, scratch, &end, d));
      if (end > *top) *top = end;
    }
  for (uint32_t r = 0; r < p->n_runs; r++) VT_TRY(make_run(&h, r, d));
  return VT_OK;
}

/* ---- scratch ---- */

static vt_status ask_all(vt_plan *p, const vt_target *t, vt_diag *d) {
  uint32_t step = 0;
  for (uint32_t r = 0; r < p->n_runs; r++) {
    uint64_t bytes = 0;
    VT_TRY(t->workspace(t->self, &p->runs[r], &bytes, d));
    if (bytes > VT_PLAN_MOST_BYTES)
      return VT_FAIL(d, VT_LIMIT, "step %u asks for scratch beyond 2^48 bytes", r);
    p->runs[r].work_bytes = bytes;
    if (p->run_node[r] != p->step_node[step]) continue; /* the run of a view has no bodies */
    for (uint32_t k = 0; k < p->nested[step].n; k++) VT_TRY(ask_all(p->nested[step].plan[k], t, d));
    step++;
  }
  return VT_OK;
}

/* Runs follow each other, so all share what lies behind the copies, from `base` on. Bodies run
 * while their step does, so they share what lies behind its own. */
static void place_scratch(vt_plan *p, uint64_t base, uint64_t *top) {
  uint32_t step = 0;
  for (uint32_t r = 0; r < p->n_runs; r++) {
    vt_bk_step *s = &p->runs[r];
    const int own = s->work_bytes > 0 && s->work_arena == VT_CLASS_WORK;
    const uint64_t end = own ? base + vt_plan_rounded(s->work_bytes) : base;
    if (own) s->work_offset = base;
    if (end > *top) *top = end;
    if (p->run_node[r] != p->step_node[step]) continue;
    for (uint32_t k = 0; k < p->nested[step].n; k++)
      place_scratch(p->nested[step].plan[k], end, top);
    step++;
  }
}

vt_status vt_plan_hand(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) {
  uint64_t copies, top;
  p->fingerprint = vt_arena_string(&p->arena, t->fingerprint, strlen(t->fingerprint));
  if (p->fingerprint == NULL) return vt_plan_no_memory(d);
  p->dense_only = t->dense_only;
  VT_TRY(make_runs(p, 0, scratch, &copies, d));
  VT_TRY(ask_all(p, t, d));
  VT_TRY(vt_plan_lend(p, scratch, d));
  top = copies;
  place_scratch(p, copies, &top); /* at most 16 deep, each level at most 2^48: no overflow */
  p->class_bytes[VT_CLASS_WORK] = top;
  if (top > VT_PLAN_MOST_BYTES) return VT_FAIL(d, VT_LIMIT, "the workspace is beyond 2^48 bytes");
  return VT_OK;
}
