/* SPDX-License-Identifier: Apache-2.0
 * cost_composed.c - the operations of a composition that a backend runs by a kernel of its own:
 * a builder decomposes it to prims and adds up their operations instead of writing a graph. That
 * builder is a counter; each body gets one of its own, and all of them share a tally. */
#include <string.h>
#include "cost.h"
#include "vt_builder.h"

/* The state that the counters of one composition share. */
typedef struct tally {
  vt_arena arena;
  vt_dims dims;
  vt_status status; /* the status of the first failure, or VT_OK */
} tally;

typedef struct counter {
  vt_builder b;
  tally *all;
  /* the counter of the graph around this body; NULL for the composition itself */
  struct counter *outer;
  uint32_t n, cap; /* number of values so far, and capacity of `type` */
  vt_type *type;   /* type of each value */
  uint64_t flops;  /* arithmetic operations of the nodes so far */
  uint32_t n_in;   /* number of arguments of the graph; they are its first values */
  uint32_t n_body; /* number of bodies that were closed and belong to the next node */
  vt_body_type body[VT_MAX_BODIES];
  /* arithmetic operations of each of these bodies, executed once */
  uint64_t body_flops[VT_MAX_BODIES];
} counter;

static uint32_t record_failure(const counter *c, vt_status s) {
  if (c->all->status == VT_OK) c->all->status = s;
  return VT_NO_VALUE;
}

static uint32_t add_value(counter *c, const vt_type *t) {
  vt_type *types = vt_arena_grow(&c->all->arena, c->type, c->n, &c->cap, sizeof *types);
  if (types == NULL) return record_failure(c, VT_NOMEM);
  c->type = types;
  types[c->n] = *t;
  return c->n++;
}

static uint64_t flops_of_costliest_body(const counter *c, const vt_op_info *op, const void *attrs) {
  uint64_t most = 0;
  for (uint32_t k = 0; k < c->n_body; k++)
    if (c->body_flops[k] > most) most = c->body_flops[k];
  return vt_cost_times(vt_cost_iterations(op, attrs), most);
}

static uint32_t count_prim(counter *c, const vt_op_info *op, const uint32_t *in, uint32_t n,
                           const void *attrs) {
  vt_type *types = VT_NEW_N(&c->all->arena, vt_type, n);
  vt_type *out = VT_NEW_N(&c->all->arena, vt_type, VT_MAX_RESULTS);
  uint32_t n_out = 0;
  if (types == NULL || out == NULL) return record_failure(c, VT_NOMEM);
  for (uint32_t i = 0; i < n; i++) {
    if (in[i] >= c->n) return record_failure(c, VT_INTERNAL);
    types[i] = c->type[in[i]];
  }
  const vt_rule rule = {&c->all->dims, types, n, attrs, c->n_body, c->body};
  const vt_status s = vt_op_infer(op, &rule, out, &n_out, NULL);
  if (s != VT_OK) return record_failure(c, s);
  const vt_cost_site site = {op, attrs, types, out, n, n_out};
  const uint64_t inner = flops_of_costliest_body(c, op, attrs);
  c->flops = vt_cost_sum(c->flops, vt_cost_sum(vt_cost_prim_flops(&site), inner));
  c->n_body = 0;
  const uint32_t first = c->n;
  for (uint32_t i = 0; i < n_out; i++)
    if (add_value(c, &out[i]) == VT_NO_VALUE) return VT_NO_VALUE;
  return first;
}

/* ---- the builder ---- */

static uint32_t count_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                           const void *attrs) {
  counter *c = b->self;
  const vt_op_info *op = vt_op_get(number);
  uint32_t more[VT_MAX_RESULTS];
  if (c->all->status != VT_OK) return VT_NO_VALUE;
  if (op == NULL) return record_failure(c, VT_INTERNAL);
  if (attrs == NULL) attrs = op->attrs->defaults;
  if (op->prim) return count_prim(c, op, in, n, attrs);
  const vt_lowering l = {b, in, n, attrs, more};
  return op->lower(&l);
}

static const vt_type *value_type(const vt_builder *b, uint32_t value) {
  const counter *c = b->self;
  return value < c->n ? &c->type[value] : NULL;
}

static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n);

static void close_body(vt_builder *body, const uint32_t *out, uint32_t n) {
  const counter *c = body->self;
  counter *outer = c->outer;
  vt_type *given = VT_NEW_N(&c->all->arena, vt_type, n);
  if (given == NULL) (void)record_failure(c, VT_NOMEM);
  if (outer->n_body == VT_MAX_BODIES) (void)record_failure(c, VT_INTERNAL);
  for (uint32_t i = 0; i < n; i++)
    if (out[i] >= c->n) (void)record_failure(c, VT_INTERNAL);
  if (c->all->status != VT_OK) return;
  for (uint32_t i = 0; i < n; i++) given[i] = c->type[out[i]];
  outer->body_flops[outer->n_body] = c->flops;
  outer->body[outer->n_body++] = (vt_body_type){c->n_in, n, c->type, given};
}

static void init_counter(counter *c, tally *all, counter *outer) {
  *c = (counter){.all = all, .outer = outer};
  c->b = (vt_builder){.self = c,
                      .dims = &all->dims,
                      .node = count_node,
                      .type = value_type,
                      .open = open_body,
                      .close = close_body};
}

static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n) {
  counter *outer = b->self;
  if (outer->all->status != VT_OK) return NULL;
  counter *c = VT_NEW(&outer->all->arena, counter);
  if (c == NULL) {
    (void)record_failure(outer, VT_NOMEM);
    return NULL;
  }
  init_counter(c, outer->all, outer);
  c->n_in = n;
  for (uint32_t i = 0; i < n; i++) (void)add_value(c, &in[i]);
  return c->all->status == VT_OK ? &c->b : NULL;
}

/* ---- all of it ---- */

static vt_status count_composition(const vt_cost_site *s, tally *all, uint64_t *out) {
  counter c;
  init_counter(&c, all, NULL);
  uint32_t *in = VT_NEW_N(&all->arena, uint32_t, s->n_in);
  if (in == NULL) return VT_NOMEM;
  for (uint32_t i = 0; i < s->n_in; i++) in[i] = add_value(&c, &s->in[i]);
  (void)count_node(&c.b, s->op->number, in, s->n_in, s->attrs);
  if (all->status == VT_OK) *out = c.flops;
  return all->status;
}

vt_status vt_cost_composition_flops(const vt_cost_site *s, vt_alloc a, uint64_t *out, vt_diag *d) {
  tally all = {.status = VT_OK};
  vt_arena_init(&all.arena, a);
  vt_dims_init(&all.dims, &all.arena);
  vt_status status = count_composition(s, &all, out);
  if (vt_arena_status(&all.arena) != VT_OK) status = VT_NOMEM;
  vt_arena_done(&all.arena);
  if (status == VT_NOMEM) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (status != VT_OK)
    *out = 0; /* the cost is unknown and counts as 0, so that the op can still run */
  return VT_OK;
}
