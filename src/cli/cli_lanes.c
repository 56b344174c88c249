/* SPDX-License-Identifier: Apache-2.0
 * cli_lanes.c - times several lanes that do the same work. In each round every lane is called for
 * one slot, a span of time: a rest, one untimed call, then timed calls. */
#include <stdlib.h>
#include <time.h>
#include "cli_bench.h"
#include "cli_progress.h"

enum { MOST_CALLS = 1024 }; /* limit on the calls in one slot */

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns) {
  const struct timespec t = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                             .tv_nsec = (long)(ns % UINT64_C(1000000000))};
  if (ns != 0) (void)nanosleep(&t, NULL);
}

vt_status cli_lane_call(const cli_lane *l, cli_error *e) {
  if (l->program != NULL) return vt_program_run(l->program, &e->diag);
  cli_peer_multiply(l->peer, l->setting.core, &l->product);
  return VT_OK;
}

static vt_status time_slot(cli_lane *l, const cli_pace *pace, cli_error *e) {
  sleep_ns(pace->rest_ns);
  if (l->peer != NULL) cli_peer_set_threads(l->peer, l->setting);
  VT_TRY(cli_lane_call(l, e));
  const uint64_t begin = now_ns();
  uint64_t last = begin;
  for (int i = 0; i < MOST_CALLS && (i == 0 || last - begin < pace->slot_ns); i++) {
    VT_TRY(cli_lane_call(l, e));
    const uint64_t now = now_ns();
    l->ns[l->n++] = now - last;
    last = now;
  }
  return VT_OK;
}

/* Gives every lane one slot. Each round starts with another lane. */
static vt_status time_round(cli_lane *lanes, uint32_t n, uint32_t round, cli_pace *pace,
                            cli_error *e) {
  for (uint32_t i = 0; i < n; i++) VT_TRY(time_slot(&lanes[(i + round) % n], pace, e));
  cli_progress_show("bench", ++pace->done, pace->total);
  return VT_OK;
}

static int compare_times(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static vt_status time_all_rounds(cli_lane *lanes, uint32_t n, cli_pace *pace, cli_error *e) {
  for (uint32_t i = 0; i < n; i++) {
    lanes[i].n = 0;
    lanes[i].ns = calloc((size_t)pace->rounds * MOST_CALLS, sizeof *lanes[i].ns);
    if (lanes[i].ns == NULL) return cli_no_memory(e);
  }
  for (uint32_t r = 0; r < pace->rounds; r++) VT_TRY(time_round(lanes, n, r, pace, e));
  for (uint32_t i = 0; i < n; i++) {
    cli_lane *l = &lanes[i];
    qsort(l->ns, l->n, sizeof *l->ns, compare_times);
    l->took = (cli_timing){l->ns[0], l->ns[l->n / 2], l->n};
  }
  return VT_OK;
}

vt_status cli_lanes_time(cli_lane *lanes, uint32_t n, cli_pace *pace, cli_error *e) {
  for (uint32_t i = 0; i < n; i++) lanes[i].ns = NULL;
  const vt_status s = time_all_rounds(lanes, n, pace, e);
  for (uint32_t i = 0; i < n; i++) {
    free(lanes[i].ns);
    lanes[i].ns = NULL;
  }
  return s;
}
