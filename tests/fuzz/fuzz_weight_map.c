/* SPDX-License-Identifier: Apache-2.0
 * fuzz_weight_map.c - takes the lines up to the first empty one as names of tensors, and the rest
 * as a map that renames them. An accepted map gives names that are valid, different and in order.
 * Then an allocation fails, which the last byte chooses. */
#include <stdlib.h>
#include <string.h>
#include "archive.h"
#include "vt_weight_files.h"
#include "../vt_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES = 64 };

static void check_accepted(const vt_weight_list *l) {
  for (uint32_t i = 0; i < l->n_entries; i++) {
    const vt_weight_entry *e = &l->entries[i];
    if (!vt_archive_name_ok(e->name) || vt_weight_list_find(l, e->name) != e) abort();
    if (i > 0 && strcmp(l->entries[i - 1].name, e->name) >= 0) abort();
  }
}

/* The names are the lines of `text`; `map` is NULL for none. */
static vt_status rename_all(char *const *names, uint32_t n, const char *map, long left,
                            vt_diag *d) {
  char data[1] = {0};
  vt_tensor t[NAMES];
  vt_fault f = {.left = left};
  const vt_alloc a = vt_fault_alloc(&f);
  vt_weight_list l;
  for (uint32_t i = 0; i < n; i++)
    t[i] = (vt_tensor){.dtype = VT_DTYPE_U8, .rank = 1, .dim = {1}, .data = data};
  const vt_status s = vt_weight_list_copy(n, (const char *const *)names, t, map, a, &l, d);
  if (s != d->code || (s != VT_OK && d->text[0] == '\0')) abort();
  if (s == VT_OK) check_accepted(&l);
  if (s == VT_OK) vt_weight_list_done(&l);
  if (f.live != 0) abort();
  return s;
}

/* Splits the text in place; returns the start of the map. */
static char *split_names(char *text, char *names[NAMES], uint32_t *out_n) {
  *out_n = 0;
  while (*text != '\0' && *text != '\n' && *out_n < NAMES) {
    char *end = strchr(text, '\n');
    names[(*out_n)++] = text;
    if (end == NULL) return text + strlen(text);
    *end = '\0';
    text = end + 1;
  }
  return *text == '\n' ? text + 1 : text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vt_diag a = {.code = VT_OK}, b = {.code = VT_OK}, failed = {.code = VT_OK};
  char *names[NAMES];
  uint32_t n;
  char *text = malloc(size + 1);
  if (text == NULL) exit(1);
  if (size != 0) memcpy(text, data, size);
  text[size] = '\0';
  const char *map = split_names(text, names, &n);
  const vt_status s = rename_all(names, n, map, 0, &a);
  if (s != VT_OK && s != VT_FORMAT && s != VT_LIMIT && s != VT_NAME) abort();
  if (rename_all(names, n, map, 0, &b) != s || strcmp(a.text, b.text) != 0) abort();
  if (s != VT_OK && a.line != b.line) abort();
  const vt_status again =
      rename_all(names, n, map, size > 0 ? 1 + data[size - 1] % 32 : 1, &failed);
  if (again != VT_NOMEM && again != s) abort();
  free(text);
  return 0;
}
