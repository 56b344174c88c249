/* SPDX-License-Identifier: Apache-2.0
 * verb_fmt.c - volta fmt MODEL: prints the model in its printed form, writes it to a file, or
 * compares it with the file of the model. */
#include <string.h>
#include "cli_model.h"

static vt_status compare_with_file(const char *path, const cli_model *m, cli_error *e) {
  const char *text = vt_model_text(m->model);
  int equal = 0;
  if (m->bundle != NULL)
    equal = strcmp(vt_bundle_text(m->bundle), text) == 0;
  else
    VT_TRY(cli_file_equals(path, text, &equal, e));
  if (equal) return VT_OK;
  e->path = path;
  const vt_status s = VT_FAIL(&e->diag, VT_DIFFERS, "the file is not in the printed form");
  cli_set_hint(e, "`volta fmt %s` prints this form", path);
  return s;
}

static vt_status output_text(const cli_args *a, const cli_model *m, cli_error *e) {
  const char *text = vt_model_text(m->model), *out = cli_flag_value(a, "out");
  if (cli_flag_value(a, "check") != NULL) return compare_with_file(a->operands[0], m, e);
  if (out != NULL && strcmp(out, "-") != 0) return cli_file_write(out, text, strlen(text), e);
  cli_write(text, strlen(text));
  return VT_OK;
}

vt_status verb_fmt(const cli_args *a, cli_error *e) {
  VT_TRY(cli_refuse_both(a, "check", "out", e));
  cli_model m;
  VT_TRY(cli_model_open(a->operands[0], &m, e));
  const vt_status s = output_text(a, &m, e);
  cli_model_close(&m);
  return s;
}
