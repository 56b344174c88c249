/* SPDX-License-Identifier: Apache-2.0
 * fuzz_weight_index.c - reads any bytes as an index of two shards, which hold the tensors x, y and
 * z. An accepted index names both shards and the three tensors; a refused one has a message, and no
 * file outside of the folder is opened. Then an allocation fails, which the last byte chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta_tools.h"
#include "vt_alloc.h"
#include "vt_weight_files.h"
#include "../vt_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/volta-fuzz-XXXXXX";
static char paths[3][64]; /* the two shards, the index */

static void remove_folder(void) {
  for (int i = 0; i < 3; i++) (void)unlink(paths[i]);
  (void)rmdir(folder);
}

static void write_shard(const char *path, uint32_t n, const char *const *names) {
  char data[1] = {0};
  vt_tensor t[2];
  for (uint32_t i = 0; i < n; i++)
    t[i] = (vt_tensor){.dtype = VT_DTYPE_U8, .rank = 1, .dim = {1}, .data = data};
  if (vt_safetensors_write(path, n, names, t, NULL) != VT_OK) exit(1);
}

static void make_folder(void) {
  static const char *const a[2] = {"x", "y"}, *const b[1] = {"z"};
  static const char *const files[3] = {"a", "b", "index.json"};
  if (paths[0][0] != '\0') return;
  if (mkdtemp(folder) == NULL) exit(1);
  for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, files[i]);
  (void)atexit(remove_folder);
  write_shard(paths[0], 2, a);
  write_shard(paths[1], 1, b);
}

/* The shards that the list has opened must be the two files. */
static void check_accepted(const vt_weight_list *l) {
  for (uint32_t i = 0; i < l->n_files; i++)
    if (strcmp(l->files[i].path, paths[0]) != 0 && strcmp(l->files[i].path, paths[1]) != 0) abort();
  for (uint32_t i = 0; i < l->n_entries; i++) {
    const vt_weight_entry *e = &l->entries[i];
    if (strstr("xyz", e->name) == NULL || vt_weight_list_find(l, e->name) != e) abort();
  }
}

static vt_status open_index(long left, vt_diag *d) {
  const char *path = paths[2];
  vt_fault f = {.left = left};
  const vt_alloc a = vt_fault_alloc(&f);
  vt_weight_list l;
  const vt_status s = vt_weight_list_open(1, &path, NULL, a, &l, d);
  if (s != d->code || (s != VT_OK && d->text[0] == '\0')) abort();
  if (s == VT_OK) check_accepted(&l);
  if (s == VT_OK) vt_weight_list_done(&l);
  if (f.live != 0) abort();
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vt_diag a = {.code = VT_OK}, b = {.code = VT_OK}, failed = {.code = VT_OK};
  make_folder();
  FILE *f = fopen(paths[2], "wb");
  if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0) exit(1);
  const vt_status s = open_index(0, &a);
  if (s != VT_OK && s != VT_FORMAT && s != VT_LIMIT && s != VT_IO && s != VT_UNSUPPORTED &&
      s != VT_NAME)
    abort();
  if (open_index(0, &b) != s || strcmp(a.text, b.text) != 0) abort();
  const vt_status again = open_index(size > 0 ? 1 + data[size - 1] % 16 : 1, &failed);
  if (again != VT_NOMEM && again != s) abort();
  return 0;
}
