/* SPDX-License-Identifier: Apache-2.0
 * verb_explain.c - volta explain [CODE]: prints a row of status.def, or lists all rows. */
#include <string.h>
#include "cli.h"

static const vt_status codes[] = {
#define VT_STATUS(name, value, exit, text, help) VT_##name,
#include "status.def"
#undef VT_STATUS
};
enum { N_CODES = sizeof codes / sizeof codes[0] };

static const char *code_name_at(uint32_t i, const void *context) {
  (void)context;
  return i < N_CODES ? vt_status_name(codes[i]) : NULL;
}

static void print_all_codes(void) {
  cli_print("number  name         exit  meaning\n");
  for (uint32_t i = 0; i < N_CODES; i++)
    cli_print("%6d  %-11s  %4d  %s\n", (int)codes[i], vt_status_name(codes[i]),
              vt_status_exit(codes[i]), vt_status_text(codes[i]));
}

vt_status verb_explain(const cli_args *a, cli_error *e) {
  if (a->n_operands == 0 || strcmp(a->operands[0], "list") == 0) {
    print_all_codes();
    return VT_OK;
  }
  const int code = vt_status_find(a->operands[0]);
  if (code >= 0) {
    const vt_status s = (vt_status)code;
    cli_print("%s: %s\nnumber %d, exit code %d\n\n", vt_status_name(s), vt_status_text(s), code,
              vt_status_exit(s));
    cli_print_wrapped(vt_status_help(s), 0);
    cli_print("\n");
    return VT_OK;
  }
  const vt_status s = VT_FAIL(&e->diag, VT_NAME, "there is no status code '%s'", a->operands[0]);
  const char *near = cli_nearest_name(a->operands[0], code_name_at, NULL);
  if (near != NULL) cli_set_hint(e, "did you mean `%s`?", near);
  if (near == NULL) cli_set_hint(e, "`volta explain` lists the codes");
  return s;
}
