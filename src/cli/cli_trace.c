/* SPDX-License-Identifier: Apache-2.0
 * cli_trace.c - --trace FILE: the phases, copies and steps of a run as Chrome trace events, which
 * Perfetto shows as a timeline. Events of one track must be disjoint or nested, so steps that
 * overlap in time get separate tracks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_metrics.h"

enum { PROCESS = 1, MAKING = 1, COPIES = 2, RUN = 3, STEPS = 4, LANES = 16 };

typedef struct event {
  char name[160];
  const char *category;
  uint32_t track;
  uint64_t begin_ns, end_ns;
  json_t *args; /* details of the event, owned; NULL: none */
} event;

typedef struct trace {
  event *events;
  uint32_t n;
  uint32_t lanes;        /* number of tracks for steps that are in use */
  uint64_t until[LANES]; /* end of the last step on each of these tracks */
} trace;

/* ---- gathering ---- */

static void add_event(trace *t, event e) { t->events[t->n++] = e; }

static void add_phase_events(trace *t, const vt_program *p) {
  vt_phase_info phase = {.size = sizeof phase};
  for (uint32_t i = 0; vt_program_phase(p, i, &phase) == VT_OK; i++) {
    event e = {
        .category = "phase", .track = MAKING, .begin_ns = phase.begin_ns, .end_ns = phase.end_ns};
    snprintf(e.name, sizeof e.name, "%s", phase.name);
    add_event(t, e);
  }
}

static vt_status add_copy_events(trace *t, vt_program *p, cli_error *e) {
  for (uint32_t i = 0; i < vt_program_copies(p); i++) {
    vt_copy_info c = {.size = sizeof c};
    VT_TRY(vt_program_copy(p, i, &c, &e->diag));
    event made = {
        .category = "copy",
        .track = COPIES,
        .begin_ns = c.begin_ns,
        .end_ns = c.end_ns,
        .args = json_pack("{s:s, s:o}", "direction", c.to_device ? "to device" : "from device",
                          "bytes", cli_json_number(c.bytes))};
    snprintf(made.name, sizeof made.name, "%.120s %s", c.name, c.to_device ? "in" : "out");
    add_event(t, made);
  }
  return VT_OK;
}

/* Returns the first track for steps that is free at time `begin`, or the last track if all are
 * busy, and marks it as busy until `end`. */
static uint32_t choose_track(trace *t, uint64_t begin, uint64_t end) {
  uint32_t i = 0;
  while (i + 1 < LANES && i < t->lanes && t->until[i] > begin) i++;
  if (i == t->lanes) t->lanes++;
  if (t->until[i] < end) t->until[i] = end;
  return STEPS + i;
}

static json_t *json_step_details(const vt_step_info *s, uint32_t i) {
  json_t *o = json_pack("{s:i, s:s, s:s, s:i, s:b}", "step", (int)i, "op", s->op_name, "type",
                        s->type, "group", (int)s->group, "dense_copy", (int)s->dense_copy);
  cli_json_set(o, "flops", cli_json_number(s->flops));
  cli_json_set(o, "bytes_read", cli_json_number(s->bytes_read));
  cli_json_set(o, "bytes_written", cli_json_number(s->bytes_written));
  return o;
}

static vt_status add_step_events(trace *t, vt_program *p, cli_error *e) {
  for (uint32_t i = 0; i < vt_program_steps(p); i++) {
    vt_step_info s = {.size = sizeof s};
    VT_TRY(vt_program_step(p, i, &s, &e->diag));
    if (s.begin_ns == 0) continue;
    event made = {.category = "step",
                  .track = choose_track(t, s.begin_ns, s.end_ns),
                  .begin_ns = s.begin_ns,
                  .end_ns = s.end_ns,
                  .args = json_step_details(&s, i)};
    snprintf(made.name, sizeof made.name, "%.120s = %.30s", s.name,
             s.dense_copy ? "dense copy" : s.op_name);
    add_event(t, made);
  }
  return VT_OK;
}

static void add_run_event(trace *t, const vt_program *p) {
  vt_run_info r = {.size = sizeof r};
  vt_program_info(p, &r);
  add_event(t, (event){.name = "run",
                       .category = "run",
                       .track = RUN,
                       .begin_ns = r.begin_ns,
                       .end_ns = r.begin_ns + r.wall_ns,
                       .args = cli_run_totals_json(p)});
}

/* ---- writing ---- */

/* Order of events: by start; of events with the same start the longer one first, because it
 * encloses the other. */
static int by_event_begin(const void *a, const void *b) {
  const event *x = a, *y = b;
  if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
  if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
  return x->track != y->track ? (x->track < y->track ? -1 : 1) : strcmp(x->name, y->name);
}

static json_t *json_metadata_name_event(const char *kind, uint32_t track, const char *name) {
  return json_pack("{s:s, s:s, s:i, s:i, s:i, s:{s:o}}", "ph", "M", "name", kind, "pid", PROCESS,
                   "tid", (int)track, "ts", 0, "args", "name", cli_json_text(name));
}

static void add_track_names(const trace *t, const vt_program *p, json_t *list) {
  char name[120];
  snprintf(name, sizeof name, "volta on %s", vt_program_backend(p));
  cli_json_append(list, json_metadata_name_event("process_name", 0, name));
  cli_json_append(list, json_metadata_name_event("thread_name", MAKING, "making"));
  cli_json_append(list, json_metadata_name_event("thread_name", COPIES, "copies"));
  cli_json_append(list, json_metadata_name_event("thread_name", RUN, "run"));
  for (uint32_t i = 0; i < t->lanes; i++) {
    snprintf(name, sizeof name, i == 0 ? "steps" : "steps %u", i + 1);
    cli_json_append(list, json_metadata_name_event("thread_name", STEPS + i, name));
  }
}

/* One event as JSON. The format requires microseconds; fractions keep the nanoseconds. */
static json_t *json_event(event *e, uint64_t zero_ns) {
  json_t *o = json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f}", "ph", "X", "name",
                        cli_json_text(e->name), "cat", e->category, "pid", PROCESS, "tid",
                        (int)e->track, "ts", (double)(e->begin_ns - zero_ns) / 1e3, "dur",
                        (double)(e->end_ns - e->begin_ns) / 1e3);
  if (e->args != NULL) cli_json_set(o, "args", e->args);
  e->args = NULL;
  return o;
}

static json_t *json_trace(trace *t, const cli_job *j, const vt_program *p) {
  json_t *list = json_array(), *about = cli_run_description_json(j, p);
  qsort(t->events, t->n, sizeof *t->events, by_event_begin);
  add_track_names(t, p, list);
  for (uint32_t i = 0; i < t->n; i++)
    cli_json_append(list, json_event(&t->events[i], t->events[0].begin_ns));
  cli_add_policy_and_stamp_json(about, p);
  return json_pack("{s:s, s:o, s:o}", "displayTimeUnit", "ns", "otherData", about, "traceEvents",
                   list);
}

static vt_status collect_events(trace *t, vt_program *p, cli_error *e) {
  const size_t most = (size_t)vt_program_phases(p) + vt_program_copies(p) + vt_program_steps(p) + 1;
  t->events = calloc(most, sizeof *t->events);
  if (t->events == NULL) return cli_no_memory(e);
  add_phase_events(t, p);
  add_run_event(t, p);
  VT_TRY(add_copy_events(t, p, e));
  return add_step_events(t, p, e);
}

vt_status cli_trace_write(const char *path, const cli_job *j, vt_program *p, cli_error *e) {
  trace t = {0};
  vt_status s = collect_events(&t, p, e);
  if (s == VT_OK) s = cli_json_write(json_trace(&t, j, p), path, e);
  for (uint32_t i = 0; i < t.n; i++) json_decref(t.events[i].args);
  free(t.events);
  return s;
}
