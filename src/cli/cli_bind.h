/* SPDX-License-Identifier: Apache-2.0
 * cli_bind.h - the values that --bind gives to dims. */
#ifndef CLI_BIND_H
#define CLI_BIND_H
#include <jansson.h>
#include "cli.h"

typedef struct cli_bind {
  vt_binding *row; /* ascending by name */
  uint32_t n;
  char *text; /* holds the names */
} cli_bind;

/* All --bind of `a`. Whether the names and values suit a model is for the library to say. */
vt_status cli_bind_parse(const cli_args *a, cli_bind *out, cli_error *e) VT_NODISCARD;
void cli_bind_free(cli_bind *b);
const vt_binding *cli_bind_find(const cli_bind *b, const char *name, size_t n);
json_t *cli_bind_json(const cli_bind *b);
/* 1 when `text` ("B=2,T=16" in any order, or "-") says the same. */
int cli_bind_matches(const cli_bind *b, const char *text);

#endif
