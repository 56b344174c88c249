/* SPDX-License-Identifier: Apache-2.0
 * verb_run.c - volta run MODEL: runs a model once, and prints its outputs, writes them to files, or
 * prints only the digest of the run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli_metrics.h"
#include "cli_save.h"

typedef struct output {
  const char *name;
  vt_tensor t;
  uint64_t count, bytes; /* number of elements, of bytes */
  uint8_t digest[32];    /* digest of the tensor */
} output;

static vt_status read_output(vt_program *p, uint32_t i, output *out, cli_error *e) {
  output o = {0};
  VT_TRY(vt_program_output(p, i, &o.name, &o.t, &e->diag));
  VT_TRY(vt_tensor_bytes(&o.t, &o.count, &o.bytes, &e->diag));
  VT_TRY(vt_tensor_digest(&o.t, o.digest, &e->diag));
  *out = o;
  return VT_OK;
}

/* ---- files ---- */

/* Writes the text of a graph to a file such as "02-lower.vt": position and name of the pass that
 * made it. */
static vt_status dump_graph_text(const char *folder, uint32_t position, const char *name,
                                 const char *text, cli_error *e) {
  char numbered[80];
  snprintf(numbered, sizeof numbered, "%02u-%s", (unsigned)position, name);
  char *path = cli_path_join_escaped(folder, numbered, ".vt");
  if (path == NULL || text == NULL) {
    free(path);
    return cli_no_memory(e);
  }
  const vt_status s = cli_file_write(path, text, strlen(text), e);
  free(path);
  return s;
}

static vt_status dump_passes(const cli_job *j, const vt_program *p, const char *folder,
                             cli_error *e) {
  VT_TRY(cli_folder_make(folder, e));
  VT_TRY(dump_graph_text(folder, 0, "source", vt_model_text(j->model), e));
  for (uint32_t i = 0; i < vt_program_passes(p); i++) {
    const char *name = vt_program_pass(p, i);
    VT_TRY(dump_graph_text(folder, i + 1, name, vt_program_pass_text(p, name), e));
  }
  return VT_OK;
}

static vt_status dump_plan(const vt_program *p, const char *path, cli_error *e) {
  const char *text = vt_program_plan(p);
  if (text == NULL) return cli_no_memory(e);
  if (strcmp(path, "-") != 0) return cli_file_write(path, text, strlen(text), e);
  cli_write(text, strlen(text));
  return VT_OK;
}

/* Writes the graphs and the plan before the run, so that they exist even if the run fails. */
static vt_status dump_passes_and_plan(const cli_args *a, const cli_job *j, const vt_program *p,
                                      cli_error *e) {
  const char *folder = cli_flag_value(a, "dump-passes"), *plan = cli_flag_value(a, "dump-plan");
  if (folder != NULL) VT_TRY(dump_passes(j, p, folder, e));
  return plan != NULL ? dump_plan(p, plan, e) : VT_OK;
}

/* The file of an output: in npy format one per output, in other formats one for all. */
static char *output_path(const char *folder, const char *name, cli_format f) {
  return cli_path_join_escaped(folder, f == CLI_NPY ? name : "outputs", cli_format_suffix(f));
}

static vt_status write_output_list(const cli_list *l, const char *folder, cli_format f,
                                   cli_error *e) {
  char *path = output_path(folder, l->n != 0 ? l->names[0] : "", f);
  if (path == NULL) return cli_no_memory(e);
  const vt_status s = cli_list_write(l, f, path, e);
  free(path);
  return s;
}

static vt_status write_each_output(vt_program *p, const char *folder, cli_format f, cli_list *l,
                                   cli_error *e) {
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    output o;
    VT_TRY(read_output(p, i, &o, e));
    if (f == CLI_NPY)
      l->n = 0; /* each output gets a file of its own, so the list holds one at a time */
    VT_TRY(cli_list_add(l, o.name, &o.t, e));
    if (f == CLI_NPY) VT_TRY(write_output_list(l, folder, f, e));
  }
  return f == CLI_NPY ? VT_OK : write_output_list(l, folder, f, e);
}

static vt_status write_outputs(vt_program *p, const char *folder, cli_format f, cli_error *e) {
  cli_list l = {0};
  VT_TRY(cli_folder_make(folder, e));
  const vt_status s = write_each_output(p, folder, f, &l, e);
  cli_list_free(&l);
  return s;
}

/* ---- reports ---- */

static vt_status print_run_digest(vt_program *p, const char *label, cli_error *e) {
  uint8_t digest[32];
  char hex[CLI_HEX_SIZE];
  VT_TRY(vt_program_digest(p, digest, &e->diag));
  cli_hex(digest, hex);
  cli_print("%s%s\n", label, hex);
  return VT_OK;
}

static void print_output(const output *o) {
  char type[CLI_TYPE_SIZE], hex[CLI_HEX_SIZE];
  cli_type_text(&o->t, type);
  cli_hex(o->digest, hex);
  cli_print_escaped(o->name);
  cli_print(" %s %s\n", type, hex);
  if (o->count == 0) return;
  cli_print("  ");
  cli_print_first_elements(&o->t, o->count);
  cli_print("\n");
}

/* Prints the digest of all states after the run; nothing for a model without states. */
static vt_status print_state_digest(vt_program *p, cli_error *e) {
  uint8_t digest[32];
  char hex[CLI_HEX_SIZE];
  if (vt_program_state(p) == NULL) return VT_OK;
  VT_TRY(vt_state_digest(vt_program_state(p), digest, &e->diag));
  cli_hex(digest, hex);
  cli_print("state %s\n", hex);
  return VT_OK;
}

static vt_status report_text(vt_program *p, cli_error *e) {
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    output o;
    VT_TRY(read_output(p, i, &o, e));
    print_output(&o);
  }
  VT_TRY(print_state_digest(p, e));
  return print_run_digest(p, "run ", e);
}

static json_t *json_output(const output *o, const char *folder, cli_format f) {
  json_t *j =
      json_pack("{s:o, s:s, s:o, s:o, s:o}", "name", cli_json_text(o->name), "dtype",
                vt_dtype_name(o->t.dtype), "shape", cli_json_shape(&o->t), "digest",
                cli_json_hex(o->digest), "values", cli_json_first_elements(&o->t, o->count));
  char *path = folder != NULL ? output_path(folder, o->name, f) : NULL;
  if (folder != NULL) cli_json_set(j, "file", path != NULL ? cli_json_text(path) : NULL);
  free(path);
  return j;
}

static vt_status add_outputs(vt_program *p, const char *folder, cli_format f, json_t *list,
                             cli_error *e) {
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    output o;
    VT_TRY(read_output(p, i, &o, e));
    cli_json_append(list, json_output(&o, folder, f));
  }
  return VT_OK;
}

static json_t *json_run_cost(const vt_program *p) {
  vt_run_info c = {.size = sizeof c};
  vt_program_info(p, &c);
  return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "steps", (int)c.steps, "wall_ns",
                   (json_int_t)c.wall_ns, "bytes_input", (json_int_t)c.bytes_input, "bytes_param",
                   (json_int_t)c.bytes_param, "bytes_temp", (json_int_t)c.bytes_temp,
                   "bytes_output", (json_int_t)c.bytes_output, "bytes_state",
                   (json_int_t)c.bytes_state);
}

/* `state` is the digest of the states; NULL for a model without states. */
static json_t *json_run_report(const cli_job *j, const vt_program *p, const uint8_t digest[32],
                               const uint8_t *state, json_t *outputs) {
  json_t *o = cli_run_description_json(j, p);
  cli_json_set(o, "cost", json_run_cost(p));
  cli_json_set(o, "metrics", cli_run_totals_json(p));
  cli_json_set(o, "outputs", outputs);
  cli_json_set(o, "digest", cli_json_hex(digest));
  if (state != NULL) cli_json_set(o, "state", cli_json_hex(state));
  cli_add_policy_and_stamp_json(o, p);
  return o;
}

static vt_status report_json(const cli_args *a, const cli_job *j, vt_program *p, cli_error *e) {
  uint8_t digest[32], state[32];
  cli_format f;
  VT_TRY(cli_format_parse(cli_flag_value(a, "format"), &f, e));
  VT_TRY(vt_program_digest(p, digest, &e->diag));
  const int has_state = vt_program_state(p) != NULL;
  if (has_state) VT_TRY(vt_state_digest(vt_program_state(p), state, &e->diag));
  json_t *outputs = json_array();
  const vt_status s = add_outputs(p, cli_flag_value(a, "out"), f, outputs, e);
  const uint8_t *shown = has_state ? state : NULL;
  if (s == VT_OK) return cli_json_print(json_run_report(j, p, digest, shown, outputs), e);
  json_decref(outputs);
  return s;
}

static void print_run_cost(const vt_program *p) {
  vt_run_info c = {.size = sizeof c};
  vt_program_info(p, &c);
  cli_narrate_if_verbose("%s: %u steps in %.3f ms, %.3f GFLOP/s\n", vt_program_backend(p), c.steps,
                         (double)c.wall_ns / 1e6, cli_giga_per_second(c.flops, c.wall_ns));
  cli_narrate_if_verbose("bytes: inputs %" PRIu64 ", parameters %" PRIu64 ", temporaries %" PRIu64
                         ", outputs %" PRIu64 ", states %" PRIu64 "\n",
                         c.bytes_input, c.bytes_param, c.bytes_temp, c.bytes_output, c.bytes_state);
}

static int writes_to_stdout(const cli_args *a, const char *flag) {
  const char *path = cli_flag_value(a, flag);
  return path != NULL && strcmp(path, "-") == 0;
}

static vt_status report_run(const cli_args *a, const cli_job *j, vt_program *p, cli_error *e) {
  const char *folder = cli_flag_value(a, "out");
  cli_format f;
  VT_TRY(cli_format_parse(cli_flag_value(a, "format"), &f, e));
  if (folder != NULL) VT_TRY(write_outputs(p, folder, f, e));
  if (cli_flag_value(a, "json") != NULL) return report_json(a, j, p, e);
  if (cli_flag_value(a, "digest") != NULL) return print_run_digest(p, "", e);
  const int taken =
      folder != NULL || writes_to_stdout(a, "metrics") || writes_to_stdout(a, "trace");
  return taken ? VT_OK : report_text(p, e);
}

/* ---- the verb ---- */

/* If --metrics or --trace write JSON to standard output, nothing else may be printed there. */
static vt_status check_stdout_not_shared(const cli_args *a, const char *flag, const char *other,
                                         cli_error *e) {
  if (!writes_to_stdout(a, flag)) return VT_OK;
  VT_TRY(cli_refuse_both(a, flag, "json", e));
  VT_TRY(cli_refuse_both(a, flag, "digest", e));
  if (writes_to_stdout(a, "dump-plan")) VT_TRY(cli_refuse_both(a, flag, "dump-plan", e));
  return writes_to_stdout(a, other) ? cli_refuse_both(a, flag, other, e) : VT_OK;
}

/* Status of the folder in which the file at `path` is, or will be created. Returns 0 if the folder
 * does not exist. */
static int stat_parent_folder(const char *path, struct stat *out) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return stat(".", out) == 0;
  char *folder = strndup(path, (size_t)(slash - path) + 1);
  const int found = folder != NULL && stat(folder, out) == 0;
  free(folder);
  return found;
}

/* 1 if two paths name the same regular file. "-" has its own checks, and a device may be given
 * several times. */
static int is_same_file(const char *x, const char *y) {
  const char *a = strrchr(x, '/'), *b = strrchr(y, '/');
  struct stat in_x, in_y;
  if (stat(x, &in_x) == 0 && !S_ISREG(in_x.st_mode)) return 0;
  if (strcmp(x, y) == 0) return strcmp(x, "-") != 0;
  if (strcmp(a != NULL ? a + 1 : x, b != NULL ? b + 1 : y) != 0) return 0;
  return stat_parent_folder(x, &in_x) && stat_parent_folder(y, &in_y) &&
         in_x.st_dev == in_y.st_dev && in_x.st_ino == in_y.st_ino;
}

/* Refuses two flags that write the same file, because the second would overwrite the first. */
static vt_status check_output_files_differ(const cli_args *a, cli_error *e) {
  static const char *const flags[] = {"metrics", "trace", "save-params", "save-state", "dump-plan"};
  enum { FLAGS = sizeof flags / sizeof *flags };
  for (int i = 0; i < FLAGS; i++)
    for (int k = i + 1; k < FLAGS; k++) {
      const char *x = cli_flag_value(a, flags[i]), *y = cli_flag_value(a, flags[k]);
      if (x != NULL && y != NULL && is_same_file(x, y))
        return VT_FAIL(&e->diag, VT_USAGE, "--%s and --%s both write '%s'", flags[i], flags[k], x);
    }
  return VT_OK;
}

static vt_status refuse_contradicting_flags(const cli_args *a, cli_error *e) {
  cli_format f;
  VT_TRY(cli_format_parse(cli_flag_value(a, "format"), &f, e));
  if (cli_flag_value(a, "format") != NULL && cli_flag_value(a, "out") == NULL)
    return VT_FAIL(&e->diag, VT_USAGE, "--format is the format of --out, which is not given");
  VT_TRY(cli_refuse_both(a, "json", "digest", e));
  VT_TRY(check_stdout_not_shared(a, "metrics", "trace", e));
  VT_TRY(check_stdout_not_shared(a, "trace", "metrics", e));
  VT_TRY(check_output_files_differ(a, e));
  if (!writes_to_stdout(a, "dump-plan")) return VT_OK;
  VT_TRY(cli_refuse_both(a, "dump-plan", "json", e));
  return cli_refuse_both(a, "dump-plan", "digest", e);
}

/* Checks before the run that all outputs can be written, so that no folder is left incomplete. */
static vt_status check_outputs_fit_format(const cli_args *a, const cli_job *j, cli_error *e) {
  vt_port_info port;
  cli_format f;
  VT_TRY(cli_format_parse(cli_flag_value(a, "format"), &f, e));
  if (cli_flag_value(a, "out") == NULL || f == CLI_SAFETENSORS) return VT_OK;
  for (uint32_t i = 0; vt_model_port(j->model, i, &port) == VT_OK; i++)
    if (port.kind == VT_PORT_OUTPUT && port.dtype == VT_DTYPE_BF16)
      return VT_FAIL(&e->diag, VT_UNSUPPORTED, "the output '%s' is bf16, which has no npy form",
                     port.name);
  return VT_OK;
}

static vt_status write_metrics_and_trace(const cli_args *a, const cli_job *j, vt_program *p,
                                         cli_error *e) {
  const char *metrics = cli_flag_value(a, "metrics"), *trace = cli_flag_value(a, "trace");
  if (metrics != NULL) VT_TRY(cli_metrics_write(metrics, j, p, e));
  return trace != NULL ? cli_trace_write(trace, j, p, e) : VT_OK;
}

/* ---- states ---- */

static vt_status check_model_has_state(const cli_args *a, const vt_program *p, cli_error *e) {
  for (int i = 0; i < 2; i++) {
    const char *flag = i == 0 ? "state" : "save-state";
    if (cli_flag_value(a, flag) != NULL && vt_program_state(p) == NULL)
      return VT_FAIL(&e->diag, VT_USAGE, "--%s is given, and the model declares no state", flag);
  }
  return VT_OK;
}

/* Gives the states their values before the run: those of a file, or else, unless they come from a
 * bundle, those of the initialisers with the seed of the job. */
static vt_status load_state(const cli_args *a, const cli_job *j, vt_program *p, cli_error *e) {
  const char *path = cli_flag_value(a, "state");
  VT_TRY(check_model_has_state(a, p, e));
  if (path == NULL && j->seed != 0 && vt_program_state(p) != NULL)
    return vt_state_reset(vt_program_state(p), j->seed, &e->diag);
  if (path == NULL) return VT_OK;
  e->path = path;
  VT_TRY(vt_state_load(vt_program_state(p), path, &e->diag));
  e->path = NULL;
  return VT_OK;
}

static vt_status save_state(const cli_args *a, vt_program *p, cli_error *e) {
  const char *path = cli_flag_value(a, "save-state");
  if (path == NULL) return VT_OK;
  cli_critical_begin();
  const vt_status s = vt_state_save(vt_program_state(p), path, &e->diag);
  cli_critical_end();
  if (s == VT_OK) cli_narrate("wrote %s\n", path);
  return s;
}

static vt_status run_job(const cli_args *a, const cli_job *j, cli_error *e) {
  vt_program *p = NULL;
  VT_TRY(check_outputs_fit_format(a, j, e));
  VT_TRY(cli_job_new_program(j, cli_flag_value(a, "backend"), &p, e));
  vt_status s = dump_passes_and_plan(a, j, p, e);
  if (s == VT_OK) s = cli_params_save(j, p, cli_flag_value(a, "save-params"), e);
  if (s == VT_OK) s = load_state(a, j, p, e);
  if (s == VT_OK) s = cli_job_run(j, p, e);
  if (s == VT_OK) s = save_state(a, p, e);
  if (s == VT_OK) print_run_cost(p);
  if (s == VT_OK) s = write_metrics_and_trace(a, j, p, e);
  if (s == VT_OK) s = report_run(a, j, p, e);
  vt_program_free(p);
  return s;
}

vt_status verb_run(const cli_args *a, cli_error *e) {
  VT_TRY(refuse_contradicting_flags(a, e));
  cli_job j;
  vt_status s = cli_job_open(a, &j, e);
  /* A program made with a cache has only the last graph, not those of all passes. */
  if (cli_flag_value(a, "dump-passes") != NULL) {
    vt_cache_free(j.cache);
    j.cache = NULL;
    j.without_plans = 1;
  }
  j.measure = cli_flag_value(a, "metrics") != NULL || cli_flag_value(a, "trace") != NULL;
  if (s == VT_OK) s = run_job(a, &j, e);
  cli_job_close(&j);
  return s;
}
