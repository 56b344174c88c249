/* SPDX-License-Identifier: Apache-2.0
 * scope.c - the table of names and the lookup of names in scopes; and helpers of all parts of the
 * parser: reading tokens, failures with a position, suggestions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "parse_state.h"

/* ---- the table ---- */

/* The slot of `name`, or the free slot in which it belongs. The table is never full, and n_slots is
 * a power of two. */
static uint32_t *find_slot(const vt_names *t, const char *name) {
  uint32_t i = (uint32_t)vt_hash_name(name) & (t->n_slots - 1);
  while (t->slot[i] != 0 && strcmp(t->entry[t->slot[i] - 1].name, name) != 0)
    i = (i + 1) & (t->n_slots - 1);
  return &t->slot[i];
}

vt_entry *vt_names_find(const vt_names *t, const char *name) {
  if (t->n_slots == 0) return NULL;
  const uint32_t *slot = find_slot(t, name);
  return *slot != 0 ? &t->entry[*slot - 1] : NULL;
}

static int grow_table(vt_names *t) {
  t->entry = vt_arena_grow(t->arena, t->entry, t->n, &t->cap, sizeof *t->entry);
  if (t->entry == NULL) return 0;
  if (t->n < t->n_slots / 2) return 1;
  const uint32_t wider = t->n_slots == 0 ? 64 : t->n_slots * 2;
  uint32_t *slot = VT_NEW_N(t->arena, uint32_t, wider);
  if (slot == NULL) return 0;
  t->slot = slot;
  t->n_slots = wider;
  for (uint32_t i = 0; i < t->n; i++) *find_slot(t, t->entry[i].name) = i + 1;
  return 1;
}

vt_entry *vt_names_add(vt_names *t, const char *name) {
  const char *copy = vt_arena_string(t->arena, name, strlen(name));
  if (copy == NULL || !grow_table(t)) return NULL;
  uint32_t *slot = find_slot(t, name);
  t->entry[t->n] = (vt_entry){.name = copy};
  *slot = ++t->n;
  return &t->entry[t->n - 1];
}

/* ---- failing ---- */

vt_status vt_parse_set_failure_position(vt_parser *p, const vt_token *at, vt_status s) {
  if (s != VT_OK && p->diag.line == 0) {
    p->diag.line = at->line;
    p->diag.column = at->column;
  }
  return s;
}

void vt_parse_add_hint(vt_parser *p, const char *fmt, ...) {
  if (p->diag.hint[0] != 0) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(p->diag.hint, sizeof p->diag.hint, fmt, ap);
  va_end(ap);
}

vt_status vt_parse_fail_nomem(vt_parser *p) { return VT_FAIL(&p->diag, VT_NOMEM, "out of memory"); }

uint64_t vt_parse_expansion_size(const vt_parser *p) {
  uint64_t n = p->iterations + p->closed + p->root_names.n + p->root.g->n_nodes;
  for (const vt_open_body *f = p->body; f != NULL; f = f->up) n += f->names.n + f->gb->g->n_nodes;
  return n;
}

vt_status vt_parse_fail_too_large(vt_parser *p, const vt_token *at) {
  return VT_FAIL_AT(p, at, VT_LIMIT,
                    "the model written out is over %d nodes, names and iterations, or %d MiB",
                    VT_EXPANSION_MAX, VT_TEXT_MAX / (1024 * 1024));
}

vt_status vt_parse_check_limits(vt_parser *p, const vt_token *at) {
  if (vt_parse_expansion_size(p) > VT_EXPANSION_MAX) return vt_parse_fail_too_large(p, at);
  if (p->lookups > VT_LOOKUPS_MAX)
    return VT_FAIL_AT(p, at, VT_LIMIT, "names are used more than %d times", VT_LOOKUPS_MAX);
  if (p->gb->b.dims->n_polys <= VT_POLYS_MAX) return VT_OK;
  return VT_FAIL_AT(p, at, VT_LIMIT, "more than %d different dimensions made of symbols",
                    VT_POLYS_MAX);
}

vt_status vt_parse_check_builder(vt_parser *p, const vt_token *at) {
  VT_TRY(vt_parse_set_failure_position(p, at, p->gb->status));
  return vt_parse_check_limits(p, at);
}

void vt_parse_add_suggestion(vt_parser *p, const vt_suggestion *s) {
  if (s->best != NULL) vt_parse_add_hint(p, "did you mean '%s'?", s->best);
}

/* ---- tokens ---- */

vt_status vt_parse_advance(vt_parser *p) {
  p->tok = p->next;
  return vt_lex_next(&p->lex, &p->next, &p->diag);
}

vt_status vt_parse_expect(vt_parser *p, uint32_t kind, const char *what) {
  char found[VT_TOKEN_TEXT];
  if (p->tok.kind == kind) return vt_parse_advance(p);
  return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected %s, found %s", what,
                    vt_token_text(&p->tok, found));
}

/* An unclosed bracket is noticed on a later line, because newlines are ignored inside brackets. So
 * the hint names the line of the opening bracket. */
vt_status vt_parse_list_continues(vt_parser *p, const vt_token *opening, uint32_t close,
                                  const char *what, int *out_more) {
  *out_more = p->tok.kind == ',';
  const vt_status s = vt_parse_expect(p, *out_more ? ',' : close, what);
  if (s != VT_OK && p->tok.line != opening->line)
    vt_parse_add_hint(p, "it was opened on line %u", opening->line);
  return s;
}

vt_status vt_parse_enter_nesting(vt_parser *p) {
  if (p->depth < VT_NESTING_MAX) {
    p->depth++;
    return VT_OK;
  }
  return VT_FAIL_AT(p, &p->tok, VT_LIMIT, "nested more than %d deep", VT_NESTING_MAX);
}

void vt_parse_leave_nesting(vt_parser *p) { p->depth--; }

void vt_parse_copy_name(const vt_token *t, char out[VT_NAME_MAX + 1]) {
  memcpy(out, t->s, t->n);
  out[t->n] = 0;
}

/* ---- scopes ---- */

vt_entry *vt_scope_find(vt_parser *p, const char *name) {
  for (const vt_open_body *f = p->body; f != NULL; f = f->up) {
    p->lookups++;
    vt_entry *e = vt_names_find(&f->names, name);
    if (e != NULL) return e;
  }
  return vt_scope_find_in_model(p, name);
}

vt_entry *vt_scope_find_in_model(vt_parser *p, const char *name) {
  const size_t n = strlen(name);
  char full[VT_NAME_MAX + 1];
  for (const vt_scope *s = p->scope; s != NULL; s = s->up) {
    p->lookups++;
    if (s->n + n > VT_NAME_MAX) continue;
    memcpy(full, p->prefix, s->n);
    memcpy(full + s->n, name, n + 1);
    vt_entry *e = vt_names_find(&p->root_names, full);
    if (e != NULL && e->kind == VT_ENTRY_PORT)
      return e; /* only parameters and states have scoped names */
  }
  p->lookups++;
  return vt_names_find(&p->root_names, name);
}

/* Only the last 10000 names are compared, so that a hostile file cannot make the message slow. */
vt_status vt_scope_fail_unknown(vt_parser *p, const vt_token *at, const char *name) {
  enum { LATEST = 10000 };
  vt_suggestion s = {.wanted = name};
  const uint32_t first = p->names->n > LATEST ? p->names->n - LATEST : 0;
  for (uint32_t i = first; i < p->names->n; i++)
    vt_suggestion_consider(&s, p->names->entry[i].name);
  const vt_status status = VT_FAIL_AT(p, at, VT_SYNTAX, "unknown name '%s'", name);
  vt_parse_add_suggestion(p, &s);
  return status;
}

vt_status vt_scope_full_name(vt_parser *p, const vt_token *at, const char *name, const char *part,
                             char out[VT_NAME_MAX + 1]) {
  const int n = snprintf(out, VT_NAME_MAX + 1, "%s%s%s", p->prefix, name, part);
  if (n >= 0 && n <= VT_NAME_MAX) return VT_OK;
  return VT_FAIL_AT(p, at, VT_LIMIT,
                    "the full name '%.60s...' has %d bytes; at most %d are accepted", out, n,
                    VT_NAME_MAX);
}

int vt_scope_is_automatic_name(const char *name) { return vt_name_is_automatic(name); }

int vt_scope_name_allowed(const char *name) {
  return vt_dtype_find(name) == 0 && strcmp(name, "true") != 0 && strcmp(name, "false") != 0 &&
         !vt_scope_is_automatic_name(name);
}

static vt_status fail_name_not_allowed(vt_parser *p, const vt_token *at, const char *name) {
  if (vt_scope_is_automatic_name(name))
    return VT_FAIL_AT(p, at, VT_SYNTAX, "'%s' is reserved for values without a name", name);
  return VT_FAIL_AT(p, at, VT_SYNTAX, "'%s' is a reserved word", name);
}

vt_status vt_scope_declare(vt_parser *p, const vt_token *at, const char *name, vt_entry **out) {
  if (!vt_scope_name_allowed(name)) return fail_name_not_allowed(p, at, name);
  const vt_entry *old = vt_names_find(p->names, name);
  if (old != NULL)
    return VT_FAIL_AT(p, at, VT_VERIFY, "'%s' is already declared on line %u", name, old->line);
  vt_entry *e = vt_names_add(p->names, name);
  if (e == NULL) return vt_parse_fail_nomem(p);
  e->line = at->line;
  e->column = at->column;
  *out = e;
  return VT_OK;
}
