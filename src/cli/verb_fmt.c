/* SPDX-License-Identifier: Apache-2.0
 * verb_fmt.c - volta fmt MODEL: the printed form, to standard output, to a file, or compared with
 * the file itself. */
#include <string.h>
#include "cli.h"

static vt_status compare(const char *path, const char *text, cli_error *e) {
  int equal = 0;
  VT_TRY(cli_file_equals(path, text, &equal, e));
  if (equal) return VT_OK;
  e->path = path;
  const vt_status s = VT_FAIL(&e->diag, VT_DIFFERS, "the file is not in the printed form");
  cli_hint(e, "`volta fmt %s` prints that form", path);
  return s;
}

static vt_status deliver(const cli_args *a, const char *text, cli_error *e) {
  const char *out = cli_value(a, "out");
  if (cli_value(a, "check") != NULL) return compare(a->operands[0], text, e);
  if (out != NULL && strcmp(out, "-") != 0) return cli_file_write(out, text, strlen(text), e);
  cli_write(text, strlen(text));
  return VT_OK;
}

vt_status verb_fmt(const cli_args *a, cli_error *e) {
  VT_TRY(cli_contradict(a, "check", "out", e));
  vt_model *m = NULL;
  e->path = a->operands[0];
  VT_TRY(vt_model_read(e->path, NULL, &m, &e->diag));
  e->path = NULL;
  const vt_status s = deliver(a, vt_model_text(m), e);
  vt_model_free(m);
  return s;
}
