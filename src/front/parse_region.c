/* SPDX-License-Identifier: Apache-2.0
 * parse_region.c - parses the bodies in braces after a call of loop or cond.
 *
 *   y = loop(h0, x, count=T, carried=1, each=1) (i, h, xt) { ... give h2, out }
 *   y = cond(which) { give a } else { give b }
 *
 * A body is parsed like a model, with names of its own. An outer value that it uses is captured: it
 * becomes one more argument of the body and operand of the op, so that the body refers to nothing
 * outside. */
#include <stdio.h>
#include <string.h>
#include "parse_state.h"

/* ---- outer values ---- */

static vt_names *names_of_body(vt_parser *p, vt_open_body *f) {
  return f != NULL ? &f->names : &p->root_names;
}

/* Chooses a free name for an argument: the name of the outer value if possible. */
static void choose_argument_name(const vt_open_body *f, const char *name,
                                 char out[VT_NAME_MAX + 1]) {
  snprintf(out, VT_NAME_MAX + 1, "%s", name);
  for (uint32_t i = 0; vt_name_is_automatic(out) || vt_graph_has_name(f->gb, out); i++)
    snprintf(out, VT_NAME_MAX + 1, "c%u", f->n_captured + i);
}

static vt_status capture_value(vt_parser *p, vt_open_body *f, const char *name, uint32_t outer,
                               uint32_t *out) {
  char text[VT_NAME_MAX + 1];
  uint32_t *list =
      vt_arena_grow(&p->arena, f->captured, f->n_captured, &f->cap_captured, sizeof *list);
  vt_entry *e = vt_names_add(&f->names, name);
  if (list == NULL || e == NULL) return vt_parse_fail_nomem(p);
  const vt_type *type = f->outer_gb->b.type(&f->outer_gb->b, outer);
  choose_argument_name(f, name, text);
  const vt_port port = {.name = text, .kind = VT_PORT_INPUT};
  f->captured = list;
  list[f->n_captured++] = outer;
  e->kind = VT_ENTRY_VALUE;
  e->times = 1;
  e->value = vt_graph_add_port(f->gb, &port, type);
  *out = e->value;
  return f->gb->status;
}

static vt_status find_or_capture_value(vt_parser *p, vt_open_body *f, const vt_token *at,
                                       const char *name, uint32_t *out) {
  const vt_entry *e =
      f == NULL ? vt_scope_find_in_model(p, name) : vt_names_find(names_of_body(p, f), name);
  uint32_t outer;
  if (e == NULL && f == NULL) return vt_scope_fail_unknown(p, at, name);
  if (e != NULL && (e->kind == VT_ENTRY_SYMBOL || e->kind == VT_ENTRY_CONSTANT)) {
    const vt_status s = VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is a dimension", name);
    vt_parse_add_hint(p, "a dimension is not a value: write i64(%s) for its number", name);
    return s;
  }
  if (e != NULL) {
    *out = e->value;
    return VT_OK;
  }
  VT_TRY(find_or_capture_value(p, f->up, at, name, &outer));
  return vt_parse_set_failure_position(p, at, capture_value(p, f, name, outer, out));
}

vt_status vt_parse_find_or_capture_value(vt_parser *p, const vt_token *at, const char *name,
                                         uint32_t *out) {
  return find_or_capture_value(p, p->body, at, name, out);
}

/* ---- one body ---- */

/* Parses the names of a body's arguments, with optional types: (i, h: f32[4], xt) */
static vt_status parse_arguments(vt_parser *p, vt_open_body *f, const vt_type *arg_types,
                                 uint32_t n_args) {
  const vt_token from = p->tok;
  char name[VT_NAME_MAX + 1], have[VT_TYPE_TEXT], want[VT_TYPE_TEXT];
  int more = 1;
  uint32_t i = 0;
  if (p->tok.kind != '(') {
    if (n_args == 0) return VT_OK;
    return VT_FAIL_AT(p, &from, VT_SYNTAX, "the body takes %u arguments: name them in brackets",
                      n_args);
  }
  VT_TRY(vt_parse_advance(p));
  if (p->tok.kind == ')') more = 0;
  if (!more) VT_TRY(vt_parse_advance(p));
  for (; more; i++) {
    vt_token at;
    vt_entry *e = NULL;
    vt_type written;
    VT_TRY(vt_parse_name(p, "the name of an argument", &at, name));
    if (i == n_args) return VT_FAIL_AT(p, &at, VT_VERIFY, "the body takes %u arguments", n_args);
    if (p->tok.kind == ':') {
      VT_TRY(vt_parse_advance(p));
      VT_TRY(vt_parse_type(p, &written));
      if (!vt_type_equal(&written, &arg_types[i]))
        return VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' is %s, declared as %s", name,
                          vt_type_text(f->gb->b.dims, &arg_types[i], have),
                          vt_type_text(f->gb->b.dims, &written, want));
    }
    VT_TRY(vt_scope_declare(p, &at, name, &e));
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    e->kind = VT_ENTRY_VALUE;
    e->times = 1;
    e->value = vt_graph_add_port(f->gb, &port, &arg_types[i]);
    VT_TRY(vt_parse_check_builder(p, &at));
    VT_TRY(vt_parse_list_continues(p, &from, ')', "')' after the arguments", &more));
  }
  if (i == n_args) return VT_OK;
  return VT_FAIL_AT(p, &from, VT_VERIFY, "the body takes %u arguments, %u are named", n_args, i);
}

/* Parses the results of a body: give a, b */
static vt_status parse_give(vt_parser *p, vt_open_body *f) {
  uint32_t *out = VT_NEW_N(&p->arena, uint32_t, VT_MAX_RESULTS), n = 0;
  const vt_token at = p->tok;
  char found[VT_TOKEN_TEXT];
  if (out == NULL) return vt_parse_fail_nomem(p);
  if (!vt_token_is(&at, "give"))
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "expected 'give' at the end of the body, found %s",
                      vt_token_text(&at, found));
  do {
    vt_operand o;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(vt_parse_value(p, 0, &o));
    if (n == VT_MAX_RESULTS)
      return VT_FAIL_AT(p, &o.at, VT_LIMIT, "a body gives at most %d values", VT_MAX_RESULTS);
    out[n++] = o.value;
  } while (p->tok.kind == ',');
  VT_TRY(vt_parse_skip_newlines(p));
  p->closed += f->gb->g->n_nodes + f->names.n;
  vt_graph_close_body(f->gb, out, n);
  return vt_parse_set_failure_position(p, &at, f->outer_gb->status);
}

static vt_status parse_body_text(vt_parser *p, vt_open_body *f, const vt_type *arg_types,
                                 uint32_t n_args) {
  VT_TRY(parse_arguments(p, f, arg_types, n_args));
  VT_TRY(vt_parse_expect(p, '{', "'{' to open the body"));
  VT_TRY(vt_parse_statements(p));
  return parse_give(p, f);
}

static vt_status parse_body(vt_parser *p, const vt_token *callee, vt_open_body *f,
                            const vt_type *arg_types, uint32_t n_args) {
  VT_TRY(vt_parse_enter_nesting(p));
  const uint32_t targets = p->targets;
  p->gb->line = callee->line;
  p->gb->column = callee->column;
  f->gb = vt_graph_open_body(p->gb, NULL, NULL, 0);
  if (f->gb == NULL) return vt_parse_set_failure_position(p, callee, p->gb->status);
  p->body = f;
  p->gb = f->gb;
  p->names = &f->names;
  p->targets = 1;
  const vt_status s = parse_body_text(p, f, arg_types, n_args);
  p->body = f->up;
  p->gb = f->up != NULL ? f->up->gb : &p->root;
  p->names = names_of_body(p, f->up);
  p->targets = targets;
  VT_TRY(s);
  vt_parse_leave_nesting(p);
  return vt_parse_expect(p, '}', "'}' to close the body");
}

/* ---- all of a call ---- */

/* Inserts the outer values that a body uses into the operands of the op, before operand number
 * `position`. */
static vt_status insert_captured(vt_parser *p, const vt_open_body *f, uint32_t position,
                                 uint32_t **in, uint32_t *n) {
  if (f->n_captured == 0) return VT_OK;
  if (*n + f->n_captured > VT_MAX_REGION_ARGS - 1)
    return VT_FAIL(&p->diag, VT_LIMIT, "bodies take at most %d values", VT_MAX_REGION_ARGS - 1);
  uint32_t *list = VT_NEW_N(&p->arena, uint32_t, *n + f->n_captured);
  if (list == NULL) return vt_parse_fail_nomem(p);
  memcpy(list, *in, position * sizeof *list);
  memcpy(list + position, f->captured, f->n_captured * sizeof *list);
  memcpy(list + position + f->n_captured, *in + position, (*n - position) * sizeof *list);
  *in = list;
  *n += f->n_captured;
  return VT_OK;
}

vt_status vt_parse_bodies(vt_parser *p, const vt_op_info *op, const vt_token *callee, void *attrs,
                          uint32_t **in, uint32_t *n) {
  vt_type *type = VT_NEW_N(&p->arena, vt_type, VT_MAX_REGION_ARGS);
  uint32_t n_type = 0;
  if (type == NULL) return vt_parse_fail_nomem(p);
  if (*n > VT_MAX_REGION_ARGS - 1)
    return VT_FAIL_AT(p, callee, VT_LIMIT, "bodies take at most %d values", VT_MAX_REGION_ARGS - 1);
  for (uint32_t i = 0; i < vt_op_body_count(op); i++) {
    vt_open_body f = {.up = p->body, .outer_gb = p->gb, .names.arena = &p->arena};
    if (i > 0) {
      if (!vt_token_is(&p->tok, "else"))
        return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected 'else' and the other body of '%s'",
                          op->name);
      VT_TRY(vt_parse_advance(p));
    }
    /* The types of the body's arguments follow from those of the op's operands. */
    vt_type *in_type = VT_NEW_N(&p->arena, vt_type, *n);
    if (in_type == NULL) return vt_parse_set_failure_position(p, callee, vt_parse_fail_nomem(p));
    for (uint32_t k = 0; k < *n; k++) in_type[k] = *p->gb->b.type(&p->gb->b, (*in)[k]);
    const vt_rule rule = {.dims = p->gb->b.dims, .in = in_type, .n_in = *n, .attrs = attrs};
    VT_TRY(vt_parse_set_failure_position(
        p, callee, vt_op_body_argument_types(op, &rule, i, type, &n_type, &p->diag)));
    VT_TRY(parse_body(p, callee, &f, type, n_type));
    VT_TRY(vt_parse_set_failure_position(
        p, callee, insert_captured(p, &f, vt_op_body_operands_end(op, attrs, *n, i), in, n)));
    vt_op_body_add_operands(op, attrs, i, f.n_captured);
  }
  return VT_OK;
}
