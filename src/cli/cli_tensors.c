/* SPDX-License-Identifier: Apache-2.0
 * cli_tensors.c - reads the tensors of a file, or of the shards that an index names. */
#include "cli_tensors.h"
#include <stdlib.h>
#include <string.h>

/* The library's messages about weights name the file, which may be a shard. */
static vt_status open_index(const char *path, cli_tensors *out, cli_error *e) {
  const char *about = e->path;
  e->path = NULL;
  VT_TRY(vt_weights_read(1, &path, NULL, &out->weights, &e->diag));
  e->path = about;
  return VT_OK;
}

vt_status cli_tensors_open(const char *path, cli_tensors *out, cli_error *e) {
  *out = (cli_tensors){0};
  if (cli_ends_with(path, ".json")) return open_index(path, out, e);
  return vt_archive_read(path, NULL, &out->archive, &e->diag);
}

void cli_tensors_close(cli_tensors *t) {
  vt_archive_free(t->archive);
  vt_weights_free(t->weights);
  free(t->data);
  *t = (cli_tensors){0};
}

uint32_t cli_tensors_count(const cli_tensors *t) {
  return t->weights != NULL ? vt_weights_count(t->weights) : vt_archive_count(t->archive);
}

const char *cli_tensors_format(const cli_tensors *t) {
  return t->weights != NULL ? "index" : vt_archive_format(t->archive);
}

static vt_status read_from_shard(cli_tensors *t, uint32_t i, const char **out_name, vt_tensor *out,
                                 cli_error *e) {
  vt_weight_info info = {.size = sizeof info};
  uint64_t bytes;
  VT_TRY(vt_weights_info(t->weights, i, &info, &e->diag));
  vt_tensor x = {.dtype = info.dtype, .rank = info.rank};
  memcpy(x.dim, info.dim, sizeof x.dim);
  VT_TRY(vt_tensor_bytes(&x, NULL, &bytes, &e->diag));
  free(t->data);
  t->data = x.data = malloc(bytes != 0 ? (size_t)bytes : 1);
  if (x.data == NULL) return cli_no_memory(e);
  VT_TRY(vt_weights_get(t->weights, i, x.data, &e->diag));
  *out_name = info.name;
  *out = x;
  return VT_OK;
}

vt_status cli_tensors_at(cli_tensors *t, uint32_t i, const char **out_name, vt_tensor *out,
                         cli_error *e) {
  if (t->archive != NULL) return vt_archive_tensor(t->archive, i, out_name, out);
  const char *about = e->path;
  e->path = NULL;
  VT_TRY(read_from_shard(t, i, out_name, out, e));
  e->path = about;
  return VT_OK;
}
