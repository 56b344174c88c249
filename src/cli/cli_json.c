/* SPDX-License-Identifier: Apache-2.0
 * cli_json.c - converts values to JSON, and prints or writes finished JSON reports, which it
 * releases. Seeds and bit patterns become strings. */
#include "cli_json.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A JSON string of bytes that are not UTF-8: ASCII stays, other bytes become \xNN. */
static json_t *json_string_of_non_utf8(const char *text) {
  const size_t room = 4 * strlen(text) + 1;
  char *copy = malloc(room);
  if (copy == NULL) return NULL;
  size_t at = 0;
  copy[0] = '\0';
  for (const char *p = text; *p != '\0'; p++)
    at += (size_t)snprintf(copy + at, room - at, (unsigned char)*p < 0x80 ? "%c" : "\\x%02x",
                           (unsigned char)*p);
  json_t *s = json_string(copy);
  free(copy);
  return s;
}

json_t *cli_json_text(const char *text) {
  json_t *s = json_string(text);
  return s != NULL ? s : json_string_of_non_utf8(text);
}

json_t *cli_json_u64_text(uint64_t v) { return json_sprintf("%" PRIu64, v); }

json_t *cli_json_hex(const uint8_t digest[32]) {
  char hex[CLI_HEX_SIZE];
  cli_hex(digest, hex);
  return json_string(hex);
}

json_t *cli_json_bits_hex(uint32_t dtype, uint64_t bits) {
  return json_sprintf("%0*" PRIx64, (int)(2 * vt_dtype_bytes(dtype)), bits);
}

static int lost; /* 1: a part of the report could not be allocated */

void cli_json_append(json_t *list, json_t *v) { lost |= json_array_append_new(list, v) != 0; }

void cli_json_set(json_t *object, const char *key, json_t *v) {
  lost |= json_object_set_new(object, key, v) != 0;
}

json_t *cli_json_shape(const vt_tensor *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->rank; i++) cli_json_append(list, json_integer(t->dim[i]));
  return list;
}

/* An element as JSON. NaN and infinity are strings, because JSON has no such numbers. */
static json_t *json_element(const vt_tensor *t, uint64_t i) {
  char text[CLI_VALUE_SIZE];
  cli_element_text(t, i, text);
  if (t->dtype == VT_DTYPE_BOOL) return json_boolean(text[0] == 't');
  if (!cli_dtype_is_float(t->dtype)) return json_integer(strtoll(text, NULL, 10));
  const double v = cli_element_number(t, i);
  return cli_is_nan(v) || cli_is_inf(v) ? json_string(text) : json_real(v);
}

json_t *cli_json_first_elements(const vt_tensor *t, uint64_t count) {
  json_t *list = json_array();
  for (uint64_t i = 0; i < count && i < CLI_FIRST_VALUES; i++)
    cli_json_append(list, json_element(t, i));
  return list;
}

json_t *cli_json_error(const vt_diag *d) {
  return json_pack("{s:s, s:o, s:i, s:i, s:o}", "code", vt_status_name(d->code), "text",
                   cli_json_text(d->text), "line", (int)d->line, "column", (int)d->column, "hint",
                   cli_json_text(d->hint));
}

json_t *cli_json_number(uint64_t v) {
  return json_integer(v < INT64_MAX ? (json_int_t)v : INT64_MAX);
}

/* Formats a report, with a newline at its end, and releases `root`. The caller frees the text;
 * NULL: a part of the report is missing because memory ran out. */
static char *format_and_release(json_t *root, size_t number_flags) {
  const size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER | number_flags;
  char *text = root != NULL && !lost ? json_dumps(root, flags) : NULL;
  json_decref(root);
  const size_t n = text != NULL ? strlen(text) : 0;
  char *longer = text != NULL ? realloc(text, n + 2) : NULL;
  if (longer == NULL) {
    free(text);
    return NULL;
  }
  memcpy(longer + n, "\n", 2);
  return longer;
}

static vt_status write_and_free_text(char *text, const char *path, cli_error *e) {
  vt_status s = VT_OK;
  if (text == NULL) return cli_no_memory(e);
  if (strcmp(path, "-") == 0) {
    cli_write(text, strlen(text));
  } else {
    s = cli_file_write(path, text, strlen(text), e);
  }
  free(text);
  return s;
}

vt_status cli_json_write(json_t *root, const char *path, cli_error *e) {
  return write_and_free_text(format_and_release(root, JSON_REAL_PRECISION(15)), path, e);
}

/* Reports may contain elements of tensors, so numbers are printed with all their digits. */
vt_status cli_json_print(json_t *root, cli_error *e) {
  return write_and_free_text(format_and_release(root, 0), "-", e);
}
