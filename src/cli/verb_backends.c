/* SPDX-License-Identifier: Apache-2.0
 * verb_backends.c - volta backends: a row a device. */
#include "cli_json.h"

static void print_row(const vt_backend_row *r) {
  cli_print("%-12s  %-11s  %-8s  %3u prims  %3u comps  %s\n", r->name,
            r->available ? "available" : "unavailable", r->complete ? "complete" : "partial",
            r->prims, r->comps, r->about);
}

static json_t *json_row(const vt_backend_row *r) {
  return json_pack("{s:s, s:b, s:b, s:i, s:i, s:o}", "name", r->name, "available", r->available,
                   "complete", r->complete, "prims", (int)r->prims, "comps", (int)r->comps, "about",
                   cli_json_text(r->about));
}

static vt_status report(json_t *list, cli_error *e) {
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r;
    VT_TRY(vt_backend_row_at(i, &r, &e->diag));
    if (list != NULL) cli_json_append(list, json_row(&r));
    if (list == NULL) print_row(&r);
  }
  return VT_OK;
}

vt_status verb_backends(const cli_args *a, cli_error *e) {
  const int as_json = cli_value(a, "json") != NULL;
  json_t *list = as_json ? json_array() : NULL;
  const vt_status s = report(list, e);
  if (s == VT_OK && as_json) return cli_json_print(json_pack("{s:o}", "backends", list), e);
  json_decref(list);
  return s;
}
