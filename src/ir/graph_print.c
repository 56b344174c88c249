/* SPDX-License-Identifier: Apache-2.0
 * graph_print.c - prints a graph in the text form, which the parser reads back, and hashes it. */
#include <string.h>
#include "vt_graph.h"

/* The name of an unnamed value. It is written without printf because passes need the name of every
 * node that they write, so this must be fast. */
static const char *automatic_name(const vt_value *v, char buffer[16]) {
  char text[48] = "_";
  size_t n = 1 + vt_text_digits(text + 1, v->node);
  if (v->index > 0) {
    text[n++] = '.';
    n += vt_text_digits(text + n, v->index);
  }
  n = n < 16 ? n : 15; /* the name has more than 15 characters only if the graph is corrupt */
  memcpy(buffer, text, n);
  buffer[n] = 0;
  return buffer;
}

const char *vt_value_name(const vt_graph *g, uint32_t value, char buffer[16]) {
  const vt_value *v = &g->values[value];
  return v->name != NULL ? v->name : automatic_name(v, buffer);
}

static void print_value_name(const vt_graph *g, uint32_t value, int canonical, vt_text *out) {
  char buffer[16];
  const vt_value *v = &g->values[value];
  const int named = v->name != NULL && (!canonical || v->node == VT_NO_NODE);
  vt_text_add(out, "%s", named ? v->name : automatic_name(v, buffer));
}

static int port_has_suffix(const vt_port *p) {
  return p->has_range || p->stored != 0 || p->init != 0;
}

void vt_port_print_range_and_init(const vt_graph *g, const vt_port *p, vt_text *out) {
  const vt_init_info *init = vt_init_get(p->init);
  if (p->has_range) {
    vt_text_add(out, "in ");
    vt_dim_print(&g->dims, p->lo, out);
    vt_text_add(out, "..");
    vt_dim_print(&g->dims, p->hi, out);
  }
  if (p->stored != 0)
    vt_text_add(out, "from %s%s", vt_dtype_name(p->stored), init == NULL ? "" : " ");
  if (init == NULL) return;
  vt_text_add(out, "= %s%s", init->name, init->attrs->n_fields > 0 ? "(" : "");
  vt_attr_print(init->attrs, p->init_attrs, &g->dims, out);
  vt_text_add(out, "%s", init->attrs->n_fields > 0 ? ")" : "");
}

static void print_port(const vt_graph *g, const vt_port *p, vt_text *out) {
  static const char *const kinds[] = {
      [VT_PORT_INPUT] = "input", [VT_PORT_PARAM] = "param", [VT_PORT_STATE] = "state"};
  vt_text_add(out, "  %s %s: ", kinds[p->kind], p->name);
  vt_type_print(&g->dims, &g->values[p->value].type, out);
  vt_text_add(out, "%s", port_has_suffix(p) ? " " : "");
  vt_port_print_range_and_init(g, p, out);
  vt_text_add(out, "\n");
}

static void print_literal(const vt_node *n, vt_text *out) {
  const vt_attr_literal *a = n->attrs;
  vt_text_add(out, "%s(", vt_dtype_name((uint32_t)a->dtype));
  vt_literal_print((uint32_t)a->dtype, a->bits, out);
  vt_text_add(out, ")\n");
}

static void print_node_results(const vt_graph *g, const vt_node *n, int canonical, vt_text *out) {
  for (uint32_t i = 0; i < n->n_out; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : ", ");
    print_value_name(g, n->first_out + i, canonical, out);
    vt_text_add(out, ": ");
    vt_type_print(&g->dims, &g->values[n->first_out + i].type, out);
  }
  vt_text_add(out, " = ");
}

static void print_nodes(const vt_graph *g, int canonical, uint32_t depth, vt_text *out);

static void print_indent(uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < depth; i++) vt_text_add(out, "  ");
}

/* Prints " (a: f32[2, 3], b: i64[]) { ... give x, y }". */
static void print_body(const vt_graph *body, int canonical, uint32_t depth, vt_text *out) {
  vt_text_add(out, " (");
  for (uint32_t i = 0; i < body->n_ports; i++) {
    vt_text_add(out, "%s%s: ", i == 0 ? "" : ", ", body->ports[i].name);
    vt_type_print(&body->dims, &body->values[body->ports[i].value].type, out);
  }
  vt_text_add(out, ") {\n");
  print_nodes(body, canonical, depth + 1, out);
  print_indent(depth + 1, out);
  vt_text_add(out, "give ");
  for (uint32_t i = 0; i < body->n_results; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : ", ");
    print_value_name(body, body->results[i].value, canonical, out);
  }
  vt_text_add(out, "\n");
  print_indent(depth, out);
  vt_text_add(out, "}");
}

static void print_node(const vt_graph *g, const vt_node *n, int canonical, uint32_t depth,
                       vt_text *out) {
  const vt_op_info *op = vt_op_get(n->op);
  print_indent(depth, out);
  print_node_results(g, n, canonical, out);
  if (n->op == VT_OP_literal) {
    print_literal(n, out);
    return;
  }
  vt_text_add(out, "%s(", op->name);
  for (uint32_t i = 0; i < n->n_in; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : ", ");
    print_value_name(g, g->operands[n->first_in + i], canonical, out);
  }
  vt_text_add(out, "%s", n->n_in > 0 && op->attrs->n_fields > 0 ? ", " : "");
  vt_attr_print(op->attrs, n->attrs, &g->dims, out);
  vt_text_add(out, ")");
  for (uint32_t i = 0; i < n->n_body; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : " else");
    print_body(n->body[i], canonical, depth, out);
  }
  if (n->group != 0) vt_text_add(out, " @%u", n->group);
  vt_text_add(out, "\n");
}

static void print_nodes(const vt_graph *g, int canonical, uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < g->n_nodes; i++) print_node(g, &g->nodes[i], canonical, depth, out);
}

static void print_output(const vt_graph *g, const vt_result *r, int canonical, vt_text *out) {
  const char *name = g->values[r->value].name;
  vt_text_add(out, "  output %s", r->name);
  if (canonical || name == NULL || strcmp(name, r->name) != 0) {
    vt_text_add(out, " = ");
    print_value_name(g, r->value, canonical, out);
  }
  vt_text_add(out, "\n");
}

/* Prints "  next k = _12" for a state. */
static void print_next_value(const vt_graph *g, const vt_port *p, int canonical, vt_text *out) {
  if (p->kind != VT_PORT_STATE) return;
  vt_text_add(out, "  next %s = ", p->name);
  print_value_name(g, p->next, canonical, out);
  vt_text_add(out, "\n");
}

void vt_graph_print(const vt_graph *g, int canonical, vt_text *out) {
  vt_text_add(out, "volta 1\nmodel %s {\n", g->name);
  for (uint32_t i = 0; i < g->dims.n_symbols; i++)
    vt_text_add(out, "  dim %s\n", g->dims.symbol[i]);
  for (uint32_t i = 0; i < g->n_ports; i++) print_port(g, &g->ports[i], out);
  print_nodes(g, canonical, 1, out);
  for (uint32_t i = 0; i < g->n_ports; i++) print_next_value(g, &g->ports[i], canonical, out);
  for (uint32_t i = 0; i < g->n_results; i++) print_output(g, &g->results[i], canonical, out);
  vt_text_add(out, "}\n");
}

vt_status vt_graph_hash(const vt_graph *g, vt_hash256 *out) {
  vt_text text;
  vt_text_init(&text, g->arena.a);
  vt_graph_print(g, 1, &text);
  const vt_status s = vt_text_status(&text);
  if (s == VT_OK) *out = vt_hash_bytes(text.s, text.n);
  vt_text_done(&text);
  return s;
}
