/* SPDX-License-Identifier: Apache-2.0
 * pass_lower.c - compositions become the ops that define them, unless the target runs them whole:
 * the same bits either way. */
#include "vt_pass.h"

/* A builder in front of the graph's own: it takes compositions apart as they are written, so that
 * a decomposition may use compositions itself. */
typedef struct lowering_builder {
  vt_builder b;
  vt_graph_builder *gb;
  const vt_pass_options *o;
} lowering_builder;

static int keeps(const lowering_builder *lb, const vt_op_info *op) {
  return op->prim || (lb->o->listed != NULL && lb->o->listed(lb->o->target, op->number));
}

static uint32_t write_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                           const void *attrs, uint32_t *out) {
  lowering_builder *lb = b->self;
  const vt_op_info *op = vt_op_get(number);
  if (op == NULL || keeps(lb, op)) {
    const uint32_t first = lb->gb->b.node(&lb->gb->b, number, in, n, attrs);
    for (uint32_t i = 0; i < VT_MAX_RESULTS; i++) out[i] = first + i;
    return first;
  }
  if (lb->gb->status != VT_OK) return VT_NO_VALUE;
  const vt_lowering l = {b, in, n, attrs == NULL ? op->attrs->defaults : attrs, out};
  out[0] = op->lower(&l);
  return out[0];
}

/* What a decomposition writes. It finds further results of a prim behind the first one; those of a
 * composition would lie apart, so it may use compositions of one result only. */
static uint32_t lower_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                           const void *attrs) {
  const lowering_builder *lb = b->self;
  const vt_op_info *op = vt_op_get(number);
  uint32_t out[VT_MAX_RESULTS];
  if (op != NULL && !op->prim && vt_op_results(op) != 1) {
    (void)vt_graph_fail(lb->gb, VT_INTERNAL, "a decomposition uses '%s'", op->name);
    return VT_NO_VALUE;
  }
  return write_node(b, number, in, n, attrs, out);
}

static const vt_type *type_of(const vt_builder *b, uint32_t value) {
  const lowering_builder *lb = b->self;
  return lb->gb->b.type(&lb->gb->b, value);
}

static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n);

static void close_body(vt_builder *body, const uint32_t *out, uint32_t n) {
  lowering_builder *lb = body->self;
  lb->gb->b.close(&lb->gb->b, out, n);
}

static void begin(lowering_builder *lb, vt_graph_builder *gb, const vt_pass_options *o) {
  *lb = (lowering_builder){.gb = gb, .o = o};
  lb->b = (vt_builder){.self = lb,
                       .dims = gb->b.dims,
                       .node = lower_node,
                       .type = type_of,
                       .open = open_body,
                       .close = close_body};
}

/* The body of a decomposition is taken apart like everything else. */
static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n) {
  const lowering_builder *lb = b->self;
  vt_builder *inner = lb->gb->b.open(&lb->gb->b, in, n);
  lowering_builder *made = inner == NULL ? NULL : VT_NEW(&lb->gb->g->arena, lowering_builder);
  if (made == NULL) {
    if (inner != NULL) (void)vt_graph_fail(lb->gb, VT_NOMEM, "out of memory");
    return NULL;
  }
  begin(made, inner->self, lb->o);
  return &made->b;
}

static vt_status lower_nodes(const vt_graph *g, lowering_builder *lb, uint32_t *map,
                             vt_arena *scratch);

static void lower_body(const vt_graph *g, lowering_builder *outer, vt_arena *scratch) {
  uint32_t *map = VT_NEW_N(scratch, uint32_t, g->n_values);
  uint32_t *out = VT_NEW_N(scratch, uint32_t, g->n_results);
  vt_graph_builder *gb = vt_graph_open(outer->gb, NULL, NULL, 0);
  lowering_builder lb;
  if (map == NULL || out == NULL) (void)vt_graph_fail(outer->gb, VT_NOMEM, "out of memory");
  if (gb == NULL || outer->gb->status != VT_OK) return;
  begin(&lb, gb, outer->o);
  (void)lower_nodes(g, &lb, map, scratch);
  for (uint32_t i = 0; i < g->n_results; i++) out[i] = map[g->results[i].value];
  vt_graph_close(gb, out, g->n_results);
}

static vt_status lower_nodes(const vt_graph *g, lowering_builder *lb, uint32_t *map,
                             vt_arena *scratch) {
  vt_graph_builder *gb = lb->gb;
  for (uint32_t i = 0; i < g->n_ports; i++)
    map[g->ports[i].value] =
        vt_graph_add_port(gb, &g->ports[i], &g->values[g->ports[i].value].type);
  for (uint32_t i = 0; i < g->n_nodes && gb->status == VT_OK; i++) {
    const vt_node *n = &g->nodes[i];
    char name[16];
    uint32_t *in = VT_NEW_N(scratch, uint32_t, n->n_in), out[VT_MAX_RESULTS];
    if (in == NULL) return vt_graph_fail(gb, VT_NOMEM, "out of memory");
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = map[g->operands[n->first_in + k]];
    gb->line = n->line;
    gb->column = n->column;
    gb->label = vt_value_name(g, n->first_out, name);
    for (uint32_t k = 0; k < n->n_body; k++) lower_body(n->body[k], lb, scratch);
    (void)write_node(&lb->b, n->op, in, n->n_in, n->attrs, out);
    for (uint32_t k = 0; k < n->n_out; k++) {
      map[n->first_out + k] = out[k];
      if (g->values[n->first_out + k].name != NULL)
        vt_graph_name(gb, out[k], g->values[n->first_out + k].name);
    }
  }
  return gb->status;
}

static vt_status lower_into(const vt_graph *g, lowering_builder *lb, vt_arena *scratch) {
  uint32_t *map = VT_NEW_N(scratch, uint32_t, g->n_values);
  if (map == NULL) return vt_graph_fail(lb->gb, VT_NOMEM, "out of memory");
  VT_TRY(lower_nodes(g, lb, map, scratch));
  for (uint32_t i = 0; i < g->n_results; i++)
    vt_graph_add_result(lb->gb, g->results[i].name, map[g->results[i].value]);
  return lb->gb->status;
}

vt_status vt_pass_lower(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  vt_arena scratch;
  if (g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "a graph is lowered before its dimensions are bound");
  VT_TRY(vt_graph_begin(&gb, g->name, o->alloc, d));
  lowering_builder lb;
  begin(&lb, &gb, o);
  vt_arena_init(&scratch, o->alloc);
  const vt_status s = lower_into(g, &lb, &scratch);
  vt_arena_done(&scratch);
  if (s == VT_OK) return vt_graph_freeze(&gb, out);
  vt_graph_drop(&gb);
  return s;
}
