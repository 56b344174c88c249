/* SPDX-License-Identifier: Apache-2.0
 * cli_metrics.c - --metrics FILE: a JSON report of a run with times, operations and bytes: in
 * total, for each op and for each step. */
#include "cli_metrics.h"
#include <stdlib.h>
#include <string.h>

double cli_giga_per_second(uint64_t count, uint64_t ns) {
  return ns != 0 ? (double)count / (double)ns : 0;
}

/* ---- the run ---- */

static json_t *json_seed(uint64_t seed) {
  return json_pack("{s:o}", "seed", cli_json_u64_text(seed));
}

/* The origin of the parameters: a file or several, and the map that renamed their tensors; or the
 * seed that they were initialised from. */
static json_t *json_params(const cli_job *j) {
  if (j->n_params == 0) return json_seed(j->seed);
  json_t *o = json_object(), *files = json_array();
  for (uint32_t i = 0; i < j->n_params; i++) cli_json_append(files, cli_json_text(j->params[i]));
  if (j->n_params == 1) cli_json_set(o, "file", cli_json_text(j->params[0]));
  if (j->n_params != 1) cli_json_set(o, "files", json_incref(files));
  json_decref(files);
  if (j->params_map != NULL) cli_json_set(o, "map", cli_json_text(j->params_map));
  return o;
}

static json_t *json_plan_digests_and_flags(const cli_job *j, const vt_program *p) {
  uint8_t core[32], target[32];
  vt_program_plan_digest(p, core, target);
  json_t *o = json_pack("{s:o, s:o}", "core", cli_json_hex(core), "target", cli_json_hex(target));
  cli_planning_add_json(&j->how, o);
  return o;
}

json_t *cli_run_description_json(const cli_job *j, const vt_program *p) {
  uint8_t hash[32];
  vt_model_hash(j->model, hash);
  return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "model", vt_model_name(j->model),
                   "hash", cli_json_hex(hash), "backend", vt_program_backend(p), "device",
                   cli_json_text(vt_program_device(p)), "bind", cli_bind_json(&j->bind),
                   "parameters", json_params(j), "random_inputs",
                   j->random ? json_seed(j->inputs_seed) : json_null(), "plan",
                   json_plan_digests_and_flags(j, p));
}

void cli_add_policy_and_stamp_json(json_t *o, const vt_program *p) {
  uint8_t hash[32];
  const int plugin = vt_program_plugin(p, hash);
  vt_policy policy = {.size = sizeof policy};
  vt_program_policy(p, &policy);
  cli_json_set(o, "policy", cli_policy_json(&policy));
  cli_stamp_add_json(o, &(cli_stamp){vt_program_backend(p), plugin ? hash : NULL,
                                     vt_program_unadmitted(p), vt_program_fallback(p)});
}

/* ---- totals ---- */

static void set_json_number(json_t *o, const char *key, uint64_t v) {
  cli_json_set(o, key, cli_json_number(v));
}

json_t *cli_run_totals_json(const vt_program *p) {
  vt_run_info c = {.size = sizeof c};
  vt_program_info(p, &c);
  json_t *o = json_object();
  set_json_number(o, "runs", c.runs);
  set_json_number(o, "wall_ns", c.wall_ns);
  set_json_number(o, "flops", c.flops);
  set_json_number(o, "bytes_read", c.bytes_read);
  set_json_number(o, "bytes_written", c.bytes_written);
  set_json_number(o, "to_device", c.to_device);
  set_json_number(o, "from_device", c.from_device);
  set_json_number(o, "copies_to_device", c.copies_to_device);
  set_json_number(o, "copies_from_device", c.copies_from_device);
  set_json_number(o, "allocations", c.allocations);
  cli_json_set(o, "gflops_per_second", json_real(cli_giga_per_second(c.flops, c.wall_ns)));
  cli_json_set(o, "gbytes_per_second",
               json_real(cli_giga_per_second(c.bytes_read + c.bytes_written, c.wall_ns)));
  return o;
}

/* ---- steps ---- */

/* One step as JSON. `run_begin_ns` is the start of the run, from which times are counted; they are
 * null if the step was not measured. */
static json_t *json_step(const vt_step_info *s, uint32_t i, uint64_t run_begin_ns) {
  const int timed = s->begin_ns != 0;
  json_t *o = json_pack("{s:i, s:o, s:s, s:s, s:b, s:i}", "step", (int)i, "name",
                        cli_json_text(s->name), "op", s->op_name, "type", s->type, "dense_copy",
                        (int)s->dense_copy, "group", (int)s->group);
  cli_json_set(o, "begin_ns", timed ? cli_json_number(s->begin_ns - run_begin_ns) : json_null());
  cli_json_set(o, "wall_ns", timed ? cli_json_number(s->end_ns - s->begin_ns) : json_null());
  set_json_number(o, "flops", s->flops);
  set_json_number(o, "bytes_read", s->bytes_read);
  set_json_number(o, "bytes_written", s->bytes_written);
  return o;
}

/* ---- ops ---- */

/* Sums over all steps of one op. */
typedef struct total {
  const char *name;
  uint64_t count, timed; /* number of steps, and of those that have a time */
  uint64_t ns, flops, bytes_read, bytes_written;
} total;

/* Rates are given only if all steps of the op have a time. */
static json_t *json_op_total(const total *t) {
  const int timed = t->timed == t->count;
  const uint64_t bytes = t->bytes_read + t->bytes_written;
  json_t *o = json_pack("{s:s}", "op", t->name);
  set_json_number(o, "count", t->count);
  set_json_number(o, "timed", t->timed);
  set_json_number(o, "wall_ns", t->ns);
  set_json_number(o, "flops", t->flops);
  set_json_number(o, "bytes_read", t->bytes_read);
  set_json_number(o, "bytes_written", t->bytes_written);
  cli_json_set(o, "gflops_per_second",
               timed ? json_real(cli_giga_per_second(t->flops, t->ns)) : json_null());
  cli_json_set(o, "gbytes_per_second",
               timed ? json_real(cli_giga_per_second(bytes, t->ns)) : json_null());
  return o;
}

static total *find_or_add_op_total(total *all, uint32_t *n, const char *name) {
  for (uint32_t i = 0; i < *n; i++)
    if (strcmp(all[i].name, name) == 0) return &all[i];
  all[*n] = (total){.name = name};
  return &all[(*n)++];
}

static void add_step_to_total(total *t, const vt_step_info *s) {
  t->count++;
  t->timed += s->begin_ns != 0;
  t->ns += s->end_ns - s->begin_ns;
  t->flops += s->flops;
  t->bytes_read += s->bytes_read;
  t->bytes_written += s->bytes_written;
}

/* Order of ops: the one with the longest time first; ops with equal times by name. */
static int by_op_time_descending(const void *a, const void *b) {
  const total *x = a, *y = b;
  if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
  return strcmp(x->name, y->name);
}

static vt_status append_ops_and_steps(vt_program *p, total *all, json_t *ops, json_t *steps,
                                      cli_error *e) {
  vt_run_info run = {.size = sizeof run};
  uint32_t n = 0;
  vt_program_info(p, &run);
  for (uint32_t i = 0; i < vt_program_steps(p); i++) {
    vt_step_info s = {.size = sizeof s};
    VT_TRY(vt_program_step(p, i, &s, &e->diag));
    cli_json_append(steps, json_step(&s, i, run.begin_ns));
    add_step_to_total(find_or_add_op_total(all, &n, s.dense_copy ? "dense copy" : s.op_name), &s);
  }
  qsort(all, n, sizeof *all, by_op_time_descending);
  for (uint32_t i = 0; i < n; i++) cli_json_append(ops, json_op_total(&all[i]));
  return VT_OK;
}

static vt_status set_ops_and_steps(json_t *o, vt_program *p, cli_error *e) {
  total *all = calloc((size_t)vt_program_steps(p) + 1, sizeof *all);
  json_t *ops = json_array(), *steps = json_array();
  const vt_status s = all != NULL ? append_ops_and_steps(p, all, ops, steps, e) : cli_no_memory(e);
  cli_json_set(o, "ops", ops);
  cli_json_set(o, "steps", steps);
  free(all);
  return s;
}

/* ---- phases ---- */

/* The phases as JSON. Times are counted from the beginning of the first phase. */
static json_t *json_phases(const vt_program *p) {
  json_t *list = json_array();
  vt_phase_info phase = {.size = sizeof phase};
  uint64_t zero = UINT64_MAX;
  for (uint32_t i = 0; vt_program_phase(p, i, &phase) == VT_OK; i++)
    if (phase.begin_ns < zero) zero = phase.begin_ns;
  for (uint32_t i = 0; vt_program_phase(p, i, &phase) == VT_OK; i++)
    cli_json_append(list, json_pack("{s:s, s:o, s:o}", "name", phase.name, "begin_ns",
                                    cli_json_number(phase.begin_ns - zero), "wall_ns",
                                    cli_json_number(phase.end_ns - phase.begin_ns)));
  return list;
}

vt_status cli_metrics_write(const char *path, const cli_job *j, vt_program *p, cli_error *e) {
  uint8_t digest[32];
  VT_TRY(vt_program_digest(p, digest, &e->diag));
  json_t *o = cli_run_description_json(j, p);
  cli_json_set(o, "digest", cli_json_hex(digest));
  cli_add_policy_and_stamp_json(o, p);
  cli_json_set(o, "metrics", cli_run_totals_json(p));
  cli_json_set(o, "phases", json_phases(p));
  const vt_status s = set_ops_and_steps(o, p, e);
  if (s == VT_OK) return cli_json_write(o, path, e);
  json_decref(o);
  return s;
}
