/* SPDX-License-Identifier: Apache-2.0
 * fuzz_json.c - reads any bytes as a JSON value, once by skipping it and once by asking for each
 * value by its kind. Both must accept the same texts, end at the same byte, and give the same
 * message. */
#include <stdlib.h>
#include <string.h>
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vt_status read_value(vt_json *j, int depth);

static vt_status read_list(vt_json *j, char open, int depth) {
  const char close = open == '{' ? '}' : ']';
  int more = 1;
  if (depth == VT_JSON_DEPTH_MAX) /* as vt_json_skip refuses it */
    return VT_FAIL(j->d, VT_LIMIT, "%s is nested more than %d deep at byte %llu", j->name,
                   VT_JSON_DEPTH_MAX, (unsigned long long)j->at);
  VT_TRY(vt_json_begin(j, open));
  for (size_t i = 0;; i++) {
    const char *name;
    VT_TRY(vt_json_next(j, close, i, &more));
    if (!more) return VT_OK;
    if (open == '{') {
      VT_TRY(vt_json_member(j, &name));
      if (strlen(name) > j->n) abort();
    }
    VT_TRY(read_value(j, depth + 1));
  }
}

/* A whole number is read as such, and must then be a number too. No number begins with 00. */
static vt_status read_number(vt_json *j) {
  vt_json again = *j;
  uint64_t whole;
  double number;
  const vt_status s = vt_json_scan_whole(j, UINT64_MAX, &whole);
  if (s == VT_OK) {
    if (vt_json_number(&again, &number) != VT_OK || again.at != j->at) abort();
    if (number != (double)whole) abort();
    return VT_OK;
  }
  *j = again;
  VT_TRY(vt_json_number(j, &number));
  const char *text = again.text + again.at + (again.text[again.at] == '-');
  if (text[0] == '0' && text + 1 < j->text + j->at && text[1] >= '0' && text[1] <= '9') abort();
  return VT_OK;
}

static vt_status read_value(vt_json *j, int depth) {
  const char *text;
  int truth;
  const char c = vt_json_peek(j);
  if (c == '{' || c == '[') return read_list(j, c, depth);
  if (c == '"') return vt_json_string(j, &text);
  if (c == 't' || c == 'f') return vt_json_bool(j, &truth);
  if (c == 'n') return vt_json_null(j);
  if (c == '-' || (c >= '0' && c <= '9')) return read_number(j);
  return vt_json_skip(j);
}

/* Reads a copy of the text, which reading changes. */
static vt_status read_copy(const uint8_t *data, size_t size, int skip, size_t *out_at, vt_diag *d) {
  char *copy = malloc(size != 0 ? size : 1);
  if (copy == NULL) exit(1);
  if (size != 0) memcpy(copy, data, size);
  vt_json j = {.text = copy, .n = size, .name = "the text", .d = d};
  vt_status s = skip ? vt_json_skip(&j) : read_value(&j, 0);
  if (s == VT_OK) s = vt_json_end(&j);
  if (j.at > size || (s != VT_OK && (d->code != s || d->text[0] == '\0'))) abort();
  *out_at = j.at;
  free(copy);
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vt_diag a = {.code = VT_OK}, b = {.code = VT_OK};
  size_t at_a, at_b;
  const vt_status s = read_copy(data, size, 1, &at_a, &a);
  if (s != VT_OK && s != VT_FORMAT && s != VT_LIMIT) abort();
  if (read_copy(data, size, 0, &at_b, &b) != s) abort();
  if (at_a != at_b || strcmp(a.text, b.text) != 0) abort();
  return 0;
}
