/* SPDX-License-Identifier: Apache-2.0
 * cli_main.c - parses the arguments, calls the verb, and returns its status as the exit code. */
#include <stdio.h>
#include <string.h>
#include "cli.h"

typedef vt_status verb_fn(const cli_args *a, cli_error *e);

static verb_fn *verb_function(const char *name) {
  static const struct {
    const char *name;
    verb_fn *run;
  } row[] = {
#define CLI_FLAG(verb, name, letter, argument, complete, repeat, help)
#define CLI_VERB(name, least, most, operands, complete, summary, example) {#name, verb_##name},
#include "options.def"
#undef CLI_VERB
#undef CLI_FLAG
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
    if (strcmp(row[i].name, name) == 0) return row[i].run;
  return NULL;
}

static vt_status call_verb(const cli_args *a, cli_error *e) {
  cli_set_verbosity(a);
  if (cli_wants_version(a)) return cli_print_version(e);
  if (a->verb == NULL) {
    cli_print_help();
    return VT_OK;
  }
  if (cli_flag_value(a, "help") != NULL) {
    cli_print_verb_help(a->verb);
    return VT_OK;
  }
  return verb_function(a->verb->name)(a, e);
}

int main(int argc, char **argv) {
  cli_signals_init();
  cli_error e = {0};
  cli_args a = {0};
  vt_status s = cli_args_parse(argc, argv, &a, &e);
  if (s == VT_OK) s = call_verb(&a, &e);
  if (s != VT_OK) cli_error_print(&e, s);
  cli_args_free(&a);
  return cli_flush_and_exit_code(s);
}
