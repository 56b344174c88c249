/* SPDX-License-Identifier: Apache-2.0
 * case_gradient.c - builds the gradient graph of a case's model by the gradient rules of the op
 * table and prints it as a model. Its inputs are those of the model and dy.NAME for every float
 * output; its outputs are dx.NAME for every input in a `grad` line. A contribution is what one use
 * of a value adds to the gradient of that value. */
#include <stdio.h>
#include <string.h>
#include "vt_graph.h"
#include "vt_parse.h"
#include "vt_suite.h"

int vt_suite_has_gradient(const vt_suite_block *b) {
  if (b->op->grad == NULL) return 0;
  for (uint32_t i = 0; i < b->n_domains; i++)
    if (b->domain[i].wanted) return 1;
  return 0;
}

typedef struct gradient_builder {
  const vt_graph *g;
  vt_graph_builder gb;
  uint32_t *map;   /* by value of g: the same value in the gradient graph */
  uint32_t *d_map; /* by value of g: its gradient so far in the gradient graph, or VT_NO_VALUE */
  vt_diag *d;
} gradient_builder;

static int is_f32_or_f64(const vt_type *t) {
  return t->dtype == VT_DTYPE_F32 || t->dtype == VT_DTYPE_F64;
}

static void copy_forward_graph(gradient_builder *r) {
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

/* Adds a contribution to the gradient of a value. Contributions arrive from the last use of the
 * value to the first and are summed in this order. */
static void add_contribution(gradient_builder *r, uint32_t value, uint32_t contribution) {
  uint32_t *so_far = &r->d_map[value];
  if (contribution == VT_NO_VALUE) return;
  *so_far =
      *so_far == VT_NO_VALUE ? contribution : vt_build2(&r->gb.b, VT_OP_add, *so_far, contribution);
}

/* Adds an input dy.NAME for each float output as the start of its gradient. */
static void add_inputs_for_output_gradients(gradient_builder *r) {
  for (uint32_t i = r->g->n_results; i-- > 0;) {
    const vt_result *y = &r->g->results[i];
    const vt_type *type = &r->g->values[y->value].type;
    char name[220];
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    snprintf(name, sizeof name, "dy.%s", y->name);
    if (is_f32_or_f64(type)) add_contribution(r, y->value, vt_graph_add_port(&r->gb, &port, type));
  }
}

static int any_result_has_gradient(const gradient_builder *r, const vt_node *n) {
  for (uint32_t k = 0; k < n->n_out; k++)
    if (r->d_map[n->first_out + k] != VT_NO_VALUE) return 1;
  return 0;
}

/* A gradient must have the shape and the dtype of its operand, except that the gradient of an
 * operand whose dtype is used for storage only is f32. */
static vt_status check_gradient_type(gradient_builder *r, const vt_op_info *op, uint32_t operand,
                                     uint32_t value, uint32_t gradient) {
  const vt_type *have = r->gb.b.type(&r->gb.b, gradient), *want = &r->g->values[value].type;
  /* The graph failed to build, which vt_graph_freeze reports. */
  if (gradient == VT_NO_VALUE || have == NULL) return VT_OK;
  vt_type like = *want;
  if (!is_f32_or_f64(want)) like.dtype = VT_DTYPE_F32;
  if (vt_type_equal(have, &like)) return VT_OK;
  return VT_FAIL(r->d, VT_UNSUPPORTED,
                 "no gradient: the gradient of '%s' by operand %u has another type", op->name,
                 operand + 1);
}

static vt_status differentiate_node(gradient_builder *r, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  uint32_t in[VT_OP_ANY_IN], out[VT_MAX_RESULTS], d_in[VT_OP_ANY_IN];
  if (!any_result_has_gradient(r, n)) return VT_OK;
  if (op->grad == NULL && op->flat[0] != 0) return VT_OK;
  if (op->grad == NULL)
    return VT_FAIL(r->d, VT_UNSUPPORTED, "no gradient: '%s' has no gradient rule yet", op->name);
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
    VT_TRY(check_gradient_type(r, op, k, value, d_in[k]));
    add_contribution(r, value, d_in[k]);
  }
  return VT_OK;
}

static vt_status add_result_for_input_gradient(gradient_builder *r, const char *input) {
  uint32_t port = 0;
  char name[220];
  while (port < r->g->n_ports && strcmp(r->g->ports[port].name, input) != 0) port++;
  if (port == r->g->n_ports)
    return VT_FAIL(r->d, VT_UNSUPPORTED, "no gradient: the model has no input '%.100s'", input);
  const uint32_t d = r->d_map[r->g->ports[port].value];
  if (d == VT_NO_VALUE)
    return VT_FAIL(r->d, VT_UNSUPPORTED, "no gradient: the outputs do not depend on '%.100s'",
                   input);
  snprintf(name, sizeof name, "dx.%s", input);
  vt_graph_add_result(&r->gb, name, d);
  return VT_OK;
}

static vt_status build_gradient(gradient_builder *r, const vt_suite_block *b) {
  for (uint32_t i = 0; i < r->g->n_nodes; i++)
    if (r->g->nodes[i].n_body > 0 || r->g->nodes[i].n_in > VT_OP_ANY_IN)
      return VT_FAIL(
          r->d, VT_UNSUPPORTED,
          "no gradient: nodes with bodies or with too many operands are not differentiated");
  copy_forward_graph(r);
  add_inputs_for_output_gradients(r);
  for (uint32_t i = r->g->n_nodes; i-- > 0;) VT_TRY(differentiate_node(r, &r->g->nodes[i]));
  VT_TRY(r->gb.status); /* a failed build would look like a missing gradient below */
  for (uint32_t i = 0; i < b->n_domains; i++)
    if (b->domain[i].wanted) VT_TRY(add_result_for_input_gradient(r, b->domain[i].input));
  return VT_OK;
}

static vt_status make_gradient_graph(gradient_builder *r, const vt_suite_block *b, vt_alloc a,
                                     vt_graph **out) {
  vt_arena scratch;
  vt_arena_init(&scratch, a);
  r->map = VT_NEW_N(&scratch, uint32_t, r->g->n_values);
  r->d_map = VT_NEW_N(&scratch, uint32_t, r->g->n_values);
  vt_status s = VT_OK;
  if (r->d_map == NULL) s = VT_FAIL(r->d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; s == VT_OK && i < r->g->n_values; i++) r->d_map[i] = VT_NO_VALUE;
  if (s == VT_OK) s = vt_graph_begin(&r->gb, "gradient", a, r->d);
  if (s == VT_OK) {
    s = build_gradient(r, b);
    if (s == VT_OK)
      s = vt_graph_freeze(&r->gb, out);
    else
      vt_graph_drop(&r->gb);
  }
  vt_arena_done(&scratch);
  return s;
}

vt_status vt_suite_write_gradient(const vt_suite_model *m, vt_alloc a, vt_text *out, vt_diag *d) {
  vt_graph *g = NULL, *made = NULL;
  VT_TRY(vt_parse(m->text, strlen(m->text), a, &g, d));
  gradient_builder r = {.g = g, .d = d};
  vt_status s = make_gradient_graph(&r, m->block, a, &made);
  if (s == VT_OK) {
    vt_graph_print(made, 1, out);
    s = vt_text_status(out);
    if (s != VT_OK) (void)VT_FAIL(d, s, "out of memory");
  }
  vt_graph_free(made);
  vt_graph_free(g);
  return s;
}
