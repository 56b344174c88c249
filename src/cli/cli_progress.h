/* SPDX-License-Identifier: Apache-2.0
 * cli_progress.h - progress of long work, on a terminal; silent elsewhere and under -q. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H
#include "volta/volta.h"

void cli_progress_attach(vt_options *o);
/* The same for work of the command line's own; `what` is told apart by its address. */
void cli_progress_show(const char *what, uint64_t done, uint64_t total);
/* Takes the line away again. */
void cli_progress_clear(void);
#endif
