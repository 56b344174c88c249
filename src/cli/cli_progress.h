/* SPDX-License-Identifier: Apache-2.0
 * cli_progress.h - a progress line for long work. It is shown only if standard error is a terminal
 * and -q is not given. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H
#include "volta/volta.h"

/* Makes the library report the progress of a program to the line. */
void cli_progress_attach(vt_options *o);
/* Updates the line for work of the command line itself. A `what` at another address starts a new
 * task. */
void cli_progress_show(const char *what, uint64_t done, uint64_t total);
/* Removes the line. */
void cli_progress_clear(void);
#endif
