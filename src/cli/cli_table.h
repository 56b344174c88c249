/* SPDX-License-Identifier: Apache-2.0
 * cli_table.h - the rows of options.def and variables.def as arrays. The generator of the man page
 * and the completions links them too, so they depend on nothing else of the command line. */
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
  uint32_t least, most; /* number of operands */
  int complete;         /* how a shell completes an operand, CLI_COMPLETE_* */
} cli_verb;

typedef struct cli_flag {
  const char *verb, *name; /* name of the verb, or "any", or "top"; name of the flag */
  const char *argument;    /* name of the argument in help texts; NULL: the flag takes none */
  const char *help;
  char letter;  /* one-letter form; 0: none */
  int complete; /* how a shell completes the argument, CLI_COMPLETE_* */
  int repeat;   /* 1: the flag may be given more than once */
} cli_flag;

typedef struct cli_variable {
  const char *name, *help;
} cli_variable;

/* Each list ends with a row whose name is NULL. */
extern const cli_verb cli_verbs[];
extern const cli_flag cli_flags[];
extern const cli_variable cli_variables[];

/* The verb with this name; NULL for an unknown name. */
const cli_verb *cli_verb_find(const char *name);
/* 1 if `flag` may be given to `verb`; NULL stands for a command line without a verb. */
int cli_flag_belongs_to_verb(const cli_flag *flag, const cli_verb *verb);

#endif
