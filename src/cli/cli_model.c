/* SPDX-License-Identifier: Apache-2.0
 * cli_model.c - opens the operand MODEL, which is the text of a model or a bundle. */
#include "cli_model.h"
#include <sys/stat.h>

int cli_path_is_bundle(const char *path) {
  struct stat st;
  return cli_ends_with(path, ".vtz") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

vt_status cli_model_open(const char *path, cli_model *out, cli_error *e) {
  cli_model m = {.model = NULL};
  e->path = path;
  if (vt_bundle_is_at(path)) {
    const vt_status s = vt_bundle_open(path, NULL, &m.bundle, &e->diag);
    if (s != VT_OK && e->diag.line == 0) e->path = NULL; /* the message names the file */
    VT_TRY(s);
    m.model = vt_bundle_model(m.bundle);
  } else {
    VT_TRY(vt_model_read(path, NULL, &m.parsed, &e->diag));
    m.model = m.parsed;
  }
  e->path = NULL;
  *out = m;
  return VT_OK;
}

void cli_model_close(cli_model *m) {
  vt_model_free(m->parsed);
  vt_bundle_free(m->bundle);
  *m = (cli_model){.model = NULL};
}

json_t *cli_bundle_manifest(const vt_bundle *b) {
  return json_loads(vt_bundle_manifest(b), JSON_ALLOW_NUL, NULL);
}

int cli_bundle_print_origin(const vt_bundle *b, uint64_t before) {
  if (vt_bundle_plans_used(b) == before) return 0;
  cli_narrate_if_verbose("plan: found in the bundle\n");
  return 1;
}
