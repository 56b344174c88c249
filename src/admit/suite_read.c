/* SPDX-License-Identifier: Apache-2.0
 * suite_read.c - parses a case file into blocks. The text is copied once and split in place, and
 * the words of a block point into the copy. docs/conformance.md has the format. A block is the
 * lines from `case` to `end`. For each kind of line (over, mix, grad, given, straight, expect) a
 * function gets the rest of the line. */
#include <string.h>
#include "suite_build.h"
#include "vt_decimal.h"

typedef struct reader {
  vt_suite *s;
  const char *file;  /* name of the file in messages */
  uint32_t line;     /* number of the current line */
  vt_suite_block *b; /* the block being read, or NULL */
  vt_text text;      /* lines of the model of `b` so far */
  vt_diag *d;
} reader;

static vt_status fail_line(const reader *r, const char *what, const char *word) {
  const vt_status s = VT_FAIL(r->d, VT_FORMAT, "%s:%u: %s '%.200s'", r->file, r->line, what, word);
  if (r->d != NULL && r->d->line == 0) r->d->line = r->line;
  return s;
}

static vt_status no_memory(const reader *r) { return VT_FAIL(r->d, VT_NOMEM, "out of memory"); }

/* ---- words ---- */

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static char *trim_spaces(char *s) {
  while (is_space(*s)) s++;
  char *end = s + strlen(s);
  while (end > s && is_space(end[-1])) end--;
  *end = 0;
  return s;
}

/* Cuts the first word off `s` and returns it; *rest becomes the trimmed text after it. */
static char *cut_first_word(char *s, char **rest) {
  char *end = s + strcspn(s, " \t");
  *rest = *end == 0 ? end : trim_spaces(end + 1);
  *end = 0;
  return s;
}

/* The text after the line's first word if that word is `word`, else NULL. */
static char *text_after_first_word(char *line, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(line, word, n) != 0 || (line[n] != 0 && !is_space(line[n]))) return NULL;
  return trim_spaces(line + n);
}

/* Splits `text` at every `mark` into at most `most` trimmed texts. */
static vt_status split_and_trim_at(const reader *r, char *text, char mark, const char **out,
                                   uint32_t most, uint32_t *out_n) {
  uint32_t n = 0;
  for (char *end; text != NULL; text = end) {
    end = strchr(text, mark);
    if (end != NULL) *end++ = 0;
    text = trim_spaces(text);
    if (n == most) return fail_line(r, "too many values from", text);
    out[n++] = text;
  }
  *out_n = n;
  return VT_OK;
}

/* ---- the lines of a block ---- */

static vt_status read_case_line(reader *r, char *rest) {
  vt_suite *s = r->s;
  if (r->b != NULL) return fail_line(r, "the case before is not ended:", r->b->name);
  char *end = rest + strcspn(rest, " \t"), kept = *end;
  *end = 0;
  const vt_op_info *op = vt_op_find(rest);
  if (op == NULL) return fail_line(r, "no op is called", rest);
  *end = kept;
  for (char *p = rest; *p != 0; p++)
    if (*p == ' ') *p = '.';
  vt_suite_block *b = VT_NEW(&s->arena, vt_suite_block);
  vt_suite_block **blocks =
      vt_arena_grow(&s->arena, s->block, s->n_blocks, &s->cap_blocks, sizeof *s->block);
  if (blocks == NULL) return no_memory(r);
  *b = (vt_suite_block){.file = r->file, .line = r->line, .op = op, .name = rest};
  s->block = blocks;
  s->block[s->n_blocks++] = b;
  r->b = b;
  return VT_OK;
}

enum { MOST_VALUES = 200, MOST_NAMES = 10 };

/* The values of a variable as text; the word `sizes` is replaced by the standard list. */
static vt_status read_value_list(const reader *r, char *text, char **out) {
  *out = trim_spaces(text);
  if (strcmp(*out, "sizes") != 0) return VT_OK;
  vt_text list;
  vt_text_init(&list, r->s->alloc);
  for (uint32_t i = 0; i < VT_SUITE_SIZES; i++)
    vt_text_add(&list, "%s%lld", i == 0 ? "" : " | ", (long long)vt_suite_size[i]);
  const int failed = vt_text_status(&list) != VT_OK;
  *out = failed ? NULL : vt_arena_string(&r->s->arena, list.s, list.n);
  vt_text_done(&list);
  return *out == NULL ? no_memory(r) : VT_OK;
}

/* Splits the value texts of the `over` line `o` into rows with a value for each variable. */
static vt_status add_value_rows(const reader *r, vt_suite_over *o, const char **value) {
  o->value = VT_NEW_N(&r->s->arena, const char *, (size_t)o->n_values * o->n_names);
  if (o->value == NULL) return no_memory(r);
  for (uint32_t i = 0; i < o->n_values; i++) {
    const char *part[MOST_NAMES];
    uint32_t n = 0;
    char *row = vt_arena_string(&r->s->arena, value[i], strlen(value[i]));
    if (row == NULL) return no_memory(r);
    VT_TRY(split_and_trim_at(r, row, '&', part, MOST_NAMES, &n));
    if (n != o->n_names) return fail_line(r, "wrong number of texts in", value[i]);
    memcpy(o->value + (size_t)i * n, part, n * sizeof *part);
  }
  return VT_OK;
}

static vt_status read_over_line(reader *r, char *rest) {
  vt_suite_block *b = r->b;
  const char *value[MOST_VALUES];
  char *equals = strchr(rest, '='), *list;
  vt_suite_over o = {.name = VT_NEW_N(&r->s->arena, const char *, MOST_NAMES)};
  if (equals == NULL) return fail_line(r, "no '=' in", rest);
  if (o.name == NULL) return no_memory(r);
  *equals = 0;
  VT_TRY(split_and_trim_at(r, rest, '&', o.name, MOST_NAMES, &o.n_names));
  VT_TRY(read_value_list(r, equals + 1, &list));
  VT_TRY(split_and_trim_at(r, list, '|', value, MOST_VALUES, &o.n_values));
  VT_TRY(add_value_rows(r, &o, value));
  vt_suite_over *over = vt_arena_grow(&r->s->arena, b->over, b->n_over, &b->cap_over, sizeof o);
  if (over == NULL) return no_memory(r);
  b->over = over;
  b->over[b->n_over++] = o;
  return VT_OK;
}

static vt_status read_mix_line(reader *r, char *rest) {
  while (*rest != 0) {
    const char *word = cut_first_word(rest, &rest);
    int mix = 0;
    while (mix < VT_MIXES && strcmp(word, vt_mix_name(mix)) != 0) mix++;
    if (mix == VT_MIXES) return fail_line(r, "no mix is called", word);
    r->b->mixes |= 1u << mix;
  }
  return VT_OK;
}

static int read_range(const char *text, vt_suite_domain *out) {
  const char *dots = strstr(text, "..");
  return dots != NULL && vt_decimal_f64(text, (size_t)(dots - text), &out->lo) &&
         vt_decimal_f64(dots + 2, strlen(dots + 2), &out->hi) && out->lo < out->hi;
}

/* Parses the names of inputs with an optional range: `x, y in 0.5..2`. */
static vt_status add_domains(reader *r, int gradient_wanted, char *rest) {
  vt_suite_block *b = r->b;
  vt_suite_domain domain = {.wanted = gradient_wanted, .lo = -2, .hi = 2};
  char *in = strstr(rest, " in ");
  if (in != NULL) {
    const char *range = trim_spaces(in + 4);
    if (!read_range(range, &domain)) return fail_line(r, "not a range:", range);
    *in = 0;
  }
  while (*rest != 0) {
    char *word = cut_first_word(rest, &rest);
    word[strcspn(word, ",")] = 0;
    domain.input = word;
    vt_suite_domain *more =
        vt_arena_grow(&r->s->arena, b->domain, b->n_domains, &b->cap_domains, sizeof domain);
    if (more == NULL) return no_memory(r);
    b->domain = more;
    b->domain[b->n_domains++] = domain;
  }
  return VT_OK;
}

static vt_status read_grad_line(reader *r, char *rest) { return add_domains(r, 1, rest); }
static vt_status read_given_line(reader *r, char *rest) { return add_domains(r, 0, rest); }
static vt_status read_straight_line(reader *r, char *rest) {
  r->b->straight = 1;
  return add_domains(r, 1, rest);
}

static vt_status read_expect_line(reader *r, char *rest) {
  if (strcmp(rest, "range") != 0) return fail_line(r, "only 'range' can be expected, not", rest);
  r->b->may_fail = 1;
  return VT_OK;
}

static vt_status read_end_line(reader *r, char *rest) {
  vt_suite_block *b = r->b;
  (void)rest;
  if (vt_text_status(&r->text) != VT_OK) return no_memory(r);
  if (r->text.n == 0) return fail_line(r, "no model in", b->name);
  b->text = vt_arena_string(&r->s->arena, r->text.s, r->text.n);
  if (b->text == NULL) return no_memory(r);
  r->text.n = 0; /* the buffer is reused for the next block */
  if (b->mixes == 0) b->mixes = (1u << VT_MIXES) - 1;
  /* Without inputs all mixes give the same case, so one is enough. */
  if (strstr(b->text, "input ") == NULL) b->mixes = 1;
  r->b = NULL;
  return VT_OK;
}

/* ---- the file ---- */

static vt_status read_line(reader *r, char *line) {
  static const struct {
    const char *word;
    vt_status (*read)(reader *r, char *rest);
  } words[] = {{"over", read_over_line},     {"mix", read_mix_line},
               {"grad", read_grad_line},     {"given", read_given_line},
               {"expect", read_expect_line}, {"straight", read_straight_line},
               {"end", read_end_line}};
  char *rest = text_after_first_word(line, "case");
  if (*line == 0) return VT_OK;
  if (rest != NULL) return read_case_line(r, rest);
  if (r->b == NULL) return fail_line(r, "expected a case, found", cut_first_word(line, &rest));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    rest = text_after_first_word(line, words[i].word);
    if (rest != NULL) return words[i].read(r, rest);
  }
  vt_text_add(&r->text, "  %s\n", line);
  return VT_OK;
}

static vt_status read_lines(reader *r, char *text, size_t n) {
  for (char *at = text, *end = text + n; at <= end;) {
    char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    *stop = 0;
    r->line++;
    if (strlen(at) != (size_t)(stop - at)) return fail_line(r, "a byte 0 follows", at);
    at[strcspn(at, "#")] = 0;
    VT_TRY(read_line(r, trim_spaces(at)));
    at = stop + 1;
  }
  return r->b == NULL ? VT_OK : fail_line(r, "the file ends inside the case", r->b->name);
}

vt_status vt_suite_add_file(vt_suite *s, const char *file, const void *bytes, size_t n,
                            vt_diag *d) {
  reader r = {.s = s, .d = d, .file = vt_arena_string(&s->arena, file, strlen(file))};
  char *text = vt_arena_string(&s->arena, bytes, n);
  if (text == NULL) return no_memory(&r);
  vt_text_init(&r.text, s->alloc);
  const vt_status status = read_lines(&r, text, n);
  vt_text_done(&r.text);
  return status;
}
