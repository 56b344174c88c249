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

static uint32_t lower_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                           const void *attrs) {
  lowering_builder *lb = b->self;
  const vt_op_info *op = vt_op_get(number);
  if (op == NULL || keeps(lb, op)) return lb->gb->b.node(&lb->gb->b, number, in, n, attrs);
  if (lb->gb->status != VT_OK) return VT_NO_VALUE;
  const vt_lowering l = {b, in, n, attrs == NULL ? op->attrs->defaults : attrs};
  return op->lower(&l);
}

static const vt_type *type_of(const vt_builder *b, uint32_t value) {
  const lowering_builder *lb = b->self;
  return lb->gb->b.type(&lb->gb->b, value);
}

static vt_status lower_into(const vt_graph *g, lowering_builder *lb, vt_arena *scratch) {
  vt_graph_builder *gb = lb->gb;
  uint32_t *map = VT_NEW_N(scratch, uint32_t, g->n_values);
  if (map == NULL) return vt_graph_fail(gb, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < g->n_ports; i++)
    map[g->ports[i].value] =
        vt_graph_add_port(gb, &g->ports[i], &g->values[g->ports[i].value].type);
  for (uint32_t i = 0; i < g->n_nodes && gb->status == VT_OK; i++) {
    const vt_node *n = &g->nodes[i];
    char name[16];
    uint32_t *in = VT_NEW_N(scratch, uint32_t, n->n_in);
    if (in == NULL) return vt_graph_fail(gb, VT_NOMEM, "out of memory");
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = map[g->operands[n->first_in + k]];
    gb->line = n->line;
    gb->column = n->column;
    gb->label = vt_value_name(g, n->first_out, name);
    map[n->first_out] = lower_node(&lb->b, n->op, in, n->n_in, n->attrs);
    if (g->values[n->first_out].name != NULL)
      vt_graph_name(gb, map[n->first_out], g->values[n->first_out].name);
  }
  for (uint32_t i = 0; i < g->n_results; i++)
    vt_graph_add_result(gb, g->results[i].name, map[g->results[i].value]);
  return gb->status;
}

vt_status vt_pass_lower(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  vt_arena scratch;
  if (g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "a graph is lowered before its dimensions are bound");
  VT_TRY(vt_graph_begin(&gb, g->name, o->alloc, d));
  lowering_builder lb = {.gb = &gb, .o = o};
  lb.b = (vt_builder){.self = &lb, .dims = gb.b.dims, .node = lower_node, .type = type_of};
  vt_arena_init(&scratch, o->alloc);
  const vt_status s = lower_into(g, &lb, &scratch);
  vt_arena_done(&scratch);
  if (s == VT_OK) return vt_graph_freeze(&gb, out);
  vt_graph_drop(&gb);
  return s;
}
