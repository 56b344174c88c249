/* SPDX-License-Identifier: Apache-2.0
 * parse.c - parses the file, the model and its statements: declarations, assignments, repeats and
 * outputs. Its entry point vt_parse adds the text of the line to a failure. */
#include "vt_parse.h"
#include <stdio.h>
#include <string.h>
#include "parse_state.h"

/* ---- declarations ---- */

vt_status vt_parse_name(vt_parser *p, const char *what, vt_token *at, char out[VT_NAME_MAX + 1]) {
  *at = p->tok;
  VT_TRY(vt_parse_expect(p, VT_TOKEN_NAME, what));
  vt_parse_copy_name(at, out);
  return VT_OK;
}

/* Parses one dimension of a dim statement: dim B, T        dim V = 96 */
static vt_status parse_one_dim(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  vt_entry *e = NULL;
  int64_t dim = 0;
  VT_TRY(vt_parse_name(p, "the name of a dimension", &at, name));
  if (strchr(name, '.') != NULL)
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "the name of a dimension has no '.'");
  const int constant = p->tok.kind == '=';
  if (constant) {
    VT_TRY(vt_parse_advance(p));
    VT_TRY(vt_parse_dim(p, &dim));
  }
  if (vt_names_find(&p->results, name) != NULL)
    return VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' is already an output", name);
  VT_TRY(vt_scope_declare(p, &at, name, &e));
  if (!constant)
    VT_TRY(
        vt_parse_set_failure_position(p, &at, vt_dim_declare(p->gb->b.dims, name, &dim, &p->diag)));
  e->kind = constant ? VT_ENTRY_CONSTANT : VT_ENTRY_SYMBOL;
  e->dim = dim;
  return VT_OK;
}

static vt_status parse_dims(vt_parser *p) {
  VT_TRY(parse_one_dim(p));
  while (p->tok.kind == ',') {
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_one_dim(p));
  }
  return VT_OK;
}

/* Adds a port to the graph of the model, even if it is declared in a body. `e` is the entry of its
 * name. */
static vt_status add_port(vt_parser *p, const vt_token *at, const vt_port *port,
                          const vt_type *type, vt_entry *e) {
  p->root.line = at->line;
  p->root.column = at->column;
  const uint32_t value = vt_graph_add_port(&p->root, port, type);
  VT_TRY(vt_parse_set_failure_position(p, at, p->root.status));
  VT_TRY(vt_parse_check_builder(p, at));
  e->kind = VT_ENTRY_PORT;
  e->value = value;
  return VT_OK;
}

/* Writes the least and the greatest value of an integer type; returns 0 for other types. */
static int integer_bounds(uint32_t dtype, int64_t *lo, int64_t *hi) {
  const uint64_t bits = 8 * vt_dtype_bytes(dtype);
  if (dtype != VT_DTYPE_I8 && dtype != VT_DTYPE_U8 && dtype != VT_DTYPE_I32 &&
      dtype != VT_DTYPE_I64)
    return 0;
  *hi = dtype == VT_DTYPE_U8 ? UINT8_MAX : bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
  *lo = dtype == VT_DTYPE_U8 ? 0 : -*hi - 1;
  return 1;
}

static vt_status check_range(vt_parser *p, const vt_token *at, uint32_t dtype, int64_t lo,
                             int64_t hi) {
  int64_t least = 0, most = 0;
  const int known = !vt_dim_is_symbolic(lo) && !vt_dim_is_symbolic(hi);
  if (known && lo > hi)
    return VT_FAIL_AT(p, at, VT_VERIFY, "the range %lld..%lld is empty", (long long)lo,
                      (long long)hi);
  (void)integer_bounds(dtype, &least, &most);
  if ((!vt_dim_is_symbolic(lo) && lo < least) || (!vt_dim_is_symbolic(hi) && hi > most))
    return VT_FAIL_AT(p, at, VT_VERIFY, "the range exceeds %s, %lld..%lld", vt_dtype_name(dtype),
                      (long long)least, (long long)most);
  return VT_OK;
}

/* Parses the range of an input: in lo..hi */
static vt_status parse_range(vt_parser *p, uint32_t dtype, vt_port *port) {
  const vt_token at = p->tok;
  int64_t least, most;
  if (!integer_bounds(dtype, &least, &most))
    return VT_FAIL_AT(p, &at, VT_VERIFY, "a range is for integers, not for %s",
                      vt_dtype_name(dtype));
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_dim(p, &port->lo));
  VT_TRY(vt_parse_expect(p, VT_TOKEN_RANGE, "'..' in the range"));
  VT_TRY(vt_parse_dim(p, &port->hi));
  port->has_range = 1;
  return check_range(p, &at, dtype, port->lo, port->hi);
}

/* Parses an input statement: input tokens: i32[B, T] in 0..V-1 */
static vt_status parse_input(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  vt_type type;
  vt_entry *e = NULL;
  vt_port port = {.name = name, .kind = VT_PORT_INPUT};
  VT_TRY(vt_parse_name(p, "the name of an input", &at, name));
  VT_TRY(vt_parse_expect(p, ':', "':' and the type of the input"));
  VT_TRY(vt_parse_type(p, &type));
  if (vt_token_is(&p->tok, "in")) VT_TRY(parse_range(p, type.dtype, &port));
  VT_TRY(vt_scope_declare(p, &at, name, &e));
  return add_port(p, &at, &port, &type, e);
}

/* Sets the random stream in p->attrs: the default is derived from the parameter's name. Two
 * parameters must not share a stream, because they would start with the same numbers. An
 * initialiser that draws no numbers has no stream. */
static vt_status choose_random_stream(vt_parser *p, const vt_token *at, const char *name,
                                      const vt_init_spec *init) {
  const vt_attr_field *f = vt_attr_find(init->info->attrs, "stream");
  char key[24];
  if (f == NULL) return VT_OK;
  int64_t *stream = vt_attr_int(p->attrs, f);
  if (*stream == -1) *stream = vt_random_stream_of(name);
  if (*stream < 0 || *stream > UINT32_MAX)
    return VT_FAIL_AT(p, at, VT_VERIFY, "stream=%lld: a stream must be in 0..4294967295",
                      (long long)*stream);
  snprintf(key, sizeof key, "%lld", (long long)*stream);
  const vt_entry *other = vt_names_find(&p->streams, key);
  if (other != NULL) {
    const vt_status s = VT_FAIL_AT(p, at, VT_VERIFY, "'%s' and '%s' would both draw from stream %s",
                                   p->gb->g->ports[other->value].name, name, key);
    vt_parse_add_hint(p, "give one of them another stream=...");
    return s;
  }
  vt_entry *e = vt_names_add(&p->streams, key);
  if (e == NULL) return vt_parse_fail_nomem(p);
  e->value = p->gb->g->n_ports;
  return VT_OK;
}

/* Declares a parameter among the names of the model, even if it is written in a body. */
static vt_status declare_in_model(vt_parser *p, const vt_token *at, const char *name,
                                  vt_entry **out) {
  vt_names *inner = p->names;
  p->names = &p->root_names;
  const vt_status s = vt_scope_declare(p, at, name, out);
  p->names = inner;
  return s;
}

/* Sets p->attrs to the attributes of the parameter's initialiser. */
static vt_status load_init_attrs(vt_parser *p, const vt_token *at, const char *name,
                                 const vt_param_spec *spec) {
  const vt_init_info *info = spec->init.info;
  VT_TRY(vt_parse_copy_attrs(p, info->attrs, spec->init.attrs));
  VT_TRY(choose_random_stream(p, at, name, &spec->init));
  if (vt_attr_find(info->attrs, "stream") != NULL && spec->type.dtype != VT_DTYPE_F32)
    return VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is %s, and %s draws f32", name,
                      vt_dtype_name(spec->type.dtype), info->name);
  return VT_OK;
}

vt_status vt_parse_add_param(vt_parser *p, const vt_token *at, const char *name,
                             const vt_param_spec *spec, uint32_t *out) {
  vt_entry *e = NULL;
  vt_port port = {.name = name, .kind = spec->kind, .stored = spec->stored};
  VT_TRY(declare_in_model(p, at, name, &e));
  if (spec->init.info != NULL) {
    VT_TRY(load_init_attrs(p, at, name, spec));
    port.init = spec->init.info->number;
    port.init_attrs = p->attrs;
  }
  VT_TRY(add_port(p, at, &port, &spec->type, e));
  *out = e->value;
  return p->body == NULL ? VT_OK : vt_parse_find_or_capture_value(p, at, name, out);
}

/* Parses the type that a file may hold a parameter as: from f16. Such a type is for parameters of
 * f32, to which its elements are rounded. */
static vt_status parse_stored_type(vt_parser *p, const char *name, vt_param_spec *spec) {
  VT_TRY(vt_parse_advance(p));
  const vt_token at = p->tok;
  uint32_t dtype = 0;
  VT_TRY(vt_parse_dtype(p, &dtype));
  if (spec->type.dtype != VT_DTYPE_F32)
    return VT_FAIL_AT(p, &at, VT_VERIFY,
                      "'%s' is %s: only a parameter of f32 can be read from another type", name,
                      vt_dtype_name(spec->type.dtype));
  if (dtype != VT_DTYPE_F16 && dtype != VT_DTYPE_BF16 && dtype != VT_DTYPE_F64) {
    const vt_status s =
        VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' cannot be read from %s", name, vt_dtype_name(dtype));
    vt_parse_add_hint(p, dtype == VT_DTYPE_F32 ? "every parameter is read from its own type"
                                               : "f16, bf16 and f64 can follow 'from'");
    return s;
  }
  spec->stored = dtype;
  return VT_OK;
}

static int is_end_of_statement(const vt_parser *p) {
  return p->tok.kind == VT_TOKEN_LINE || p->tok.kind == '}' || p->tok.kind == VT_TOKEN_END;
}

/* Parses a param statement: param w: f32[784, 256] from f16 = he_normal(stream=1)
 * Stored type and initialiser may be left out. */
static vt_status parse_param(vt_parser *p) {
  char name[VT_NAME_MAX + 1], full[VT_NAME_MAX + 1];
  vt_token at;
  vt_param_spec spec = {.kind = VT_PORT_PARAM};
  uint32_t value;
  VT_TRY(vt_parse_name(p, "the name of a parameter", &at, name));
  VT_TRY(vt_parse_expect(p, ':', "':' and the type of the parameter"));
  VT_TRY(vt_parse_type(p, &spec.type));
  if (vt_token_is(&p->tok, "from")) VT_TRY(parse_stored_type(p, name, &spec));
  if (!is_end_of_statement(p)) {
    VT_TRY(vt_parse_expect(p, '=', "'=' and the initialiser of the parameter"));
    VT_TRY(vt_parse_init(p, &spec.init));
  }
  VT_TRY(vt_scope_full_name(p, &at, name, "", full));
  return vt_parse_add_param(p, &at, full, &spec, &value);
}

/* ---- outputs and assignments ---- */

/* Names a value unless it has a name. A name that is assigned again gets a suffix, .1, .2, ...;
 * `times` counts the values with this name, so that the next suffix is known without a search. A
 * name that is too long with its suffix is dropped, because it could not be parsed again. */
static void name_value_uniquely(vt_parser *p, uint32_t value, const char *name, uint32_t *times) {
  char text[VT_NAME_MAX + 16];
  const char *had = p->gb->g->values[value].name;
  if (had != NULL || vt_scope_is_automatic_name(name)) return;
  if (*times == 0)
    snprintf(text, sizeof text, "%s", name);
  else
    snprintf(text, sizeof text, "%s.%u", name, *times);
  vt_graph_name_value(p->gb, value, text);
  const char **given = &p->gb->g->values[value].name;
  if (*given != NULL && strlen(*given) > VT_NAME_MAX) *given = NULL;
  ++*times;
}

/* Declares the name of an output. Outputs have a namespace of their own, but in the printed form
 * the name may become that of a value, so it must not be the name of a dimension. */
static vt_status declare_output(vt_parser *p, const vt_token *at, const char *name) {
  const vt_entry *e = vt_names_find(p->names, name);
  if (!vt_scope_name_allowed(name))
    return VT_FAIL_AT(p, at, VT_SYNTAX, "an output cannot be called '%s'", name);
  if (e != NULL && (e->kind == VT_ENTRY_SYMBOL || e->kind == VT_ENTRY_CONSTANT))
    return VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is a dimension, not a value", name);
  if (vt_names_find(&p->results, name) != NULL)
    return VT_FAIL_AT(p, at, VT_VERIFY, "the output '%s' is declared twice", name);
  if (p->results.n == VT_OUTPUTS_MAX)
    return VT_FAIL_AT(p, at, VT_LIMIT, "more than %d outputs", VT_OUTPUTS_MAX);
  return vt_names_add(&p->results, name) != NULL ? VT_OK : vt_parse_fail_nomem(p);
}

vt_status vt_parse_named_expr(vt_parser *p, const char *name, uint32_t dtype, vt_operand *out) {
  p->gb->label = name;
  const vt_status s = vt_parse_value(p, dtype, out);
  p->gb->label = NULL;
  return s;
}

/* Parses an output statement: output logits        output loss = mean(y) */
static vt_status parse_output(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  uint32_t value = VT_NO_VALUE, times = 0;
  VT_TRY(vt_parse_name(p, "the name of an output", &at, name));
  VT_TRY(declare_output(p, &at, name));
  if (p->tok.kind == '=') {
    vt_operand o;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(vt_parse_named_expr(p, name, 0, &o));
    value = o.value;
    if (!o.is_name) name_value_uniquely(p, value, name, &times);
  } else {
    const vt_entry *e = vt_names_find(p->names, name);
    if (e == NULL) return vt_scope_fail_unknown(p, &at, name);
    value = e->value;
  }
  p->gb->line = at.line;
  p->gb->column = at.column;
  vt_graph_add_result(p->gb, name, value);
  return vt_parse_check_builder(p, &at);
}

static vt_status check_type_annotation(vt_parser *p, const vt_token *at, const char *name,
                                       const vt_type *declared, uint32_t value) {
  char have[VT_TYPE_TEXT], want[VT_TYPE_TEXT];
  const vt_type *type = p->gb->b.type(&p->gb->b, value);
  if (type == NULL || vt_type_equal(type, declared)) return VT_OK;
  return VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is %s, declared as %s", name,
                    vt_type_text(p->gb->b.dims, type, have),
                    vt_type_text(p->gb->b.dims, declared, want));
}

/* Finds or adds the entry that an assignment sets. A declared name cannot be assigned. A body may
 * use the name of an outer value or port for a value of its own. */
static vt_status find_or_add_target_entry(vt_parser *p, const vt_token *at, const char *name,
                                          vt_entry **out) {
  vt_entry *e = p->body == NULL ? vt_scope_find(p, name) : vt_names_find(p->names, name);
  const vt_entry *outside = e == NULL ? vt_scope_find(p, name) : e;
  if (outside != NULL && outside->kind != VT_ENTRY_VALUE &&
      (e != NULL || outside->kind != VT_ENTRY_PORT))
    return VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is declared on line %u and cannot be assigned", name,
                      outside->line);
  if (e == NULL && !vt_scope_name_allowed(name) && !vt_scope_is_automatic_name(name))
    return VT_FAIL_AT(p, at, VT_SYNTAX, "'%s' is a reserved word", name);
  if (e == NULL) e = vt_names_add(p->names, name);
  if (e == NULL) return vt_parse_fail_nomem(p);
  *out = e;
  return VT_OK;
}

/* One name to the left of an assignment. */
typedef struct target {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  vt_type type;
  int annotated;
} target;

static vt_status parse_target(vt_parser *p, target *t) {
  VT_TRY(vt_parse_name(p, "a name", &t->at, t->name));
  t->annotated = p->tok.kind == ':';
  if (!t->annotated) return VT_OK;
  VT_TRY(vt_parse_advance(p));
  return vt_parse_type(p, &t->type);
}

/* Assigns a value to a name. The name _ discards it. */
static vt_status assign_name(vt_parser *p, const target *t, uint32_t value) {
  vt_entry *e = NULL;
  if (t->annotated) VT_TRY(check_type_annotation(p, &t->at, t->name, &t->type, value));
  if (strcmp(t->name, "_") == 0) return VT_OK;
  VT_TRY(find_or_add_target_entry(p, &t->at, t->name, &e));
  e->kind = VT_ENTRY_VALUE;
  e->line = t->at.line;
  e->value = value;
  name_value_uniquely(p, value, t->name, &e->times);
  return vt_parse_check_builder(p, &t->at);
}

/* t = relu(x) @3: sets the group of the node that the statement added. `nodes_before` is the number
 * of nodes before the statement, which must have added exactly one. The verifier checks later
 * whether the group is possible. */
static vt_status parse_group_number(vt_parser *p, uint32_t nodes_before) {
  const vt_token at = p->tok;
  vt_graph *g = p->gb->g;
  uint32_t group = 0;
  if (at.kind != '@') return VT_OK;
  VT_TRY(vt_parse_advance(p));
  const vt_token number = p->tok;
  VT_TRY(vt_parse_expect(p, VT_TOKEN_INT, "the number of a group"));
  for (uint32_t i = 0; i < number.n && group < 100000000; i++)
    group = 10 * group + (uint32_t)(number.s[i] - '0');
  if (group < 1 || group >= 100000000)
    return VT_FAIL_AT(p, &number, VT_SYNTAX, "the number of a group must be 1 or more");
  if (g->n_nodes != nodes_before + 1 || g->nodes[nodes_before].n_body > 0)
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "a group belongs to a statement that is one op");
  g->nodes[nodes_before].group = group;
  return VT_OK;
}

/* h = relu(x)        t: f32[B, 10] = matmul(h, w2)        v, i = top_k(x, k=5)
 * A name such as _12, which the printed form contains, refers to the value but leaves it unnamed.
 */
static vt_status parse_assignment(vt_parser *p) {
  target one = {0}, *all = &one;
  uint32_t n = 1;
  vt_operand o;
  VT_TRY(parse_target(p, &one));
  for (; p->tok.kind == ','; n++) {
    if (n == VT_MAX_RESULTS)
      return VT_FAIL_AT(p, &p->tok, VT_LIMIT, "more than %d names", VT_MAX_RESULTS);
    if (n == 1) {
      all = VT_NEW_N(&p->arena, target, VT_MAX_RESULTS);
      if (all == NULL) return vt_parse_fail_nomem(p);
      all[0] = one;
    }
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_target(p, &all[n]));
  }
  VT_TRY(vt_parse_expect(p, '=', "'=' and a value"));
  const vt_token at = p->tok;
  const uint32_t before = p->gb->g->n_nodes;
  p->targets = n;
  const vt_status s = vt_parse_named_expr(p, all[0].name, n == 1 ? all[0].type.dtype : 0, &o);
  p->targets = 1;
  VT_TRY(s);
  const vt_value *v = &p->gb->g->values[o.value];
  if (n > 1 && (v->node == VT_NO_NODE || p->gb->g->nodes[v->node].n_out != n || v->index != 0))
    return VT_FAIL_AT(p, &at, VT_VERIFY, "%u names for one value", n);
  for (uint32_t i = 0; i < n; i++) VT_TRY(assign_name(p, &all[i], o.value + i));
  return parse_group_number(p, before);
}

/* ---- repeats ---- */

/* A position in the text to which a repeat goes back. */
typedef struct position {
  vt_lexer lex;
  vt_token tok, next;
} position;

static position save_position(const vt_parser *p) { return (position){p->lex, p->tok, p->next}; }

static void rewind_to(vt_parser *p, const position *to) {
  p->rewound += p->lex.at - to->lex.at;
  p->lex = to->lex;
  p->tok = to->tok;
  p->next = to->next;
}

/* Count of everything that each iteration adds again: iterations, nodes and ports. Names are left
 * out, because only the first iteration adds them. */
static uint64_t count_repeated_items(const vt_parser *p) {
  return p->iterations + p->gb->g->n_nodes + p->gb->g->n_ports;
}

/* Checks after the first iteration of a repeat whether `iterations_left` further iterations would
 * exceed the limits. Both factors of each product are below 2^28, so it does not overflow. */
static vt_status check_remaining_iterations(vt_parser *p, const vt_token *at, uint64_t items_before,
                                            const position *start, uint64_t iterations_left) {
  const uint64_t each = count_repeated_items(p) - items_before, bytes = p->lex.at - start->lex.at;
  if (vt_parse_expansion_size(p) + each * iterations_left > VT_EXPANSION_MAX ||
      p->lex.n + p->rewound + bytes * iterations_left > VT_TEXT_MAX)
    return vt_parse_fail_too_large(p, at);
  return VT_OK;
}

/* Parses the body of a repeat once, in the scope of iteration `i`. */
static vt_status parse_iteration(vt_parser *p, const vt_token *at, const char *name, int64_t i) {
  const size_t outer = p->scope != NULL ? p->scope->n : 0;
  const size_t room = sizeof p->prefix - outer;
  const int n = snprintf(p->prefix + outer, room, "%s.%lld.", name, (long long)i);
  if (n < 0 || (size_t)n >= room)
    return VT_FAIL_AT(p, at, VT_LIMIT, "the names of nested repeats are over %d bytes together",
                      VT_NAME_MAX);
  const vt_scope scope = {.up = p->scope, .n = outer + (size_t)n};
  p->scope = &scope;
  p->iterations++;
  const vt_status s = vt_parse_statements(p);
  p->scope = scope.up;
  p->prefix[outer] = 0;
  if (s != VT_OK && i > 0)
    vt_parse_add_hint(p, "in iteration %.80s.%lld of the repeat on line %u", name, (long long)i,
                      at->line);
  return s;
}

static vt_status parse_iterations(vt_parser *p, const vt_token *at, const char *name, int64_t n) {
  const uint64_t before = count_repeated_items(p);
  const position start = save_position(p);
  for (int64_t i = 0; i < n; i++) {
    if (i == 1) VT_TRY(check_remaining_iterations(p, at, before, &start, (uint64_t)n - 1));
    if (i > 0) rewind_to(p, &start);
    VT_TRY(parse_iteration(p, at, name, i));
  }
  return VT_OK;
}

/* Parses a repeat statement: repeat 12 as h { ... } */
static vt_status parse_repeat(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at = p->tok, as;
  char found[VT_TOKEN_TEXT];
  int64_t n = 0;
  VT_TRY(vt_parse_whole_number(p, &n));
  if (n < 1)
    return VT_FAIL_AT(p, &at, VT_VERIFY, "a repeat of %lld: at least 1 is needed", (long long)n);
  if (n > VT_EXPANSION_MAX) return vt_parse_fail_too_large(p, &at);
  if (!vt_token_is(&p->tok, "as")) {
    const vt_status s =
        VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected 'as' and a name for the repeat, found %s",
                   vt_token_text(&p->tok, found));
    vt_parse_add_hint(p, "write repeat %lld as h { ... }", (long long)n);
    return s;
  }
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_name(p, "a name for the repeat", &as, name));
  VT_TRY(vt_parse_expect(p, '{', "'{' to open the repeat"));
  VT_TRY(vt_parse_enter_nesting(p));
  VT_TRY(parse_iterations(p, &at, name, n));
  vt_parse_leave_nesting(p);
  return vt_parse_expect(p, '}', "'}' to close the repeat");
}

/* ---- statements ---- */

/* Words that begin a statement. They are not reserved: a value may be called `input`. */
typedef struct statement {
  const char *word;
  vt_status (*parse)(vt_parser *p); /* parses the rest of the statement */
  int in_repeat, in_body;           /* 1: allowed inside a repeat; inside a body */
} statement;
static const statement statements[] = {
    {"dim", parse_dims, 0, 0},       {"input", parse_input, 0, 0},  {"param", parse_param, 1, 1},
    {"state", vt_parse_state, 1, 0}, {"next", vt_parse_next, 1, 0}, {"repeat", parse_repeat, 1, 1},
    {"output", parse_output, 0, 0},
};
enum { N_STATEMENTS = sizeof statements / sizeof statements[0] };

static vt_status fail_no_statement(vt_parser *p) {
  char name[VT_NAME_MAX + 1], found[VT_TOKEN_TEXT];
  if (p->tok.kind != VT_TOKEN_NAME)
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected a statement or '}', found %s",
                      vt_token_text(&p->tok, found));
  vt_parse_copy_name(&p->tok, name);
  if (p->next.kind == '(' || vt_layer_exists(name)) {
    const vt_status s = VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "the result of '%s' is not used", name);
    vt_parse_add_hint(p, "write y = %s ...", name);
    return s;
  }
  vt_suggestion g = {.wanted = name};
  for (size_t i = 0; i < N_STATEMENTS; i++) vt_suggestion_consider(&g, statements[i].word);
  const vt_status s = VT_FAIL_AT(p, &p->next, VT_SYNTAX, "expected '=' after '%s', found %s", name,
                                 vt_token_text(&p->next, found));
  vt_parse_add_suggestion(p, &g);
  return s;
}

static vt_status fail_statement_misplaced(vt_parser *p, const statement *s) {
  const vt_status status = VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "'%s' is not allowed inside a %s",
                                      s->word, p->body != NULL ? "body" : "repeat");
  if (s->in_repeat)
    vt_parse_add_hint(p,
                      "a body may run any number of times: declare the state outside, read it in "
                      "the body, and write 'next' outside with a result of the op");
  return status;
}

static vt_status parse_statement(vt_parser *p) {
  if (p->tok.kind == VT_TOKEN_NAME &&
      (p->next.kind == '=' || p->next.kind == ':' || p->next.kind == ','))
    return parse_assignment(p);
  for (size_t i = 0; i < N_STATEMENTS; i++) {
    const statement *s = &statements[i];
    if (!vt_token_is(&p->tok, s->word)) continue;
    if ((p->scope != NULL && !s->in_repeat) || (p->body != NULL && !s->in_body))
      return fail_statement_misplaced(p, s);
    VT_TRY(vt_parse_advance(p));
    return s->parse(p);
  }
  return fail_no_statement(p);
}

vt_status vt_parse_skip_newlines(vt_parser *p) {
  while (p->tok.kind == VT_TOKEN_LINE) VT_TRY(vt_parse_advance(p));
  return VT_OK;
}

/* 1 if the current token is the `give` that ends a body, and not a value called `give`, which is
 * allowed. */
static int is_at_body_end(const vt_parser *p) {
  return p->body != NULL && vt_token_is(&p->tok, "give") && p->next.kind != '=' &&
         p->next.kind != ':' && p->next.kind != ',';
}

vt_status vt_parse_statements(vt_parser *p) {
  VT_TRY(vt_parse_skip_newlines(p));
  while (p->tok.kind != '}' && !is_at_body_end(p)) {
    const vt_token at = p->tok;
    if (at.kind == VT_TOKEN_END) return vt_parse_expect(p, '}', "'}' to close the block");
    VT_TRY(parse_statement(p));
    VT_TRY(vt_parse_check_limits(p, &at));
    if (!is_end_of_statement(p)) VT_TRY(vt_parse_expect(p, VT_TOKEN_LINE, "the end of the line"));
    VT_TRY(vt_parse_skip_newlines(p));
  }
  return VT_OK;
}

/* ---- the file ---- */

static vt_status expect_word(vt_parser *p, const char *word, const char *what) {
  char found[VT_TOKEN_TEXT];
  if (vt_token_is(&p->tok, word)) return vt_parse_advance(p);
  return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected %s, found %s", what,
                    vt_token_text(&p->tok, found));
}

/* Parses the first line of the text: volta 1 */
static vt_status parse_version(vt_parser *p) {
  VT_TRY(vt_parse_skip_newlines(p));
  VT_TRY(expect_word(p, "volta", "'volta 1', the version of the text form"));
  if (p->tok.kind == VT_TOKEN_INT && !(p->tok.n == 1 && p->tok.s[0] == '1')) {
    const vt_status s =
        VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "version %.*s of the text form is unknown",
                   p->tok.n > 20 ? 20 : (int)p->tok.n, p->tok.s);
    vt_parse_add_hint(p, "this build reads version 1");
    return s;
  }
  VT_TRY(vt_parse_expect(p, VT_TOKEN_INT, "the version 1"));
  VT_TRY(vt_parse_expect(p, VT_TOKEN_LINE, "the end of the line"));
  return vt_parse_skip_newlines(p);
}

static vt_status parse_model(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  VT_TRY(expect_word(p, "model", "'model'"));
  VT_TRY(vt_parse_name(p, "the name of the model", &at, name));
  VT_TRY(vt_parse_expect(p, '{', "'{' to open the model"));
  VT_TRY(vt_graph_begin(p->gb, name, p->arena.a, &p->diag));
  p->begun = 1;
  VT_TRY(vt_parse_statements(p));
  VT_TRY(vt_parse_check_next_values(p));
  if (p->gb->g->n_results == 0 && !vt_parse_has_state(p))
    return VT_FAIL_AT(p, &p->tok, VT_VERIFY, "the model has no output");
  return vt_parse_expect(p, '}', "'}' to close the model");
}

static vt_status parse_file(vt_parser *p) {
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_advance(p));
  VT_TRY(parse_version(p));
  VT_TRY(parse_model(p));
  VT_TRY(vt_parse_skip_newlines(p));
  return vt_parse_expect(p, VT_TOKEN_END, "nothing after the model");
}

/* Copies the line of the failure to the diagnostic if it fits. Bytes that cannot be shown are
 * replaced one for one, so that columns stay correct. */
static void copy_source_line(vt_parser *p) {
  const char *text = p->lex.text, *end = text + p->lex.n;
  for (uint32_t line = 1; line < p->diag.line && text != NULL; line++) {
    text = memchr(text, '\n', (size_t)(end - text));
    if (text != NULL) text++;
  }
  if (p->diag.line == 0 || text == NULL) return;
  const char *stop = memchr(text, '\n', (size_t)(end - text));
  const size_t n = (size_t)((stop != NULL ? stop : end) - text);
  if (n >= sizeof p->diag.source) return;
  const int readable = vt_utf8_valid(text, n);
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)text[i];
    p->diag.source[i] = c < 32 || c == 127 ? ' ' : c > 127 && !readable ? '?' : text[i];
  }
}

static vt_status report_failure(vt_parser *p, vt_status s, vt_diag *d) {
  if (p->diag.code == VT_OK) s = VT_FAIL(&p->diag, s, "%s", vt_status_text(s));
  copy_source_line(p);
  if (d != NULL && d->code == VT_OK) *d = p->diag;
  return s;
}

vt_status vt_parse(const char *text, size_t n, vt_alloc a, vt_graph **out, vt_diag *d) {
  if (n > VT_TEXT_MAX)
    return VT_FAIL(d, VT_LIMIT, "a text of %zu bytes; at most %d MiB are accepted", n,
                   VT_TEXT_MAX / (1024 * 1024));
  vt_parser p = {0};
  vt_graph *g = NULL;
  vt_lex_init(&p.lex, n > 0 ? text : "", n);
  vt_arena_init(&p.arena, a);
  p.gb = &p.root;
  p.names = &p.root_names;
  p.targets = 1;
  p.root_names.arena = p.streams.arena = p.results.arena = &p.arena;
  p.attrs = vt_arena_array(&p.arena, VT_ATTRS_MAX, 1);
  vt_status s = p.attrs != NULL ? parse_file(&p) : vt_parse_fail_nomem(&p);
  if (s == VT_OK)
    s = vt_graph_freeze(&p.root, &g);
  else if (p.begun)
    vt_graph_drop(&p.root);
  if (s == VT_OK)
    *out = g;
  else
    s = report_failure(&p, s, d);
  vt_arena_done(&p.arena);
  return s;
}
