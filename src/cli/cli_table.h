/* SPDX-License-Identifier: Apache-2.0
 * cli_table.h - the rows of options.def and variables.def as data. Also linked into the generator
 * of the man page and the completions, so it knows nothing of the rest of the command line. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H
#include <stdint.h>

enum {
  CLI_COMPLETE_none,
  CLI_COMPLETE_file,
  CLI_COMPLETE_dir,
  CLI_COMPLETE_backend,
  CLI_COMPLETE_code,
  CLI_COMPLETE_verb
};

typedef struct cli_verb {
  const char *name, *operands, *summary, *example;
  uint32_t least, most; /* operands */
  int complete;         /* CLI_COMPLETE_* */
} cli_verb;

typedef struct cli_flag {
  const char *verb, *name; /* verb: "any", "top" or the name of one */
  const char *argument;    /* NULL: takes none */
  const char *help;
  char letter; /* 0: none */
  int complete, repeat;
} cli_flag;

typedef struct cli_variable {
  const char *name, *help;
} cli_variable;

/* Each list ends with a row whose name is NULL. */
extern const cli_verb cli_verbs[];
extern const cli_flag cli_flags[];
extern const cli_variable cli_variables[];

/* NULL when there is none. */
const cli_verb *cli_verb_find(const char *name);
/* 1 when `flag` may be given to `verb` (NULL: before any verb). */
int cli_flag_fits(const cli_flag *flag, const cli_verb *verb);

#endif
