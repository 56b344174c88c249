/* SPDX-License-Identifier: Apache-2.0
 * verb_check.c - volta check MODEL...: parses and verifies every file and reports each failure. The
 * status is that of the first failure. */
#include "cli_json.h"

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

/* Checks one file. The result is appended to `list`, or printed if `list` is NULL. */
static vt_status check_file(const char *path, json_t *list) {
  cli_error e = {.path = path};
  vt_model *m = NULL;
  const vt_status s = vt_model_read(path, NULL, &m, &e.diag);
  if (s != VT_OK) cli_error_print(&e, s);
  if (list != NULL)
    cli_json_append(list,
                    s == VT_OK ? json_valid_model(path, m) : json_invalid_model(path, &e.diag));
  if (list == NULL && s == VT_OK) print_valid_model(path, m);
  vt_model_free(m);
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
