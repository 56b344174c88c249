/* SPDX-License-Identifier: Apache-2.0
 * cli_published.h - a file of published digests, with lines `DIGEST MODEL BIND seed=S inputs=S`. */
#ifndef CLI_PUBLISHED_H
#define CLI_PUBLISHED_H
#include "cli_params.h"

/* Finds the digest published for this model, binding and seeds. VT_NAME if the file has no such
 * line; VT_FORMAT with a line number if a line is malformed or contradicts an earlier one. */
vt_status cli_published_find(const char *path, const cli_job *j, char out[CLI_HEX_SIZE],
                             cli_error *e) VT_NODISCARD;

#endif
