/* SPDX-License-Identifier: Apache-2.0
 * verb_plan.c - volta plan MODEL: reports the memory, steps and transfers of a run without running
 * it. If the plan exceeds the budget, it also plans alternatives: flags that need less memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cli_cache.h"
#include "cli_json.h"
#include "cli_plan.h"

vt_status cli_plan_new(const cli_plan_job *j, const cli_bind *bind, const cli_planning *how,
                       vt_planned **out, cli_error *e) {
  vt_options o = {.size = sizeof o,
                  .n_bind = bind->n,
                  .bind = bind->row,
                  .backend = j->backend,
                  .passes = j->passes,
                  .cache = j->cache,
                  .note = cli_warn,
                  .bundle = j->source.bundle};
  cli_planning_copy_to_options(how, &o);
  const cli_cache_mark before = cli_cache_counts_now(j->cache);
  const uint64_t used = vt_bundle_plans_used(j->source.bundle);
  const vt_status s = vt_planned_new(j->source.model, &o, out, &e->diag);
  if (s == VT_OK) {
    uint8_t hash[32];
    const int plugin = vt_planned_plugin(*out, hash);
    if (!cli_bundle_print_origin(j->source.bundle, used)) cli_cache_print_origin(j->cache, before);
    cli_choice_print(j->backend, vt_planned_backend(*out), NULL);
    cli_stamp_print(&(cli_stamp){vt_planned_backend(*out), plugin ? hash : NULL,
                                 vt_planned_unadmitted(*out), vt_planned_fallback(*out)});
  }
  if (e->diag.line != 0 || s == VT_VERIFY) e->path = j->path;
  return s;
}

double cli_peak_to_live_ratio(const vt_plan_info *i) {
  return i->live != 0 ? (double)i->peak / (double)i->live : 1;
}

uint64_t cli_class_bytes(const vt_plan_info *i, uint32_t class) {
  const uint32_t listed = sizeof i->bytes / sizeof *i->bytes;
  if (class < listed) return i->bytes[class];
  return class == listed ? i->bytes_state : class == listed + 1 ? i->bytes_backend : 0;
}

/* ---- alternatives to suggest if the budget is not met ---- */

/* Flags that may give a smaller plan. */
typedef struct alternative {
  /* The flags as the hint shows them; values of --schedule and --stream, NULL: the user's. */
  const char *flags, *schedule, *stream;
  uint64_t peak; /* peak with these flags; 0: the user has given them already */
} alternative;
enum { ALTERNATIVES = 3 };

static vt_status plan_alternative(const cli_plan_job *j, alternative *o, cli_error *e) {
  cli_planning how = j->how;
  vt_planned *p = NULL;
  vt_plan_info info = {.size = sizeof info};
  if (o->schedule != NULL) how.schedule = o->schedule;
  if (o->stream != NULL) how.stream = o->stream;
  VT_TRY(cli_plan_new(j, &j->bind, &how, &p, e));
  vt_planned_info(p, &info);
  vt_planned_free(p);
  o->peak = info.peak;
  return VT_OK;
}

static int flag_is_already(const char *given, const char *wanted) {
  return wanted == NULL || (given != NULL && strcmp(given, wanted) == 0);
}

/* Makes a plan for each alternative whose flags the user has not given. */
static vt_status plan_alternatives(const cli_plan_job *j, alternative out[ALTERNATIVES],
                                   cli_error *e) {
  const alternative all[ALTERNATIVES] = {{"--schedule memory", "memory", NULL, 0},
                                         {"--stream all", NULL, "all", 0},
                                         {"both", "memory", "all", 0}};
  const int memory = flag_is_already(j->how.schedule, "memory"),
            all_streamed = flag_is_already(j->how.stream, "all");
  memcpy(out, all, sizeof all);
  for (uint32_t i = 0; i < ALTERNATIVES; i++) {
    if ((out[i].schedule != NULL && memory) || (out[i].stream != NULL && all_streamed)) continue;
    VT_TRY(plan_alternative(j, &out[i], e));
  }
  return VT_OK;
}

static void set_alternatives_hint(const vt_plan_info *info, const alternative *alternatives,
                                  cli_error *e) {
  char text[sizeof e->diag.hint];
  size_t at =
      (size_t)snprintf(text, sizeof text, "the smallest budget that works is %" PRIu64, info->peak);
  for (uint32_t i = 0; i < ALTERNATIVES; i++)
    if (alternatives[i].peak != 0 && at < sizeof text)
      at += (size_t)snprintf(text + at, sizeof text - at, ", with %s %" PRIu64,
                             alternatives[i].flags, alternatives[i].peak);
  cli_set_hint(e, "%s", text);
}

/* ---- the report ---- */

/* The data of a report. */
typedef struct view {
  const cli_plan_job *j;
  const vt_planned *p;
  vt_plan_info info;
  uint8_t core[32], target[32];           /* digests of the plan */
  alternative alternatives[ALTERNATIVES]; /* set only if the plan exceeds the budget */
} view;

static int exceeds_budget(const view *v) {
  return v->j->how.budget != 0 && v->info.peak > v->j->how.budget;
}

static vt_status read_plan_and_alternatives(view *v, cli_error *e) {
  v->info.size = sizeof v->info;
  vt_planned_info(v->p, &v->info);
  vt_planned_digest(v->p, v->core, v->target);
  return exceeds_budget(v) ? plan_alternatives(v->j, v->alternatives, e) : VT_OK;
}

static void print_bytes(const char *name, uint64_t bytes, const char *note) {
  char size[CLI_SIZE_TEXT];
  cli_size_text(bytes, size);
  cli_print("%-16s %14" PRIu64 "  %10s%s%s\n", name, bytes, size, note[0] != '\0' ? "  " : "",
            note);
}

static void print_report_head(const view *v) {
  cli_print("model %s on %s", vt_model_name(v->j->source.model), vt_planned_backend(v->p));
  for (uint32_t i = 0; i < v->j->bind.n; i++)
    cli_print("%s %s=%" PRId64, i == 0 ? "," : "", v->j->bind.row[i].name, v->j->bind.row[i].value);
  cli_print("\n\nclass                     bytes\n");
}

static void print_memory(const view *v) {
  char note[96] = "the most alive at one time";
  for (uint32_t c = 0; vt_memory_class(c) != NULL; c++) {
    const uint64_t bytes = cli_class_bytes(&v->info, c);
    print_bytes(
        vt_memory_class(c), bytes,
        vt_memory_class_on_device(c) || bytes == 0 ? "" : "in host memory, not in the peak");
  }
  cli_print("\n");
  print_bytes("peak", v->info.peak, "on the device");
  if (v->info.live != 0)
    snprintf(note, sizeof note, "the most alive at one time; the peak is %.4f times that",
             cli_peak_to_live_ratio(&v->info));
  print_bytes("live", v->info.live, note);
  if (v->j->how.budget != 0)
    print_bytes("budget", v->j->how.budget, exceeds_budget(v) ? "NOT MET" : "met");
}

static void print_steps(const view *v) {
  const vt_plan_info *i = &v->info;
  cli_print("\n");
  cli_print_count(i->steps, "step");
  cli_print(" of ");
  cli_print_count(i->nodes, "node");
  cli_print(", %u in place, ", i->in_place);
  cli_print_count(i->views, "view");
  cli_print(", ");
  cli_print_count(i->groups, "group");
  cli_print("; dense copies: %u\n", i->dense_copies);
  cli_print_count(i->transfers, "transfer");
  cli_print(" a run: %" PRIu64 " bytes in, %" PRIu64 " out\n", i->to_device, i->from_device);
  const char *step = vt_planned_step(v->p, v->info.fullest);
  if (step == NULL) return;
  cli_print("most is alive at step %u: ", v->info.fullest);
  cli_print_escaped(step);
  cli_print("\n");
}

static void print_text(const view *v) {
  char core[CLI_HEX_SIZE], target[CLI_HEX_SIZE];
  cli_hex(v->core, core);
  cli_hex(v->target, target);
  print_report_head(v);
  print_memory(v);
  print_steps(v);
  cli_print("core   %s\ntarget %s\n", core, target);
}

static void set_json_number(json_t *o, const char *key, uint64_t v) {
  cli_json_set(o, key, json_integer((json_int_t)v));
}

static void add_memory_json(json_t *o, const view *v) {
  for (uint32_t c = 0; vt_memory_class(c) != NULL; c++)
    set_json_number(o, vt_memory_class(c), cli_class_bytes(&v->info, c));
  set_json_number(o, "peak", v->info.peak);
  set_json_number(o, "live", v->info.live);
  cli_json_set(o, "ratio", json_real(cli_peak_to_live_ratio(&v->info)));
}

static void add_steps_json(json_t *o, const view *v) {
  const char *step = vt_planned_step(v->p, v->info.fullest);
  set_json_number(o, "nodes", v->info.nodes);
  set_json_number(o, "steps", v->info.steps);
  set_json_number(o, "views", v->info.views);
  set_json_number(o, "in_place", v->info.in_place);
  set_json_number(o, "groups", v->info.groups);
  set_json_number(o, "dense_copies", v->info.dense_copies);
  set_json_number(o, "transfers", v->info.transfers);
  set_json_number(o, "to_device", v->info.to_device);
  set_json_number(o, "from_device", v->info.from_device);
  cli_json_set(o, "fullest",
               step != NULL ? json_pack("{s:i, s:o}", "step", (int)v->info.fullest, "does",
                                        cli_json_text(step))
                            : json_null());
}

static void add_budget_json(json_t *o, const view *v) {
  cli_json_set(o, "fits", json_boolean(!exceeds_budget(v)));
  set_json_number(o, "smallest_budget", v->info.peak);
  if (!exceeds_budget(v)) return;
  json_t *alternatives = json_object();
  for (uint32_t i = 0; i < ALTERNATIVES; i++)
    if (v->alternatives[i].peak != 0)
      set_json_number(alternatives, v->alternatives[i].flags, v->alternatives[i].peak);
  cli_json_set(o, "smallest_budget_with", alternatives);
}

static vt_status print_json(const view *v, cli_error *e) {
  uint8_t hash[32];
  vt_model_hash(v->j->source.model, hash);
  json_t *o = json_pack("{s:s, s:o, s:s, s:o}", "model", vt_model_name(v->j->source.model), "hash",
                        cli_json_hex(hash), "backend", vt_planned_backend(v->p), "bind",
                        cli_bind_json(&v->j->bind));
  const int plugin = vt_planned_plugin(v->p, hash);
  cli_json_set(o, "policy", cli_policy_json(&v->j->how.policy));
  cli_stamp_add_json(o, &(cli_stamp){vt_planned_backend(v->p), plugin ? hash : NULL,
                                     vt_planned_unadmitted(v->p), vt_planned_fallback(v->p)});
  cli_planning_add_json(&v->j->how, o);
  if (v->j->how.budget != 0) add_budget_json(o, v);
  add_memory_json(o, v);
  add_steps_json(o, v);
  cli_json_set(o, "core", cli_json_hex(v->core));
  cli_json_set(o, "target", cli_json_hex(v->target));
  return cli_json_print(o, e);
}

static vt_status print_plan(const cli_args *a, const view *v, cli_error *e) {
  const char *text = vt_planned_text(v->p);
  if (cli_flag_value(a, "json") != NULL) return print_json(v, e);
  if (cli_flag_value(a, "text") != NULL) {
    cli_write(text, strlen(text));
  } else {
    print_text(v);
  }
  return VT_OK;
}

static vt_status report_plan(const cli_args *a, view *v, cli_error *e) {
  const char *svg = cli_flag_value(a, "svg");
  VT_TRY(read_plan_and_alternatives(v, e));
  if (svg != NULL) VT_TRY(cli_svg_write(svg, v->j, v->p, e));
  if (svg == NULL || strcmp(svg, "-") != 0) VT_TRY(print_plan(a, v, e));
  if (!exceeds_budget(v)) return VT_OK;
  const vt_status s =
      VT_FAIL(&e->diag, VT_BUDGET, "the plan needs %" PRIu64 " bytes, the budget is %" PRIu64,
              v->info.peak, v->j->how.budget);
  set_alternatives_hint(&v->info, v->alternatives, e);
  return s;
}

/* ---- the verb ---- */

static vt_status refuse_contradicting_flags(const cli_args *a, cli_error *e) {
  const char *svg = cli_flag_value(a, "svg");
  if (svg != NULL && strcmp(svg, "-") == 0) {
    VT_TRY(cli_refuse_both(a, "svg", "json", e));
    VT_TRY(cli_refuse_both(a, "svg", "text", e));
  }
  VT_TRY(cli_refuse_both(a, "json", "text", e));
  VT_TRY(cli_refuse_both(a, "sweep", "text", e));
  return cli_refuse_both(a, "sweep", "svg", e);
}

static vt_status plan_and_report_job(const cli_args *a, const cli_plan_job *j, cli_error *e) {
  vt_planned *p = NULL;
  if (cli_flag_value(a, "sweep") != NULL) return cli_sweep_report(a, j, e);
  VT_TRY(cli_plan_new(j, &j->bind, &j->how, &p, e));
  view v = {.j = j, .p = p};
  const vt_status s = report_plan(a, &v, e);
  vt_planned_free(p);
  return s;
}

static vt_status open_job(const cli_args *a, cli_plan_job *j, cli_error *e) {
  j->path = a->operands[0];
  j->backend = cli_flag_value(a, "backend");
  j->passes = cli_flag_value(a, "passes");
  VT_TRY(cli_planning_parse(a, &j->how, e));
  VT_TRY(cli_bind_parse(a, &j->bind, e));
  VT_TRY(cli_model_open(j->path, &j->source, e));
  return cli_cache_open(a, &j->cache, e);
}

vt_status verb_plan(const cli_args *a, cli_error *e) {
  cli_plan_job j = {0};
  VT_TRY(refuse_contradicting_flags(a, e));
  vt_status s = open_job(a, &j, e);
  if (s == VT_OK) s = plan_and_report_job(a, &j, e);
  vt_cache_free(j.cache);
  cli_model_close(&j.source);
  cli_bind_free(&j.bind);
  return s;
}
