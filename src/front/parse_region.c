/* SPDX-License-Identifier: Apache-2.0
 * parse_region.c - bodies: what stands in braces after a call of an op that takes them.
 *
 *   y = loop(h0, x, count=T, carried=1, each=1) (i, h, xt) { ... give h2, out }
 *   y = cond(which) { give a } else { give b }
 *
 * A body is read like a model, with names of its own. A name that means a value outside becomes
 * one more argument and operand, so that the graph's bodies are closed. */
#include <stdio.h>
#include <string.h>
#include "parse_state.h"

/* ---- values from outside ---- */

static vt_names *names_of(vt_parser *p, vt_frame *f) {
  return f != NULL ? &f->names : &p->root_names;
}
static vt_graph_builder *builder_of(vt_parser *p, vt_frame *f) {
  return f != NULL ? f->gb : &p->root;
}

/* A free name for an argument: that of the value outside where it can be. */
static void argument_name(const vt_frame *f, const char *name, char out[VT_NAME_MAX + 1]) {
  snprintf(out, VT_NAME_MAX + 1, "%s", name);
  for (uint32_t i = 0; vt_name_is_automatic(out) || vt_graph_has_name(f->gb, out); i++)
    snprintf(out, VT_NAME_MAX + 1, "c%u", f->n_captured + i);
}

static vt_status capture(vt_parser *p, vt_frame *f, const char *name, uint32_t outer,
                         uint32_t *out) {
  char text[VT_NAME_MAX + 1];
  uint32_t *list =
      vt_arena_grow(&p->arena, f->captured, f->n_captured, &f->cap_captured, sizeof *list);
  vt_entry *e = vt_names_add(&f->names, name);
  if (list == NULL || e == NULL) return vt_parse_nomem(p);
  const vt_type *type = f->outer_gb->b.type(&f->outer_gb->b, outer);
  argument_name(f, name, text);
  const vt_port port = {.name = text, .kind = VT_PORT_INPUT};
  f->captured = list;
  list[f->n_captured++] = outer;
  e->kind = VT_ENTRY_VALUE;
  e->times = 1;
  e->value = vt_graph_add_port(f->gb, &port, type);
  *out = e->value;
  return f->gb->status;
}

static vt_status value_in(vt_parser *p, vt_frame *f, const vt_token *at, const char *name,
                          uint32_t *out) {
  const vt_entry *e = f == NULL ? vt_scope_find_root(p, name) : vt_names_find(names_of(p, f), name);
  uint32_t outer;
  if (e == NULL && f == NULL) return vt_scope_unknown(p, at, name);
  if (e != NULL && (e->kind == VT_ENTRY_SYMBOL || e->kind == VT_ENTRY_CONSTANT)) {
    const vt_status s = VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is a dimension", name);
    vt_parse_hint(p, "a dimension is not a value");
    return s;
  }
  if (e != NULL) {
    *out = e->value;
    return VT_OK;
  }
  VT_TRY(value_in(p, f->up, at, name, &outer));
  return vt_parse_at(p, at, capture(p, f, name, outer, out));
}

vt_status vt_parse_value_of(vt_parser *p, const vt_token *at, const char *name, uint32_t *out) {
  return value_in(p, p->frame, at, name, out);
}

/* ---- one body ---- */

/* (i, h: f32[4], xt): names for the arguments, and their types where they are written. */
static vt_status parse_arguments(vt_parser *p, vt_frame *f, const vt_type *type, uint32_t n) {
  const vt_token from = p->tok;
  char name[VT_NAME_MAX + 1], have[VT_TYPE_TEXT], want[VT_TYPE_TEXT];
  int more = 1;
  uint32_t i = 0;
  if (p->tok.kind != '(') {
    if (n == 0) return VT_OK;
    return VT_FAIL_AT(p, &from, VT_SYNTAX, "the body takes %u arguments: name them in brackets", n);
  }
  VT_TRY(vt_parse_advance(p));
  if (p->tok.kind == ')') more = 0;
  if (!more) VT_TRY(vt_parse_advance(p));
  for (; more; i++) {
    vt_token at;
    vt_entry *e = NULL;
    vt_type written;
    VT_TRY(vt_parse_name(p, "the name of an argument", &at, name));
    if (i == n) return VT_FAIL_AT(p, &at, VT_VERIFY, "the body takes %u arguments", n);
    if (p->tok.kind == ':') {
      VT_TRY(vt_parse_advance(p));
      VT_TRY(vt_parse_type(p, &written));
      if (!vt_type_equal(&written, &type[i]))
        return VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' is %s, declared as %s", name,
                          vt_type_text(f->gb->b.dims, &type[i], have),
                          vt_type_text(f->gb->b.dims, &written, want));
    }
    VT_TRY(vt_scope_declare(p, &at, name, &e));
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    e->kind = VT_ENTRY_VALUE;
    e->times = 1;
    e->value = vt_graph_add_port(f->gb, &port, &type[i]);
    VT_TRY(vt_parse_built(p, &at));
    VT_TRY(vt_parse_more(p, &from, ')', "')' after the arguments", &more));
  }
  if (i == n) return VT_OK;
  return VT_FAIL_AT(p, &from, VT_VERIFY, "the body takes %u arguments, %u are named", n, i);
}

/* give a, b */
static vt_status parse_give(vt_parser *p, vt_frame *f) {
  uint32_t *out = VT_NEW_N(&p->arena, uint32_t, VT_MAX_RESULTS), n = 0;
  const vt_token at = p->tok;
  char found[VT_TOKEN_TEXT];
  if (out == NULL) return vt_parse_nomem(p);
  if (!vt_token_is(&at, "give"))
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "expected 'give' at the end of the body, found %s",
                      vt_token_describe(&at, found));
  do {
    vt_operand o;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(vt_parse_value(p, 0, &o));
    if (n == VT_MAX_RESULTS)
      return VT_FAIL_AT(p, &o.at, VT_LIMIT, "a body gives at most %d values", VT_MAX_RESULTS);
    out[n++] = o.value;
  } while (p->tok.kind == ',');
  VT_TRY(vt_parse_skip_lines(p));
  p->closed += f->gb->g->n_nodes + f->names.n;
  vt_graph_close(f->gb, out, n);
  return vt_parse_at(p, &at, f->outer_gb->status);
}

static vt_status parse_inside(vt_parser *p, vt_frame *f, const vt_type *type, uint32_t n) {
  VT_TRY(parse_arguments(p, f, type, n));
  VT_TRY(vt_parse_expect(p, '{', "'{' to open the body"));
  VT_TRY(vt_parse_block(p));
  return parse_give(p, f);
}

static vt_status parse_body(vt_parser *p, const vt_token *of, vt_frame *f, const vt_type *type,
                            uint32_t n) {
  VT_TRY(vt_parse_enter(p));
  const uint32_t targets = p->targets;
  p->gb->line = of->line;
  p->gb->column = of->column;
  f->gb = vt_graph_open(p->gb, NULL, NULL, 0);
  if (f->gb == NULL) return vt_parse_at(p, of, p->gb->status);
  p->frame = f;
  p->gb = f->gb;
  p->names = &f->names;
  p->targets = 1;
  const vt_status s = parse_inside(p, f, type, n);
  p->frame = f->up;
  p->gb = builder_of(p, f->up);
  p->names = names_of(p, f->up);
  p->targets = targets;
  VT_TRY(s);
  vt_parse_leave(p);
  return vt_parse_expect(p, '}', "'}' to close the body");
}

/* ---- all of a call ---- */

/* What a body took from outside goes behind its own operands. */
static vt_status insert(vt_parser *p, const vt_frame *f, uint32_t at, uint32_t **in, uint32_t *n) {
  if (f->n_captured == 0) return VT_OK;
  if (*n + f->n_captured > VT_MAX_REGION_ARGS - 1)
    return VT_FAIL(&p->diag, VT_LIMIT, "bodies take at most %d values", VT_MAX_REGION_ARGS - 1);
  uint32_t *list = VT_NEW_N(&p->arena, uint32_t, *n + f->n_captured);
  if (list == NULL) return vt_parse_nomem(p);
  memcpy(list, *in, at * sizeof *list);
  memcpy(list + at, f->captured, f->n_captured * sizeof *list);
  memcpy(list + at + f->n_captured, *in + at, (*n - at) * sizeof *list);
  *in = list;
  *n += f->n_captured;
  return VT_OK;
}

static vt_status takes(vt_parser *p, const vt_op_info *op, const void *attrs, uint32_t body,
                       const uint32_t *in, uint32_t n, vt_type *out, uint32_t *out_n) {
  vt_type *type = VT_NEW_N(&p->arena, vt_type, n);
  if (type == NULL) return vt_parse_nomem(p);
  for (uint32_t i = 0; i < n; i++) type[i] = *p->gb->b.type(&p->gb->b, in[i]);
  const vt_rule rule = {.dims = p->gb->b.dims, .in = type, .n_in = n, .attrs = attrs};
  return vt_op_body_takes(op, &rule, body, out, out_n, &p->diag);
}

vt_status vt_parse_bodies(vt_parser *p, const vt_op_info *op, const vt_token *of, void *attrs,
                          uint32_t **in, uint32_t *n) {
  vt_type *type = VT_NEW_N(&p->arena, vt_type, VT_MAX_REGION_ARGS);
  uint32_t n_type = 0;
  if (type == NULL) return vt_parse_nomem(p);
  if (*n > VT_MAX_REGION_ARGS - 1)
    return VT_FAIL_AT(p, of, VT_LIMIT, "bodies take at most %d values", VT_MAX_REGION_ARGS - 1);
  for (uint32_t i = 0; i < vt_op_bodies(op); i++) {
    vt_frame f = {.up = p->frame, .outer_gb = p->gb, .names.arena = &p->arena};
    if (i > 0) {
      if (!vt_token_is(&p->tok, "else"))
        return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected 'else' and the other body of '%s'",
                          op->name);
      VT_TRY(vt_parse_advance(p));
    }
    VT_TRY(vt_parse_at(p, of, takes(p, op, attrs, i, *in, *n, type, &n_type)));
    VT_TRY(parse_body(p, of, &f, type, n_type));
    VT_TRY(vt_parse_at(p, of, insert(p, &f, vt_op_body_end(op, attrs, *n, i), in, n)));
    vt_op_body_grow(op, attrs, i, f.n_captured);
  }
  return VT_OK;
}
