/* SPDX-License-Identifier: Apache-2.0
 * cli_bind.h - the sizes that --bind gives to the dims of a model, as a sorted list. */
#ifndef CLI_BIND_H
#define CLI_BIND_H
#include <jansson.h>
#include "cli.h"

typedef struct cli_bind {
  vt_binding *row; /* bindings in ascending order of their names */
  uint32_t n;
  char *text; /* memory that holds the names */
} cli_bind;

/* Parses all --bind flags. The library checks later whether the names and values fit the model. */
vt_status cli_bind_parse(const cli_args *a, cli_bind *out, cli_error *e) VT_NODISCARD;
/* Parses the text of one flag of another name, as in --plan cpu:B=4. */
vt_status cli_bind_parse_text(const char *flag, const char *text, cli_bind *out,
                              cli_error *e) VT_NODISCARD;
void cli_bind_free(cli_bind *b);
/* The binding of the dim whose name is the `n` bytes at `name`; NULL if it is not bound. */
const vt_binding *cli_bind_find(const cli_bind *b, const char *name, size_t n);
json_t *cli_bind_json(const cli_bind *b);
/* 1 if `text` has the same bindings: "B=2,T=16" in any order, or "-" for none. */
int cli_bind_equals_text(const cli_bind *b, const char *text);

#endif
