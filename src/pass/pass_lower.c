/* SPDX-License-Identifier: Apache-2.0
 * pass_lower.c - the pass `lower`: replaces each composition by the ops that define it, unless the
 * target has a kernel for the composition. Both give the same bits. */
#include "rewrite.h"

/* The builder that decompositions write to. It decomposes a composition when it is written, so a
 * decomposition may use compositions itself, and passes other nodes on to the graph's builder. */
typedef struct lowering_builder {
  vt_builder b;
  vt_graph_builder *gb;
  const vt_pass_options *o;
} lowering_builder;

static int target_has_kernel(const lowering_builder *lb, const vt_op_info *op) {
  return op->prim || (lb->o->listed != NULL && lb->o->listed(lb->o->target, op->number));
}

static uint32_t keep_or_lower_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                                   const void *attrs, uint32_t *out) {
  lowering_builder *lb = b->self;
  const vt_op_info *op = vt_op_get(number);
  if (op == NULL || target_has_kernel(lb, op)) {
    const uint32_t first = lb->gb->b.node(&lb->gb->b, number, in, n, attrs);
    for (uint32_t i = 0; i < VT_MAX_RESULTS; i++) out[i] = first + i;
    return first;
  }
  if (lb->gb->status != VT_OK) return VT_NO_VALUE;
  const vt_lowering l = {b, in, n, attrs == NULL ? op->attrs->defaults : attrs, out};
  out[0] = op->lower(&l);
  return out[0];
}

/* Adds a node for a decomposition, and returns its first result. Further results of a prim have the
 * next numbers, which does not hold for a composition that is decomposed, so a decomposition may
 * use only compositions with one result. */
static uint32_t lower_node_of_decomposition(vt_builder *b, uint32_t number, const uint32_t *in,
                                            uint32_t n, const void *attrs) {
  const lowering_builder *lb = b->self;
  const vt_op_info *op = vt_op_get(number);
  uint32_t out[VT_MAX_RESULTS];
  if (op != NULL && !op->prim && vt_op_result_count(op) != 1) {
    (void)vt_graph_fail(lb->gb, VT_INTERNAL,
                        "a decomposition uses '%s', which does not have one result", op->name);
    return VT_NO_VALUE;
  }
  return keep_or_lower_node(b, number, in, n, attrs, out);
}

static const vt_type *type_of(const vt_builder *b, uint32_t value) {
  const lowering_builder *lb = b->self;
  return lb->gb->b.type(&lb->gb->b, value);
}

static uint32_t untransposed(const vt_builder *b, uint32_t value, vt_attr_list *out_perm) {
  const lowering_builder *lb = b->self;
  return lb->gb->b.untransposed(&lb->gb->b, value, out_perm);
}

static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n);

static void close_body(vt_builder *body, const uint32_t *out, uint32_t n) {
  lowering_builder *lb = body->self;
  lb->gb->b.close(&lb->gb->b, out, n);
}

static void init_lowering_builder(lowering_builder *lb, vt_graph_builder *gb,
                                  const vt_pass_options *o) {
  *lb = (lowering_builder){.gb = gb, .o = o};
  lb->b = (vt_builder){.self = lb,
                       .dims = gb->b.dims,
                       .node = lower_node_of_decomposition,
                       .type = type_of,
                       .untransposed = untransposed,
                       .open = open_body,
                       .close = close_body};
}

/* Opens a body in a decomposition; compositions inside of it are decomposed too. */
static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n) {
  const lowering_builder *lb = b->self;
  vt_builder *inner = lb->gb->b.open(&lb->gb->b, in, n);
  lowering_builder *made = inner == NULL ? NULL : VT_NEW(&lb->gb->g->arena, lowering_builder);
  if (made == NULL) {
    if (inner != NULL) (void)vt_graph_fail(lb->gb, VT_NOMEM, "out of memory");
    return NULL;
  }
  init_lowering_builder(made, inner->self, lb->o);
  return &made->b;
}

static vt_status lower_graph_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                                  uint32_t *out) {
  lowering_builder lb;
  init_lowering_builder(&lb, s->gb, s->hooks->context);
  (void)keep_or_lower_node(&lb.b, n->op, in, n->n_in, n->attrs, out);
  return s->gb->status;
}

vt_status vt_pass_lower(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite_hooks hooks = {.context = o, .node = lower_graph_node};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
