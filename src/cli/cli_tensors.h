/* SPDX-License-Identifier: Apache-2.0
 * cli_tensors.h - the tensors of a file, for verbs that show them: those of a tensor file, or those
 * of all shards that an index names, which are read one at a time. */
#ifndef CLI_TENSORS_H
#define CLI_TENSORS_H
#include "cli.h"

typedef struct cli_tensors {
  vt_archive *archive; /* the tensor file; NULL if the file is an index */
  vt_weights *weights; /* the shards of the index; NULL if the file is no index */
  void *data;          /* elements of the last tensor that was read from a shard */
} cli_tensors;

/* Opens a file. An index is recognised by its name, which ends in ".json". */
vt_status cli_tensors_open(const char *path, cli_tensors *out, cli_error *e) VT_NODISCARD;
void cli_tensors_close(cli_tensors *t);
uint32_t cli_tensors_count(const cli_tensors *t);
const char *cli_tensors_format(const cli_tensors *t); /* "npz", "index" */
/* Tensor `i` with its elements, which live until the next call or cli_tensors_close. */
vt_status cli_tensors_at(cli_tensors *t, uint32_t i, const char **out_name, vt_tensor *out,
                         cli_error *e) VT_NODISCARD;
#endif
