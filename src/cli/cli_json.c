/* SPDX-License-Identifier: Apache-2.0
 * cli_json.c - the pieces that reports in JSON are made of. */
#include "cli_json.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps ASCII and spells the rest out, for bytes that are no text. */
static json_t *spelt_out(const char *text) {
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
  return s != NULL ? s : spelt_out(text);
}

json_t *cli_json_u64(uint64_t v) { return json_sprintf("%" PRIu64, v); }

json_t *cli_json_hex(const uint8_t digest[32]) {
  char hex[CLI_HEX_SIZE];
  cli_hex(digest, hex);
  return json_string(hex);
}

json_t *cli_json_bits(uint32_t dtype, uint64_t bits) {
  return json_sprintf("%0*" PRIx64, (int)(2 * vt_dtype_bytes(dtype)), bits);
}

static int lost; /* something could not be built */

void cli_json_append(json_t *list, json_t *v) { lost |= json_array_append_new(list, v) != 0; }

void cli_json_set(json_t *object, const char *key, json_t *v) {
  lost |= json_object_set_new(object, key, v) != 0;
}

json_t *cli_json_shape(const vt_tensor *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->rank; i++) cli_json_append(list, json_integer(t->dim[i]));
  return list;
}

/* JSON has no NaN and no infinity: they are strings. */
static json_t *element(const vt_tensor *t, uint64_t i) {
  char text[CLI_VALUE_SIZE];
  cli_element_text(t, i, text);
  if (t->dtype == VT_DTYPE_BOOL) return json_boolean(text[0] == 't');
  if (!cli_dtype_is_float(t->dtype)) return json_integer(strtoll(text, NULL, 10));
  const double v = cli_element_number(t, i);
  return cli_is_nan(v) || cli_is_inf(v) ? json_string(text) : json_real(v);
}

json_t *cli_json_elements(const vt_tensor *t, uint64_t count) {
  json_t *list = json_array();
  for (uint64_t i = 0; i < count && i < CLI_FIRST_VALUES; i++) cli_json_append(list, element(t, i));
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

/* The text of a report with a newline at its end; free it. Releases `root`. */
static char *text_of(json_t *root, size_t more) {
  const size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER | more;
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

static vt_status write_text(char *text, const char *path, cli_error *e) {
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
  return write_text(text_of(root, JSON_REAL_PRECISION(15)), path, e);
}

/* Elements of tensors are among the numbers: they keep all their digits. */
vt_status cli_json_print(json_t *root, cli_error *e) {
  return write_text(text_of(root, 0), "-", e);
}
