/* SPDX-License-Identifier: Apache-2.0
 * cli_bind.c - parses the sizes of dims, --bind B=4,T=128, and prints or compares them. */
#include "cli_bind.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_json.h"

/* Joins the values of all --bind flags with commas into one text. */
static char *join_bind_values(const cli_args *a) {
  size_t n = 1;
  const char *v;
  for (uint32_t i = 0; (v = cli_flag_value_at(a, "bind", i)) != NULL; i++) n += strlen(v) + 1;
  char *text = malloc(n);
  if (text == NULL) return NULL;
  text[0] = '\0';
  for (uint32_t i = 0, at = 0; (v = cli_flag_value_at(a, "bind", i)) != NULL; i++)
    at += (uint32_t)snprintf(text + at, n - at, "%s%s", i == 0 ? "" : ",", v);
  return text;
}

static uint32_t count_comma_separated(const char *text) {
  uint32_t n = 1;
  for (const char *p = text; *p != '\0'; p++) n += *p == ',';
  return n;
}

static vt_status parse_item(const char *flag, char *item, vt_binding *out, cli_error *e) {
  char *equals = strchr(item, '=');
  if (equals == NULL || equals == item)
    return VT_FAIL(&e->diag, VT_USAGE, "--%s takes NAME=N,..., not '%s'", flag, item);
  const char *number = equals + 1;
  char *end = NULL;
  errno = 0;
  const long long v = strtoll(number, &end, 10);
  const int digit = number[0] >= '0' && number[0] <= '9';
  if ((!digit && number[0] != '-') || *end != '\0' || errno != 0)
    return VT_FAIL(&e->diag, VT_BIND, "--%s %s: the size must be a whole number", flag, item);
  *equals = '\0';
  *out = (vt_binding){.name = item, .value = v};
  return VT_OK;
}

/* Inserts a binding so that the rows stay in ascending order of their names. */
static vt_status insert_binding(const char *flag, cli_bind *b, vt_binding v, cli_error *e) {
  uint32_t at = b->n;
  while (at > 0 && strcmp(b->row[at - 1].name, v.name) > 0) at--;
  if (at > 0 && strcmp(b->row[at - 1].name, v.name) == 0)
    return VT_FAIL(&e->diag, VT_USAGE, "--%s gives '%s' twice", flag, v.name);
  memmove(&b->row[at + 1], &b->row[at], (b->n - at) * sizeof v);
  b->row[at] = v;
  b->n++;
  return VT_OK;
}

static vt_status parse_items(const char *flag, cli_bind *b, cli_error *e) {
  for (char *item = b->text, *next; item != NULL; item = next) {
    next = strchr(item, ',');
    if (next != NULL) *next++ = '\0';
    vt_binding v = {0};
    VT_TRY(parse_item(flag, item, &v, e));
    VT_TRY(insert_binding(flag, b, v, e));
  }
  return VT_OK;
}

/* Parses `text`, which the bindings own then; NULL: out of memory. */
static vt_status parse_owned(const char *flag, char *text, cli_bind *out, cli_error *e) {
  cli_bind b = {.text = text};
  b.row = text != NULL ? calloc(count_comma_separated(text), sizeof *b.row) : NULL;
  const vt_status s = b.row != NULL ? parse_items(flag, &b, e) : cli_no_memory(e);
  if (s == VT_OK)
    *out = b;
  else
    cli_bind_free(&b);
  return s;
}

vt_status cli_bind_parse_text(const char *flag, const char *text, cli_bind *out, cli_error *e) {
  return parse_owned(flag, cli_text_copy(text, strlen(text)), out, e);
}

vt_status cli_bind_parse(const cli_args *a, cli_bind *out, cli_error *e) {
  if (cli_flag_value(a, "bind") != NULL) return parse_owned("bind", join_bind_values(a), out, e);
  *out = (cli_bind){0};
  return VT_OK;
}

void cli_bind_free(cli_bind *b) {
  free(b->row);
  free(b->text);
  *b = (cli_bind){0};
}

const vt_binding *cli_bind_find(const cli_bind *b, const char *name, size_t n) {
  for (uint32_t i = 0; i < b->n; i++)
    if (strncmp(b->row[i].name, name, n) == 0 && b->row[i].name[n] == '\0') return &b->row[i];
  return NULL;
}

json_t *cli_bind_json(const cli_bind *b) {
  json_t *o = json_object();
  for (uint32_t i = 0; i < b->n; i++)
    cli_json_set(o, b->row[i].name, json_integer(b->row[i].value));
  return o;
}

int cli_bind_equals_text(const cli_bind *b, const char *text) {
  if (strcmp(text, "-") == 0) return b->n == 0;
  if (count_comma_separated(text) != b->n) return 0;
  for (uint32_t i = 0; i < b->n; i++) {
    char item[96];
    const int n = snprintf(item, sizeof item, "%s=%" PRId64, b->row[i].name, b->row[i].value);
    const char *at = text;
    while (at != NULL && !(strncmp(at, item, (size_t)n) == 0 && (at[n] == ',' || at[n] == '\0')))
      at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL;
    if (at == NULL || n >= (int)sizeof item) return 0;
  }
  return 1;
}
