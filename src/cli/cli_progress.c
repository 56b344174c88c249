/* SPDX-License-Identifier: Apache-2.0
 * cli_progress.c - one line on a terminal for work of more than a second: percentage and estimated
 * time left. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"
#include "cli_progress.h"

static struct {
  const char *what;   /* the current task */
  double start, last; /* time of its first report, of the last one shown; in seconds */
  int shown;          /* 1: the line is on the terminal */
} state;

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void update_line(void *user, const char *what, uint64_t done, uint64_t total) {
  const double now = now_seconds();
  (void)user;
  if (state.what != what) {
    state.what = what;
    state.start = state.last = now;
  }
  const double spent = now - state.start;
  if (spent < 1 || now - state.last < 0.2 || done == 0 || total < done) return;
  state.last = now;
  state.shown = 1;
  cli_narrate("\r%s: %2.0f %%, about %.0f s left   ", what, 100.0 * (double)done / (double)total,
              spent / (double)done * (double)(total - done));
}

void cli_progress_attach(vt_options *o) {
  if (isatty(STDERR_FILENO)) o->progress = update_line;
}

void cli_progress_show(const char *what, uint64_t done, uint64_t total) {
  if (isatty(STDERR_FILENO)) update_line(NULL, what, done, total);
}

void cli_progress_clear(void) {
  if (state.shown) cli_narrate("\r\033[K");
  state.shown = 0;
  state.what = NULL;
}
