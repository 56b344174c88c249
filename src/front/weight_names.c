/* SPDX-License-Identifier: Apache-2.0
 * weight_names.c - renames the tensors of a list by the rules of a map, a text with one rule per
 * line:
 *
 *   # published name                  parameter
 *   encoder.layer.*.output.*.weight = h.*.out_*.weight
 *   pooler.dense.*                  =                    drops the tensors
 *
 * A star in a pattern matches one or more bytes other than a dot, as few as possible; star k of the
 * name stands for what star k of the pattern matched. The first rule that matches wins. */
#include <stdio.h>
#include <string.h>
#include "vt_text.h"
#include "weight_list.h"

typedef struct rule {
  const char *pattern, *name, *text; /* name "": drop the tensor; the line, for messages */
  uint32_t line, used;               /* number of the line; 1: the rule matched a tensor */
} rule;

typedef struct rules {
  vt_arena arena; /* memory of the rules and their texts */
  rule *rule;
  uint32_t n, cap;
} rules;

/* A part of a name that a star matched. */
typedef struct piece {
  const char *s;
  size_t n;
} piece;

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory to rename tensors");
}

/* Gives a failure the line of its rule. */
static vt_status set_line(vt_diag *d, const rule *r, vt_status s) {
  if (d == NULL || d->line != 0) return s;
  d->line = r->line;
  d->column = 1;
  vt_archive_escape(r->text, strlen(r->text), d->source);
  return s;
}

/* ---- matching ---- */

/* 1 if the pattern matches the whole name; writes what its stars matched. A star takes as few bytes
 * as possible and gets one more whenever the rest does not match. Only the last star needs that: a
 * longer match of an earlier one would leave less for the same rest, and cannot shift it past a
 * dot. */
static int pattern_matches(const char *p, const char *name, piece out[VT_MAP_STARS_MAX]) {
  const char *s = name, *after_star = NULL;
  piece *last = NULL;
  for (;;) {
    if (*p == '*' && *s != '\0' && *s != '.') {
      last = last == NULL ? out : last + 1;
      *last = (piece){s++, 1};
      after_star = ++p;
    } else if (*p != '*' && *p == *s) {
      if (*p == '\0') return 1;
      p++, s++;
    } else {
      if (last == NULL || last->s[last->n] == '\0' || last->s[last->n] == '.') return 0;
      s = last->s + ++last->n;
      p = after_star;
    }
  }
}

/* The name of a rule with its stars replaced; NULL if memory runs out. */
static const char *make_name(vt_arena *arena, const char *name, const piece *pieces) {
  size_t n = 0;
  const piece *next = pieces;
  for (const char *c = name; *c != '\0'; c++) n += *c == '*' ? (next++)->n : 1;
  char *out = vt_arena_array(arena, n + 1, 1);
  if (out == NULL) return NULL;
  char *to = out;
  next = pieces;
  for (const char *c = name; *c != '\0'; c++) {
    if (*c != '*') {
      *to++ = *c;
      continue;
    }
    memcpy(to, next->s, next->n);
    to += (next++)->n;
  }
  return out;
}

/* ---- reading the rules ---- */

static size_t count_stars(const char *s) {
  size_t n = 0;
  for (; *s != '\0'; s++) n += *s == '*';
  return n;
}

static vt_status check_rule(const rule *r, vt_diag *d) {
  const size_t stars = count_stars(r->pattern);
  if (!vt_archive_name_ok(r->pattern) || (r->name[0] != '\0' && !vt_archive_name_ok(r->name)))
    return VT_FAIL(d, VT_FORMAT, "a rule of the map has the form 'pattern = name', in UTF-8");
  if (strstr(r->pattern, "**") != NULL)
    return VT_FAIL(d, VT_FORMAT,
                   "two stars follow each other in a pattern, so that it is not clear what each of "
                   "them matches");
  if (stars > VT_MAP_STARS_MAX)
    return VT_FAIL(d, VT_LIMIT, "a pattern has %zu stars, more than %d", stars, VT_MAP_STARS_MAX);
  if (count_stars(r->name) > stars)
    return VT_FAIL(d, VT_FORMAT, "the name has more stars than the pattern");
  return VT_OK;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* A copy of s[0..n) without the blanks around it; NULL if memory runs out. */
static const char *copy_trimmed(vt_arena *arena, const char *s, size_t n) {
  while (n > 0 && is_blank(s[0])) s++, n--;
  while (n > 0 && is_blank(s[n - 1])) n--;
  return vt_arena_string(arena, s, n);
}

/* Length of a line without its comment: a # that begins the line or follows a blank. */
static size_t length_without_comment(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (s[i] == '#' && (i == 0 || is_blank(s[i - 1]))) return i;
  return n;
}

/* Reads one line: a rule, a comment, or blanks. */
static vt_status read_line(rules *all, const char *s, size_t n, uint32_t line, vt_diag *d) {
  rule r = {.line = line};
  r.text = vt_arena_string(&all->arena, s, n < VT_MAP_LINE_MAX ? n : VT_MAP_LINE_MAX);
  if (r.text == NULL) return fail_no_memory(d);
  if (n > VT_MAP_LINE_MAX)
    return set_line(
        d, &r,
        VT_FAIL(d, VT_LIMIT, "a line of the map has %zu bytes, more than %d", n, VT_MAP_LINE_MAX));
  n = length_without_comment(s, n);
  const char *equals = memchr(s, '=', n);
  const size_t left = equals != NULL ? (size_t)(equals - s) : n;
  r.pattern = copy_trimmed(&all->arena, s, left);
  r.name = equals != NULL ? copy_trimmed(&all->arena, equals + 1, n - left - 1) : "";
  if (r.pattern == NULL || r.name == NULL) return fail_no_memory(d);
  if (equals == NULL && r.pattern[0] == '\0') return VT_OK;
  if (equals == NULL)
    return set_line(d, &r,
                    VT_FAIL(d, VT_FORMAT, "a rule of the map has no '=' between pattern and name"));
  const vt_status checked = check_rule(&r, d);
  if (checked != VT_OK) return set_line(d, &r, checked);
  rule *list = vt_arena_grow(&all->arena, all->rule, all->n, &all->cap, sizeof r);
  if (list == NULL) return fail_no_memory(d);
  list[all->n++] = r;
  all->rule = list;
  return VT_OK;
}

static vt_status read_rules(rules *all, const char *map, vt_diag *d) {
  const size_t n = strlen(map);
  uint32_t line = 1;
  if (n > VT_MAP_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the map has %zu bytes, more than %d", n, VT_MAP_LIMIT);
  for (const char *s = map; *s != '\0'; line++) {
    const size_t length = strcspn(s, "\n");
    VT_TRY(read_line(all, s, length, line, d));
    if (all->n > VT_MAP_RULES_MAX)
      return VT_FAIL(d, VT_LIMIT, "the map has more than %d rules", VT_MAP_RULES_MAX);
    s += length + (s[length] == '\n');
  }
  return VT_OK;
}

/* ---- applying them ---- */

/* Renames one entry by the first rule that matches. An entry to drop loses its name. */
static vt_status rename_entry(rules *all, vt_weight_list *l, vt_weight_entry *e, vt_diag *d) {
  piece pieces[VT_MAP_STARS_MAX];
  for (uint32_t i = 0; i < all->n; i++) {
    rule *r = &all->rule[i];
    if (!pattern_matches(r->pattern, e->name_read, pieces)) continue;
    r->used = 1;
    e->name = r->name[0] != '\0' ? make_name(&l->arena, r->name, pieces) : NULL;
    return r->name[0] == '\0' || e->name != NULL ? VT_OK : fail_no_memory(d);
  }
  return VT_OK;
}

static void remove_dropped(vt_weight_list *l) {
  const uint32_t n = l->n_entries;
  l->n_entries = 0;
  for (uint32_t i = 0; i < n; i++) {
    const vt_weight_entry e = l->entries[i];
    if (e.name != NULL)
      l->entries[l->n_entries++] = e;
    else
      vt_alloc_free(l->a, e.tensor.data, e.bytes != 0 ? (size_t)e.bytes : 1);
  }
}

/* A rule that renames nothing is misspelt, or earlier rules take all its tensors. Only the first
 * names are compared with it, so that a large file cannot make the message slow. */
static vt_status fail_unused(const rule *r, const vt_weight_list *l, vt_diag *d) {
  enum { MOST = 10000 };
  char q[VT_QUOTE_MAX];
  vt_suggestion near = {.wanted = r->pattern};
  for (uint32_t i = 0; i < l->n_entries && i < MOST; i++)
    vt_suggestion_consider(&near, l->entries[i].name_read);
  const vt_status s =
      VT_FAIL(d, VT_NAME, "no tensor matches '%s', or an earlier rule matches it first",
              vt_archive_escape(r->pattern, strlen(r->pattern), q));
  if (d != NULL && near.best != NULL && d->hint[0] == '\0')
    snprintf(d->hint, sizeof d->hint, "did you mean '%s'?", near.best);
  return set_line(d, r, s);
}

static vt_status apply_rules(rules *all, vt_weight_list *l, vt_diag *d) {
  for (uint32_t i = 0; i < l->n_entries; i++) VT_TRY(rename_entry(all, l, &l->entries[i], d));
  for (uint32_t i = 0; i < all->n; i++)
    if (!all->rule[i].used) return fail_unused(&all->rule[i], l, d);
  remove_dropped(l);
  return VT_OK;
}

vt_status vt_weight_list_rename(vt_weight_list *l, const char *map, vt_diag *d) {
  rules all = {.n = 0};
  vt_arena_init(&all.arena, l->a);
  vt_status s = read_rules(&all, map, d);
  if (s == VT_OK) s = apply_rules(&all, l, d);
  vt_arena_done(&all.arena);
  return s;
}
