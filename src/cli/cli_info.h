/* SPDX-License-Identifier: Apache-2.0
 * cli_info.h - the description of a model, shown by `info` and, for a model, by `inspect`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H
#include "cli_bind.h"

/* Prints the ports, dims and parameters of the model at `path`. Dims bound by `bind` are shown as
 * numbers. */
vt_status cli_info_report(const char *path, const cli_bind *bind, int as_json,
                          cli_error *e) VT_NODISCARD;

#endif
