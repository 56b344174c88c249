/* SPDX-License-Identifier: Apache-2.0
 * cli_planning.c - parses the flags on planning, converts sizes to and from text, tells a terminal
 * which backend was chosen if none was named, and prints the stamp of a report, which says that the
 * CPU or a plug-in without a certificate gave the results. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli_json.h"
#include "cli_plan.h"

static const struct {
  const char *name;
  uint64_t bytes;
} units[] = {{"", 1},
             {"B", 1},
             {"kB", UINT64_C(1000)},
             {"MB", UINT64_C(1000000)},
             {"GB", UINT64_C(1000000000)},
             {"TB", UINT64_C(1000000000000)},
             {"KiB", UINT64_C(1) << 10},
             {"MiB", UINT64_C(1) << 20},
             {"GiB", UINT64_C(1) << 30},
             {"TiB", UINT64_C(1) << 40}};
enum { N_UNITS = sizeof units / sizeof units[0] };

int cli_size_parse(const char *text, uint64_t *out) {
  char *end = NULL;
  errno = 0;
  if (text[0] < '0' || text[0] > '9') return 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (errno != 0) return 0;
  for (uint32_t i = 0; i < N_UNITS; i++)
    if (strcmp(end, units[i].name) == 0)
      return !__builtin_mul_overflow((uint64_t)number, units[i].bytes, out) && *out <= INT64_MAX;
  return 0;
}

void cli_size_text(uint64_t bytes, char out[CLI_SIZE_TEXT]) {
  static const char *const name[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  uint32_t i = 0;
  double v = (double)bytes / 1024;
  for (; v >= 1023.95 && i + 1 < sizeof name / sizeof name[0]; i++) v /= 1024;
  if (bytes < 1024)
    snprintf(out, CLI_SIZE_TEXT, "%" PRIu64 " B", bytes);
  else
    snprintf(out, CLI_SIZE_TEXT, "%.1f %s", v, name[i]);
}

static const char *flag_value_if_accepted(const cli_args *a, const char *name) {
  return cli_verb_accepts_flag(a, name) ? cli_flag_value(a, name) : NULL;
}

/* The backend that the flag or else VOLTA_BACKEND names; NULL if neither does. */
static const char *named_backend(const char *flag) {
  const char *variable = getenv("VOLTA_BACKEND");
  if (flag != NULL) return flag;
  return variable != NULL && variable[0] != '\0' ? variable : NULL;
}

/* 1 if the backend of the verb is auto, because it is named or because none is. */
static int is_backend_auto(const cli_args *a) {
  if (!cli_verb_accepts_flag(a, "backend")) return 0;
  const char *named = named_backend(cli_flag_value(a, "backend"));
  return named == NULL || strcmp(named, "auto") == 0;
}

static vt_status refuse_auto_without_fallback(const cli_args *a, cli_error *e) {
  const int named = named_backend(cli_flag_value(a, "backend")) != NULL;
  const vt_status s =
      VT_FAIL(&e->diag, VT_USAGE, "--backend auto%s and --fallback none contradict each other",
              named ? "" : ", which is the default,");
  cli_set_hint(e, "name a backend, as in --backend gpu");
  return s;
}

/* The backend auto itself falls back to the CPU. */
static vt_status parse_policy(const cli_args *a, vt_policy *out, cli_error *e) {
  const char *fallback = flag_value_if_accepted(a, "fallback");
  const int is_auto = is_backend_auto(a);
  if (is_auto && fallback != NULL && strcmp(fallback, "none") == 0)
    return refuse_auto_without_fallback(a, e);
  if (cli_flag_value(a, "allow-unadmitted") != NULL) out->admission = VT_ADMISSION_WAIVED;
  if (flag_value_if_accepted(a, "untried") != NULL) out->capabilities = VT_CAPABILITIES_BELIEVED;
  if (is_auto) out->fallback = VT_FALLBACK_CPU;
  if (fallback == NULL || strcmp(fallback, "none") == 0) return VT_OK;
  out->fallback = VT_FALLBACK_CPU;
  if (strcmp(fallback, "cpu") == 0) return VT_OK;
  return VT_FAIL(&e->diag, VT_USAGE, "--fallback takes none or cpu, not '%s'", fallback);
}

/* Parses a number of threads that ends at a comma or the end of the text; 0 if it is malformed. */
static uint32_t parse_thread_count(const char *text) {
  const size_t digits = strspn(text, "0123456789");
  const int ends = text[digits] == 0 || text[digits] == ',';
  const uint32_t n = ends && digits <= 4 ? (uint32_t)strtoul(text, NULL, 10) : 0;
  return n <= 4096 ? n : 0;
}

/* Parses --threads. A verb that compares several backends accepts several numbers, other verbs
 * one. */
static vt_status parse_threads(const cli_args *a, cli_planning *out, cli_error *e) {
  const char *text = flag_value_if_accepted(a, "threads");
  const uint32_t most = cli_verb_accepts_flag(a, "backends") ? CLI_THREADS_MOST : 1;
  if (text == NULL) return VT_OK;
  for (const char *at = text; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    const uint32_t n = parse_thread_count(at);
    if (n == 0 || out->n_threads == most)
      return VT_FAIL(&e->diag, VT_USAGE, "--threads takes %s from 1 to 4096, not '%s'",
                     most == 1 ? "a number" : "up to 16 numbers", text);
    out->each[out->n_threads++] = n;
  }
  out->threads = out->each[0];
  return VT_OK;
}

vt_status cli_planning_parse(const cli_args *a, cli_planning *out, cli_error *e) {
  cli_planning p = {.schedule = cli_flag_value(a, "schedule"),
                    .stream = cli_flag_value(a, "stream"),
                    .certificate = cli_flag_value(a, "certificate"),
                    .policy = {.size = sizeof p.policy}};
  const char *budget = cli_flag_value(a, "memory-budget");
  if (budget != NULL && !cli_size_parse(budget, &p.budget))
    return VT_FAIL(&e->diag, VT_USAGE,
                   "--memory-budget takes a number of bytes below 2^63, as in 64MiB, 2GB or "
                   "4096, not '%s'",
                   budget);
  if (budget != NULL && p.budget == 0)
    return VT_FAIL(&e->diag, VT_USAGE, "--memory-budget must be above 0");
  VT_TRY(parse_policy(a, &p.policy, e));
  VT_TRY(parse_threads(a, &p, e));
  *out = p;
  return VT_OK;
}

void cli_planning_copy_to_options(const cli_planning *p, vt_options *o) {
  o->schedule = p->schedule;
  o->stream = p->stream;
  o->policy = &p->policy;
  o->certificate = p->certificate;
  o->threads = p->threads;
}

void cli_planning_add_json(const cli_planning *p, json_t *o) {
  cli_json_set(o, "schedule", json_string(p->schedule != NULL ? p->schedule : "source"));
  cli_json_set(o, "stream", p->stream != NULL ? cli_json_text(p->stream) : json_null());
  cli_json_set(o, "memory_budget",
               p->budget != 0 ? json_integer((json_int_t)p->budget) : json_null());
}

/* ---- the choice of a backend, and the stamp ---- */

void cli_choice_print(const char *flag, const char *backend, const char *device) {
  static int printed; /* 1: the line was printed; a sweep prints it once */
  char plain[1024];   /* escaped, because a driver wrote a part of the text */
  if (printed || named_backend(flag) != NULL || !isatty(STDERR_FILENO)) return;
  printed = 1;
  const int known = device != NULL && device[0] != '\0';
  cli_narrate("backend: %s%s%s%s, because none was named\n", backend, known ? " (" : "",
              known ? cli_escape_text(device, plain, sizeof plain) : "", known ? ")" : "");
}

void cli_stamp_print(const cli_stamp *s) {
  /* The backend of the last stamp, so that a sweep with many plans prints it once. */
  static char last[80];
  char hex[CLI_HEX_SIZE] = "";
  if ((!s->unadmitted && s->fallback == NULL) || strcmp(last, s->backend) == 0) return;
  snprintf(last, sizeof last, "%s", s->backend);
  char why[2048]; /* escaped, because the text may come from a plug-in */
  if (s->fallback != NULL)
    cli_narrate("volta: FALLBACK to %s: %s\n", s->backend,
                cli_escape_text(s->fallback, why, sizeof why));
  if (!s->unadmitted) return;
  if (s->plugin != NULL) cli_hex(s->plugin, hex);
  cli_narrate("volta: UNADMITTED: nothing shows that %s (content %.16s) gives the right bits\n",
              s->backend, hex);
}

void cli_stamp_add_json(json_t *o, const cli_stamp *s) {
  cli_json_set(o, "unadmitted", json_boolean(s->unadmitted));
  cli_json_set(o, "fallback", s->fallback != NULL ? cli_json_text(s->fallback) : json_null());
  if (s->plugin != NULL) cli_json_set(o, "plugin", cli_json_hex(s->plugin));
}

json_t *cli_policy_json(const vt_policy *p) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "determinism",
                   p->determinism == VT_DETERMINISM_STRICT ? "strict" : "?", "precision",
                   p->precision == VT_PRECISION_LOCKED ? "locked" : "?", "fallback",
                   p->fallback == VT_FALLBACK_CPU ? "cpu" : "none", "mixed_path",
                   p->mixed_path == VT_MIXED_PATH_ALLOWED ? "allowed" : "refused", "admission",
                   p->admission == VT_ADMISSION_WAIVED ? "waived" : "required", "capabilities",
                   p->capabilities == VT_CAPABILITIES_BELIEVED ? "believed" : "tried");
}
