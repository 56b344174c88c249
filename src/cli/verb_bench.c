/* SPDX-License-Identifier: Apache-2.0
 * verb_bench.c - volta bench [SUITE [MODEL]]: measures times. The suites `cpu` and `cuda` are the
 * rows of bench.def; the suite `model` is a model of the user with random parameters and inputs.
 * A work is one row or the model; a lane is a program, or the peer (OpenBLAS), that does the work;
 * a record is the times of one lane. All calls go through volta.h, so the times are those of a user
 * of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_bench.h"
#include "cli_bind.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_progress.h"

enum { MOST_THREADS = 8, SLOT_NS = 40000000, REST_NS = 200000000, QUICK_SLOT_NS = 1000000 };

/* One measurement, a line of the report. */
typedef struct record {
  char work[2 * CLI_WORK_NAME]; /* name of the work */
  const char *weights;          /* how the program gets its weights: "parameter", "input", "none" */
  uint32_t threads;
  cli_timing ours, peer;       /* peer.calls is 0 if the peer was not measured */
  char setting[CLI_WORK_NAME]; /* core type and threads of the peer */
  uint64_t flops, bytes;       /* operations, and bytes read and written, of one run */
  uint8_t digest[32];          /* digest of the run */
} record;

typedef struct bench {
  const char *suite, *path, *only; /* suite; path of the model; text of --only */
  cli_bench_target target;
  uint32_t threads[MOST_THREADS], n_threads; /* numbers of threads to measure */
  cli_bind bind;
  cli_peer *peer; /* OpenBLAS; NULL: no comparison */
  cli_pace pace;
  int quick; /* 1: --quick */
  record *records;
  uint32_t n, room; /* number of records, capacity of `records` */
} bench;

/* ---- flags ---- */

enum { CPU, CUDA, MODEL, SUITES };
static const char *const suites[] = {
    [CPU] = "cpu", [CUDA] = "cuda", [MODEL] = "model", [SUITES] = NULL};

static const char *suite_name_at(uint32_t i, const void *context) {
  (void)context;
  return suites[i];
}

static vt_status choose_suite(const cli_args *a, bench *b, cli_error *e) {
  const char *wanted = a->n_operands > 0 ? a->operands[0] : suites[0];
  uint32_t i = 0;
  while (suites[i] != NULL && strcmp(suites[i], wanted) != 0) i++;
  b->suite = suites[i];
  b->path = a->n_operands > 1 ? a->operands[1] : NULL;
  if (suites[i] == NULL) {
    const vt_status s = VT_FAIL(&e->diag, VT_USAGE,
                                "there is no suite '%s'; the suites are cpu, cuda, model", wanted);
    const char *near = cli_nearest_name(wanted, suite_name_at, NULL);
    if (near != NULL) cli_set_hint(e, "did you mean `%s`?", near);
    return s;
  }
  if (i != MODEL && b->path != NULL)
    return VT_FAIL(&e->diag, VT_USAGE, "the suite %s takes no model; `volta bench model %s` does",
                   b->suite, b->path);
  if (i == MODEL && b->path == NULL)
    return VT_FAIL(&e->diag, VT_USAGE, "the suite model needs one: volta bench model MODEL");
  return VT_OK;
}

static vt_status refuse_flag(const cli_args *a, const char *flag, const char *suite, cli_error *e) {
  if (cli_flag_value(a, flag) == NULL) return VT_OK;
  return VT_FAIL(&e->diag, VT_USAGE, "the suite %s has no flag --%s", suite, flag);
}

static vt_status check_flags_fit_suite(const cli_args *a, const bench *b, cli_error *e) {
  const char *compare = cli_flag_value(a, "compare");
  if (b->path != NULL) {
    VT_TRY(refuse_flag(a, "compare", b->suite, e));
    VT_TRY(refuse_flag(a, "only", b->suite, e));
  } else {
    VT_TRY(refuse_flag(a, "bind", b->suite, e));
  }
  if (b->suite != suites[CUDA]) VT_TRY(refuse_flag(a, "small", b->suite, e));
  if (compare != NULL && strcmp(compare, "openblas") != 0)
    return VT_FAIL(&e->diag, VT_USAGE, "--compare takes openblas, not '%s'", compare);
  if (compare == NULL && cli_flag_value(a, "peer") != NULL)
    return VT_FAIL(&e->diag, VT_USAGE,
                   "--peer says which library --compare openblas loads, and "
                   "--compare is not given");
  return VT_OK;
}

static uint32_t count_cores(void) {
  char text[64];
  return cli_doctor_fact("cores", text, sizeof text) ? (uint32_t)strtoul(text, NULL, 10) : 1;
}

static vt_status fail_bad_threads(const char *text, cli_error *e) {
  return VT_FAIL(&e->diag, VT_USAGE,
                 "--threads takes up to %d numbers from 1 to 4096, as in 1,2, not '%s'",
                 MOST_THREADS, text);
}

static vt_status parse_threads(const char *text, bench *b, cli_error *e) {
  if (text == NULL) {
    b->n_threads = count_cores() > 1 && b->suite != suites[CUDA] ? 2 : 1;
    for (uint32_t i = 0; i < b->n_threads; i++) b->threads[i] = i + 1;
    return VT_OK;
  }
  for (const char *at = text, *next; at != NULL; at = next) {
    const size_t n = strspn(at, "0123456789");
    if (n == 0 || n > 4 || (at[n] != ',' && at[n] != '\0') || b->n_threads == MOST_THREADS)
      return fail_bad_threads(text, e);
    const uint32_t v = (uint32_t)strtoul(at, NULL, 10);
    if (v < 1 || v > 4096) return fail_bad_threads(text, e);
    b->threads[b->n_threads++] = v;
    next = at[n] == ',' ? at + n + 1 : NULL;
  }
  return VT_OK;
}

static vt_status parse_pace(const cli_args *a, bench *b, cli_error *e) {
  uint64_t rounds;
  b->quick = cli_flag_value(a, "quick") != NULL;
  VT_TRY(cli_refuse_both(a, "quick", "rounds", e));
  VT_TRY(cli_flag_value_u64(a, "rounds", b->quick ? 1 : 7, &rounds, e));
  if (rounds < 1 || rounds > 1000)
    return VT_FAIL(&e->diag, VT_USAGE, "--rounds takes a number from 1 to 1000");
  b->pace = (cli_pace){.rounds = (uint32_t)rounds, .slot_ns = b->quick ? QUICK_SLOT_NS : SLOT_NS};
  return VT_OK;
}

static vt_status parse_flags(const cli_args *a, bench *b, cli_error *e) {
  VT_TRY(choose_suite(a, b, e));
  VT_TRY(check_flags_fit_suite(a, b, e));
  VT_TRY(parse_threads(cli_flag_value(a, "threads"), b, e));
  VT_TRY(parse_pace(a, b, e));
  VT_TRY(cli_bind_parse(a, &b->bind, e));
  b->only = cli_flag_value(a, "only");
  b->target.backend = cli_flag_value(a, "backend");
  if (b->target.backend == NULL) b->target.backend = b->suite == suites[CUDA] ? "cuda" : "cpu";
  if (cli_flag_value(a, "compare") != NULL)
    VT_TRY(cli_peer_open(cli_flag_value(a, "peer"), &b->peer, e));
  b->target.peer = b->peer;
  return VT_OK;
}

/* ---- measuring ---- */

static record *new_record(bench *b, cli_error *e) {
  if (b->n == b->room) {
    const uint32_t room = b->room * 2 + 16;
    record *more = realloc(b->records, room * sizeof *more);
    if (more == NULL) {
      (void)cli_no_memory(e);
      return NULL;
    }
    b->records = more;
    b->room = room;
  }
  record *r = &b->records[b->n++];
  *r = (record){.threads = b->target.threads};
  return r;
}

static void set_peer_times(record *r, const cli_lane *peer) {
  r->peer = peer->took;
  if (peer->trial_ns < r->peer.best_ns) r->peer.best_ns = peer->trial_ns;
  snprintf(r->setting, sizeof r->setting, "%s x%u",
           cli_peer_core_name(peer->peer, peer->setting.core), peer->setting.threads);
}

/* Makes a record for each lane of Volta. The lane of the peer, if there is one, is the last of the
 * `n` lanes; its times go into every record. */
static vt_status add_records(bench *b, const char *work, const cli_lane *lanes, uint32_t n,
                             cli_error *e) {
  const cli_lane *peer = lanes[n - 1].program == NULL ? &lanes[n - 1] : NULL;
  for (uint32_t i = 0; i < n && lanes[i].program != NULL; i++) {
    vt_run_info info = {.size = sizeof info};
    record *r = new_record(b, e);
    if (r == NULL) return VT_NOMEM;
    vt_program_info(lanes[i].program, &info);
    snprintf(r->work, sizeof r->work, "%s", work);
    r->weights = lanes[i].name;
    r->ours = lanes[i].took;
    if (peer != NULL) set_peer_times(r, peer);
    r->flops = info.flops;
    r->bytes = info.bytes_read + info.bytes_written;
    VT_TRY(vt_program_digest(lanes[i].program, r->digest, &e->diag));
  }
  return VT_OK;
}

static vt_status time_and_record(bench *b, const char *work, cli_lane *lanes, uint32_t n,
                                 cli_error *e) {
  VT_TRY(cli_lanes_time(lanes, n, &b->pace, e));
  return add_records(b, work, lanes, n, e);
}

/* Sets the number of threads for the next measurements, and how long each slot waits for the
 * threads of the lane before it to fall asleep. The trial of the peer's settings has shorter slots,
 * because there are many settings. */
static void set_threads_and_pace(bench *b, uint32_t threads) {
  b->target.threads = threads;
  b->pace.rest_ns = threads > 1 && !b->quick ? REST_NS : 0;
  b->target.trial = (cli_pace){.rounds = b->pace.rounds / 2 + 3,
                               .slot_ns = b->pace.slot_ns / 4,
                               .rest_ns = b->pace.rest_ns / 4};
}

/* Fails unless all records of the same work have the same digest, whatever their threads. */
static vt_status check_records_have_same_digest(const bench *b, const char *work, cli_error *e) {
  const record *first = NULL;
  for (uint32_t i = 0; i < b->n; i++) {
    const record *r = &b->records[i];
    if (strcmp(r->work, work) != 0) continue;
    if (first == NULL) first = r;
    if (memcmp(r->digest, first->digest, sizeof r->digest) != 0)
      return VT_FAIL(&e->diag, VT_DIFFERS, "%s: %u threads and %u do not give the same bits", work,
                     first->threads, r->threads);
  }
  return VT_OK;
}

static vt_status measure_work(bench *b, const cli_work *w, cli_error *e) {
  char name[CLI_WORK_NAME];
  cli_stage stage = {0};
  cli_work_name(w, name);
  cli_narrate_if_verbose("%s, %u threads\n", name, b->target.threads);
  VT_TRY(cli_work_check_against_reference(w, &b->target, e));
  VT_TRY(cli_stage_open(w, &b->target, &stage, e));
  vt_status s = time_and_record(b, name, stage.lanes, stage.n, e);
  cli_stage_close(&stage);
  if (s == VT_OK) s = check_records_have_same_digest(b, name, e);
  return s;
}

static int is_work_selected(const bench *b, const cli_work *w) {
  char name[CLI_WORK_NAME];
  cli_work_name(w, name);
  return strcmp(w->suite, b->suite) == 0 && (b->only == NULL || strstr(name, b->only) != NULL);
}

/* 1 if --quick makes row `w` equal to the row before it, because both are reduced to the same
 * sizes. */
static int repeats_previous_row(const bench *b, const cli_work *w) {
  if (!b->quick || w == cli_works || w->kind != w[-1].kind || w->suite != w[-1].suite) return 0;
  const cli_work now = cli_work_reduced_to_check_sizes(w),
                 before = cli_work_reduced_to_check_sizes(w - 1);
  return memcmp(now.size, before.size, sizeof now.size) == 0;
}

static uint32_t list_selected_works(const bench *b, cli_work *out) {
  uint32_t n = 0;
  for (const cli_work *w = cli_works; w->kind != NULL; w++) {
    if (!is_work_selected(b, w) || repeats_previous_row(b, w)) continue;
    out[n++] = b->quick ? cli_work_reduced_to_check_sizes(w) : *w;
  }
  return n;
}

static vt_status measure_works(bench *b, const cli_work *works, uint32_t n, cli_error *e) {
  b->pace.total = (uint64_t)n * b->n_threads * b->pace.rounds;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t t = 0; t < b->n_threads; t++) {
      set_threads_and_pace(b, b->threads[t]);
      VT_TRY(measure_work(b, &works[i], e));
    }
  return VT_OK;
}

static vt_status run_suite(bench *b, cli_error *e) {
  uint32_t most = 0;
  while (cli_works[most].kind != NULL) most++;
  cli_work *works = calloc(most, sizeof *works);
  if (works == NULL) return cli_no_memory(e);
  const uint32_t n = list_selected_works(b, works);
  const vt_status s =
      n > 0 ? measure_works(b, works, n, e)
            : VT_FAIL(&e->diag, VT_USAGE, "no work of the suite %s has '%s' in its name", b->suite,
                      b->only);
  free(works);
  return s;
}

/* ---- a model ---- */

static void name_model_work(const bench *b, const vt_model *m, char *out, size_t room) {
  size_t n = (size_t)snprintf(out, room, "%.60s", vt_model_name(m));
  for (uint32_t i = 0; i < b->bind.n && n + 40 < room; i++)
    n += (size_t)snprintf(out + n, room - n, "%s%.12s=%lld", i == 0 ? " " : ",",
                          b->bind.row[i].name, (long long)b->bind.row[i].value);
}

static vt_status fill_and_time_model_program(bench *b, const vt_model *m, vt_program *p,
                                             cli_error *e) {
  char work[2 * CLI_WORK_NAME];
  cli_lane lane = {.name = "parameter", .program = p};
  name_model_work(b, m, work, sizeof work);
  VT_TRY(vt_program_init_params(p, 0, &e->diag));
  cli_progress_clear();
  VT_TRY(vt_program_random_inputs(p, 0, &e->diag));
  VT_TRY(time_and_record(b, work, &lane, 1, e));
  return check_records_have_same_digest(b, work, e);
}

static vt_status make_and_time_model_program(bench *b, const vt_model *m, cli_error *e) {
  vt_program *p = NULL;
  const vt_options o = {.size = sizeof o,
                        .n_bind = b->bind.n,
                        .bind = b->bind.row,
                        .backend = b->target.backend,
                        .threads = b->target.threads,
                        .note = cli_warn};
  VT_TRY(vt_program_new(m, &o, &p, &e->diag));
  const vt_status s = fill_and_time_model_program(b, m, p, e);
  vt_program_free(p);
  return s;
}

static vt_status read_and_measure_model(bench *b, cli_error *e) {
  cli_model m;
  VT_TRY(cli_model_open(b->path, &m, e));
  b->pace.total = (uint64_t)b->n_threads * b->pace.rounds;
  vt_status s = VT_OK;
  for (uint32_t t = 0; t < b->n_threads && s == VT_OK; t++) {
    set_threads_and_pace(b, b->threads[t]);
    s = make_and_time_model_program(b, m.model, e);
  }
  cli_model_close(&m);
  if (e->diag.line != 0) e->path = b->path;
  return s;
}

/* ---- reports ---- */

static double rate_per_ns(uint64_t v, uint64_t ns) { return ns != 0 ? (double)v / (double)ns : 0; }

static void read_device_row(const bench *b, uint32_t threads, vt_backend_row *out) {
  const vt_options o = {.size = sizeof o, .backend = b->target.backend, .threads = threads};
  *out = (vt_backend_row){.size = sizeof *out};
  vt_backend_row_of(&o, out);
}

static void print_record_as_table_line(const bench *b, const record *r) {
  cli_print("%-28s %7u  %-9s %11.1f %11.1f %9.1f %8.1f", r->work, r->threads, r->weights,
            (double)r->ours.best_ns / 1e3, (double)r->ours.median_ns / 1e3,
            rate_per_ns(r->flops, r->ours.best_ns), rate_per_ns(r->bytes, r->ours.best_ns));
  if (b->peer != NULL && r->peer.calls != 0)
    cli_print(" %11.1f %6.2f  %s", (double)r->peer.best_ns / 1e3,
              rate_per_ns(r->peer.best_ns, r->ours.best_ns), r->setting);
  cli_print("\n");
}

static void print_peer(const bench *b) {
  cli_print("openblas: %s\nopenblas: tried as", cli_peer_config(b->peer));
  for (uint32_t i = 0; i < cli_peer_core_count(b->peer); i++)
    cli_print("%s %s", i == 0 ? "" : ",", cli_peer_core_name(b->peer, i));
  cli_print(", with all threads and fewer\n");
}

static vt_status report_text(const bench *b) {
  vt_backend_row row, before = {0};
  for (uint32_t i = 0; i < b->n_threads; i++, before = row) {
    read_device_row(b, b->threads[i], &row);
    if (strcmp(row.about, before.about) != 0) cli_print("%s: %s\n", row.name, row.about);
  }
  if (b->peer != NULL) print_peer(b);
  cli_print("%-28s %7s  %-9s %11s %11s %9s %8s", "work", "threads", "weights", "best us",
            "median us", "GFLOP/s", "GB/s");
  if (b->peer != NULL) cli_print(" %11s %6s", "openblas us", "ratio");
  if (b->peer != NULL) cli_print("  its fastest setting");
  cli_print("\n");
  for (uint32_t i = 0; i < b->n; i++) print_record_as_table_line(b, &b->records[i]);
  return VT_OK;
}

static json_t *json_record(const record *r) {
  json_t *o = json_pack("{s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "work", cli_json_text(r->work),
                        "threads", (int)r->threads, "weights", r->weights, "best_ns",
                        cli_json_number(r->ours.best_ns), "median_ns",
                        cli_json_number(r->ours.median_ns), "calls", cli_json_number(r->ours.calls),
                        "flops", cli_json_number(r->flops), "bytes", cli_json_number(r->bytes));
  cli_json_set(o, "digest", cli_json_hex(r->digest));
  if (r->peer.calls == 0) return o;
  cli_json_set(o, "peer_best_ns", cli_json_number(r->peer.best_ns));
  cli_json_set(o, "peer_median_ns", cli_json_number(r->peer.median_ns));
  cli_json_set(o, "peer_setting", cli_json_text(r->setting));
  cli_json_set(o, "ratio", json_real(rate_per_ns(r->peer.best_ns, r->ours.best_ns)));
  cli_json_set(o, "ratio_median", json_real(rate_per_ns(r->peer.median_ns, r->ours.median_ns)));
  return o;
}

static json_t *json_device_per_thread_count(const bench *b) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < b->n_threads; i++) {
    vt_backend_row row;
    read_device_row(b, b->threads[i], &row);
    cli_json_append(list, json_pack("{s:s, s:i, s:o}", "backend", row.name, "threads",
                                    (int)b->threads[i], "about", cli_json_text(row.about)));
  }
  return list;
}

static json_t *json_peer(const bench *b) {
  if (b->peer == NULL) return json_null();
  json_t *cores_tried = json_array();
  for (uint32_t i = 0; i < cli_peer_core_count(b->peer); i++)
    cli_json_append(cores_tried, cli_json_text(cli_peer_core_name(b->peer, i)));
  return json_pack("{s:s, s:o, s:o, s:o}", "name", "openblas", "library",
                   cli_json_text(cli_basename(cli_peer_library(b->peer))), "config",
                   cli_json_text(cli_peer_config(b->peer)), "cores", cores_tried);
}

static vt_status report_json(const bench *b, cli_error *e) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < b->n; i++) cli_json_append(list, json_record(&b->records[i]));
  json_t *root = json_pack("{s:s, s:s, s:b, s:i, s:o}", "suite", b->suite, "version", vt_version(),
                           "quick", b->quick, "rounds", (int)b->pace.rounds, "devices",
                           json_device_per_thread_count(b));
  cli_json_set(root, "compare", json_peer(b));
  cli_json_set(root, "results", list);
  return cli_json_write(root, "-", e);
}

/* ---- the verb ---- */

static vt_status run_bench(const cli_args *a, bench *b, cli_error *e) {
  VT_TRY(parse_flags(a, b, e));
  if (cli_flag_value(a, "small") != NULL)
    return cli_bench_small(b->target.backend, cli_flag_value(a, "json") != NULL, e);
  const vt_status s = b->path != NULL ? read_and_measure_model(b, e) : run_suite(b, e);
  cli_progress_clear();
  VT_TRY(s);
  return cli_flag_value(a, "json") != NULL ? report_json(b, e) : report_text(b);
}

vt_status verb_bench(const cli_args *a, cli_error *e) {
  bench b = {0};
  const vt_status s = run_bench(a, &b, e);
  cli_bind_free(&b.bind);
  cli_peer_close(b.peer);
  free(b.records);
  return s;
}
