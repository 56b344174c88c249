/* SPDX-License-Identifier: Apache-2.0
 * verb_convert.c - volta convert IN OUT: writes the tensors of a file, or one of them, in another
 * format. The values do not change, except that every NaN becomes canonical. */
#include <stdlib.h>
#include <string.h>
#include "cli_save.h"

/* Name given to a tensor without a name, if the output format needs one. NumPy uses the same. */
#define UNNAMED "arr_0"

static vt_status select_tensors(const vt_archive *ar, const char *key, cli_list *out,
                                cli_error *e) {
  for (uint32_t i = 0; i < vt_archive_count(ar); i++) {
    const char *name;
    vt_tensor t;
    VT_TRY(vt_archive_tensor(ar, i, &name, &t));
    if (key != NULL && name[0] != '\0' && strcmp(name, key) != 0) continue;
    VT_TRY(cli_list_add(out, name[0] != '\0' ? name : UNNAMED, &t, e));
  }
  if (key != NULL && out->n == 0)
    return VT_FAIL(&e->diag, VT_NAME, "the file has no tensor '%s'", key);
  return VT_OK;
}

static vt_status read_file(const char *path, const char *key, vt_archive **out, cli_error *e) {
  const vt_csv_options o = {.size = sizeof o, .column = key};
  if (cli_ends_with(path, ".csv")) return vt_csv_read(path, &o, NULL, out, &e->diag);
  return vt_archive_read(path, NULL, out, &e->diag);
}

static vt_status convert_file(const char *path, const char *key, const char *to, cli_format format,
                              cli_error *e) {
  vt_archive *ar = NULL;
  cli_list list = {0};
  VT_TRY(read_file(path, key, &ar, e));
  vt_status s = select_tensors(ar, key, &list, e);
  if (s == VT_OK) e->path = NULL;
  if (s == VT_OK && format == CLI_NPY && list.n != 1)
    s = VT_FAIL(&e->diag, VT_USAGE,
                "a npy file holds one tensor, but %s has %u: choose one by "
                "FILE:KEY",
                path, list.n);
  if (s == VT_OK) s = cli_list_write(&list, format, to, e);
  cli_list_free(&list);
  vt_archive_free(ar);
  return s;
}

vt_status verb_convert(const cli_args *a, cli_error *e) {
  const char *to = a->operands[1], *key = NULL;
  char *path = NULL;
  cli_format format = CLI_NPY;
  VT_TRY(cli_format_of_path(to, &format, e));
  VT_TRY(cli_split_file_key(a->operands[0], &path, &key, e));
  e->path = path;
  const vt_status s = convert_file(path, key, to, format, e);
  if (e->path == path && s != VT_OK)
    e->path = a->operands[0]; /* `path` is freed before the error is printed */
  free(path);
  return s;
}
