/* SPDX-License-Identifier: Apache-2.0
 * verb_check.c - volta check MODEL...: parses and verifies every file, and reads and verifies all
 * content of a bundle. It reports each failure; the status is that of the first one. */
#include <inttypes.h>
#include "cli_json.h"
#include "cli_model.h"

typedef struct counts {
  uint32_t kind[VT_PORT_OUTPUT + 1]; /* number of ports of each kind, VT_PORT_* */
} counts;

static counts count_ports(const vt_model *m) {
  counts c = {{0}};
  vt_port_info p;
  for (uint32_t i = 0; i < vt_model_ports(m); i++)
    if (vt_model_port(m, i, &p) == VT_OK && p.kind <= VT_PORT_OUTPUT) c.kind[p.kind]++;
  return c;
}

static void print_valid_model(const char *path, const vt_model *m) {
  const counts c = count_ports(m);
  cli_print_escaped(path);
  cli_print(": ok: ");
  cli_print_count(vt_model_nodes(m), "node");
  cli_print(", ");
  cli_print_count(c.kind[VT_PORT_PARAM], "parameter");
  cli_print(", ");
  cli_print_count(c.kind[VT_PORT_INPUT], "input");
  cli_print(", ");
  cli_print_count(c.kind[VT_PORT_OUTPUT], "output");
  cli_print("\n");
}

static json_t *json_valid_model(const char *path, const vt_model *m) {
  const counts c = count_ports(m);
  return json_pack("{s:o, s:b, s:i, s:i, s:i, s:i}", "file", cli_json_text(path), "ok", 1, "nodes",
                   (int)vt_model_nodes(m), "parameters", (int)c.kind[VT_PORT_PARAM], "inputs",
                   (int)c.kind[VT_PORT_INPUT], "outputs", (int)c.kind[VT_PORT_OUTPUT]);
}

static json_t *json_invalid_model(const char *path, const vt_diag *d) {
  return json_pack("{s:o, s:b, s:o}", "file", cli_json_text(path), "ok", 0, "error",
                   cli_json_error(d));
}

/* ---- bundles ---- */

/* Prints what was verified, by the manifest, which it agrees with. */
static void print_valid_bundle(const char *path, json_t *manifest) {
  const char *name;
  json_t *file;
  json_object_foreach(json_object_get(manifest, "files"), name, file) {
    cli_print_escaped(path);
    cli_print("/%s: ok: %" JSON_INTEGER_FORMAT " bytes, blake2b %s\n", name,
              json_integer_value(json_object_get(file, "size")),
              json_string_value(json_object_get(file, "blake2b")));
  }
  cli_print_escaped(path);
  cli_print(": ok: model %s\n", json_string_value(json_object_get(manifest, "model")));
  cli_print_escaped(path);
  cli_print(": ok: weights %s\n", json_string_value(json_object_get(manifest, "weights")));
}

/* Reads and verifies all content of a bundle, and reports it. */
static vt_status check_bundle(const char *path, const cli_model *m, json_t *list, cli_error *e) {
  VT_TRY(vt_bundle_check(m->bundle, &e->diag));
  json_t *manifest = cli_bundle_manifest(m->bundle);
  if (manifest == NULL) return cli_no_memory(e);
  if (list == NULL) print_valid_bundle(path, manifest);
  if (list != NULL) {
    json_t *o = json_valid_model(path, m->model);
    cli_json_set(o, "bundle", json_incref(manifest));
    cli_json_append(list, o);
  }
  json_decref(manifest);
  return VT_OK;
}

/* ---- files ---- */

static vt_status check_opened(const char *path, const cli_model *m, json_t *list, cli_error *e) {
  if (m->bundle != NULL) VT_TRY(check_bundle(path, m, list, e));
  if (list == NULL) print_valid_model(path, m->model);
  if (list != NULL && m->bundle == NULL) cli_json_append(list, json_valid_model(path, m->model));
  return VT_OK;
}

/* Checks one file. The result is appended to `list`, or printed if `list` is NULL. */
static vt_status check_file(const char *path, json_t *list) {
  cli_error e = {.path = path};
  cli_model m = {.model = NULL};
  vt_status s = cli_model_open(path, &m, &e);
  if (s == VT_OK) s = check_opened(path, &m, list, &e);
  if (s != VT_OK) cli_error_print(&e, s);
  if (s != VT_OK && list != NULL) cli_json_append(list, json_invalid_model(path, &e.diag));
  cli_model_close(&m);
  return s;
}

static vt_status check_files(const cli_args *a, json_t *list) {
  vt_status first = VT_OK;
  for (uint32_t i = 0; i < a->n_operands; i++) {
    const vt_status s = check_file(a->operands[i], list);
    if (first == VT_OK) first = s;
  }
  return first;
}

vt_status verb_check(const cli_args *a, cli_error *e) {
  json_t *list = cli_flag_value(a, "json") != NULL ? json_array() : NULL;
  const vt_status s = check_files(a, list);
  if (cli_flag_value(a, "json") != NULL) {
    VT_TRY(cli_json_print(json_pack("{s:o}", "files", list), e));
  }
  e->reported = s != VT_OK;
  return s;
}
