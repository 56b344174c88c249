/* SPDX-License-Identifier: Apache-2.0
 * cli_params.c - opens the job of `run` and `parity`: reads the model, parameters and inputs that
 * the flags name, and makes programs from them. */
#include "cli_params.h"
#include "cli_cache.h"
#include "cli_progress.h"
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Selects the tensor of an input: the only one of a file without names, or the one with the right
 * name. */
static vt_status pick_input_tensor(cli_input *in, cli_error *e) {
  const char *name = "";
  const int one = vt_archive_count(in->archive) == 1;
  if (one && vt_archive_tensor(in->archive, 0, &name, &in->tensor) == VT_OK && name[0] == '\0') {
    if (in->key == NULL || cli_ends_with(in->path, ".csv")) return VT_OK;
    return VT_FAIL(&e->diag, VT_NAME, "tensors of this file format have no names: drop ':%s'",
                   in->key);
  }
  return vt_archive_find(in->archive, in->key != NULL ? in->key : in->name, &in->tensor, &e->diag);
}

static uint32_t input_dtype(const vt_model *m, const char *name) {
  vt_port_info p;
  for (uint32_t i = 0; vt_model_port(m, i, &p) == VT_OK; i++)
    if (p.kind == VT_PORT_INPUT && strcmp(p.name, name) == 0) return p.dtype;
  return 0;
}

/* Reads the file of an input. Numbers in a CSV file have no type, so they are read as the type that
 * the model declares. */
static vt_status read_input(const vt_model *m, cli_input *in, cli_error *e) {
  vt_csv_options o = {.size = sizeof o, .column = in->key};
  if (!cli_ends_with(in->path, ".csv"))
    return vt_archive_read(in->path, NULL, &in->archive, &e->diag);
  o.dtype = input_dtype(m, in->name);
  return vt_csv_read(in->path, &o, NULL, &in->archive, &e->diag);
}

static vt_status open_input(const vt_model *m, const char *text, cli_input *out, cli_error *e) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0')
    return VT_FAIL(&e->diag, VT_USAGE, "--in takes NAME=FILE, not '%s'", text);
  out->name = cli_text_copy(text, (size_t)(equals - text));
  if (out->name == NULL) return cli_no_memory(e);
  out->given = equals + 1;
  VT_TRY(cli_split_file_key(out->given, &out->path, &out->key, e));
  e->path = out->given;
  VT_TRY(read_input(m, out, e));
  VT_TRY(pick_input_tensor(out, e));
  e->path = NULL;
  return VT_OK;
}

static vt_status refuse_repeated_input(const cli_job *j, cli_error *e) {
  const cli_input *last = &j->inputs[j->n_inputs - 1];
  for (const cli_input *in = j->inputs; in < last; in++)
    if (strcmp(in->name, last->name) == 0)
      return VT_FAIL(&e->diag, VT_USAGE, "--in gives '%s' twice", in->name);
  return VT_OK;
}

static vt_status open_inputs(const cli_args *a, cli_job *j, cli_error *e) {
  uint32_t n = 0;
  while (cli_flag_value_at(a, "in", n) != NULL) n++;
  if (n == 0) return VT_OK;
  j->inputs = calloc(n, sizeof *j->inputs);
  if (j->inputs == NULL) return cli_no_memory(e);
  while (j->n_inputs < n) {
    const uint32_t i = j->n_inputs++;
    VT_TRY(open_input(j->model, cli_flag_value_at(a, "in", i), &j->inputs[i], e));
    VT_TRY(refuse_repeated_input(j, e));
  }
  return VT_OK;
}

/* ---- parameters ---- */

enum { CLI_MAP_LIMIT = 1024 * 1024 }; /* most bytes of the file of --params-map */

/* Refuses flags about --params that are given without it. */
static vt_status check_params_given(const cli_args *a, cli_error *e) {
  static const char *const flags[] = {"params-map", "ignore-extra", "convert-params"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (cli_flag_value(a, flags[i]) != NULL)
      return VT_FAIL(&e->diag, VT_USAGE, "--%s is about --params, which is not given", flags[i]);
  return VT_OK;
}

/* The file to blame for wrong parameters, if there is only one. */
static const char *only_params_file(const cli_job *j) {
  return j->n_params == 1 ? j->params[0] : NULL;
}

/* Reads the files and renames their tensors by `map`. The library's messages name the file; only a
 * message with a line is about the map. */
static vt_status read_params(const cli_args *a, const char *map, cli_job *j, cli_error *e) {
  const vt_weights_options o = {.size = sizeof o,
                                .ignore_extra = cli_flag_value(a, "ignore-extra") != NULL,
                                .convert = cli_flag_value(a, "convert-params") != NULL,
                                .map = map};
  const vt_status s = vt_weights_read(j->n_params, j->params, &o, &j->weights, &e->diag);
  if (e->diag.line != 0) e->path = j->params_map;
  VT_TRY(s);
  e->path = only_params_file(j);
  VT_TRY(vt_weights_check(j->weights, j->model, &e->diag));
  e->path = NULL;
  return VT_OK;
}

vt_status cli_job_open_params(const cli_args *a, cli_job *j, cli_error *e) {
  char *map = NULL;
  uint32_t n = 0;
  while (cli_flag_value_at(a, "params", n) != NULL) n++;
  if (n == 0) return check_params_given(a, e);
  j->params = calloc(n, sizeof *j->params);
  if (j->params == NULL) return cli_no_memory(e);
  for (; j->n_params < n; j->n_params++)
    j->params[j->n_params] = cli_flag_value_at(a, "params", j->n_params);
  j->params_map = cli_flag_value(a, "params-map");
  if (j->params_map != NULL) VT_TRY(cli_file_read(j->params_map, CLI_MAP_LIMIT, &map, e));
  const vt_status s = read_params(a, map, j, e);
  free(map);
  return s;
}

/* A bundle has its own parameters. */
static vt_status refuse_params_of_bundle(const cli_args *a, const cli_job *j, cli_error *e) {
  static const char *const flags[] = {"params", "params-map", "ignore-extra", "convert-params",
                                      "seed"};
  for (size_t i = 0; j->source.bundle != NULL && i < sizeof flags / sizeof *flags; i++)
    if (cli_flag_value(a, flags[i]) != NULL)
      return VT_FAIL(&e->diag, VT_USAGE, "%s is a bundle, which has its own parameters: drop --%s",
                     j->path, flags[i]);
  return VT_OK;
}

vt_status cli_job_open(const cli_args *a, cli_job *out, cli_error *e) {
  *out = (cli_job){.path = a->operands[0],
                   .passes = cli_flag_value(a, "passes"),
                   .random = cli_flag_value(a, "random-inputs") != NULL};
  VT_TRY(cli_bind_parse(a, &out->bind, e));
  VT_TRY(cli_planning_parse(a, &out->how, e));
  VT_TRY(cli_flag_value_u64(a, "seed", 0, &out->seed, e));
  VT_TRY(cli_flag_value_u64(a, "random-inputs", 0, &out->inputs_seed, e));
  VT_TRY(cli_model_open(out->path, &out->source, e));
  out->model = out->source.model;
  VT_TRY(refuse_params_of_bundle(a, out, e));
  VT_TRY(cli_refuse_both(a, "params", "seed", e));
  VT_TRY(cli_job_open_params(a, out, e));
  VT_TRY(open_inputs(a, out, e));
  return cli_cache_open(a, &out->cache, e);
}

void cli_job_close(cli_job *j) {
  for (uint32_t i = 0; i < j->n_inputs; i++) {
    vt_archive_free(j->inputs[i].archive);
    free(j->inputs[i].name);
    free(j->inputs[i].path);
  }
  free(j->inputs);
  vt_weights_free(j->weights);
  free(j->params);
  cli_bind_free(&j->bind);
  cli_model_close(&j->source);
  vt_cache_free(j->cache);
  *j = (cli_job){0};
}

/* ---- programs ---- */

static vt_status set_inputs(const cli_job *j, vt_program *p, cli_error *e) {
  for (uint32_t i = 0; i < j->n_inputs; i++) {
    const cli_input *in = &j->inputs[i];
    const vt_status s = vt_program_set_input(p, in->name, &in->tensor, &e->diag);
    /* A wrong type or shape is a fault of the file; a wrong input name is not. */
    if (s == VT_TENSOR) e->path = in->given;
    VT_TRY(s);
  }
  return j->random ? vt_program_random_inputs(p, j->inputs_seed, &e->diag) : VT_OK;
}

/* Creates a program. A failure with a line number is reported for the model's file; other failures
 * are about the flags. */
static vt_status new_program(const cli_job *j, const vt_options *o, vt_program **out,
                             cli_error *e) {
  const cli_cache_mark before = cli_cache_counts_now(j->cache);
  const uint64_t used = vt_bundle_plans_used(o->bundle);
  const vt_status s = vt_program_new(j->model, o, out, &e->diag);
  if (s == VT_OK) {
    uint8_t hash[32];
    const int plugin = vt_program_plugin(*out, hash);
    if (!cli_bundle_print_origin(o->bundle, used)) cli_cache_print_origin(j->cache, before);
    cli_choice_print(o->backend, vt_program_backend(*out), vt_program_device(*out));
    cli_stamp_print(&(cli_stamp){vt_program_backend(*out), plugin ? hash : NULL,
                                 vt_program_unadmitted(*out), vt_program_fallback(*out)});
  }
  if (s == VT_TENSOR) e->path = only_params_file(j);
  if (e->diag.line != 0 || s == VT_VERIFY) e->path = j->path;
  return s;
}

/* Gives the options all that is in the bundle; but if its plans shall not be used, only its weights
 * and a new state, which the caller frees. */
static vt_status set_bundle(const cli_job *j, vt_options *o, vt_state **out_state, cli_error *e) {
  o->bundle = j->source.bundle;
  if (o->bundle == NULL || !j->without_plans) return VT_OK;
  if (vt_bundle_has_state(o->bundle)) VT_TRY(vt_state_new(j->model, o, 0, out_state, &e->diag));
  o->state = *out_state;
  o->weights = vt_bundle_weights(o->bundle);
  o->bundle = NULL;
  return VT_OK;
}

vt_status cli_job_new_program(const cli_job *j, const char *backend, vt_program **out,
                              cli_error *e) {
  vt_options o = {.size = sizeof o,
                  .n_bind = j->bind.n,
                  .bind = j->bind.row,
                  .backend = backend,
                  .passes = j->passes,
                  .memory_budget = j->how.budget,
                  .cache = j->cache,
                  .measure = j->measure != 0,
                  .note = cli_warn,
                  .weights = j->weights};
  vt_program *p = NULL;
  cli_planning_copy_to_options(&j->how, &o);
  cli_progress_attach(&o);
  vt_state *state = NULL;
  VT_TRY(set_bundle(j, &o, &state, e));
  vt_status s = new_program(j, &o, &p, e);
  vt_state_free(state);
  VT_TRY(s);
  if (o.weights == NULL && o.bundle == NULL) s = vt_program_init_params(p, j->seed, &e->diag);
  cli_progress_clear();
  if (s == VT_OK) s = set_inputs(j, p, e);
  if (s != VT_OK) {
    vt_program_free(p);
    return s;
  }
  *out = p;
  return VT_OK;
}

vt_status cli_job_run(const cli_job *j, vt_program *p, cli_error *e) {
  const vt_status s = vt_program_run(p, &e->diag);
  cli_progress_clear();
  if (e->diag.line != 0) e->path = j->path;
  return s;
}

/* ---- saving ---- */

typedef struct param_list {
  uint32_t n;
  const char **names;
  vt_tensor *tensors;
} param_list;

static vt_status append_param_copy(vt_program *p, const char *name, param_list *s, cli_error *e) {
  vt_tensor *t = &s->tensors[s->n];
  uint64_t count, bytes;
  VT_TRY(vt_program_get_param(p, name, t, &e->diag)); /* reads only type and shape: no data yet */
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, &e->diag));
  t->data = malloc((size_t)bytes + 1);
  if (t->data == NULL) return cli_no_memory(e);
  s->names[s->n++] = name;
  return vt_program_get_param(p, name, t, &e->diag);
}

static int has_tensor(const vt_weights *w, const char *name) {
  vt_weight_info info = {.size = sizeof info};
  for (uint32_t i = 0; i < vt_weights_count(w); i++)
    if (vt_weights_info(w, i, &info, NULL) == VT_OK && strcmp(info.name, name) == 0) return 1;
  return 0;
}

static vt_status append_state_copy(vt_state *state, uint32_t i, param_list *s, cli_error *e) {
  vt_tensor *t = &s->tensors[s->n];
  uint64_t count, bytes;
  VT_TRY(vt_state_at(state, i, &s->names[s->n], t, &e->diag));
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, &e->diag));
  t->data = malloc((size_t)bytes + 1);
  if (t->data == NULL) return cli_no_memory(e);
  return vt_state_get(state, s->names[s->n++], t, &e->diag);
}

static vt_status copy_params(const cli_job *j, vt_program *p, param_list *s, cli_error *e) {
  const uint32_t most = vt_model_ports(j->model) + 1;
  vt_port_info port;
  s->names = calloc(most, sizeof *s->names);
  s->tensors = calloc(most, sizeof *s->tensors);
  if (s->names == NULL || s->tensors == NULL) return cli_no_memory(e);
  for (uint32_t i = 0; vt_model_port(j->model, i, &port) == VT_OK; i++)
    if (port.kind == VT_PORT_PARAM) VT_TRY(append_param_copy(p, port.name, s, e));
  /* A state that weights have filled is written, too: without it the file would give other results
   * than they do. The others have the values of their initialisers anyway. */
  const vt_weights *w = j->source.bundle != NULL ? vt_bundle_weights(j->source.bundle) : j->weights;
  for (uint32_t i = 0; i < vt_state_count(vt_program_state(p)); i++) {
    vt_tensor t;
    const char *name;
    VT_TRY(vt_state_at(vt_program_state(p), i, &name, &t, &e->diag));
    if (has_tensor(w, name)) VT_TRY(append_state_copy(vt_program_state(p), i, s, e));
  }
  return VT_OK;
}

vt_status cli_params_save(const cli_job *j, vt_program *p, const char *path, cli_error *e) {
  param_list all = {0};
  if (path == NULL) return VT_OK;
  vt_status s = copy_params(j, p, &all, e);
  cli_critical_begin();
  if (s == VT_OK) s = vt_safetensors_write(path, all.n, all.names, all.tensors, &e->diag);
  cli_critical_end();
  if (s == VT_OK) cli_narrate("wrote %s\n", path);
  for (uint32_t i = 0; i < all.n; i++) free(all.tensors[i].data);
  free(all.names);
  free(all.tensors);
  return s;
}
