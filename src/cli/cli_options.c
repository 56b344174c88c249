/* SPDX-License-Identifier: Apache-2.0
 * cli_options.c - parses the arguments by the rows of options.def. --name=value and --name value
 * are equivalent, as are -o value and -ovalue; -- ends the flags. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

/* ---- the nearest name ---- */

enum { WORD_MAX = 32 };

static unsigned min3(unsigned a, unsigned b, unsigned c) {
  const unsigned m = a < b ? a : b;
  return m < c ? m : c;
}

/* Number of single-character edits that change `a` into `b`. Words longer than any of our names get
 * the largest distance, WORD_MAX. */
static unsigned edit_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n >= WORD_MAX || m >= WORD_MAX) return WORD_MAX;
  unsigned row[WORD_MAX];
  for (unsigned j = 0; j <= m; j++) row[j] = j;
  for (unsigned i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (unsigned j = 1; j <= m; j++) {
      const unsigned above = row[j];
      row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[m];
}

const char *cli_nearest_name(const char *word,
                             const char *(*name_at)(uint32_t i, const void *context),
                             const void *context) {
  const char *best = NULL;
  unsigned least = 3; /* a name is similar if fewer edits than this change the word into it */
  const char *name;
  for (uint32_t i = 0; (name = name_at(i, context)) != NULL; i++) {
    const unsigned far = edit_distance(word, name);
    if (far >= least || far >= strlen(name)) continue;
    least = far;
    best = name;
  }
  return best;
}

static const char *verb_name_at(uint32_t i, const void *context) {
  (void)context;
  return cli_verbs[i].name;
}

/* Name of flag `i` if the verb has it, else "", which is similar to no word. */
static const char *flag_name_at(uint32_t i, const void *verb) {
  const cli_flag *f = &cli_flags[i];
  return f->name == NULL || cli_flag_belongs_to_verb(f, verb) ? f->name : "";
}

vt_status cli_fail_unknown_verb(const char *word, cli_error *e) {
  const vt_status s = VT_FAIL(&e->diag, VT_USAGE, "there is no verb '%s'", word);
  const char *near = cli_nearest_name(word, verb_name_at, NULL);
  if (near != NULL) cli_set_hint(e, "did you mean `%s`?", near);
  if (near == NULL) cli_set_hint(e, "`volta --help` lists the verbs");
  return s;
}

static vt_status fail_unknown_flag(const cli_verb *verb, const char *word, cli_error *e) {
  const char *space = verb == NULL ? "" : " ", *name = verb == NULL ? "" : verb->name;
  const vt_status s =
      VT_FAIL(&e->diag, VT_USAGE, "`volta%s%s` has no flag '%s'", space, name, word);
  char plain[WORD_MAX] = "";
  const size_t n = strcspn(word + strspn(word, "-"), "=");
  if (n < sizeof plain) memcpy(plain, word + strspn(word, "-"), n);
  const char *near = plain[0] == '\0' ? NULL : cli_nearest_name(plain, flag_name_at, verb);
  if (near != NULL) cli_set_hint(e, "did you mean `--%s`?", near);
  if (near == NULL) cli_set_hint(e, "`volta%s%s --help` lists the flags", space, name);
  return s;
}

/* ---- parsing ---- */

typedef struct cursor {
  int argc, at;
  char **argv;
  cli_args *out;
  cli_error *e;
} cursor;

static const cli_flag *find_flag(const cli_verb *verb, const char *name, size_t n) {
  for (const cli_flag *f = cli_flags; f->name != NULL; f++)
    if (cli_flag_belongs_to_verb(f, verb) && strncmp(f->name, name, n) == 0 && f->name[n] == '\0')
      return f;
  return NULL;
}

static const cli_flag *find_flag_by_letter(const cli_verb *verb, char letter) {
  for (const cli_flag *f = cli_flags; f->name != NULL; f++)
    if (cli_flag_belongs_to_verb(f, verb) && f->letter == letter) return f;
  return NULL;
}

static vt_status add_flag(cursor *c, const cli_flag *flag, const char *value) {
  for (uint32_t i = 0; i < c->out->n_given && !flag->repeat; i++)
    if (c->out->given[i].flag == flag)
      return VT_FAIL(&c->e->diag, VT_USAGE, "--%s is given twice", flag->name);
  c->out->given[c->out->n_given++] = (cli_given){flag, value};
  return VT_OK;
}

/* Takes the next word as the value of a flag, unless that word is a flag itself. */
static vt_status take_next_word_as_value(cursor *c, const cli_flag *flag) {
  if (c->at + 1 >= c->argc || strncmp(c->argv[c->at + 1], "--", 2) == 0)
    return VT_FAIL(&c->e->diag, VT_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
                   flag->argument);
  return add_flag(c, flag, c->argv[++c->at]);
}

static vt_status parse_long_flag(cursor *c, const char *word) {
  const char *name = word + 2;
  const size_t n = strcspn(name, "=");
  const cli_flag *flag = find_flag(c->out->verb, name, n);
  if (flag == NULL) return fail_unknown_flag(c->out->verb, word, c->e);
  if (flag->argument == NULL && name[n] == '=')
    return VT_FAIL(&c->e->diag, VT_USAGE, "--%s takes no value", flag->name);
  if (flag->argument == NULL) return add_flag(c, flag, "");
  return name[n] == '=' ? add_flag(c, flag, name + n + 1) : take_next_word_as_value(c, flag);
}

static vt_status parse_short_flags(cursor *c, const char *word) {
  for (const char *p = word + 1; *p != '\0'; p++) {
    const cli_flag *flag = find_flag_by_letter(c->out->verb, *p);
    if (flag == NULL) return fail_unknown_flag(c->out->verb, word, c->e);
    if (flag->argument != NULL)
      return p[1] != '\0' ? add_flag(c, flag, p + 1) : take_next_word_as_value(c, flag);
    VT_TRY(add_flag(c, flag, ""));
  }
  return VT_OK;
}

static vt_status parse_operand(cursor *c, const char *word) {
  if (c->out->verb == NULL) {
    c->out->verb = cli_verb_find(word);
    return c->out->verb == NULL ? cli_fail_unknown_verb(word, c->e) : VT_OK;
  }
  c->out->operands[c->out->n_operands++] = word;
  return VT_OK;
}

static vt_status parse_words(cursor *c) {
  int flags_end = 0;
  for (; c->at < c->argc; c->at++) {
    const char *word = c->argv[c->at];
    if (!flags_end && strcmp(word, "--") == 0)
      flags_end = 1;
    else if (!flags_end && strncmp(word, "--", 2) == 0)
      VT_TRY(parse_long_flag(c, word));
    else if (!flags_end && word[0] == '-' && word[1] != '\0')
      VT_TRY(parse_short_flags(c, word));
    else
      VT_TRY(parse_operand(c, word));
  }
  return VT_OK;
}

int cli_wants_version(const cli_args *a) {
  for (uint32_t i = 0; i < a->n_given; i++)
    if (strcmp(a->given[i].flag->verb, "top") == 0) return 1;
  return 0;
}

static vt_status check_operand_count(const cli_args *a, cli_error *e) {
  const cli_verb *v = a->verb;
  if (cli_flag_value(a, "help") != NULL || cli_wants_version(a)) return VT_OK;
  if (v == NULL) {
    const vt_status s = VT_FAIL(&e->diag, VT_USAGE, "a verb is needed: volta VERB ...");
    cli_set_hint(e, "`volta --help` lists the verbs");
    return s;
  }
  VT_TRY(cli_refuse_both(a, "quiet", "verbose", e));
  if (a->n_operands >= v->least && a->n_operands <= v->most) return VT_OK;
  const vt_status s =
      a->n_operands < v->least
          ? VT_FAIL(&e->diag, VT_USAGE, "`volta %s` needs %s", v->name, v->operands)
          : VT_FAIL(&e->diag, VT_USAGE, "'%s' is one operand too many", a->operands[v->most]);
  cli_set_hint(e, "`volta %s --help` shows what it takes", v->name);
  return s;
}

/* Upper limit on the number of flags on a command line of `words` words: a word is one flag, or
 * several one-letter flags, of which none may occur twice. */
static size_t max_flags(size_t words) {
  size_t n = words;
  for (const cli_flag *f = cli_flags; f->name != NULL; f++) n++;
  return n;
}

vt_status cli_args_parse(int argc, char **argv, cli_args *out, cli_error *e) {
  const size_t n = argc > 0 ? (size_t)argc : 1;
  *out = (cli_args){.operands = calloc(n, sizeof(char *)),
                    .given = calloc(max_flags(n), sizeof(cli_given))};
  if (out->operands == NULL || out->given == NULL) return cli_no_memory(e);
  cursor c = {.argc = argc, .at = 1, .argv = argv, .out = out, .e = e};
  VT_TRY(parse_words(&c));
  return check_operand_count(out, e);
}

void cli_args_free(cli_args *a) {
  free(a->operands);
  free(a->given);
  *a = (cli_args){0};
}

/* ---- reading what was given ---- */

int cli_verb_accepts_flag(const cli_args *a, const char *name) {
  return find_flag(a->verb, name, strlen(name)) != NULL;
}

const char *cli_flag_value_at(const cli_args *a, const char *name, uint32_t i) {
  assert(cli_verb_accepts_flag(a, name));
  for (uint32_t k = 0; k < a->n_given; k++)
    if (strcmp(a->given[k].flag->name, name) == 0 && i-- == 0) return a->given[k].value;
  return NULL;
}

const char *cli_flag_value(const cli_args *a, const char *name) {
  return cli_flag_value_at(a, name, 0);
}

vt_status cli_flag_value_u64(const cli_args *a, const char *name, uint64_t otherwise, uint64_t *out,
                             cli_error *e) {
  const char *text = cli_flag_value(a, name);
  if (text == NULL) {
    *out = otherwise;
    return VT_OK;
  }
  char *end = NULL;
  errno = 0;
  const unsigned long long v = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
    return VT_FAIL(&e->diag, VT_USAGE, "--%s takes a whole number from 0 to 2^64-1, not '%s'", name,
                   text);
  *out = v;
  return VT_OK;
}

vt_status cli_refuse_both(const cli_args *a, const char *flag, const char *other, cli_error *e) {
  if (cli_flag_value(a, flag) == NULL || cli_flag_value(a, other) == NULL) return VT_OK;
  return VT_FAIL(&e->diag, VT_USAGE, "--%s and --%s contradict each other", flag, other);
}
