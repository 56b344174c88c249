/* SPDX-License-Identifier: Apache-2.0
 * status.c - the rows of status.def as functions, and the only function that writes a vt_diag. */
#include "volta/volta_status.h"
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
  int value, exit;
  const char *name; /* the status name in capitals, as in the table */
  const char *text, *help;
} row;

static const row rows[] = {
#define VT_STATUS(name, value, exit, text, help) {value, exit, #name, text, help},
#include "volta/status.def"
#undef VT_STATUS
};

enum { N_ROWS = sizeof rows / sizeof rows[0], NAME_BYTES = 16 };

/* The lower-case names. The table has capitals because they become enumerators, and the
 * preprocessor cannot change case; they are converted once, on first use. */
static char lower_names[N_ROWS][NAME_BYTES];
static pthread_once_t lower_once = PTHREAD_ONCE_INIT;

static char to_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static void init_lower_names(void) {
  for (size_t i = 0; i < N_ROWS; i++)
    for (size_t j = 0; j + 1 < NAME_BYTES && rows[i].name[j] != 0; j++)
      lower_names[i][j] = to_lower(rows[i].name[j]);
}

static const row *find_row(vt_status s) {
  for (size_t i = 0; i < N_ROWS; i++)
    if (rows[i].value == (int)s) return &rows[i];
  return NULL;
}

const char *vt_status_name(vt_status s) {
  const row *r = find_row(s);
  if (r == NULL) return "unknown";
  pthread_once(&lower_once, init_lower_names);
  return lower_names[r - rows];
}

const char *vt_status_text(vt_status s) {
  const row *r = find_row(s);
  return r != NULL ? r->text : "unknown status";
}

const char *vt_status_help(vt_status s) {
  const row *r = find_row(s);
  return r != NULL ? r->help : "No status has this number.";
}

/* A status that is missing in the table is a bug of ours, so it exits like VT_INTERNAL. */
int vt_status_exit(vt_status s) {
  const row *r = find_row(s);
  return r != NULL ? r->exit : 70;
}

static int equal_ignoring_case(const char *a, const char *b) {
  for (; *a != 0 && to_lower(*a) == to_lower(*b); a++) b++;
  return to_lower(*a) == to_lower(*b);
}

/* Parses a number of one to five digits; returns -1 for any other text. */
static int parse_small_number(const char *s) {
  int v = 0;
  size_t n = 0;
  for (; s[n] >= '0' && s[n] <= '9' && n < 5; n++) v = v * 10 + (s[n] - '0');
  return n > 0 && s[n] == 0 ? v : -1;
}

int vt_status_find(const char *name) {
  if (name == NULL) return -1;
  const int number = parse_small_number(name);
  const int prefixed = to_lower(name[0]) == 'v' && to_lower(name[1]) == 't' && name[2] == '_';
  for (size_t i = 0; i < N_ROWS; i++)
    if (rows[i].value == number || equal_ignoring_case(rows[i].name, prefixed ? name + 3 : name))
      return rows[i].value;
  return -1;
}

/* Replaces control characters by blanks: a diagnostic must be one line wherever it is shown, even
 * if it quotes a hostile file. */
static void replace_control_chars(char *s) {
  for (; *s != 0; s++)
    if ((unsigned char)*s < 0x20 || *s == 0x7f) *s = ' ';
}

vt_status vt_fail_at(vt_diag *d, vt_status s, const char *file, uint32_t line, const char *fmt,
                     ...) {
  if (d == NULL || d->code != VT_OK) return s;
  d->code = s;
  d->at_file = file;
  d->at_line = line;
  va_list ap;
  va_start(ap, fmt);
  if (vsnprintf(d->text, sizeof d->text, fmt, ap) < 0) d->text[0] = 0;
  va_end(ap);
  replace_control_chars(d->text);
  return s;
}
