/* SPDX-License-Identifier: Apache-2.0
 * diverge_subgraph.c - writes a subgraph as a model. Values from outside become inputs, literals
 * are copied, bodies stay with their nodes. The subgraph is built as a graph, the view, that
 * borrows from the old one and is only printed; parsing the text verifies it. */
#include <stdio.h>
#include <string.h>
#include "diverge_search.h"

static uint32_t operand_at(const vt_graph *g, const vt_node *n, uint32_t i) {
  return g->operands[n->first_in + i];
}

/* ---- the nodes of a subgraph ---- */

/* Marks in `read` the values that nodes of the subgraph read. */
static void mark_read_values(const vt_subgraph *p, uint8_t *read) {
  for (uint32_t i = 0; i < p->g->n_nodes; i++)
    for (uint32_t k = 0; p->has[i] && k < p->g->nodes[i].n_in; k++)
      read[operand_at(p->g, &p->g->nodes[i], k)] = 1;
}

static int is_literal(const vt_graph *g, uint32_t node) {
  return node != VT_NO_NODE && g->nodes[node].op == VT_OP_literal;
}

static int is_made_inside_subgraph(const vt_subgraph *p, uint32_t value) {
  const uint32_t node = p->g->values[value].node;
  return node != VT_NO_NODE && p->has[node];
}

int vt_subgraph_add_producers(vt_subgraph *p, vt_arena *scratch) {
  uint8_t *read = VT_NEW_N(scratch, uint8_t, p->g->n_values);
  int grown = 0;
  if (read == NULL) return 0;
  mark_read_values(p, read);
  for (uint32_t v = 0; v < p->g->n_values; v++) {
    const uint32_t node = p->g->values[v].node;
    if (!read[v] || node == VT_NO_NODE || p->has[node] || is_literal(p->g, node)) continue;
    p->has[node] = 1;
    grown = 1;
  }
  return grown;
}

/* ---- building the graph to print ---- */

typedef struct view_builder {
  const vt_subgraph *p;
  vt_arena *keep; /* owns the arrays of `view` */
  vt_graph view;  /* the graph to print, made from the old one */
  uint32_t *map;  /* by value of the old graph: the value of `view` that replaces it */
  uint8_t *read;  /* by value of the old graph: 1 if the subgraph reads it */
} view_builder;

static int is_name_used(const vt_graph *g, const char *name) {
  int taken = 0;
  for (uint32_t i = 0; !taken && i < g->n_values; i++)
    taken = g->values[i].name != NULL && strcmp(g->values[i].name, name) == 0;
  for (uint32_t i = 0; !taken && i < g->n_results; i++)
    taken = g->results[i].name != NULL && strcmp(g->results[i].name, name) == 0;
  return taken;
}

/* The first of the names STEM, STEM1, STEM2, ... that no value or result has yet. */
static const char *unused_name(view_builder *l, const char *stem) {
  char name[32];
  snprintf(name, sizeof name, "%s", stem);
  for (uint32_t i = 1; is_name_used(&l->view, name); i++)
    snprintf(name, sizeof name, "%s%u", stem, i);
  return vt_arena_string(l->keep, name, strlen(name));
}

static void add_value(view_builder *l, uint32_t old, uint32_t node, uint32_t index) {
  const uint32_t value = l->view.n_values++;
  l->view.values[value] = l->p->g->values[old];
  l->view.values[value].node = node;
  l->view.values[value].index = index;
  l->map[old] = value;
}

static void add_port(view_builder *l, uint32_t old, vt_subgraph_model *out) {
  const uint32_t i = l->view.n_ports++;
  l->view.ports[i] = (vt_port){.kind = VT_PORT_INPUT, .value = l->view.n_values};
  add_value(l, old, VT_NO_NODE, i);
  out->values[out->n_inputs++] = old;
}

static void add_node(view_builder *l, uint32_t old) {
  const vt_graph *g = l->p->g;
  vt_node n = g->nodes[old];
  const uint32_t first = l->view.n_operands, node = l->view.n_nodes++;
  for (uint32_t k = 0; k < n.n_in; k++)
    l->view.operands[l->view.n_operands++] = l->map[operand_at(g, &n, k)];
  for (uint32_t k = 0; k < n.n_out; k++) add_value(l, n.first_out + k, node, k);
  n.first_in = first;
  n.first_out = l->view.n_values - n.n_out;
  n.group = 0;
  l->view.nodes[node] = n;
}

/* Gives each port and result a name. */
static void name_ports_and_results(view_builder *l, vt_subgraph_model *out) {
  vt_graph *g = &l->view;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_value *v = &g->values[g->ports[i].value];
    v->name =
        v->name == NULL ? unused_name(l, "x") : vt_arena_string(l->keep, v->name, strlen(v->name));
    g->ports[i].name = out->names[i] = v->name;
  }
  for (uint32_t i = 0; i < g->n_results; i++) {
    const char *name = g->values[g->results[i].value].name;
    if (g->results[i].name == NULL) g->results[i].name = name != NULL ? name : unused_name(l, "y");
  }
}

static int alloc_view(view_builder *l, vt_subgraph_model *out) {
  const vt_graph *g = l->p->g;
  const size_t values = g->n_values;
  l->map = VT_NEW_N(l->keep, uint32_t, values);
  l->read = VT_NEW_N(l->keep, uint8_t, values);
  l->view = (vt_graph){.name = "divergence",
                       .dims = g->dims,
                       .values = VT_NEW_N(l->keep, vt_value, values),
                       .nodes = VT_NEW_N(l->keep, vt_node, g->n_nodes),
                       .operands = VT_NEW_N(l->keep, uint32_t, g->n_operands),
                       .ports = VT_NEW_N(l->keep, vt_port, values),
                       .results = VT_NEW_N(l->keep, vt_result, l->p->n_results)};
  *out = (vt_subgraph_model){.names = VT_NEW_N(l->keep, const char *, values),
                             .values = VT_NEW_N(l->keep, uint32_t, values)};
  return !l->keep->failed;
}

static void build_view(view_builder *l, vt_subgraph_model *out) {
  const vt_subgraph *p = l->p;
  const vt_graph *g = p->g;
  mark_read_values(p, l->read);
  for (uint32_t v = 0; v < g->n_values; v++)
    if (l->read[v] && !is_made_inside_subgraph(p, v) && !is_literal(g, g->values[v].node))
      add_port(l, v, out);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (p->has[i] || (is_literal(g, i) && l->read[g->nodes[i].first_out])) add_node(l, i);
  for (uint32_t i = 0; i < p->n_results; i++)
    if (is_made_inside_subgraph(p, p->results[i].value))
      l->view.results[l->view.n_results++] =
          (vt_result){p->results[i].name, l->map[p->results[i].value]};
  name_ports_and_results(l, out);
}

vt_status vt_subgraph_write(const vt_subgraph *p, vt_arena *keep, vt_subgraph_model *out,
                            vt_diag *d) {
  view_builder l = {.p = p, .keep = keep};
  vt_text text;
  if (!alloc_view(&l, out)) return VT_FAIL(d, VT_NOMEM, "out of memory");
  build_view(&l, out);
  if (keep->failed) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_text_init(&text, keep->a);
  vt_graph_print(&l.view, 0, &text);
  out->text = vt_text_status(&text) == VT_OK ? vt_arena_string(keep, text.s, text.n) : NULL;
  vt_text_done(&text);
  return out->text != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

/* ---- op and signature as text ---- */

static void add_type_text(const vt_graph *g, uint32_t value, int first, vt_text *out) {
  vt_text_add(out, "%s", first ? "" : ", ");
  vt_type_print(&g->dims, &g->values[value].type, out);
}

static void add_op_names(const vt_subgraph *p, vt_text *out) {
  for (uint32_t i = p->first; i <= p->last; i++)
    vt_text_add(out, "%s%s", i == p->first ? "" : "+", vt_op_get(p->g->nodes[i].op)->name);
}

/* Appends the types of the operands that come from outside the subgraph, each as often as it is
 * read, and then those of the results. */
static void add_signature(const vt_subgraph *p, vt_text *out) {
  const vt_graph *g = p->g;
  uint32_t n = 0;
  add_op_names(p, out);
  vt_text_add(out, "(");
  for (uint32_t i = p->first; i <= p->last; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
      const uint32_t v = operand_at(g, &g->nodes[i], k), from = g->values[v].node;
      if (from == VT_NO_NODE || from < p->first || from > p->last)
        add_type_text(g, v, n++ == 0, out);
    }
  vt_text_add(out, ") -> ");
  const vt_node *last = &g->nodes[p->last];
  for (uint32_t k = 0; k < last->n_out; k++) add_type_text(g, last->first_out + k, k == 0, out);
}

vt_status vt_subgraph_describe(const vt_subgraph *p, vt_arena *keep, const char **op,
                               const char **signature) {
  vt_text text;
  vt_text_init(&text, keep->a);
  add_op_names(p, &text);
  const size_t n = text.n;
  add_signature(p, &text);
  vt_status s = vt_text_status(&text);
  if (s == VT_OK) {
    *op = vt_arena_string(keep, text.s, n);
    *signature = vt_arena_string(keep, text.s + n, text.n - n);
    s = vt_arena_status(keep);
  }
  vt_text_done(&text);
  return s;
}
