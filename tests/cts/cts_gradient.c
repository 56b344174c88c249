/* SPDX-License-Identifier: Apache-2.0
 * cts_gradient.c - the gradient graph of a case's model, written by the gradient rules of the op
 * table and printed as a model of its own: it takes what the model takes and dy.NAME for every
 * float output, and gives dx.NAME for every input that a `grad` line names. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_parse.h"

int cts_has_gradient(const cts_block *b) {
  if (b->op->grad == NULL) return 0;
  for (uint32_t i = 0; i < b->n_domains; i++)
    if (b->domain[i].wanted) return 1;
  return 0;
}

typedef struct reverse {
  const vt_graph *g;
  vt_graph_builder gb;
  uint32_t *map;   /* value of g -> value of the gradient graph */
  uint32_t *d_map; /* its gradient so far, or VT_NO_VALUE */
  char *why;
} reverse;

static int is_float(const vt_type *t) {
  return t->dtype == VT_DTYPE_F32 || t->dtype == VT_DTYPE_F64;
}

static uint32_t add_input(reverse *r, const char *name, const vt_type *type) {
  const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
  return vt_graph_add_port(&r->gb, &port, type);
}

static void copy_forward(reverse *r) {
  const vt_graph *g = r->g;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_port port = g->ports[i];
    r->map[port.value] = vt_graph_add_port(&r->gb, &port, &g->values[port.value].type);
  }
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    uint32_t in[VT_OP_ANY_IN];
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = r->map[g->operands[n->first_in + k]];
    const uint32_t first = r->gb.b.node(&r->gb.b, n->op, in, n->n_in, n->attrs);
    for (uint32_t k = 0; k < n->n_out; k++) r->map[n->first_out + k] = first + k;
  }
}

/* Contributions arrive from the last use to the first and are folded in this order. */
static void contribute(reverse *r, uint32_t value, uint32_t d) {
  uint32_t *so_far = &r->d_map[value];
  if (d == VT_NO_VALUE) return;
  *so_far = *so_far == VT_NO_VALUE ? d : vt_build2(&r->gb.b, VT_OP_add, *so_far, d);
}

static void seed_results(reverse *r) {
  for (uint32_t i = r->g->n_results; i-- > 0;) {
    const vt_result *y = &r->g->results[i];
    char name[220];
    snprintf(name, sizeof name, "dy.%s", y->name);
    if (is_float(&r->g->values[y->value].type))
      contribute(r, y->value, add_input(r, name, &r->g->values[y->value].type));
  }
}

static int reaches(const reverse *r, const vt_node *n) {
  for (uint32_t k = 0; k < n->n_out; k++)
    if (r->d_map[n->first_out + k] != VT_NO_VALUE) return 1;
  return 0;
}

/* A gradient has the shape of its operand, and its type too unless that one only stores. */
static int fits_operand(reverse *r, const vt_op_info *op, uint32_t k, uint32_t value, uint32_t d) {
  const vt_type *have = r->gb.b.type(&r->gb.b, d), *want = &r->g->values[value].type;
  if (d == VT_NO_VALUE || have == NULL) return 1; /* a failure is reported on freezing */
  vt_type like = *want;
  if (!is_float(want)) like.dtype = VT_DTYPE_F32;
  if (vt_type_equal(have, &like)) return 1;
  snprintf(r->why, 200, "the gradient of '%s' by operand %u has another type", op->name, k + 1);
  return 0;
}

static int differentiate(reverse *r, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  uint32_t in[VT_OP_ANY_IN], out[VT_MAX_RESULTS], d_in[VT_OP_ANY_IN];
  if (!reaches(r, n)) return 1;
  if (op->grad == NULL) {
    if (op->flat[0] == 0) snprintf(r->why, 200, "'%s' has no gradient rule yet", op->name);
    return op->flat[0] != 0;
  }
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
    if (!fits_operand(r, op, k, value, d_in[k])) return 0;
    contribute(r, value, d_in[k]);
  }
  return 1;
}

static int give_results(reverse *r, const cts_block *b) {
  for (uint32_t i = 0; i < b->n_domains; i++) {
    const char *want = b->domain[i].input;
    uint32_t port = 0;
    char name[220];
    if (!b->domain[i].wanted) continue;
    while (port < r->g->n_ports && strcmp(r->g->ports[port].name, want) != 0) port++;
    if (port == r->g->n_ports) {
      snprintf(r->why, 200, "the model has no input '%.100s'", want);
      return 0;
    }
    const uint32_t d = r->d_map[r->g->ports[port].value];
    snprintf(name, sizeof name, "dx.%s", want);
    if (d == VT_NO_VALUE) snprintf(r->why, 200, "no gradient reaches '%.100s'", want);
    if (d == VT_NO_VALUE) return 0;
    vt_graph_add_result(&r->gb, name, d);
  }
  return 1;
}

static int walk(reverse *r, const cts_block *b) {
  for (uint32_t i = 0; i < r->g->n_nodes; i++)
    if (r->g->nodes[i].n_body > 0 || r->g->nodes[i].n_in > VT_OP_ANY_IN) {
      snprintf(r->why, 200, "bodies, and nodes this wide, are not differentiated here");
      return 0;
    }
  copy_forward(r);
  seed_results(r);
  for (uint32_t i = r->g->n_nodes; i-- > 0;)
    if (!differentiate(r, &r->g->nodes[i])) return 0;
  return give_results(r, b);
}

static char *print(const vt_graph *g) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 1, &t);
  if (vt_text_status(&t) != VT_OK) cts_die("out of memory");
  char *copy = malloc(t.n + 1);
  if (copy == NULL) cts_die("out of memory");
  memcpy(copy, t.s, t.n + 1);
  vt_text_done(&t);
  return copy;
}

static char *reverse_graph(const vt_graph *g, const cts_block *b, char why[200]) {
  vt_diag d = {0};
  vt_graph *made = NULL;
  reverse r = {.g = g, .why = why};
  if (vt_graph_begin(&r.gb, "gradient", vt_alloc_default(), &d) != VT_OK) cts_die("%s", d.text);
  r.map = malloc(g->n_values * sizeof *r.map + 1);
  r.d_map = malloc(g->n_values * sizeof *r.d_map + 1);
  if (r.map == NULL || r.d_map == NULL) cts_die("out of memory");
  for (uint32_t i = 0; i < g->n_values; i++) r.d_map[i] = VT_NO_VALUE;
  if (!walk(&r, b)) {
    vt_graph_drop(&r.gb);
  } else if (vt_graph_freeze(&r.gb, &made) != VT_OK) {
    snprintf(why, 200, "%.190s", d.text);
  }
  free(r.map);
  free(r.d_map);
  char *text = made == NULL ? NULL : print(made);
  vt_graph_free(made);
  return text;
}

char *cts_gradient_text(const cts_model *m, char why[200]) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  why[0] = 0;
  if (vt_parse(m->text, strlen(m->text), vt_alloc_default(), &g, &d) != VT_OK) {
    snprintf(why, 200, "%.190s", d.text);
    return NULL;
  }
  char *text = reverse_graph(g, m->block, why);
  vt_graph_free(g);
  return text;
}
