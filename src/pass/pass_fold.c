/* SPDX-License-Identifier: Apache-2.0
 * pass_fold.c - the pass `fold` (constant folding): computes constants once, by running them as a
 * program on the reference.
 *
 * A node is constant if all its operands are constant. Constants that other nodes, outputs or next
 * values of states read are wanted: they are collected from the graph and all its bodies (the
 * scopes) into one graph without ports, the closed graph, which is run. A value whose elements all
 * have the same bits becomes a literal, broadcast to its shape. Other constants stay as nodes,
 * because a graph holds no tables. If the run fails, nothing is folded, so the failure is reported
 * when the model itself runs. Ops with bodies are never folded, because a loop may take long. */
#include <stdio.h>
#include <string.h>
#include "rewrite.h"

enum { MAX_ELEMENTS = 65536 }; /* the most elements that a constant may have */
/* the most that all constants together may cost, see cost_of_node */
static const uint64_t MAX_COST = (uint64_t)1 << 24;

/* Records which values of one graph or body are constant, and where the closed graph has them. */
typedef struct scope {
  uint8_t *constant; /* constant[node]: 1 if the node is constant */
  uint32_t *copy;    /* copy[value]: its copy in the closed graph, or VT_NO_VALUE */
  uint32_t *result;  /* result[value]: its index among the closed graph's results, or VT_NO_VALUE */
} scope;

typedef struct folded_value { /* one result of the closed graph after its run */
  int uniform;                /* 1 if all elements have the same bits */
  uint64_t bits;              /* the bits of the first element */
} folded_value;

typedef struct folding {
  const vt_pass_options *o;
  vt_graph_builder gb; /* the closed graph */
  vt_arena scratch;
  uint32_t n_scopes, cap_scopes;
  uint32_t next; /* index of the scope of the next graph or body that is rewritten */
  /* one for the graph and one for each body, in the order in which they are rewritten */
  scope *scopes;
  uint64_t cost_left;   /* the part of MAX_COST that is not used up */
  folded_value *folded; /* folded[i] is result i of the closed graph; all 0 if its run failed */
  vt_diag *d;
} folding;

static vt_status fail_no_memory(const folding *f) {
  return VT_FAIL(f->d, VT_NOMEM, "out of memory");
}

/* ---- which nodes are constant ---- */

static uint64_t element_count(const vt_graph *g, uint32_t value) {
  uint64_t count, bytes;
  return vt_type_size(&g->values[value].type, &count, &bytes, NULL) == VT_OK ? count : UINT64_MAX;
}

/* An upper bound on the elements that the node's kernel reads and writes. A pointwise op or a
 * movement handles each element once. For any other op all that is known is that each element of a
 * result reads every element of every operand at most once. */
static uint64_t cost_of_node(const vt_graph *g, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  uint64_t results = 1, operands = 1, cost;
  for (uint32_t i = 0; i < n->n_out; i++) results += element_count(g, n->first_out + i);
  for (uint32_t i = 0; i < n->n_in; i++) operands += element_count(g, g->operands[n->first_in + i]);
  const int elementwise =
      vt_op_form(n->op) == VT_FORM_POINTWISE || op->numerics == VT_NUMERICS_move;
  const int fits =
      elementwise ? vt_size_add(results, operands, &cost) : vt_size_mul(results, operands, &cost);
  return fits ? cost : UINT64_MAX;
}

static int accept_constant_node(folding *f, const vt_graph *g, const scope *p, const vt_node *n) {
  if (n->n_body > 0) return 0;
  for (uint32_t i = 0; i < n->n_in; i++) {
    const uint32_t from = g->values[g->operands[n->first_in + i]].node;
    if (from == VT_NO_NODE || !p->constant[from]) return 0;
  }
  for (uint32_t i = 0; i < n->n_out; i++)
    if (element_count(g, n->first_out + i) > MAX_ELEMENTS) return 0;
  const uint64_t cost = cost_of_node(g, n);
  if (cost > f->cost_left) return 0;
  f->cost_left -= cost;
  return 1;
}

/* 1 for a literal or a broadcast literal: folding produces these, so it must not fold them again.
 */
static int is_literal_or_its_broadcast(const vt_graph *g, uint32_t value) {
  const vt_node *n = &g->nodes[g->values[value].node];
  if (n->op == VT_OP_literal) return 1;
  if (n->op != VT_OP_broadcast) return 0;
  const uint32_t from = g->values[g->operands[n->first_in]].node;
  return from != VT_NO_NODE && g->nodes[from].op == VT_OP_literal;
}

/* ---- the closed graph ---- */

/* The mark in scope.result of a constant that becomes a result of the closed graph but has no index
 * yet. */
static const uint32_t WANTED = VT_NO_VALUE - 1;

static void mark_wanted_if_constant(const vt_graph *g, scope *p, uint32_t value) {
  const uint32_t node = g->values[value].node;
  if (node == VT_NO_NODE || !p->constant[node] || is_literal_or_its_broadcast(g, value)) return;
  if (element_count(g, value) > 0) p->result[value] = WANTED;
}

static void mark_wanted_constants(const vt_graph *g, scope *p) {
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; !p->constant[i] && k < g->nodes[i].n_in; k++)
      mark_wanted_if_constant(g, p, g->operands[g->nodes[i].first_in + k]);
  for (uint32_t i = 0; i < g->n_results; i++) mark_wanted_if_constant(g, p, g->results[i].value);
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE) mark_wanted_if_constant(g, p, g->ports[i].next);
}

/* Marks in `needed` the nodes that wanted constants are computed from. */
static void mark_nodes_behind_wanted(const vt_graph *g, const scope *p, uint8_t *needed) {
  for (uint32_t i = g->n_nodes; i-- > 0;) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_out; k++) needed[i] |= p->result[n->first_out + k] == WANTED;
    for (uint32_t k = 0; needed[i] && k < n->n_in; k++)
      needed[g->values[g->operands[n->first_in + k]].node] = 1;
  }
}

static vt_status copy_to_closed_graph(folding *f, const vt_graph *g, scope *p, const vt_node *n) {
  uint32_t *in = VT_NEW_N(&f->scratch, uint32_t, n->n_in);
  char name[16];
  if (in == NULL) return fail_no_memory(f);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = p->copy[g->operands[n->first_in + k]];
  const uint32_t made = f->gb.b.node(&f->gb.b, n->op, in, n->n_in, n->attrs);
  for (uint32_t k = 0; k < n->n_out && f->gb.status == VT_OK; k++) {
    p->copy[n->first_out + k] = made + k;
    if (p->result[n->first_out + k] != WANTED) continue;
    p->result[n->first_out + k] = f->gb.g->n_results;
    snprintf(name, sizeof name, "%u", f->gb.g->n_results);
    vt_graph_add_result(&f->gb, name, made + k);
  }
  return f->gb.status;
}

static vt_status add_scope(folding *f, const vt_graph *g, scope *out) {
  scope *all = vt_arena_grow(&f->scratch, f->scopes, f->n_scopes, &f->cap_scopes, sizeof *all);
  *out = (scope){VT_NEW_N(&f->scratch, uint8_t, g->n_nodes),
                 VT_NEW_N(&f->scratch, uint32_t, g->n_values),
                 VT_NEW_N(&f->scratch, uint32_t, g->n_values)};
  if (vt_arena_status(&f->scratch) != VT_OK) return fail_no_memory(f);
  for (uint32_t i = 0; i < g->n_values; i++) out->copy[i] = out->result[i] = VT_NO_VALUE;
  f->scopes = all;
  all[f->n_scopes++] = *out;
  return VT_OK;
}

static vt_status collect_constants(folding *f, const vt_graph *g) {
  scope p;
  uint8_t *needed = VT_NEW_N(&f->scratch, uint8_t, g->n_nodes);
  VT_TRY(add_scope(f, g, &p));
  for (uint32_t i = 0; i < g->n_nodes; i++)
    p.constant[i] = (uint8_t)accept_constant_node(f, g, &p, &g->nodes[i]);
  mark_wanted_constants(g, &p);
  mark_nodes_behind_wanted(g, &p, needed);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (needed[i]) VT_TRY(copy_to_closed_graph(f, g, &p, &g->nodes[i]));
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_body; k++)
      VT_TRY(collect_constants(f, g->nodes[i].body[k]));
  return VT_OK;
}

/* ---- running the closed graph ---- */

static void read_first_element(const char *bytes, uint64_t count, uint64_t size,
                               folded_value *out) {
  out->uniform = 1;
  for (uint64_t i = 1; out->uniform && i < count; i++)
    out->uniform = memcmp(bytes, bytes + i * size, (size_t)size) == 0;
  /* the first bytes are the low ones: numbers in memory are little-endian */
  memcpy(&out->bits, bytes, (size_t)size);
}

static vt_status run_closed_graph(folding *f, const vt_graph *g) {
  void **bytes = VT_NEW_N(&f->scratch, void *, g->n_results);
  f->folded = VT_NEW_N(&f->scratch, folded_value, g->n_results);
  for (uint32_t i = 0; bytes != NULL && i < g->n_results; i++)
    bytes[i] = vt_arena_array(&f->scratch, (size_t)element_count(g, g->results[i].value), 8);
  if (vt_arena_status(&f->scratch) != VT_OK) return fail_no_memory(f);
  vt_diag why = {0};
  const vt_status s = f->o->eval->run(f->o->eval->user, g, bytes, &why);
  if (s == VT_NOMEM) return fail_no_memory(f);
  for (uint32_t i = 0; s == VT_OK && i < g->n_results; i++) {
    const vt_type *t = &g->values[g->results[i].value].type;
    read_first_element(bytes[i], element_count(g, g->results[i].value), vt_dtype_bytes(t->dtype),
                       &f->folded[i]);
  }
  return VT_OK;
}

/* ---- writing the new graph ---- */

static vt_status begin_rewrite_of_scope(vt_rewrite_state *s) {
  folding *f = *(folding *const *)s->hooks->context;
  s->data = &f->scopes[f->next++];
  return VT_OK;
}

/* Writes the literal that replaces result k of a node; VT_NO_VALUE if the result is not folded. */
static uint32_t write_literal_of_result(vt_rewrite_state *s, const vt_node *n, uint32_t k) {
  const folding *f = *(folding *const *)s->hooks->context;
  const vt_type *t = &s->g->values[n->first_out + k].type;
  const uint32_t result = ((const scope *)s->data)->result[n->first_out + k];
  if (result == VT_NO_VALUE || !f->folded[result].uniform) return VT_NO_VALUE;
  const uint32_t x = vt_build_bits(&s->gb->b, t->dtype, f->folded[result].bits);
  return t->rank == 0 ? x : vt_build_broadcast(&s->gb->b, x, t->rank, t->dim);
}

static vt_status write_folded_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                                   uint32_t *out) {
  uint32_t literal[VT_MAX_RESULTS], n_folded = 0;
  for (uint32_t k = 0; k < n->n_out; k++) {
    literal[k] = write_literal_of_result(s, n, k);
    n_folded += literal[k] != VT_NO_VALUE;
  }
  if (n_folded < n->n_out) VT_TRY(vt_rewrite_copy_node(s, n, in, out));
  for (uint32_t k = 0; k < n->n_out; k++)
    if (literal[k] != VT_NO_VALUE) out[k] = literal[k];
  return s->gb->status;
}

/* Builds the closed graph, runs it, and frees it. Without a constant to compute it runs nothing. */
static vt_status compute_constants(folding *f, const vt_graph *g) {
  vt_graph *closed = NULL;
  vt_status s = collect_constants(f, g);
  const int any = s == VT_OK && f->gb.g->n_results > 0;
  if (!any) {
    vt_graph_drop(&f->gb);
    return s;
  }
  VT_TRY(vt_graph_freeze(&f->gb, &closed));
  s = run_closed_graph(f, closed);
  vt_graph_free(closed);
  return s;
}

vt_status vt_pass_fold(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  folding f = {.o = o, .cost_left = o->eval != NULL ? MAX_COST : 0, .d = d};
  VT_TRY(vt_graph_begin(&f.gb, "constants", o->alloc, d));
  vt_arena_init(&f.scratch, o->alloc);
  /* hooks get a pointer to const, but begin_rewrite_of_scope advances f.next */
  folding *const context = &f;
  const vt_rewrite_hooks hooks = {
      .context = &context, .begin = begin_rewrite_of_scope, .node = write_folded_node};
  vt_status s = compute_constants(&f, g);
  if (s == VT_OK) s = vt_rewrite_graph(&hooks, g, o->alloc, out, d);
  vt_arena_done(&f.scratch);
  return s;
}
