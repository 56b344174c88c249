/* SPDX-License-Identifier: Apache-2.0
 * cli_save.c - writes a list of tensors to a file in the chosen format. */
#include "cli_save.h"
#include <stdlib.h>
#include <string.h>

static const char *const suffixes[CLI_FORMATS] = {
    [CLI_NPY] = ".npy", [CLI_NPZ] = ".npz", [CLI_SAFETENSORS] = ".safetensors"};

const char *cli_format_suffix(cli_format f) { return suffixes[f]; }

vt_status cli_format_parse(const char *text, cli_format *out, cli_error *e) {
  *out = CLI_NPY;
  if (text == NULL) return VT_OK;
  for (int i = 0; i < CLI_FORMATS; i++) {
    if (strcmp(text, suffixes[i] + 1) != 0) continue;
    *out = (cli_format)i;
    return VT_OK;
  }
  return VT_FAIL(&e->diag, VT_USAGE, "--format takes npy, npz or safetensors, not '%s'", text);
}

vt_status cli_format_of_path(const char *path, cli_format *out, cli_error *e) {
  for (int i = 0; i < CLI_FORMATS; i++) {
    if (!cli_ends_with(path, suffixes[i])) continue;
    *out = (cli_format)i;
    return VT_OK;
  }
  return VT_FAIL(&e->diag, VT_USAGE, "'%s' ends in none of .npy, .npz and .safetensors", path);
}

static int grow_list(cli_list *l) {
  if (l->n < l->cap) return 1;
  const uint32_t cap = l->cap * 2 + 8;
  const char **names = calloc(cap, sizeof *names);
  vt_tensor *tensors = calloc(cap, sizeof *tensors);
  if (names == NULL || tensors == NULL) {
    free(names);
    free(tensors);
    return 0;
  }
  for (uint32_t i = 0; i < l->n; i++) names[i] = l->names[i], tensors[i] = l->tensors[i];
  free(l->names);
  free(l->tensors);
  l->names = names;
  l->tensors = tensors;
  l->cap = cap;
  return 1;
}

vt_status cli_list_add(cli_list *l, const char *name, const vt_tensor *t, cli_error *e) {
  if (!grow_list(l)) return cli_no_memory(e);
  l->names[l->n] = name;
  l->tensors[l->n++] = *t;
  return VT_OK;
}

void cli_list_free(cli_list *l) {
  free(l->names);
  free(l->tensors);
  *l = (cli_list){0};
}

static vt_status write_list(const cli_list *l, cli_format f, const char *path, cli_error *e) {
  if (f == CLI_NPZ) return vt_npz_write(path, l->n, l->names, l->tensors, &e->diag);
  if (f == CLI_SAFETENSORS) return vt_safetensors_write(path, l->n, l->names, l->tensors, &e->diag);
  return vt_npy_write(path, &l->tensors[0], &e->diag);
}

vt_status cli_list_write(const cli_list *l, cli_format f, const char *path, cli_error *e) {
  cli_critical_begin();
  const vt_status s = write_list(l, f, path, e);
  cli_critical_end();
  if (s == VT_OK) cli_narrate("wrote %s\n", path);
  return s;
}
