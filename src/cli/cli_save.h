/* SPDX-License-Identifier: Apache-2.0
 * cli_save.h - a list of named tensors, written to a file of one of three formats. */
#ifndef CLI_SAVE_H
#define CLI_SAVE_H
#include "cli.h"

typedef enum cli_format { CLI_NPY, CLI_NPZ, CLI_SAFETENSORS, CLI_FORMATS } cli_format;

const char *cli_format_suffix(cli_format f); /* ".npy" */
/* Parses "npy", "npz" or "safetensors"; NULL gives npy. */
vt_status cli_format_parse(const char *text, cli_format *out, cli_error *e) VT_NODISCARD;
/* The format that the suffix of a path names. */
vt_status cli_format_of_path(const char *path, cli_format *out, cli_error *e) VT_NODISCARD;

/* A list of tensors. It does not own the names and the data. */
typedef struct cli_list {
  uint32_t n, cap;
  const char **names;
  vt_tensor *tensors;
} cli_list;

vt_status cli_list_add(cli_list *l, const char *name, const vt_tensor *t,
                       cli_error *e) VT_NODISCARD;
void cli_list_free(cli_list *l);
/* Writes the list to one file and reports its path; npy writes the first tensor only. */
vt_status cli_list_write(const cli_list *l, cli_format f, const char *path,
                         cli_error *e) VT_NODISCARD;
#endif
