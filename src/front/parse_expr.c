/* SPDX-License-Identifier: Apache-2.0
 * parse_expr.c - parses expressions: operators, calls of ops, typed literals.
 *
 *   expr    = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
 *   sum     = product { ("+" | "-") product }
 *   product = unary { ("*" | "/") unary }
 *   unary   = "-" unary | primary
 *   primary = name | literal | "(" expr ")" | op "(" ... ")" | layer name "(" ... ")" */
#include <stdio.h>
#include <string.h>
#include "parse_state.h"

static vt_status parse_unary(vt_parser *p, vt_operand *out);

/* ---- types of literals ---- */

/* The type of the untyped literals among `n` operands of one op: the type of the first operand that
 * is a value and not a bool. If there is no such value, the type is f32 if one of the literals is
 * not an integer, else i64. */
static uint32_t choose_literal_type(vt_parser *p, const vt_operand *o, uint32_t n) {
  uint32_t fallback = VT_DTYPE_I64;
  for (uint32_t i = 0; i < n; i++) {
    if (o[i].value == VT_NO_VALUE) {
      if (o[i].at.kind == VT_TOKEN_REAL) fallback = VT_DTYPE_F32;
      continue;
    }
    const vt_type *t = p->gb->b.type(&p->gb->b, o[i].value);
    if (t != NULL && t->dtype != VT_DTYPE_BOOL) return t->dtype;
  }
  return fallback;
}

static vt_status add_nodes_of_untyped_literals(vt_parser *p, vt_operand *o, uint32_t n) {
  const uint32_t dtype = choose_literal_type(p, o, n);
  for (uint32_t i = 0; i < n; i++) {
    if (o[i].value != VT_NO_VALUE) continue;
    const uint32_t own = vt_token_is_bool_literal(&o[i].at) ? VT_DTYPE_BOOL : dtype;
    VT_TRY(vt_parse_literal(p, &o[i], own, &o[i].value));
  }
  return VT_OK;
}

/* ---- nodes ---- */

static vt_status add_node(vt_parser *p, const vt_token *at, uint32_t op, const uint32_t *in,
                          uint32_t n_in, const void *attrs, uint32_t *out) {
  p->gb->line = at->line;
  p->gb->column = at->column;
  const uint32_t v = p->gb->b.node(&p->gb->b, op, in, n_in, attrs);
  VT_TRY(vt_parse_check_builder(p, at));
  *out = v;
  return VT_OK;
}

static vt_status add_binary_node(vt_parser *p, const vt_token *at, uint32_t op, vt_operand *left,
                                 const vt_operand *right) {
  vt_operand both[2] = {*left, *right};
  VT_TRY(add_nodes_of_untyped_literals(p, both, 2));
  const uint32_t in[2] = {both[0].value, both[1].value};
  *left = (vt_operand){.at = left->at};
  return add_node(p, at, op, in, 2, NULL, &left->value);
}

/* ---- calls ---- */

static vt_status fail_unknown_op(vt_parser *p, const vt_token *at, const char *name) {
  vt_suggestion s = {.wanted = name};
  for (uint32_t i = 0; i < vt_op_total(); i++) vt_suggestion_consider(&s, vt_op_at(i)->name);
  const vt_status status = VT_FAIL_AT(p, at, VT_SYNTAX, "unknown op '%s'", name);
  if (vt_layer_exists(name))
    vt_parse_add_hint(p, "a layer has a name of its own: %s NAME(...)", name);
  vt_parse_add_suggestion(p, &s);
  return status;
}

static vt_status push_operand(vt_parser *p, const vt_operand *o) {
  vt_operand *s = vt_arena_grow(&p->arena, p->stack, p->n_stack, &p->cap_stack, sizeof *s);
  if (s == NULL) return vt_parse_fail_nomem(p);
  p->stack = s;
  p->stack[p->n_stack++] = *o;
  return VT_OK;
}

/* Pushes the positional operands of a call onto the stack. It stops before the first attribute or
 * the closing bracket. */
static vt_status parse_and_push_operands(vt_parser *p, const vt_token *callee) {
  char close[VT_NAME_MAX + 64];
  const uint32_t base = p->n_stack;
  int more;
  while (p->tok.kind != ')' && !(p->tok.kind == VT_TOKEN_NAME && p->next.kind == '=')) {
    vt_operand o;
    VT_TRY(vt_parse_expr(p, &o));
    if (p->n_stack - base == VT_OPERANDS_MAX)
      return VT_FAIL_AT(p, &o.at, VT_LIMIT, "more than %d operands", VT_OPERANDS_MAX);
    VT_TRY(push_operand(p, &o));
    if (p->tok.kind == ')') return VT_OK;
    snprintf(close, sizeof close, "')' to close the call of '%.*s'", (int)callee->n, callee->s);
    VT_TRY(vt_parse_list_continues(p, callee, ',', close, &more));
    if (p->tok.kind == ')')
      return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected an operand or an attribute after ','");
  }
  return VT_OK;
}

/* Parses the attributes and bodies of a call and adds its node. Its operands are on the stack from
 * `stack_base`. Only a call with many operands needs memory of the arena for their ids. */
static vt_status finish_call(vt_parser *p, const vt_token *callee, const vt_op_info *op,
                             uint32_t stack_base, uint32_t *out) {
  enum { FEW = 8 };
  uint32_t few[FEW], *in = few;
  const uint32_t n = p->n_stack - stack_base;
  if (n > 0) VT_TRY(add_nodes_of_untyped_literals(p, p->stack + stack_base, n));
  if (n > FEW) in = VT_NEW_N(&p->arena, uint32_t, n);
  if (in == NULL) return vt_parse_fail_nomem(p);
  for (uint32_t i = 0; i < n; i++) in[i] = p->stack[stack_base + i].value;
  vt_type first = {0};
  if (n > 0) first = *p->gb->b.type(&p->gb->b, in[0]);
  VT_TRY(vt_parse_attrs(p, op->attrs, callee, n > 0 ? &first : NULL));
  if (vt_op_body_count(op) == 0) return add_node(p, callee, op->number, in, n, p->attrs, out);
  uint32_t with = n; /* number of operands, including outer values that the bodies use */
  void *attrs = vt_arena_copy(&p->arena, p->attrs, op->attrs->size);
  if (attrs == NULL) return vt_parse_fail_nomem(p);
  VT_TRY(vt_parse_bodies(p, op, callee, attrs, &in, &with));
  return add_node(p, callee, op->number, in, with, attrs, out);
}

/* Checks that a call has as many results as there are names to its left, or one result inside an
 * expression. */
static vt_status check_result_count(vt_parser *p, const vt_token *callee, uint32_t value,
                                    uint32_t want) {
  const vt_graph *g = p->gb->g;
  const uint32_t have = g->nodes[g->values[value].node].n_out;
  if (have == want) return VT_OK;
  const vt_status s = VT_FAIL_AT(p, callee, VT_VERIFY, "'%.*s' gives %u values where %u %s wanted",
                                 (int)callee->n, callee->s, have, want, want == 1 ? "is" : "are");
  if (have > 1)
    vt_parse_add_hint(p, "name all of them: a, b = ...; use _ for one that is not needed");
  return s;
}

static vt_status parse_call(vt_parser *p, uint32_t *out) {
  char name[VT_NAME_MAX + 1];
  const vt_token of = p->tok;
  const uint32_t base = p->n_stack, targets = p->targets;
  p->targets = 1;
  vt_parse_copy_name(&of, name);
  const vt_op_info *op = vt_op_find(name);
  if (op == NULL) return fail_unknown_op(p, &of, name);
  if (op->number == VT_OP_literal)
    return VT_FAIL_AT(p, &of, VT_SYNTAX, "a literal is written with its type, as in f32(0.5)");
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_advance(p));
  VT_TRY(parse_and_push_operands(p, &of));
  VT_TRY(finish_call(p, &of, op, base, out));
  p->n_stack = base;
  return check_result_count(p, &of, *out, targets);
}

/* Parses the rest of i64(T), after the opening bracket. */
static vt_status parse_dimension_as_value(vt_parser *p, uint32_t dtype, uint32_t *out) {
  const vt_token at = p->tok;
  int64_t dim = 0;
  if (dtype != VT_DTYPE_I64) {
    const vt_status s = VT_FAIL_AT(p, &at, VT_VERIFY, "the value of a dimension is i64, not %s",
                                   vt_dtype_name(dtype));
    vt_parse_add_hint(p, "write cast(i64(...), dtype=%s)", vt_dtype_name(dtype));
    return s;
  }
  VT_TRY(vt_parse_dim(p, &dim));
  VT_TRY(vt_parse_expect(p, ')', "')' after the dimension"));
  return vt_parse_dim_as_value(p, &at, dim, out);
}

/* Parses a literal with a type, f64(0.5), or the value of a dimension, i64(T). */
static vt_status parse_typed_literal(vt_parser *p, uint32_t dtype, uint32_t *out) {
  char found[VT_TOKEN_TEXT];
  vt_operand o = {.value = VT_NO_VALUE};
  VT_TRY(vt_parse_advance(p));
  if (p->tok.kind != '(')
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX,
                      "expected '(' and a number after the type %s, found %s", vt_dtype_name(dtype),
                      vt_token_text(&p->tok, found));
  VT_TRY(vt_parse_advance(p));
  if (vt_parse_starts_dimension(p)) return parse_dimension_as_value(p, dtype, out);
  o.negative = p->tok.kind == '-';
  if (o.negative) VT_TRY(vt_parse_advance(p));
  o.at = p->tok;
  if (!vt_token_starts_literal(&o.at)) {
    const vt_status s = VT_FAIL_AT(p, &o.at, VT_SYNTAX, "expected a number in %s(...), found %s",
                                   vt_dtype_name(dtype), vt_token_text(&o.at, found));
    vt_parse_add_hint(p, "a value is converted by cast(x, dtype=%s)", vt_dtype_name(dtype));
    return s;
  }
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_expect(p, ')', "')' after the number"));
  return vt_parse_literal(p, &o, dtype, out);
}

/* ---- the levels of the grammar ---- */

/* 1 if the current token, `name`, and the token after it are two names on one line and begin a
 * layer call. They do not if the first is a known value and not a layer, so that the error is
 * reported for the second name. */
static int is_layer_call(vt_parser *p, const char *name) {
  return p->next.kind == VT_TOKEN_NAME && p->next.line == p->tok.line &&
         (vt_layer_exists(name) || vt_scope_find(p, name) == NULL);
}

static vt_status parse_name_or_call(vt_parser *p, vt_operand *out) {
  char name[VT_NAME_MAX + 1];
  vt_parse_copy_name(&p->tok, name);
  const uint32_t dtype = vt_dtype_find(name);
  if (dtype != 0) return parse_typed_literal(p, dtype, &out->value);
  if (p->next.kind == '(') return parse_call(p, &out->value);
  if (is_layer_call(p, name)) return vt_parse_layer(p, &out->value);
  out->is_name = 1;
  VT_TRY(vt_parse_find_or_capture_value(p, &p->tok, name, &out->value));
  return vt_parse_advance(p);
}

static vt_status parse_bracketed_expr(vt_parser *p, vt_operand *out) {
  const vt_token from = p->tok;
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_expr(p, out));
  const vt_status s = vt_parse_expect(p, ')', "')' to close the bracket");
  if (s != VT_OK && p->tok.line != from.line)
    vt_parse_add_hint(p, "it was opened on line %u", from.line);
  return s;
}

static vt_status parse_primary(vt_parser *p, vt_operand *out) {
  char found[VT_TOKEN_TEXT];
  *out = (vt_operand){.at = p->tok, .value = VT_NO_VALUE};
  if (vt_token_starts_literal(&p->tok)) return vt_parse_advance(p);
  if (p->tok.kind == VT_TOKEN_NAME) return parse_name_or_call(p, out);
  if (p->tok.kind == '(') return parse_bracketed_expr(p, out);
  return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected a value, found %s",
                    vt_token_text(&p->tok, found));
}

/* Applies a minus sign: a literal becomes negative, any other value becomes an operand of neg. */
static vt_status apply_minus(vt_parser *p, const vt_token *at, vt_operand *o) {
  if (o->value == VT_NO_VALUE) {
    o->negative = !o->negative;
    return VT_OK;
  }
  const uint32_t in = o->value;
  *o = (vt_operand){.at = *at};
  return add_node(p, at, VT_OP_neg, &in, 1, NULL, &o->value);
}

static vt_status parse_unary(vt_parser *p, vt_operand *out) {
  VT_TRY(vt_parse_enter_nesting(p));
  const vt_token at = p->tok;
  if (at.kind == '-') {
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_unary(p, out));
    VT_TRY(apply_minus(p, &at, out));
  } else {
    VT_TRY(parse_primary(p, out));
  }
  vt_parse_leave_nesting(p);
  return VT_OK;
}

static vt_status parse_product(vt_parser *p, vt_operand *out) {
  VT_TRY(parse_unary(p, out));
  while (p->tok.kind == '*' || p->tok.kind == '/') {
    const vt_token at = p->tok;
    vt_operand right;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_unary(p, &right));
    VT_TRY(add_binary_node(p, &at, at.kind == '*' ? VT_OP_mul : VT_OP_div, out, &right));
  }
  return VT_OK;
}

static vt_status parse_sum(vt_parser *p, vt_operand *out) {
  VT_TRY(parse_product(p, out));
  while (p->tok.kind == '+' || p->tok.kind == '-') {
    const vt_token at = p->tok;
    vt_operand right;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_product(p, &right));
    VT_TRY(add_binary_node(p, &at, at.kind == '+' ? VT_OP_add : VT_OP_sub, out, &right));
  }
  return VT_OK;
}

/* The op of a comparison operator; 0 for other tokens. */
static uint32_t comparison_op(uint32_t kind) {
  switch (kind) {
    case VT_TOKEN_EQ:
      return VT_OP_eq;
    case VT_TOKEN_NE:
      return VT_OP_ne;
    case '<':
      return VT_OP_lt;
    case VT_TOKEN_LE:
      return VT_OP_le;
    case '>':
      return VT_OP_gt;
    case VT_TOKEN_GE:
      return VT_OP_ge;
    default:
      return 0;
  }
}

vt_status vt_parse_expr(vt_parser *p, vt_operand *out) {
  VT_TRY(parse_sum(p, out));
  const vt_token at = p->tok;
  if (comparison_op(at.kind) == 0) return VT_OK;
  vt_operand right;
  VT_TRY(vt_parse_advance(p));
  VT_TRY(parse_sum(p, &right));
  VT_TRY(add_binary_node(p, &at, comparison_op(at.kind), out, &right));
  if (comparison_op(p->tok.kind) == 0) return VT_OK;
  const vt_status s = VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "comparisons cannot be chained");
  vt_parse_add_hint(p, "write and(a < b, b < c)");
  return s;
}

vt_status vt_parse_value(vt_parser *p, uint32_t dtype, vt_operand *out) {
  VT_TRY(vt_parse_expr(p, out));
  if (out->value != VT_NO_VALUE) return VT_OK;
  if (dtype == 0 || vt_token_is_bool_literal(&out->at))
    return add_nodes_of_untyped_literals(p, out, 1);
  return vt_parse_literal(p, out, dtype, &out->value);
}
