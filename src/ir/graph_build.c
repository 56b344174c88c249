/* SPDX-License-Identifier: Apache-2.0
 * graph_build.c - builds a graph. The types of every node are inferred and checked as it is added,
 * so an error is reported with the line of that node. After the first failure every further call
 * does nothing. A closed body waits in the builder until the next node is added, which then owns
 * it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "vt_graph.h"

enum { MAX_NESTED = 16 };

void vt_graph_free(vt_graph *g) {
  if (g == NULL) return;
  const vt_alloc a = g->arena.a;
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_body; k++) vt_graph_free(g->nodes[i].body[k]);
  vt_alloc_free(a, g->values, g->cap_values * sizeof *g->values);
  vt_alloc_free(a, g->nodes, g->cap_nodes * sizeof *g->nodes);
  vt_alloc_free(a, g->operands, g->cap_operands * sizeof *g->operands);
  vt_arena_done(&g->arena);
  vt_alloc_free(a, g, sizeof *g);
}

static vt_status record_failure(vt_graph_builder *gb, vt_status s) {
  if (gb->status != VT_OK) return gb->status;
  gb->status = s;
  if (gb->d != NULL && gb->d->line == 0 && gb->d->code == s) {
    gb->d->line = gb->line;
    gb->d->column = gb->column;
  }
  return s;
}

vt_status vt_graph_fail(vt_graph_builder *gb, vt_status s, const char *fmt, ...) {
  char text[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (gb->status == VT_OK) (void)VT_FAIL(gb->d, s, "%s", text);
  return record_failure(gb, s);
}

static uint32_t fail_node(vt_graph_builder *gb, const vt_op_info *op, vt_status s,
                          const vt_diag *why) {
  if (gb->label == NULL) {
    (void)vt_graph_fail(gb, s, "%s: %s", op->name, why->text);
  } else {
    (void)vt_graph_fail(gb, s, "'%s' = %s: %s", gb->label, op->name, why->text);
  }
  return VT_NO_VALUE;
}

static uint32_t fail_no_memory(vt_graph_builder *gb) {
  (void)vt_graph_fail(gb, VT_NOMEM, "out of memory");
  return VT_NO_VALUE;
}

/* Makes space for `more` items behind the n in use, and returns the array. The array is resized by
 * the allocator, not by the arena, because an arena would keep every smaller copy. NULL if memory
 * runs out; the array then stays as it was. */
static void *grow_array(const vt_graph *g, void *array, uint64_t used, uint64_t more,
                        uint32_t *capacity, size_t item_size) {
  const vt_alloc a = g->arena.a.resize != NULL ? g->arena.a : vt_alloc_default();
  uint64_t larger = *capacity == 0 ? 16 : 2 * (uint64_t)*capacity;
  if (used + more <= *capacity && array != NULL) return array;
  while (larger < used + more) larger *= 2;
  if (larger > UINT32_MAX || larger > SIZE_MAX / item_size) return NULL;
  void *made = a.resize(a.user, array, *capacity * item_size, (size_t)larger * item_size);
  if (made != NULL) *capacity = (uint32_t)larger;
  return made;
}

/* Frees the unused end of an array. The array stays as it is if the allocator cannot shrink it. */
static void *shrink_array(const vt_graph *g, void *array, uint32_t used, uint32_t *capacity,
                          size_t item_size) {
  const vt_alloc a = g->arena.a.resize != NULL ? g->arena.a : vt_alloc_default();
  void *made = used > 0 && used < *capacity
                   ? a.resize(a.user, array, *capacity * item_size, used * item_size)
                   : NULL;
  if (made == NULL) return array;
  *capacity = used;
  return made;
}

static uint32_t add_value(vt_graph_builder *gb, const vt_type *type, uint32_t node,
                          uint32_t index) {
  vt_graph *g = gb->g;
  vt_value *values = grow_array(g, g->values, g->n_values, 1, &g->cap_values, sizeof *values);
  if (values == NULL) return fail_no_memory(gb);
  g->values = values;
  values[g->n_values] = (vt_value){.type = *type, .node = node, .index = index};
  return g->n_values++;
}

/* Copies the types of the operands to gb->types. Fails if an operand is not a value. */
static vt_status load_operand_types(vt_graph_builder *gb, const vt_op_info *op, const uint32_t *in,
                                    uint32_t n) {
  vt_type *types = grow_array(gb->g, gb->types, 0, n, &gb->cap_types, sizeof *types);
  if (types == NULL) return vt_graph_fail(gb, VT_NOMEM, "out of memory");
  gb->types = types;
  for (uint32_t i = 0; i < n; i++) {
    if (in[i] >= gb->g->n_values)
      return vt_graph_fail(gb, VT_INTERNAL, "%s: operand %u is not a value of the graph", op->name,
                           i + 1);
    types[i] = gb->g->values[in[i]].type;
  }
  return VT_OK;
}

static int reserve_node(vt_graph *g, uint32_t n_in) {
  vt_node *nodes = grow_array(g, g->nodes, g->n_nodes, 1, &g->cap_nodes, sizeof *nodes);
  if (nodes == NULL) return 0;
  g->nodes = nodes;
  uint32_t *operands =
      grow_array(g, g->operands, g->n_operands, n_in, &g->cap_operands, sizeof *operands);
  if (operands != NULL) g->operands = operands;
  return operands != NULL;
}

/* ---- bodies ---- */

/* Writes the argument and result types of the waiting bodies to `t`, for the type rule of the op
 * that will own them. Returns 0 if memory runs out. */
static int list_waiting_body_types(vt_graph_builder *gb, vt_body_type t[VT_MAX_BODIES]) {
  for (uint32_t i = 0; i < gb->n_body; i++) {
    const vt_graph *body = gb->body[i];
    vt_type *in = VT_NEW_N(&gb->g->arena, vt_type, body->n_ports);
    vt_type *out = VT_NEW_N(&gb->g->arena, vt_type, body->n_results);
    if (in == NULL || out == NULL) return 0;
    vt_body_type_of(body, in, out, &t[i]);
  }
  return 1;
}

/* Gives the waiting bodies to `node`. Returns 0 if memory runs out; the bodies then still belong to
 * the builder, which frees them. */
static int attach_waiting_bodies(vt_graph_builder *gb, vt_node *node) {
  if (gb->n_body == 0) return 1;
  node->body = vt_arena_copy(&gb->g->arena, gb->body, gb->n_body * sizeof *gb->body);
  if (node->body == NULL) return 0;
  node->n_body = gb->n_body;
  gb->n_body = 0;
  return 1;
}

static uint32_t add_node(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                         const void *attrs) {
  /* `b` is the first member of a vt_graph_builder. */
  vt_graph_builder *gb = (vt_graph_builder *)b;
  vt_graph *g = gb->g;
  if (gb->status != VT_OK) return VT_NO_VALUE;
  const vt_op_info *op = vt_op_get(number);
  if (op == NULL || n > 4096 || g->n_nodes > UINT32_MAX / 2) {
    (void)vt_graph_fail(gb, op == NULL ? VT_INTERNAL : VT_LIMIT, "op %u with %u operands", number,
                        n);
    return VT_NO_VALUE;
  }
  vt_type out[VT_MAX_RESULTS];
  vt_body_type body[VT_MAX_BODIES];
  uint32_t n_out = 0;
  const void *copy =
      vt_arena_copy(&g->arena, attrs == NULL ? op->attrs->defaults : attrs, op->attrs->size);
  if (copy == NULL || !list_waiting_body_types(gb, body)) return fail_no_memory(gb);
  if (load_operand_types(gb, op, in, n) != VT_OK) return VT_NO_VALUE;
  vt_diag why = {0};
  const vt_rule rule = {gb->b.dims, gb->types, n, copy, gb->n_body, body};
  const vt_status s = vt_op_infer(op, &rule, out, &n_out, &why);
  if (s != VT_OK) return fail_node(gb, op, s, &why);
  vt_node node = {.op = number,
                  .n_in = n,
                  .first_in = g->n_operands,
                  .n_out = n_out,
                  .first_out = g->n_values,
                  .line = gb->line,
                  .column = gb->column,
                  .group = gb->group,
                  .attrs = copy};
  const uint32_t index = g->n_nodes;
  if (!reserve_node(g, n) || !attach_waiting_bodies(gb, &node)) return fail_no_memory(gb);
  if (n > 0) memcpy(g->operands + g->n_operands, in, n * sizeof *in);
  g->n_operands += n;
  g->nodes[g->n_nodes++] = node;
  for (uint32_t i = 0; i < n_out; i++)
    if (add_value(gb, &out[i], index, i) == VT_NO_VALUE) return VT_NO_VALUE;
  return node.first_out;
}

static const vt_type *value_type(const vt_builder *b, uint32_t value) {
  const vt_graph *g = ((const vt_graph_builder *)b)->g;
  return value < g->n_values ? &g->values[value].type : NULL;
}

static uint32_t untransposed_value(const vt_builder *b, uint32_t value, vt_attr_list *out_perm) {
  const vt_graph *g = ((const vt_graph_builder *)b)->g;
  if (value >= g->n_values || g->values[value].node == VT_NO_NODE) return VT_NO_VALUE;
  const vt_node *n = &g->nodes[g->values[value].node];
  if (n->op != VT_OP_transpose) return VT_NO_VALUE;
  *out_perm = ((const vt_attr_perm *)n->attrs)->perm;
  return g->operands[n->first_in];
}

static vt_builder *open_body(vt_builder *b, const vt_type *in, uint32_t n) {
  vt_graph_builder *gb = b->self;
  const char **names = VT_NEW_N(&gb->g->arena, const char *, n);
  char text[16];
  for (uint32_t i = 0; names != NULL && i < n; i++) {
    snprintf(text, sizeof text, "a%u", i);
    names[i] = vt_arena_string(&gb->g->arena, text, strlen(text));
  }
  if (gb->g->arena.failed) (void)fail_no_memory(gb);
  vt_graph_builder *body = gb->status == VT_OK ? vt_graph_open_body(gb, names, in, n) : NULL;
  return body == NULL ? NULL : &body->b;
}

static void close_body(vt_builder *body, const uint32_t *out, uint32_t n) {
  vt_graph_close_body(body->self, out, n);
}

vt_status vt_graph_begin(vt_graph_builder *gb, const char *name, vt_alloc a, vt_diag *d) {
  memset(gb, 0, sizeof *gb);
  gb->d = d;
  gb->g = vt_alloc_new(a, sizeof *gb->g);
  if (gb->g == NULL) return gb->status = VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_arena_init(&gb->g->arena, a);
  vt_dims_init(&gb->g->dims, &gb->g->arena);
  gb->g->name = vt_arena_string(&gb->g->arena, name, strlen(name));
  gb->b = (vt_builder){.self = gb,
                       .dims = &gb->g->dims,
                       .node = add_node,
                       .type = value_type,
                       .untransposed = untransposed_value,
                       .open = open_body,
                       .close = close_body};
  if (gb->g->name != NULL) return VT_OK;
  vt_graph_drop(gb);
  return gb->status = VT_FAIL(d, VT_NOMEM, "out of memory");
}

void vt_graph_copy_dims(vt_graph_builder *gb, const vt_dims *dims) {
  vt_dims_copy(&gb->g->dims, dims, &gb->g->arena);
}

/* ---- names: an open-addressed set, looked up and never iterated ---- */

static uint32_t find_name_slot(const vt_graph_builder *gb, const char *name) {
  uint32_t i = (uint32_t)vt_hash_name(name) & (gb->cap_names - 1);
  while (gb->names[i] != NULL && strcmp(gb->names[i], name) != 0) i = (i + 1) & (gb->cap_names - 1);
  return i;
}

static int reserve_name_slot(vt_graph_builder *gb) {
  const vt_alloc a = gb->g->arena.a;
  const char **old = gb->names;
  const uint32_t n = gb->cap_names;
  if (2 * (gb->n_names + 1) <= n) return 1;
  const char **names = vt_alloc_new(a, (n == 0 ? 64 : 2 * (size_t)n) * sizeof *names);
  if (names == NULL) return 0;
  gb->names = names;
  gb->cap_names = n == 0 ? 64 : 2 * n;
  for (uint32_t i = 0; i < n; i++)
    if (old[i] != NULL) names[find_name_slot(gb, old[i])] = old[i];
  vt_alloc_free(a, old, n * sizeof *old);
  return 1;
}

/* Adds `name` to the set of names in use and returns the arena's copy of it; NULL if the name is
 * already in use, or if memory runs out, which sets arena.failed. */
static const char *claim_name(vt_graph_builder *gb, const char *name) {
  if (!reserve_name_slot(gb)) {
    gb->g->arena.failed = 1;
    return NULL;
  }
  const uint32_t i = find_name_slot(gb, name);
  if (gb->names[i] != NULL) return NULL;
  gb->names[i] = vt_arena_string(&gb->g->arena, name, strlen(name));
  if (gb->names[i] != NULL) gb->n_names++;
  return gb->names[i];
}

int vt_name_is_automatic(const char *name) {
  static const char digits[] = "0123456789";
  const size_t node = name[0] == '_' ? strspn(name + 1, digits) : 0;
  const char *rest = name + 1 + node;
  if (node == 0 || *rest == 0) return node > 0;
  const size_t index = *rest == '.' ? strspn(rest + 1, digits) : 0;
  return index > 0 && rest[1 + index] == 0;
}

int vt_graph_has_name(const vt_graph_builder *gb, const char *name) {
  return gb->cap_names > 0 && gb->names[find_name_slot(gb, name)] != NULL;
}

void vt_graph_name_value(vt_graph_builder *gb, uint32_t value, const char *name) {
  vt_graph *g = gb->g;
  char automatic[16], text[256];
  if (gb->status != VT_OK || value >= g->n_values || g->values[value].name != NULL) return;
  if (vt_name_is_automatic(name)) {
    if (strcmp(vt_value_name(g, value, automatic), name) == 0) return;
  } else {
    g->values[value].name = claim_name(gb, name);
  }
  for (uint32_t i = 1; g->values[value].name == NULL && !g->arena.failed; i++) {
    snprintf(text, sizeof text, "%.230s.%u", name, i);
    g->values[value].name = claim_name(gb, text);
  }
  if (g->arena.failed) (void)fail_no_memory(gb);
}

/* ---- ports and results ---- */

uint32_t vt_graph_add_port(vt_graph_builder *gb, const vt_port *port, const vt_type *type) {
  vt_graph *g = gb->g;
  if (gb->status != VT_OK) return VT_NO_VALUE;
  vt_port *ports = vt_arena_grow(&g->arena, g->ports, g->n_ports, &gb->cap_ports, sizeof *ports);
  if (ports == NULL) return fail_no_memory(gb);
  g->ports = ports;
  const char *name = vt_name_is_automatic(port->name) ? NULL : claim_name(gb, port->name);
  if (g->arena.failed) return fail_no_memory(gb);
  if (name == NULL) {
    (void)vt_graph_fail(gb, VT_VERIFY, "the name '%s' is already in use", port->name);
    return VT_NO_VALUE;
  }
  const uint32_t value = add_value(gb, type, VT_NO_NODE, g->n_ports);
  if (value == VT_NO_VALUE) return value;
  g->values[value].name = name;
  vt_port *p = &ports[g->n_ports++];
  *p = *port;
  p->name = name;
  p->value = value;
  p->next = VT_NO_VALUE;
  const vt_init_info *init = vt_init_get(port->init);
  p->init_attrs = NULL;
  if (init != NULL && port->init_attrs != NULL)
    p->init_attrs = vt_arena_copy(&g->arena, port->init_attrs, init->attrs->size);
  return g->arena.failed ? fail_no_memory(gb) : value;
}

/* The port of the state that has this value; NULL if it is not the value of a state. */
static vt_port *find_state(const vt_graph *g, uint32_t value) {
  if (value >= g->n_values || g->values[value].node != VT_NO_NODE) return NULL;
  vt_port *p = &g->ports[g->values[value].index];
  return p->kind == VT_PORT_STATE ? p : NULL;
}

void vt_graph_set_next(vt_graph_builder *gb, uint32_t state, uint32_t next) {
  const vt_graph *g = gb->g;
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (gb->status != VT_OK) return;
  vt_port *p = find_state(g, state);
  if (p == NULL || next >= g->n_values) {
    (void)vt_graph_fail(gb, VT_INTERNAL, "value %u cannot be the next value of value %u", next,
                        state);
  } else if (p->next != VT_NO_VALUE) {
    (void)vt_graph_fail(gb, VT_VERIFY, "the state '%s' gets its next value twice", p->name);
  } else if (!vt_type_equal(&g->values[state].type, &g->values[next].type)) {
    (void)vt_graph_fail(gb, VT_VERIFY, "the state '%s' is %s, but its next value is %s", p->name,
                        vt_type_text(gb->b.dims, &g->values[state].type, x),
                        vt_type_text(gb->b.dims, &g->values[next].type, y));
  } else {
    p->next = next;
  }
}

void vt_graph_add_result(vt_graph_builder *gb, const char *name, uint32_t value) {
  vt_graph *g = gb->g;
  if (gb->status != VT_OK) return;
  /* Names of outputs are in the set of names with a '=' in front, which no value's name has. */
  char key[256];
  snprintf(key, sizeof key, "=%.250s", name);
  if (claim_name(gb, key) == NULL) {
    (void)vt_graph_fail(gb, g->arena.failed ? VT_NOMEM : VT_VERIFY,
                        "the output '%s' is declared twice", name);
    return;
  }
  vt_result *results =
      vt_arena_grow(&g->arena, g->results, g->n_results, &gb->cap_results, sizeof *results);
  const char *copy = vt_arena_string(&g->arena, name, strlen(name));
  if (results == NULL || copy == NULL) {
    (void)fail_no_memory(gb);
    return;
  }
  g->results = results;
  results[g->n_results++] = (vt_result){copy, value};
}

/* Frees the memory that only building needs. */
static void free_building_memory(vt_graph_builder *gb) {
  const vt_alloc a = gb->g->arena.a;
  vt_alloc_free(a, gb->names, gb->cap_names * sizeof *gb->names);
  vt_alloc_free(a, gb->types, gb->cap_types * sizeof *gb->types);
  gb->names = NULL;
  gb->types = NULL;
}

/* Takes the finished graph out of the builder, without verifying it. NULL after any failure; the
 * unfinished graph is then freed. */
static vt_graph *take_finished_graph(vt_graph_builder *gb) {
  vt_graph *g = gb->g;
  if (gb->status == VT_OK && vt_arena_status(&g->arena) != VT_OK)
    (void)vt_graph_fail(gb, VT_NOMEM, "out of memory");
  if (gb->status == VT_OK && (gb->n_body > 0 || gb->inner != NULL))
    (void)vt_graph_fail(gb, VT_INTERNAL, "a body belongs to no node");
  if (gb->status != VT_OK) {
    vt_graph_drop(gb);
    return NULL;
  }
  free_building_memory(gb);
  g->values = shrink_array(g, g->values, g->n_values, &g->cap_values, sizeof *g->values);
  g->nodes = shrink_array(g, g->nodes, g->n_nodes, &g->cap_nodes, sizeof *g->nodes);
  g->operands = shrink_array(g, g->operands, g->n_operands, &g->cap_operands, sizeof *g->operands);
  gb->g = NULL;
  return g;
}

vt_status vt_graph_freeze(vt_graph_builder *gb, vt_graph **out) {
  vt_graph *g = take_finished_graph(gb);
  if (g == NULL) return gb->status;
  const vt_status s = vt_graph_verify(g, gb->d);
  if (s == VT_OK) {
    *out = g;
  } else {
    vt_graph_free(g);
  }
  return s;
}

void vt_graph_drop(vt_graph_builder *gb) {
  for (uint32_t i = 0; i < gb->n_body; i++) vt_graph_free(gb->body[i]);
  gb->n_body = 0;
  if (gb->g == NULL) return;
  if (gb->inner != NULL) vt_graph_drop(gb->inner);
  free_building_memory(gb);
  vt_graph_free(gb->g);
  gb->g = NULL;
}

/* ---- opening and closing bodies ---- */

/* An open body uses the table of symbolic dimensions of the outer graph, so that a handle means the
 * same in both. */
vt_graph_builder *vt_graph_open_body(vt_graph_builder *gb, const char *const *names,
                                     const vt_type *types, uint32_t n) {
  if (gb->status != VT_OK) return NULL;
  if (gb->n_body == VT_MAX_BODIES || gb->depth == MAX_NESTED || gb->inner != NULL) {
    (void)vt_graph_fail(gb, VT_LIMIT, "bodies are nested more than %d deep", MAX_NESTED);
    return NULL;
  }
  vt_graph_builder *body = VT_NEW(&gb->g->arena, vt_graph_builder);
  if (body == NULL || vt_graph_begin(body, "body", gb->g->arena.a, gb->d) != VT_OK) {
    (void)fail_no_memory(gb);
    return NULL;
  }
  body->b.dims = gb->b.dims;
  body->outer = gb;
  body->depth = gb->depth + 1;
  body->line = gb->line;
  body->column = gb->column;
  gb->inner = body;
  for (uint32_t i = 0; i < n; i++) {
    const vt_port port = {.name = names[i], .kind = VT_PORT_INPUT};
    (void)vt_graph_add_port(body, &port, &types[i]);
  }
  return body;
}

/* Adds a reshape to the same shape, which copies the value. */
static uint32_t add_copy_node(vt_graph_builder *gb, uint32_t value) {
  const vt_type *t = value_type(&gb->b, value);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type type = *t;
  return vt_build_reshape(&gb->b, value, type.rank, type.dim);
}

static void add_body_results(vt_graph_builder *body, const uint32_t *out, uint32_t n) {
  for (uint32_t i = 0; i < n && body->status == VT_OK; i++) {
    char name[16];
    const int known = out[i] < body->g->n_values;
    int own = known && body->g->values[out[i]].node != VT_NO_NODE;
    for (uint32_t k = 0; own && k < i; k++) own = body->g->results[k].value != out[i];
    snprintf(name, sizeof name, "%u", i);
    vt_graph_add_result(body, name, own ? out[i] : add_copy_node(body, out[i]));
  }
}

void vt_graph_close_body(vt_graph_builder *body, const uint32_t *out, uint32_t n) {
  vt_graph_builder *gb = body->outer;
  add_body_results(body, out, n);
  gb->inner = NULL;
  if (body->status == VT_OK) vt_graph_copy_dims(body, gb->b.dims);
  vt_graph *made = take_finished_graph(body); /* a body is verified together with the outer graph */
  if (made == NULL) {
    (void)record_failure(gb, body->status);
    return;
  }
  gb->body[gb->n_body++] = made;
}
