/* SPDX-License-Identifier: Apache-2.0
 * cli_published.h - digests that were published: a file of lines `DIGEST MODEL BIND seed=S
 * inputs=S`. */
#ifndef CLI_PUBLISHED_H
#define CLI_PUBLISHED_H
#include "cli_params.h"

/* The digest published for this model, binding and seeds. A file without one is VT_NAME, a line
 * that is none is VT_FORMAT with its number, and two that disagree are VT_FORMAT too. */
vt_status cli_published_find(const char *path, const cli_job *j, char out[CLI_HEX_SIZE],
                             cli_error *e) VT_NODISCARD;

#endif
