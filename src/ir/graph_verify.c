/* SPDX-License-Identifier: Apache-2.0
 * graph_verify.c - everything about a graph again, from the outside: it trusts no builder.
 * Runs before any lowering, scheduling or allocation, and after every pass. */
#include <string.h>
#include "vt_graph.h"
#include "vt_sort.h"

static vt_status verify_dims(const vt_graph *g, uint32_t value, vt_diag *d) {
  const vt_type *t = &g->values[value].type;
  char name[16];
  if (vt_dtype_name(t->dtype) == NULL || t->rank > VT_MAX_RANK)
    return VT_FAIL(d, VT_VERIFY, "'%s' has type number %u and rank %u",
                   vt_value_name(g, value, name), t->dtype, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) {
    const int64_t dim = t->dim[i];
    const uint64_t poly = (uint64_t)dim - (uint64_t)INT64_MIN;
    const int known =
        vt_dim_is_symbolic(dim) ? poly < g->dims.n_polys : dim >= 0 && dim <= VT_DIM_MAX;
    if (!known)
      return VT_FAIL(d, VT_VERIFY, "'%s' has dimension %lld on axis %u: it must lie in 0..2^40",
                     vt_value_name(g, value, name), (long long)dim, i);
  }
  return VT_OK;
}

static int is_random(const vt_init_info *init) {
  return vt_attr_find(init->attrs, "stream") != NULL;
}

static vt_status verify_init(const vt_graph *g, const vt_port *p, vt_diag *d) {
  const vt_init_info *init = vt_init_get(p->init);
  const uint32_t dtype = g->values[p->value].type.dtype;
  if (init == NULL || p->init_attrs == NULL)
    return VT_FAIL(d, VT_VERIFY, "the param '%s' has no initialiser", p->name);
  uint64_t size;
  memcpy(&size, p->init_attrs, sizeof size);
  if (size != init->attrs->size)
    return VT_FAIL(d, VT_VERIFY, "the param '%s' carries attributes of another initialiser",
                   p->name);
  if (is_random(init) && dtype != VT_DTYPE_F32)
    return VT_FAIL(d, VT_VERIFY, "the param '%s' is %s: %s makes f32", p->name,
                   vt_dtype_name(dtype), init->name);
  if (!is_random(init)) return VT_OK;
  int64_t stream;
  memcpy(&stream, (const char *)p->init_attrs + vt_attr_find(init->attrs, "stream")->offset,
         sizeof stream);
  if (stream >= 0 && stream <= UINT32_MAX) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "the param '%s' has stream %lld, outside 0..2^32-1", p->name,
                 (long long)stream);
}

/* The integers an element type holds: 0 for a type that is none of integers. */
static int limits_of(uint32_t dtype, int64_t *lo, int64_t *hi) {
  const uint64_t bits = 8 * vt_dtype_bytes(dtype);
  const int whole = dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8 || dtype == VT_DTYPE_I32 ||
                    dtype == VT_DTYPE_I64;
  if (!whole) return 0;
  *hi = dtype == VT_DTYPE_U8 ? UINT8_MAX : INT64_MAX >> (64 - bits);
  *lo = dtype == VT_DTYPE_U8 ? 0 : -*hi - 1;
  return 1;
}

static vt_status verify_range(const vt_graph *g, const vt_port *p, vt_diag *d) {
  const uint32_t dtype = g->values[p->value].type.dtype;
  int64_t lo, hi;
  if (!p->has_range) return VT_OK;
  if (p->kind != VT_PORT_INPUT || !limits_of(dtype, &lo, &hi))
    return VT_FAIL(d, VT_VERIFY, "'%s' is %s: only an input of integers has a range", p->name,
                   vt_dtype_name(dtype));
  if (vt_dim_is_symbolic(p->lo) || vt_dim_is_symbolic(p->hi)) return VT_OK; /* known once bound */
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
    return VT_FAIL(d, VT_VERIFY, "the port '%s' does not own its value", p->name);
  if (p->kind != VT_PORT_INPUT && p->kind != VT_PORT_PARAM)
    return VT_FAIL(d, VT_VERIFY, "the port '%s' is of no kind", p->name);
  VT_TRY(verify_dims(g, p->value, d));
  VT_TRY(verify_range(g, p, d));
  return p->kind == VT_PORT_PARAM ? verify_init(g, p, d) : VT_OK;
}

/* Every value is owned once, by the port or the node that it names: so whatever an operand names
 * is written by somebody. */
static vt_status verify_owner(const vt_graph *g, uint32_t value, vt_diag *d) {
  const vt_value *v = &g->values[value];
  const int owned = v->node == VT_NO_NODE
                        ? v->index < g->n_ports && g->ports[v->index].value == value
                        : v->node < g->n_nodes && v->index < g->nodes[v->node].n_out &&
                              g->nodes[v->node].first_out + v->index == value;
  return owned ? VT_OK : VT_FAIL(d, VT_VERIFY, "value %u belongs to nobody", value);
}

/* Operands are ports or come from earlier nodes: defined before use, assigned once. */
static vt_status verify_operands(const vt_graph *g, uint32_t index, vt_diag *d) {
  const vt_node *n = &g->nodes[index];
  int owned = n->first_in <= g->n_operands && n->n_in <= g->n_operands - n->first_in &&
              n->n_out >= 1 && n->n_out <= VT_MAX_RESULTS && n->first_out < g->n_values &&
              n->n_out <= g->n_values - n->first_out;
  for (uint32_t i = 0; owned && i < n->n_out; i++)
    owned = g->values[n->first_out + i].node == index && g->values[n->first_out + i].index == i;
  if (!owned) return VT_FAIL(d, VT_VERIFY, "node %u is not in single-assignment form", index);
  for (uint32_t i = 0; i < n->n_in; i++) {
    const uint32_t v = g->operands[n->first_in + i];
    if (v >= g->n_values || (g->values[v].node != VT_NO_NODE && g->values[v].node >= index))
      return VT_FAIL(d, VT_VERIFY, "operand %u of node %u is used before it is defined", i + 1,
                     index);
  }
  return VT_OK;
}

/* ---- bodies ---- */

/* A handle must mean the same inside and outside: the body's table is the start of the other. */
static int same_dims(const vt_dims *inner, const vt_dims *outer) {
  int same = inner->n_symbols <= outer->n_symbols && inner->n_polys <= outer->n_polys;
  for (uint32_t i = 0; same && i < inner->n_symbols; i++)
    same = strcmp(inner->symbol[i], outer->symbol[i]) == 0;
  for (uint32_t i = 0; same && i < inner->n_polys; i++) {
    const vt_poly *a = &inner->poly[i], *b = &outer->poly[i];
    same = a->n == b->n && memcmp(a->term, b->term, a->n * sizeof *a->term) == 0;
  }
  return same;
}

/* Closed, and every result has a place of its own. */
static vt_status verify_body(const vt_graph *g, const vt_graph *body, vt_diag *d) {
  if (!same_dims(&body->dims, &g->dims))
    return VT_FAIL(d, VT_VERIFY, "a body has other dimensions than the graph around it");
  for (uint32_t i = 0; i < body->n_ports; i++)
    if (body->ports[i].kind != VT_PORT_INPUT)
      return VT_FAIL(d, VT_VERIFY, "'%s' is a param of a body", body->ports[i].name);
  VT_TRY(vt_graph_verify(body, d));
  for (uint32_t i = 0; i < body->n_results; i++) {
    int own = body->values[body->results[i].value].node != VT_NO_NODE;
    for (uint32_t k = 0; own && k < i; k++) own = body->results[k].value != body->results[i].value;
    if (!own) return VT_FAIL(d, VT_VERIFY, "result %u of a body has no place of its own", i);
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
    vt_type *given = VT_NEW_N(scratch, vt_type, body->n_results);
    if (in == NULL || given == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    vt_body_type_of(body, in, given, &out[i]);
  }
  return VT_OK;
}

static vt_status verify_results_of(const vt_graph *g, const vt_node *n, const vt_op_info *op,
                                   const vt_type *want, uint32_t n_want, vt_dims *dims,
                                   vt_diag *d) {
  char name[16], x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (n->n_out != n_want)
    return VT_FAIL(d, VT_VERIFY, "'%s' has %u results where %s gives %u",
                   vt_value_name(g, n->first_out, name), n->n_out, op->name, n_want);
  for (uint32_t i = 0; i < n_want; i++) {
    const vt_type *have = &g->values[n->first_out + i].type;
    VT_TRY(verify_dims(g, n->first_out + i, d));
    if (!vt_type_equal(&want[i], have))
      return VT_FAIL(d, VT_VERIFY, "'%s' is %s where %s gives %s",
                     vt_value_name(g, n->first_out + i, name), vt_type_text(dims, have, x),
                     op->name, vt_type_text(dims, &want[i], y));
  }
  return VT_OK;
}

/* What verifying the nodes of a graph takes: taken once, not for each node. */
typedef struct room {
  vt_arena *arena;
  vt_dims dims; /* rules may intern products; the graph's own table stays as it is */
  vt_type *in;  /* for the operands of any node */
} room;

static vt_status verify_type(const vt_graph *g, uint32_t index, room *r, vt_diag *d) {
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
  return verify_results_of(g, n, op, out, n_out, &r->dims, d);
}

/* ---- fusion groups ---- */

/* 1 for a node whose value is passed on inside its group alone. */
static int is_inner(const vt_graph *g, uint32_t value) {
  const uint32_t node = g->values[value].node;
  return node != VT_NO_NODE && g->nodes[node].group != 0 && node + 1 < g->n_nodes &&
         g->nodes[node + 1].group == g->nodes[node].group;
}

/* Groups are marked in a text that a person may have changed: a failure says where. */
static vt_status blame(const vt_graph *g, uint32_t node, vt_status s, vt_diag *d) {
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

/* Members are neighbours, numbered from 1 on, not too many, all of one shape, with one anchor at
 * most. */
static vt_status verify_members(const vt_graph *g, vt_diag *d) {
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
      return blame(
          g, i,
          VT_FAIL(d, VT_VERIFY, "node %u is in group %u where %u comes next", i, n->group, groups),
          d);
    if (vt_op_form(n->op) == VT_FORM_NONE || n->n_out != 1 || anchors > 1 ||
        members > VT_GROUP_MOST ||
        (!first && !same_shape(t, &g->values[g->nodes[i - 1].first_out].type)))
      return blame(g, i,
                   VT_FAIL(d, VT_VERIFY, "node %u cannot be a member of group %u", i, n->group), d);
  }
  return VT_OK;
}

/* Only the value of a group's last member is seen outside; inside, pointwise members read. */
static vt_status verify_groups(const vt_graph *g, vt_diag *d) {
  VT_TRY(verify_members(g, d));
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t v = g->operands[n->first_in + k];
      if (is_inner(g, v) &&
          (n->group != g->nodes[g->values[v].node].group || vt_op_form(n->op) != VT_FORM_POINTWISE))
        return blame(g, i,
                     VT_FAIL(d, VT_VERIFY, "node %u reads what is inside group %u", i,
                             g->nodes[g->values[v].node].group),
                     d);
    }
  }
  for (uint32_t i = 0; i < g->n_results; i++)
    if (is_inner(g, g->results[i].value))
      return blame(g, g->values[g->results[i].value].node,
                   VT_FAIL(d, VT_VERIFY, "the output '%s' is inside a group", g->results[i].name),
                   d);
  return VT_OK;
}

static int by_result_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_result *)a)->name, ((const vt_result *)b)->name);
}

static vt_status verify_results(const vt_graph *g, vt_arena *scratch, vt_diag *d) {
  if (g->n_results == 0) return VT_FAIL(d, VT_VERIFY, "the model has no output");
  for (uint32_t i = 0; i < g->n_results; i++)
    if (g->results[i].value >= g->n_values)
      return VT_FAIL(d, VT_VERIFY, "the output '%s' is no value", g->results[i].name);
  vt_result *sorted = vt_arena_copy(scratch, g->results, g->n_results * sizeof *sorted);
  if (sorted == NULL ||
      vt_sort(sorted, g->n_results, sizeof *sorted, by_result_name, NULL, g->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 1; i < g->n_results; i++)
    if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
      return VT_FAIL(d, VT_VERIFY, "the output '%s' is declared twice", sorted[i].name);
  return VT_OK;
}

/* Two values of one name could not be told apart in the printed form. A set of value numbers, plus
 * one, looked up by name. */
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
  room r = {.arena = scratch};
  uint32_t most = 0;
  for (uint32_t i = 0; i < g->n_values; i++) VT_TRY(verify_owner(g, i, d));
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    VT_TRY(verify_operands(g, i, d));
    if (g->nodes[i].n_in > most) most = g->nodes[i].n_in;
  }
  vt_dims_copy(&r.dims, &g->dims, scratch);
  r.in = VT_NEW_N(scratch, vt_type, most);
  if (vt_arena_status(scratch) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < g->n_nodes; i++) VT_TRY(verify_type(g, i, &r, d));
  return VT_OK;
}

vt_status vt_graph_verify(const vt_graph *g, vt_diag *d) {
  for (uint32_t i = 0; i < g->n_ports; i++) VT_TRY(verify_port(g, i, d));
  vt_arena scratch;
  vt_arena_init(&scratch, g->arena.a);
  vt_status s = verify_nodes(g, &scratch, d);
  if (s == VT_OK) s = verify_names(g, &scratch, d);
  if (s == VT_OK) s = verify_results(g, &scratch, d);
  if (s == VT_OK) s = verify_groups(g, d);
  vt_arena_done(&scratch);
  return s;
}
