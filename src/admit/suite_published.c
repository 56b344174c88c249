/* SPDX-License-Identifier: Apache-2.0
 * suite_published.c - reads the published digests of the example models. Each example has a line:
 * DIGEST MODEL BIND seed=S inputs=S. */
#include <string.h>
#include "suite_build.h"
#include "vt_decimal.h"

typedef struct published {
  vt_suite *s;
  const vt_suite_part *part;
  uint32_t n_parts, line;
  vt_diag *d;
} published;

static vt_status fail_line(const published *p, const char *what) {
  (void)VT_FAIL(p->d, VT_FORMAT, "published.digests:%u: %s", p->line, what);
  if (p->d != NULL && p->d->line == 0) p->d->line = p->line;
  return VT_FORMAT;
}

static vt_status no_memory(const published *p) { return VT_FAIL(p->d, VT_NOMEM, "out of memory"); }

enum { WORDS = 5 };

/* Splits a line into words in place; returns their number, or WORDS + 1 if there are too many. */
static int split_words(char *line, char *word[WORDS]) {
  int n = 0;
  for (char *at = line + strspn(line, " \t\r"); *at != 0 && *at != '#';) {
    if (n == WORDS) return WORDS + 1;
    word[n++] = at;
    at += strcspn(at, " \t\r");
    if (*at != 0) *at++ = 0;
    at += strspn(at, " \t\r");
  }
  return n;
}

static int read_digest(const char *word, uint8_t out[32]) {
  static const char digits[] = "0123456789abcdef";
  if (strlen(word) != 64 || strspn(word, digits) != 64) return 0;
  for (int i = 0; i < 32; i++)
    out[i] = (uint8_t)((strchr(digits, word[2 * i]) - digits) * 16 +
                       (strchr(digits, word[2 * i + 1]) - digits));
  return 1;
}

/* Parses a word such as "seed=7" with the key "seed=". */
static int read_seed(const char *word, const char *key, uint64_t *out) {
  const size_t n = strlen(key);
  int64_t value;
  if (strncmp(word, key, n) != 0 || !vt_decimal_i64(word + n, strlen(word + n), &value)) return 0;
  *out = (uint64_t)value;
  return value >= 0;
}

/* Parses "B=2,T=16", or "-" for no bindings. The text is split in place and must stay valid. */
static vt_status read_bindings(const published *p, char *text, vt_suite_example *out) {
  uint32_t n = 1;
  if (strcmp(text, "-") == 0) return VT_OK;
  for (const char *at = text; *at != 0; at++) n += *at == ',';
  vt_binding *bind = VT_NEW_N(&p->s->arena, vt_binding, n);
  if (bind == NULL) return no_memory(p);
  for (uint32_t i = 0; i < n; i++) {
    char *end = text + strcspn(text, ","), *equals = strchr(text, '=');
    *end = 0;
    if (equals == NULL || equals > end ||
        !vt_decimal_i64(equals + 1, (size_t)(end - equals) - 1, &bind[i].value))
      return fail_line(p, "not a binding");
    *equals = 0;
    bind[i].name = text;
    text = end + 1;
  }
  out->n_bind = n;
  out->bind = bind;
  return VT_OK;
}

static vt_status find_model_text(const published *p, vt_suite_example *out) {
  for (uint32_t i = 0; i < p->n_parts; i++) {
    const vt_suite_part *part = &p->part[i];
    if (strlen(out->name) != part->n_name || memcmp(out->name, part->name, part->n_name) != 0)
      continue;
    out->text = vt_arena_string(&p->s->arena, (const char *)part->bytes, part->n);
    return out->text == NULL ? no_memory(p) : VT_OK;
  }
  return fail_line(p, "no such model");
}

static vt_status add_example_of_line(const published *p, char *line) {
  vt_suite *s = p->s;
  char *word[WORDS];
  const int n = split_words(line, word);
  if (n == 0) return VT_OK;
  vt_suite_example e = {0};
  if (n != WORDS || !read_digest(word[0], e.digest) || !read_seed(word[3], "seed=", &e.seed) ||
      !read_seed(word[4], "inputs=", &e.inputs_seed))
    return fail_line(p, "a line is: DIGEST MODEL BIND seed=S inputs=S");
  e.name = word[1];
  VT_TRY(read_bindings(p, word[2], &e));
  VT_TRY(find_model_text(p, &e));
  vt_suite_example *more =
      vt_arena_grow(&s->arena, s->example, s->n_examples, &s->cap_examples, sizeof e);
  if (more == NULL) return no_memory(p);
  s->example = more;
  s->example[s->n_examples++] = e;
  return VT_OK;
}

vt_status vt_suite_add_published(vt_suite *s, const vt_suite_part *lines, const vt_suite_part *part,
                                 uint32_t n_parts, vt_diag *d) {
  published p = {.s = s, .part = part, .n_parts = n_parts, .d = d};
  char *text = vt_arena_string(&s->arena, (const char *)lines->bytes, lines->n);
  if (text == NULL) return no_memory(&p);
  for (char *at = text, *next; at != NULL; at = next) {
    next = strchr(at, '\n');
    if (next != NULL) *next++ = 0;
    p.line++;
    VT_TRY(add_example_of_line(&p, at));
  }
  return VT_OK;
}
