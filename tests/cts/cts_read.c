/* SPDX-License-Identifier: Apache-2.0
 * cts_read.c - the case files: reading *.cts, putting values for variables, naming every case.
 * docs/conformance.md has the format. */
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_file.h"
#include "vt_hash.h"
#include "vt_sort.h"

const char *const cts_mix_name[CTS_MIXES] = {"ordinary", "special", "tiny", "wide",
                                             "zeros",    "flat",    "few"};
const int64_t cts_size[CTS_SIZES] = {7,  8,   9,   15,  16,   17,   31,  32,
                                     33, 255, 256, 257, 1023, 1024, 1025};

void cts_die(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  fprintf(stderr, "cts: ");
  vfprintf(stderr, format, ap);
  fprintf(stderr, "\n");
  va_end(ap);
  exit(2);
}

/* ---- one file ---- */

typedef struct reader {
  cts_suite *s;
  const char *file;
  uint32_t line;
  cts_block *b; /* the open case, or NULL */
  vt_text text; /* its model */
} reader;

static _Noreturn void wrong(const reader *r, const char *what, const char *word) {
  cts_die("%s:%u: %s '%s'", r->file, r->line, what, word);
}

static char *trim(char *s) {
  while (isspace((unsigned char)*s)) s++;
  char *end = s + strlen(s);
  while (end > s && isspace((unsigned char)end[-1])) end--;
  *end = 0;
  return s;
}

/* Cuts the first word off; `rest` is what follows it. */
static char *first_word(char *s, char **rest) {
  char *end = s + strcspn(s, " \t");
  *rest = *end == 0 ? end : trim(end + 1);
  *end = 0;
  return s;
}

static void *new_items(cts_suite *s, size_t n, size_t size) {
  void *p = vt_arena_array(&s->arena, n, size);
  if (p == NULL) cts_die("out of memory");
  return p;
}

static char *keep(cts_suite *s, const char *text) {
  char *p = vt_arena_string(&s->arena, text, strlen(text));
  if (p == NULL) cts_die("out of memory");
  return p;
}

static void open_block(reader *r, char *rest) {
  cts_suite *s = r->s;
  if (r->b != NULL) wrong(r, "the case before is not ended:", r->b->name);
  cts_block *b = new_items(s, 1, sizeof *b);
  char *name = keep(s, rest), *op = first_word(rest, &rest);
  for (char *p = name; *p != 0; p++)
    if (*p == ' ') *p = '.';
  b->file = r->file;
  b->line = r->line;
  b->name = name;
  b->op = vt_op_find(op);
  if (b->op == NULL) wrong(r, "no op is called", op);
  s->block = vt_arena_grow(&s->arena, s->block, s->n_blocks, &s->cap_blocks, sizeof *s->block);
  if (s->block == NULL) cts_die("out of memory");
  s->block[s->n_blocks++] = b;
  r->b = b;
  vt_text_init(&r->text, vt_alloc_default());
}

/* Cuts `s` at every `mark` into at most `most` trimmed texts. */
static uint32_t cut(const reader *r, char *s, char mark, const char **out, uint32_t most) {
  uint32_t n = 0;
  for (;;) {
    char *end = strchr(s, mark);
    if (end != NULL) *end = 0;
    if (n == most) wrong(r, "too many values from", s);
    out[n++] = keep(r->s, trim(s));
    if (end == NULL) return n;
    s = end + 1;
  }
}

enum { MOST_VALUES = 200, MOST_NAMES = 10 };

/* The values of a variable as written; `sizes` is the standard list. */
static char *value_list(const reader *r, char *text) {
  vt_text list;
  text = trim(text);
  if (strcmp(text, "sizes") != 0) return text;
  vt_text_init(&list, vt_alloc_default());
  for (uint32_t i = 0; i < CTS_SIZES; i++)
    vt_text_add(&list, "%s%lld", i == 0 ? "" : " | ", (long long)cts_size[i]);
  if (vt_text_status(&list) != VT_OK) cts_die("out of memory");
  char *kept = keep(r->s, list.s);
  vt_text_done(&list);
  return kept;
}

static void add_over(reader *r, char *rest) {
  cts_block *b = r->b;
  const char *value[MOST_VALUES], *part[MOST_NAMES];
  char *equals = strchr(rest, '=');
  if (equals == NULL) wrong(r, "no '=' in", rest);
  *equals = 0;
  cts_over o = {0};
  o.name = new_items(r->s, MOST_NAMES, sizeof *o.name);
  o.n_names = cut(r, rest, '&', o.name, MOST_NAMES);
  o.n_values = cut(r, value_list(r, equals + 1), '|', value, MOST_VALUES);
  o.value = new_items(r->s, (size_t)o.n_values * o.n_names, sizeof *o.value);
  for (uint32_t i = 0; i < o.n_values; i++) {
    char *row = keep(r->s, value[i]);
    if (cut(r, row, '&', part, MOST_NAMES) != o.n_names) wrong(r, "wrong number of texts in", row);
    memcpy(o.value + (size_t)i * o.n_names, part, o.n_names * sizeof *part);
  }
  b->over = vt_arena_grow(&r->s->arena, b->over, b->n_over, &b->cap_over, sizeof o);
  if (b->over == NULL) cts_die("out of memory");
  b->over[b->n_over++] = o;
}

static void add_mixes(reader *r, char *rest) {
  while (*rest != 0) {
    const char *word = first_word(rest, &rest);
    int mix = 0;
    while (mix < CTS_MIXES && strcmp(word, cts_mix_name[mix]) != 0) mix++;
    if (mix == CTS_MIXES) wrong(r, "no mix is called", word);
    r->b->mixes |= 1u << mix;
  }
}

static void add_domain(reader *r, int wanted, char *rest) {
  cts_block *b = r->b;
  cts_domain d = {.wanted = wanted, .lo = -2, .hi = 2};
  char *in = strstr(rest, " in ");
  if (in != NULL) {
    char *end;
    d.lo = strtod(in + 4, &end);
    if (strncmp(end, "..", 2) != 0) wrong(r, "not a range:", in + 4);
    d.hi = strtod(end + 2, &end);
    if (*end != 0 || !(d.lo < d.hi)) wrong(r, "not a range:", in + 4);
    *in = 0;
  }
  while (*rest != 0) {
    char *word = first_word(rest, &rest);
    word[strcspn(word, ",")] = 0;
    d.input = keep(r->s, word);
    b->domain = vt_arena_grow(&r->s->arena, b->domain, b->n_domains, &b->cap_domains, sizeof d);
    if (b->domain == NULL) cts_die("out of memory");
    b->domain[b->n_domains++] = d;
  }
}

static void close_block(reader *r) {
  cts_block *b = r->b;
  if (r->text.n == 0 || vt_text_status(&r->text) != VT_OK) wrong(r, "no model in", b->name);
  b->text = keep(r->s, r->text.s);
  vt_text_done(&r->text);
  if (b->mixes == 0) b->mixes = (1u << CTS_MIXES) - 1;
  if (strstr(b->text, "input ") == NULL) b->mixes = 1; /* nothing to draw */
  r->b = NULL;
}

static void read_line(reader *r, char *line) {
  char *words = trim(line), *rest, *whole;
  if (*words == 0) return;
  whole = keep(r->s, words);
  const char *word = first_word(words, &rest);
  if (strcmp(word, "case") == 0) {
    open_block(r, rest);
    return;
  }
  if (r->b == NULL) wrong(r, "expected a case, found", word);
  if (strcmp(word, "over") == 0) {
    add_over(r, rest);
  } else if (strcmp(word, "mix") == 0) {
    add_mixes(r, rest);
  } else if (strcmp(word, "grad") == 0) {
    add_domain(r, 1, rest);
  } else if (strcmp(word, "straight") == 0) {
    add_domain(r, 1, rest);
    r->b->straight = 1;
  } else if (strcmp(word, "given") == 0) {
    add_domain(r, 0, rest);
  } else if (strcmp(word, "expect") == 0) {
    if (strcmp(rest, "range") != 0) wrong(r, "only 'range' can be expected, not", rest);
    r->b->may_fail = 1;
  } else if (strcmp(word, "end") == 0) {
    close_block(r);
  } else {
    vt_text_add(&r->text, "  %s\n", whole);
  }
}

static void read_file(cts_suite *s, const char *folder, const char *name) {
  char path[4096];
  vt_file f;
  vt_diag d = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (vt_file_read(path, 1 << 24, vt_alloc_default(), &f, &d) != VT_OK) cts_die("%s", d.text);
  reader r = {.s = s, .file = keep(s, name)};
  for (char *at = (char *)f.data, *next; at != NULL; at = next) {
    next = strchr(at, '\n');
    if (next != NULL) *next++ = 0;
    at[strcspn(at, "#")] = 0;
    r.line++;
    read_line(&r, at);
  }
  if (r.b != NULL) wrong(&r, "the file ends inside the case", r.b->name);
  vt_file_done(&f);
}

/* ---- expanding ---- */

/* The longest variable that `at`, behind a $, starts with; its value for the given choice. */
static const char *value_at(const cts_block *b, const uint32_t *choice, const char *at,
                            size_t *length) {
  const char *value = NULL;
  *length = 0;
  for (uint32_t i = 0; i < b->n_over; i++)
    for (uint32_t k = 0; k < b->over[i].n_names; k++) {
      const size_t n = strlen(b->over[i].name[k]);
      if (n <= *length || strncmp(at, b->over[i].name[k], n) != 0) continue;
      *length = n;
      value = b->over[i].value[choice[i] * b->over[i].n_names + k];
    }
  return value;
}

static void model_text(const cts_block *b, const uint32_t *choice, vt_text *out) {
  vt_text_add(out, "volta 1\nmodel m {\n");
  for (const char *at = b->text; *at != 0;) {
    const size_t plain = strcspn(at, "$");
    vt_text_bytes(out, at, plain);
    at += plain;
    if (*at == 0) break;
    size_t length;
    const char *value = value_at(b, choice, at + 1, &length);
    if (value == NULL) cts_die("%s:%u: no variable fits '%.20s'", b->file, b->line, at);
    vt_text_add(out, "%s", value);
    at += 1 + length;
  }
  vt_text_add(out, "}\n");
}

static void model_name(const cts_block *b, const uint32_t *choice, vt_text *out) {
  vt_text_add(out, "%s", b->name);
  for (uint32_t i = 0; i < b->n_over; i++)
    for (uint32_t k = 0; k < b->over[i].n_names; k++) {
      vt_text_add(out, "/%s=", b->over[i].name[k]);
      for (const char *v = b->over[i].value[choice[i] * b->over[i].n_names + k]; *v != 0; v++)
        if (*v != ' ') vt_text_bytes(out, v, 1);
    }
}

static void add_case(cts_suite *s, const cts_model *m, int mix, int gradient) {
  char name[600];
  s->cases = vt_arena_grow(&s->arena, s->cases, s->n_cases, &s->cap_cases, sizeof *s->cases);
  if (s->cases == NULL) cts_die("out of memory");
  snprintf(name, sizeof name, "%s/%s%s", m->name, gradient ? "gradient." : "", cts_mix_name[mix]);
  s->cases[s->n_cases++] = (cts_case){m, keep(s, name), mix, gradient};
}

static void add_model(cts_suite *s, const cts_block *b, const uint32_t *choice) {
  cts_model *m = new_items(s, 1, sizeof *m);
  vt_text name, text;
  vt_text_init(&name, vt_alloc_default());
  vt_text_init(&text, vt_alloc_default());
  model_name(b, choice, &name);
  model_text(b, choice, &text);
  if (name.failed || text.failed) cts_die("out of memory");
  *m = (cts_model){b, keep(s, name.s), keep(s, text.s)};
  vt_text_done(&name);
  vt_text_done(&text);
  s->model = vt_arena_grow(&s->arena, s->model, s->n_models, &s->cap_models, sizeof *s->model);
  if (s->model == NULL) cts_die("out of memory");
  s->model[s->n_models++] = m;
  for (int mix = 0; mix < CTS_MIXES; mix++)
    if (b->mixes >> mix & 1) add_case(s, m, mix, 0);
  for (int mix = 0; cts_has_gradient(b) && mix <= CTS_SPECIAL; mix++) add_case(s, m, mix, 1);
}

static void expand(cts_suite *s, const cts_block *b) {
  uint32_t choice[16] = {0}, i;
  if (b->n_over > 16) cts_die("%s:%u: too many variables", b->file, b->line);
  do {
    add_model(s, b, choice);
    for (i = 0; i < b->n_over && ++choice[i] == b->over[i].n_values; i++) choice[i] = 0;
  } while (i < b->n_over);
}

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const cts_case *)a)->name, ((const cts_case *)b)->name);
}

static int is_case_file(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return dot != NULL && strcmp(dot, ".cts") == 0;
}

void cts_suite_read(cts_suite *s, const char *folder) {
  struct dirent **entry;
  memset(s, 0, sizeof *s);
  vt_arena_init(&s->arena, vt_alloc_default());
  const int n = scandir(folder, &entry, is_case_file, alphasort);
  if (n <= 0) cts_die("no case files in %s", folder);
  for (int i = 0; i < n; i++) {
    read_file(s, folder, entry[i]->d_name);
    free(entry[i]);
  }
  free(entry);
  for (uint32_t i = 0; i < s->n_blocks; i++) expand(s, s->block[i]);
  if (vt_sort(s->cases, s->n_cases, sizeof *s->cases, by_name, NULL, vt_alloc_default()) != VT_OK)
    cts_die("out of memory");
  for (uint32_t i = 1; i < s->n_cases; i++)
    if (strcmp(s->cases[i - 1].name, s->cases[i].name) == 0)
      cts_die("two cases are called %s (%s:%u, %s:%u)", s->cases[i].name,
              s->cases[i - 1].model->block->file, s->cases[i - 1].model->block->line,
              s->cases[i].model->block->file, s->cases[i].model->block->line);
}

void cts_suite_done(cts_suite *s) { vt_arena_done(&s->arena); }

/* ---- choosing ---- */

static int fits(const char *pattern, const char *s) {
  for (; *pattern != '*'; pattern++, s++) {
    if (*pattern != *s) return 0;
    if (*s == 0) return 1;
  }
  for (;; s++) {
    if (fits(pattern + 1, s)) return 1;
    if (*s == 0) return 0;
  }
}

int cts_matches(const cts_model *m, const char *name, const char *pattern) {
  return strcmp(m->block->op->name, pattern) == 0 || fits(pattern, name);
}

/* The op, the element types that its model names, and the mix. */
static void kind_of(const cts_case *c, char *out, size_t room) {
  size_t n = (size_t)snprintf(out, room, "%s/%d%d", c->model->block->op->name, c->mix, c->gradient);
  for (const char *at = c->model->text + 1; *at != 0 && n + 8 < room; at++) {
    if (!islower((unsigned char)*at) || isalnum((unsigned char)at[-1])) continue;
    for (uint32_t t = 1; vt_dtype_name(t) != NULL; t++) {
      const size_t length = strlen(vt_dtype_name(t));
      if (strncmp(at, vt_dtype_name(t), length) == 0 && !isalnum((unsigned char)at[length]))
        n += (size_t)snprintf(out + n, room - n, "/%s", vt_dtype_name(t));
    }
  }
}

enum { KINDS = 1 << 16 };

/* 1 the first time a kind is seen. */
static int is_new(uint64_t *seen, const char *kind) {
  const uint64_t h = cts_seed(kind) | 1;
  for (uint64_t at = h >> 20;; at++) {
    uint64_t *slot = &seen[at % KINDS];
    if (*slot == h) return 0;
    if (*slot != 0) continue;
    *slot = h;
    return 1;
  }
}

void cts_choose_short(const cts_suite *s, uint8_t *chosen) {
  uint64_t *seen = calloc(KINDS, sizeof *seen);
  if (seen == NULL) cts_die("out of memory");
  /* From the end: the first names are those of empty tensors (`S=0,3`), which show nothing. */
  for (uint32_t i = s->n_cases; i-- > 0;) {
    char kind[400];
    kind_of(&s->cases[i], kind, sizeof kind);
    chosen[i] = is_new(seen, kind) || cts_seed(s->cases[i].name) % 32 == 0;
  }
  free(seen);
}
