/* SPDX-License-Identifier: Apache-2.0
 * cli_model.h - the operand MODEL of a verb: the text of a model, or a bundle. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H
#include <jansson.h>
#include "cli.h"

typedef struct cli_model {
  const vt_model *model;
  vt_bundle *bundle; /* the bundle that the model is from; NULL: `path` is its text */
  vt_model *parsed;  /* owner of the model if there is no bundle */
} cli_model;

/* 1 if `path` is a bundle rather than a file of tensors: a folder, or a name that ends in .vtz. A
 * zip file of another name may be npz. */
int cli_path_is_bundle(const char *path);
/* Opens the model or the bundle at `path`; a failure is reported for that file. */
vt_status cli_model_open(const char *path, cli_model *out, cli_error *e) VT_NODISCARD;
void cli_model_close(cli_model *m);
/* The manifest of a bundle as JSON; NULL: out of memory. */
json_t *cli_bundle_manifest(const vt_bundle *b);
/* Prints with -v that a plan of the bundle was used, if more were used than `before`. Returns 1 if
 * it was. `b` may be NULL. */
int cli_bundle_print_origin(const vt_bundle *b, uint64_t before);

#endif
