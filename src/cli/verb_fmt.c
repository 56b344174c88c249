/* SPDX-License-Identifier: Apache-2.0
 * verb_fmt.c - volta fmt MODEL: prints the model in its printed form, writes it to a file, or
 * compares it with the file of the model. */
#include <string.h>
#include "cli.h"

static vt_status compare_with_file(const char *path, const char *text, cli_error *e) {
  int equal = 0;
  VT_TRY(cli_file_equals(path, text, &equal, e));
  if (equal) return VT_OK;
  e->path = path;
  const vt_status s = VT_FAIL(&e->diag, VT_DIFFERS, "the file is not in the printed form");
  cli_set_hint(e, "`volta fmt %s` prints this form", path);
  return s;
}

static vt_status output_text(const cli_args *a, const char *text, cli_error *e) {
  const char *out = cli_flag_value(a, "out");
  if (cli_flag_value(a, "check") != NULL) return compare_with_file(a->operands[0], text, e);
  if (out != NULL && strcmp(out, "-") != 0) return cli_file_write(out, text, strlen(text), e);
  cli_write(text, strlen(text));
  return VT_OK;
}

vt_status verb_fmt(const cli_args *a, cli_error *e) {
  VT_TRY(cli_refuse_both(a, "check", "out", e));
  vt_model *m = NULL;
  e->path = a->operands[0];
  VT_TRY(vt_model_read(e->path, NULL, &m, &e->diag));
  e->path = NULL;
  const vt_status s = output_text(a, vt_model_text(m), e);
  vt_model_free(m);
  return s;
}
