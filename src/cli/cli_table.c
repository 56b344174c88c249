/* SPDX-License-Identifier: Apache-2.0
 * cli_table.c - the rows of options.def and variables.def as arrays. */
#include "cli_table.h"
#include <stddef.h>
#include <string.h>

const cli_verb cli_verbs[] = {
#define CLI_FLAG(verb, name, letter, argument, complete, repeat, help)
#define CLI_VERB(name, least, most, operands, complete, summary, example) \
  {#name, operands, summary, example, least, most, CLI_COMPLETE_##complete},
#include "options.def"
#undef CLI_VERB
#undef CLI_FLAG
    {0}};

const cli_flag cli_flags[] = {
#define CLI_VERB(name, least, most, operands, complete, summary, example)
#define CLI_FLAG(verb, name, letter, argument, complete, repeat, help) \
  {#verb, name, argument, help, letter, CLI_COMPLETE_##complete, repeat},
#include "options.def"
#undef CLI_VERB
#undef CLI_FLAG
    {0}};

const cli_variable cli_variables[] = {
#define CLI_VARIABLE(name, help) {#name, help},
#include "variables.def"
#undef CLI_VARIABLE
    {0}};

const cli_verb *cli_verb_find(const char *name) {
  for (const cli_verb *v = cli_verbs; v->name != NULL; v++)
    if (strcmp(v->name, name) == 0) return v;
  return NULL;
}

int cli_flag_belongs_to_verb(const cli_flag *flag, const cli_verb *verb) {
  if (strcmp(flag->verb, "any") == 0) return 1;
  return strcmp(flag->verb, verb == NULL ? "top" : verb->name) == 0;
}
