/* SPDX-License-Identifier: Apache-2.0
 * cli_fullest.c - at which step of a plan most bytes are alive on the device. */
#include <stdlib.h>
#include <string.h>
#include "cli_plan.h"

/* By step. Scratch is there for one run at a time: of several runs of a step the largest counts. */
typedef struct tally {
  uint64_t *change; /* modulo 2^64: only sums are meant */
  uint64_t *scratch;
} tally;

static void count(tally *t, const vt_plan_stretch *s, uint32_t steps) {
  if (!vt_memory_class_on_device(s->memory_class) || s->first >= steps) return;
  if (s->type[0] == '\0' && strcmp(s->name, "scratch") == 0) {
    if (s->bytes > t->scratch[s->first]) t->scratch[s->first] = s->bytes;
    return;
  }
  t->change[s->first] += s->bytes;
  if (s->last < steps) t->change[s->last + 1] -= s->bytes;
}

static cli_fullest find(const tally *t, uint32_t steps) {
  cli_fullest f = {0};
  uint64_t alive = 0;
  for (uint32_t i = 0; i < steps; i++) {
    alive += t->change[i];
    if (alive + t->scratch[i] > f.bytes) f = (cli_fullest){i, alive + t->scratch[i]};
  }
  return f;
}

vt_status cli_plan_fullest(const vt_planned *p, cli_fullest *out, cli_error *e) {
  vt_plan_info info = {.size = sizeof info};
  vt_planned_info(p, &info);
  tally t = {calloc((size_t)info.steps + 2, sizeof *t.change),
             calloc((size_t)info.steps + 2, sizeof *t.scratch)};
  const int there = t.change != NULL && t.scratch != NULL;
  vt_plan_stretch s = {.size = sizeof s};
  for (uint32_t i = 0; there && vt_planned_stretch(p, i, &s) == VT_OK; i++)
    count(&t, &s, info.steps);
  if (there) *out = find(&t, info.steps);
  free(t.change);
  free(t.scratch);
  return there ? VT_OK : cli_no_memory(e);
}
