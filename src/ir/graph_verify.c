/* SPDX-License-Identifier: Apache-2.0
 * graph_verify.c - checks a whole graph without trusting the builder that made it and without
 * sharing code with it. It is called before a graph is decomposed, scheduled or placed in memory,
 * and after every pass. Every failure is VT_VERIFY, or the status that an op's rule returns. */
#include <string.h>
#include "vt_graph.h"
#include "vt_sort.h"

static vt_status verify_value_type(const vt_graph *g, uint32_t value, vt_diag *d) {
  const vt_type *t = &g->values[value].type;
  char name[16];
  if (vt_dtype_name(t->dtype) == NULL || t->rank > VT_MAX_RANK)
    return VT_FAIL(d, VT_VERIFY, "'%s' has dtype number %u and rank %u: one of them is not valid",
                   vt_value_name(g, value, name), t->dtype, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) {
    const int64_t dim = t->dim[i];
    const uint64_t poly = (uint64_t)dim - (uint64_t)INT64_MIN;
    const int known =
        vt_dim_is_symbolic(dim) ? poly < g->dims.n_polys : dim >= 0 && dim <= VT_DIM_MAX;
    if (!known)
      return VT_FAIL(d, VT_VERIFY, "'%s' has dimension %lld on axis %u: expected 0..2^40",
                     vt_value_name(g, value, name), (long long)dim, i);
  }
  return VT_OK;
}

static int init_is_random(const vt_init_info *init) {
  return vt_attr_find(init->attrs, "stream") != NULL;
}

/* Checks the initialiser of a param or state. */
static vt_status verify_port_init(const vt_graph *g, const vt_port *p, vt_diag *d) {
  const vt_init_info *init = vt_init_get(p->init);
  const uint32_t dtype = g->values[p->value].type.dtype;
  const char *kind = p->kind == VT_PORT_STATE ? "state" : "param";
  if (p->kind == VT_PORT_PARAM && p->init == 0 && p->init_attrs == NULL) return VT_OK;
  if (init == NULL || p->init_attrs == NULL)
    return VT_FAIL(d, VT_VERIFY, "the %s '%s' has initialiser number %u%s", kind, p->name, p->init,
                   init == NULL ? ", which is not valid" : " without its attributes");
  uint64_t size;
  memcpy(&size, p->init_attrs, sizeof size);
  if (size != init->attrs->size)
    return VT_FAIL(d, VT_VERIFY, "the %s '%s' carries attributes of another initialiser", kind,
                   p->name);
  if (init_is_random(init) && dtype != VT_DTYPE_F32)
    return VT_FAIL(d, VT_VERIFY, "the %s '%s' is %s, but %s gives only f32", kind, p->name,
                   vt_dtype_name(dtype), init->name);
  if (!init_is_random(init)) return VT_OK;
  int64_t stream;
  memcpy(&stream, (const char *)p->init_attrs + vt_attr_find(init->attrs, "stream")->offset,
         sizeof stream);
  if (stream >= 0 && stream <= UINT32_MAX) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "the %s '%s' has stream %lld, outside 0..2^32-1", kind, p->name,
                 (long long)stream);
}

/* Only a param of f32 may be stored as another type, and only as a float, because then every
 * element has one nearest f32. */
static vt_status verify_stored_type(const vt_graph *g, const vt_port *p, vt_diag *d) {
  const uint32_t dtype = g->values[p->value].type.dtype;
  const int is_wanted =
      p->stored == VT_DTYPE_F16 || p->stored == VT_DTYPE_BF16 || p->stored == VT_DTYPE_F64;
  if (p->stored == 0) return VT_OK;
  if (p->kind == VT_PORT_PARAM && dtype == VT_DTYPE_F32 && is_wanted) return VT_OK;
  return VT_FAIL(d, VT_VERIFY,
                 "'%s' is %s, stored as type number %u: only a param of f32 can be stored as "
                 "another type, f16, bf16 or f64",
                 p->name, vt_dtype_name(dtype), p->stored);
}

/* The least and greatest value of an integer type; returns 0 if dtype is not an integer type. */
static int integer_limits(uint32_t dtype, int64_t *lo, int64_t *hi) {
  const uint64_t bits = 8 * vt_dtype_bytes(dtype);
  const int is_integer = dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8 || dtype == VT_DTYPE_I32 ||
                         dtype == VT_DTYPE_I64;
  if (!is_integer) return 0;
  *hi = dtype == VT_DTYPE_U8 ? UINT8_MAX : INT64_MAX >> (64 - bits);
  *lo = dtype == VT_DTYPE_U8 ? 0 : -*hi - 1;
  return 1;
}

static vt_status verify_range(const vt_graph *g, const vt_port *p, vt_diag *d) {
  const uint32_t dtype = g->values[p->value].type.dtype;
  int64_t lo, hi;
  if (!p->has_range) return VT_OK;
  if (p->kind != VT_PORT_INPUT || !integer_limits(dtype, &lo, &hi))
    return VT_FAIL(d, VT_VERIFY, "'%s' is %s: only an input of integers has a range", p->name,
                   vt_dtype_name(dtype));
  /* Symbolic ends of a range are checked when the dimensions are bound. */
  if (vt_dim_is_symbolic(p->lo) || vt_dim_is_symbolic(p->hi)) return VT_OK;
  if (p->lo > p->hi)
    return VT_FAIL(d, VT_VERIFY, "the range %lld..%lld of '%s' is empty", (long long)p->lo,
                   (long long)p->hi, p->name);
  if (p->lo < lo || p->hi > hi)
    return VT_FAIL(d, VT_VERIFY, "the range %lld..%lld of '%s' goes beyond %s", (long long)p->lo,
                   (long long)p->hi, p->name, vt_dtype_name(dtype));
  return VT_OK;
}

static vt_status verify_port(const vt_graph *g, uint32_t i, vt_diag *d) {
  const vt_port *p = &g->ports[i];
  if (p->value >= g->n_values || g->values[p->value].node != VT_NO_NODE ||
      g->values[p->value].index != i || g->values[p->value].name == NULL ||
      strcmp(g->values[p->value].name, p->name) != 0)
    return VT_FAIL(d, VT_VERIFY, "the port '%s' and its value do not refer to each other", p->name);
  if (p->kind != VT_PORT_INPUT && p->kind != VT_PORT_PARAM && p->kind != VT_PORT_STATE)
    return VT_FAIL(d, VT_VERIFY, "the port '%s' is neither an input, a param nor a state", p->name);
  VT_TRY(verify_value_type(g, p->value, d));
  VT_TRY(verify_range(g, p, d));
  VT_TRY(verify_stored_type(g, p, d));
  return p->kind != VT_PORT_INPUT ? verify_port_init(g, p, d) : VT_OK;
}

/* Checks that a state has a next value of its own type, and that other ports do not have one. */
static vt_status verify_next_value(const vt_graph *g, const vt_port *p, vt_diag *d) {
  if (p->kind != VT_PORT_STATE && p->next == VT_NO_VALUE) return VT_OK;
  if (p->kind != VT_PORT_STATE)
    return VT_FAIL(d, VT_VERIFY, "'%s' has a next value, but is not a state", p->name);
  if (p->next == VT_NO_VALUE)
    return VT_FAIL(d, VT_VERIFY, "the state '%s' has no next value: write next %s = ...", p->name,
                   p->name);
  if (p->next >= g->n_values || !vt_type_equal(&g->values[p->value].type, &g->values[p->next].type))
    return VT_FAIL(d, VT_VERIFY, "the next value of the state '%s' is not a value of its type",
                   p->name);
  return VT_OK;
}

/* Every value names the port or node that it belongs to, which must refer back to the value. So
 * every operand is written by exactly one port or node. */
static vt_status verify_value_owner(const vt_graph *g, uint32_t value, vt_diag *d) {
  const vt_value *v = &g->values[value];
  const int belongs = v->node == VT_NO_NODE
                          ? v->index < g->n_ports && g->ports[v->index].value == value
                          : v->node < g->n_nodes && v->index < g->nodes[v->node].n_out &&
                                g->nodes[v->node].first_out + v->index == value;
  return belongs ? VT_OK : VT_FAIL(d, VT_VERIFY, "value %u belongs to no port or node", value);
}

/* The results of the node are its own, and its operands are ports or results of earlier nodes: each
 * value is assigned once and defined before use. */
static vt_status verify_node_indices(const vt_graph *g, uint32_t index, vt_diag *d) {
  const vt_node *n = &g->nodes[index];
  int belongs = n->first_in <= g->n_operands && n->n_in <= g->n_operands - n->first_in &&
                n->n_out >= 1 && n->n_out <= VT_MAX_RESULTS && n->first_out < g->n_values &&
                n->n_out <= g->n_values - n->first_out;
  for (uint32_t i = 0; belongs && i < n->n_out; i++)
    belongs = g->values[n->first_out + i].node == index && g->values[n->first_out + i].index == i;
  if (!belongs) return VT_FAIL(d, VT_VERIFY, "node %u is not in single-assignment form", index);
  for (uint32_t i = 0; i < n->n_in; i++) {
    const uint32_t v = g->operands[n->first_in + i];
    if (v >= g->n_values || (g->values[v].node != VT_NO_NODE && g->values[v].node >= index))
      return VT_FAIL(d, VT_VERIFY, "operand %u of node %u is used before it is defined", i + 1,
                     index);
  }
  return VT_OK;
}

/* ---- bodies ---- */

/* 1 if the inner table of symbolic dimensions is the beginning of the outer table, so that a handle
 * means the same in a body and in the graph around it. */
static int dims_are_prefix(const vt_dims *inner, const vt_dims *outer) {
  int same = inner->n_symbols <= outer->n_symbols && inner->n_polys <= outer->n_polys;
  for (uint32_t i = 0; same && i < inner->n_symbols; i++)
    same = strcmp(inner->symbol[i], outer->symbol[i]) == 0;
  for (uint32_t i = 0; same && i < inner->n_polys; i++) {
    const vt_poly *a = &inner->poly[i], *b = &outer->poly[i];
    same = a->n == b->n && memcmp(a->term, b->term, a->n * sizeof *a->term) == 0;
  }
  return same;
}

/* A body has only inputs as ports, and its results are distinct values of its nodes, so that each
 * has memory of its own. */
static vt_status verify_body(const vt_graph *g, const vt_graph *body, vt_diag *d) {
  if (!dims_are_prefix(&body->dims, &g->dims))
    return VT_FAIL(d, VT_VERIFY,
                   "the symbolic dimensions of a body differ from those of its graph");
  for (uint32_t i = 0; i < body->n_ports; i++)
    if (body->ports[i].kind != VT_PORT_INPUT)
      return VT_FAIL(d, VT_VERIFY, "'%s' is a %s in a body, which has only inputs",
                     body->ports[i].name, body->ports[i].kind == VT_PORT_STATE ? "state" : "param");
  VT_TRY(vt_graph_verify(body, d));
  for (uint32_t i = 0; i < body->n_results; i++) {
    int own = body->values[body->results[i].value].node != VT_NO_NODE;
    for (uint32_t k = 0; own && k < i; k++) own = body->results[k].value != body->results[i].value;
    if (!own)
      return VT_FAIL(d, VT_VERIFY, "result %u of a body is an argument or repeats another result",
                     i);
  }
  return VT_OK;
}

static vt_status verify_bodies(const vt_graph *g, const vt_node *n, vt_arena *scratch,
                               vt_body_type *out, vt_diag *d) {
  if (n->n_body > VT_MAX_BODIES) return VT_FAIL(d, VT_VERIFY, "a node has %u bodies", n->n_body);
  for (uint32_t i = 0; i < n->n_body; i++) {
    const vt_graph *body = n->body[i];
    VT_TRY(verify_body(g, body, d));
    vt_type *in = VT_NEW_N(scratch, vt_type, body->n_ports);
    vt_type *out_types = VT_NEW_N(scratch, vt_type, body->n_results);
    if (in == NULL || out_types == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    vt_body_type_of(body, in, out_types, &out[i]);
  }
  return VT_OK;
}

/* Scratch for verifying the nodes of a graph, allocated once for all of them. */
typedef struct node_scratch {
  vt_arena *arena;
  vt_dims dims; /* a copy of the graph's symbolic dimensions, because type rules may add products to
                   the table */
  vt_type *in;  /* operand types of the node being verified; enough space for every node */
} node_scratch;

static vt_status verify_node_types(const vt_graph *g, uint32_t index, node_scratch *r, vt_diag *d) {
  const vt_node *n = &g->nodes[index];
  const vt_op_info *op = vt_op_get(n->op);
  char name[16];
  vt_body_type body[VT_MAX_BODIES];
  uint32_t n_out;
  if (op == NULL) return VT_FAIL(d, VT_VERIFY, "node %u has op number %u", index, n->op);
  vt_type out[VT_MAX_RESULTS];
  for (uint32_t i = 0; i < n->n_in; i++) r->in[i] = g->values[g->operands[n->first_in + i]].type;
  uint64_t size = 0;
  if (n->attrs != NULL) memcpy(&size, n->attrs, sizeof size);
  if (size != op->attrs->size)
    return VT_FAIL(d, VT_VERIFY, "node %u carries attributes of another op", index);
  VT_TRY(verify_bodies(g, n, r->arena, body, d));
  const vt_rule rule = {&r->dims, r->in, n->n_in, n->attrs, n->n_body, body};
  vt_diag why = {0};
  const vt_status s = vt_op_infer(op, &rule, out, &n_out, &why);
  if (s != VT_OK)
    return VT_FAIL(d, s, "'%s' = %s: %s", vt_value_name(g, n->first_out, name), op->name, why.text);
  if (n->n_out != n_out)
    return VT_FAIL(d, VT_VERIFY, "'%s' has %u results, but %s gives %u",
                   vt_value_name(g, n->first_out, name), n->n_out, op->name, n_out);
  for (uint32_t i = 0; i < n_out; i++) {
    const vt_type *have = &g->values[n->first_out + i].type;
    char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
    VT_TRY(verify_value_type(g, n->first_out + i, d));
    if (!vt_type_equal(&out[i], have))
      return VT_FAIL(d, VT_VERIFY, "'%s' is %s, but %s gives %s",
                     vt_value_name(g, n->first_out + i, name), vt_type_text(&r->dims, have, x),
                     op->name, vt_type_text(&r->dims, &out[i], y));
  }
  return VT_OK;
}

/* ---- fusion groups ---- */

/* 1 if a member of a fusion group other than its last member makes the value, which then only
 * members of the group may read. */
static int is_value_inside_group(const vt_graph *g, uint32_t value) {
  const uint32_t node = g->values[value].node;
  return node != VT_NO_NODE && g->nodes[node].group != 0 && node + 1 < g->n_nodes &&
         g->nodes[node + 1].group == g->nodes[node].group;
}

/* Adds the node's line and column to a failure about fusion groups, because a person may have
 * written the groups into a model's text. */
static vt_status fail_at_node(const vt_graph *g, uint32_t node, vt_status s, vt_diag *d) {
  if (d != NULL && d->line == 0) {
    d->line = g->nodes[node].line;
    d->column = g->nodes[node].column;
  }
  return s;
}

static int same_shape(const vt_type *a, const vt_type *b) {
  vt_type x = *a;
  x.dtype = b->dtype;
  return vt_type_equal(&x, b);
}

/* Checks that fusion groups are numbered 1, 2, ... in order, that the members of a group are
 * consecutive and have one shape, and that a group has at most one anchor and VT_GROUP_MAX_NODES
 * members. */
static vt_status verify_group_members(const vt_graph *g, vt_diag *d) {
  uint32_t groups = 0, anchors = 0, members = 0;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    if (n->group == 0) continue;
    const int first = i == 0 || g->nodes[i - 1].group != n->group;
    const vt_type *t = &g->values[n->first_out].type;
    groups += (uint32_t)first;
    members = first ? 1 : members + 1;
    anchors = (first ? 0 : anchors) + (vt_op_form(n->op) == VT_FORM_ANCHOR);
    if (n->group != groups)
      return fail_at_node(
          g, i, VT_FAIL(d, VT_VERIFY, "node %u is in group %u, expected %u", i, n->group, groups),
          d);
    if (!vt_form_can_be_in_group(vt_op_form(n->op)) || n->n_out != 1 || anchors > 1 ||
        members > VT_GROUP_MAX_NODES ||
        (!first && !same_shape(t, &g->values[g->nodes[i - 1].first_out].type)))
      return fail_at_node(
          g, i, VT_FAIL(d, VT_VERIFY, "node %u cannot be a member of group %u", i, n->group), d);
  }
  return VT_OK;
}

/* Checks that only the value of a fusion group's last member is read by nodes outside of the group,
 * and that the values of the other members are read only by pointwise members. */
static vt_status verify_groups(const vt_graph *g, vt_diag *d) {
  VT_TRY(verify_group_members(g, d));
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t v = g->operands[n->first_in + k];
      if (is_value_inside_group(g, v) &&
          (n->group != g->nodes[g->values[v].node].group || vt_op_form(n->op) != VT_FORM_POINTWISE))
        return fail_at_node(g, i,
                            VT_FAIL(d, VT_VERIFY, "node %u reads a value inside group %u", i,
                                    g->nodes[g->values[v].node].group),
                            d);
    }
  }
  for (uint32_t i = 0; i < g->n_results; i++)
    if (is_value_inside_group(g, g->results[i].value))
      return fail_at_node(
          g, g->values[g->results[i].value].node,
          VT_FAIL(d, VT_VERIFY, "the output '%s' is inside a group", g->results[i].name), d);
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE && is_value_inside_group(g, g->ports[i].next))
      return fail_at_node(
          g, g->values[g->ports[i].next].node,
          VT_FAIL(d, VT_VERIFY, "the next value of '%s' is inside a group", g->ports[i].name), d);
  return VT_OK;
}

static int compare_output_names(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_result *)a)->name, ((const vt_result *)b)->name);
}

static vt_status verify_outputs(const vt_graph *g, vt_arena *scratch, vt_diag *d) {
  int has_state = 0; /* a model that changes its states may have no output */
  for (uint32_t i = 0; i < g->n_ports; i++) has_state |= g->ports[i].kind == VT_PORT_STATE;
  if (g->n_results == 0 && !has_state) return VT_FAIL(d, VT_VERIFY, "the model has no output");
  for (uint32_t i = 0; i < g->n_results; i++)
    if (g->results[i].value >= g->n_values)
      return VT_FAIL(d, VT_VERIFY, "the output '%s' is not a value of the graph",
                     g->results[i].name);
  vt_result *sorted = vt_arena_copy(scratch, g->results, g->n_results * sizeof *sorted);
  if (sorted == NULL || vt_sort(sorted, g->n_results, sizeof *sorted, compare_output_names, NULL,
                                g->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 1; i < g->n_results; i++)
    if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
      return VT_FAIL(d, VT_VERIFY, "the output '%s' is declared twice", sorted[i].name);
  return VT_OK;
}

/* Names must be unique, or the printed form would be ambiguous. The set is open-addressed by the
 * hash of the name; a slot holds the index of a value plus 1, or 0 if it is free. */
static vt_status verify_names(const vt_graph *g, vt_arena *scratch, vt_diag *d) {
  uint64_t slots = 1;
  while (slots < 2 * (uint64_t)g->n_values) slots *= 2;
  uint32_t *slot = VT_NEW_N(scratch, uint32_t, slots);
  if (slot == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < g->n_values; i++) {
    const char *name = g->values[i].name;
    if (name == NULL) continue;
    uint64_t at = vt_hash_name(name) & (slots - 1);
    for (; slot[at] != 0; at = (at + 1) & (slots - 1))
      if (strcmp(g->values[slot[at] - 1].name, name) == 0)
        return VT_FAIL(d, VT_VERIFY, "two values are called '%s'", name);
    slot[at] = i + 1;
  }
  return VT_OK;
}

static vt_status verify_nodes(const vt_graph *g, vt_arena *scratch, vt_diag *d) {
  node_scratch r = {.arena = scratch};
  uint32_t max_n_in = 0;
  for (uint32_t i = 0; i < g->n_values; i++) VT_TRY(verify_value_owner(g, i, d));
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    VT_TRY(verify_node_indices(g, i, d));
    if (g->nodes[i].n_in > max_n_in) max_n_in = g->nodes[i].n_in;
  }
  vt_dims_copy(&r.dims, &g->dims, scratch);
  r.in = VT_NEW_N(scratch, vt_type, max_n_in);
  if (vt_arena_status(scratch) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < g->n_nodes; i++) VT_TRY(verify_node_types(g, i, &r, d));
  return VT_OK;
}

vt_status vt_graph_verify(const vt_graph *g, vt_diag *d) {
  for (uint32_t i = 0; i < g->n_ports; i++) VT_TRY(verify_port(g, i, d));
  vt_arena scratch;
  vt_arena_init(&scratch, g->arena.a);
  vt_status s = verify_nodes(g, &scratch, d);
  if (s == VT_OK) s = verify_names(g, &scratch, d);
  if (s == VT_OK) s = verify_outputs(g, &scratch, d);
  for (uint32_t i = 0; s == VT_OK && i < g->n_ports; i++) s = verify_next_value(g, &g->ports[i], d);
  if (s == VT_OK) s = verify_groups(g, d);
  vt_arena_done(&scratch);
  return s;
}
