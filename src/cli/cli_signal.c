/* SPDX-License-Identifier: Apache-2.0
 * cli_signal.c - an interrupt ends the process with exit code 130: at once, or, while a file is
 * being written, right after that, so that no temporary file is left. */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
#include "cli.h"

static volatile sig_atomic_t critical, interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
  if (!critical) _exit(vt_status_exit(VT_INTERRUPTED));
}

void cli_signals_init(void) {
  struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
  sigemptyset(&act.sa_mask);
  sigaction(SIGINT, &act, NULL);
  /* A closed pipe must not kill the process: the write fails, and cli_flush stops quietly. */
  act.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &act, NULL);
}

void cli_critical_begin(void) { critical = 1; }

void cli_critical_end(void) {
  critical = 0;
  if (interrupted) _exit(vt_status_exit(VT_INTERRUPTED));
}
