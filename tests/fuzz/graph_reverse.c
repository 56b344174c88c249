/* SPDX-License-Identifier: Apache-2.0
 * graph_reverse.c - builds the gradient graph of a bound graph with the gradient rules of the op
 * table. Bodies are copied but not differentiated, so no gradient passes through their nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"

enum { NAME_MAX_BYTES = 200 };

typedef struct reverse {
  const vt_graph *g;
  vt_graph_builder gb;
  uint32_t *map;   /* for each value of g: its copy in the gradient graph */
  uint32_t *d_map; /* for each value of g: its gradient so far, or VT_NO_VALUE */
} reverse;

static int is_float(const vt_type *t) {
  return t->dtype == VT_DTYPE_F32 || t->dtype == VT_DTYPE_F64;
}

/* ---- the copy of the graph ---- */

static uint32_t *new_value_map(uint32_t n) {
  uint32_t *map = malloc((n + (size_t)1) * sizeof *map);
  if (map == NULL) abort();
  for (uint32_t i = 0; i < n; i++) map[i] = VT_NO_VALUE;
  return map;
}

static void copy_nodes(vt_graph_builder *gb, const vt_graph *g, uint32_t *map);

static void copy_body(vt_graph_builder *gb, const vt_graph *body) {
  vt_type in[VT_MAX_REGION_ARGS], out[VT_MAX_RESULTS];
  uint32_t results[VT_MAX_RESULTS];
  vt_body_type t;
  vt_body_type_of(body, in, out, &t);
  vt_builder *b = gb->b.open(&gb->b, in, t.n_in);
  if (b == NULL) return; /* the builder keeps the failure and reports it at the end */
  uint32_t *map = new_value_map(body->n_values);
  for (uint32_t i = 0; i < body->n_ports; i++) map[body->ports[i].value] = i;
  copy_nodes(b->self, body, map);
  for (uint32_t i = 0; i < body->n_results; i++) results[i] = map[body->results[i].value];
  b->close(b, results, body->n_results);
  free(map);
}

static void copy_nodes(vt_graph_builder *gb, const vt_graph *g, uint32_t *map) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    uint32_t in[VT_OP_ANY_IN];
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = map[g->operands[n->first_in + k]];
    for (uint32_t k = 0; k < n->n_body; k++) copy_body(gb, n->body[k]);
    const uint32_t first = gb->b.node(&gb->b, n->op, in, n->n_in, n->attrs);
    if (first == VT_NO_VALUE) return;
    for (uint32_t k = 0; k < n->n_out; k++) map[n->first_out + k] = first + k;
  }
}

static void copy_original_graph(reverse *r) {
  for (uint32_t i = 0; i < r->g->n_ports; i++) {
    const vt_port *port = &r->g->ports[i];
    r->map[port->value] = vt_graph_add_port(&r->gb, port, &r->g->values[port->value].type);
  }
  copy_nodes(&r->gb, r->g, r->map);
}

/* ---- backward ---- */

/* Adds d to the gradient of a value. Contributions come from the last use to the first, and are
 * added in this order. */
static void add_to_gradient(reverse *r, uint32_t value, uint32_t d) {
  uint32_t *so_far = &r->d_map[value];
  if (d == VT_NO_VALUE) return;
  *so_far = *so_far == VT_NO_VALUE ? d : vt_build2(&r->gb.b, VT_OP_add, *so_far, d);
}

/* Adds an input dy.NAME for each float output: the gradient of that output. */
static void add_dy_inputs(reverse *r) {
  for (uint32_t i = r->g->n_results; i-- > 0;) {
    const vt_result *y = &r->g->results[i];
    const vt_type *type = &r->g->values[y->value].type;
    char name[NAME_MAX_BYTES];
    (void)snprintf(name, sizeof name, "dy.%.150s", y->name);
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    if (is_float(type)) add_to_gradient(r, y->value, vt_graph_add_port(&r->gb, &port, type));
  }
}

static int has_result_gradient(const reverse *r, const vt_node *n) {
  for (uint32_t k = 0; k < n->n_out; k++)
    if (r->d_map[n->first_out + k] != VT_NO_VALUE) return 1;
  return 0;
}

/* Aborts unless a gradient has the type and the shape of its operand, or f32 if that is not f32 or
 * f64. */
static void check_gradient_type(reverse *r, const vt_op_info *op, uint32_t value, uint32_t d) {
  const vt_type *have = r->gb.b.type(&r->gb.b, d);
  vt_type want = r->g->values[value].type;
  if (d == VT_NO_VALUE || have == NULL) return;
  if (!is_float(&want)) want.dtype = VT_DTYPE_F32;
  if (vt_type_equal(have, &want)) return;
  fprintf(stderr, "the gradient of '%s' has another type than its operand\n", op->name);
  abort();
}

static void differentiate_node(reverse *r, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  uint32_t in[VT_OP_ANY_IN], out[VT_MAX_RESULTS], d_in[VT_OP_ANY_IN];
  if (!has_result_gradient(r, n) || op->grad == NULL) return;
  for (uint32_t k = 0; k < n->n_in; k++) {
    in[k] = r->map[r->g->operands[n->first_in + k]];
    d_in[k] = VT_NO_VALUE;
  }
  for (uint32_t k = 0; k < n->n_out; k++) out[k] = r->map[n->first_out + k];
  const vt_gradient grad = {.b = &r->gb.b,
                            .in = in,
                            .out = out,
                            .n_in = n->n_in,
                            .n_out = n->n_out,
                            .attrs = n->attrs,
                            .d_out = r->d_map + n->first_out,
                            .d_in = d_in};
  op->grad(&grad);
  for (uint32_t k = n->n_in; k-- > 0;) {
    const uint32_t value = r->g->operands[n->first_in + k];
    check_gradient_type(r, op, value, d_in[k]);
    add_to_gradient(r, value, d_in[k]);
  }
}

/* Adds an output dx.NAME for each input that has a gradient; returns their number. */
static uint32_t add_dx_results(reverse *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->g->n_ports; i++) {
    const uint32_t d = r->d_map[r->g->ports[i].value];
    char name[NAME_MAX_BYTES];
    (void)snprintf(name, sizeof name, "dx.%.150s", r->g->ports[i].name);
    if (d == VT_NO_VALUE) continue;
    vt_graph_add_result(&r->gb, name, d);
    n++;
  }
  return n;
}

/* Writes the whole gradient graph; returns its number of outputs, or 1 if it failed. */
static uint32_t write_gradient(reverse *r) {
  copy_original_graph(r);
  add_dy_inputs(r);
  for (uint32_t i = r->g->n_nodes; i-- > 0 && r->gb.status == VT_OK;)
    differentiate_node(r, &r->g->nodes[i]);
  return r->gb.status != VT_OK ? 1 : add_dx_results(r);
}

vt_graph *graph_reverse(const vt_graph *g) {
  vt_diag d = {0};
  vt_graph *made = NULL;
  reverse r = {.g = g, .map = new_value_map(g->n_values), .d_map = new_value_map(g->n_values)};
  if (vt_graph_begin(&r.gb, "gradient", vt_alloc_default(), &d) != VT_OK) abort();
  const uint32_t n = write_gradient(&r);
  free(r.map);
  free(r.d_map);
  if (n == 0) {
    vt_graph_drop(&r.gb);
    return NULL;
  }
  const vt_status s = vt_graph_freeze(&r.gb, &made);
  if (s == VT_OK || s == VT_LIMIT) return made;
  fprintf(stderr, "the gradient is refused: %s\n", d.text);
  abort();
}
