/* SPDX-License-Identifier: Apache-2.0
 * cli_help.c - prints the help texts, which are the rows of options.def and variables.def. */
#include <stdio.h>
#include <string.h>
#include "cli.h"

enum { INDENT = 28, WIDTH = 80 };

void cli_print_wrapped(const char *text, int indent) {
  for (size_t at = 0; *text != '\0';) {
    const size_t n = strcspn(text, " ");
    const int fits = at + 1 + n <= (size_t)(WIDTH - indent);
    if (at != 0 && fits) cli_print(" ");
    if (at != 0 && !fits) cli_print("\n%*s", indent, "");
    cli_write(text, n);
    at = at != 0 && fits ? at + 1 + n : n;
    text += n + strspn(text + n, " ");
  }
}

static void print_two_columns(const char *head, const char *text) {
  const size_t n = strlen(head);
  cli_print("%s", head);
  if (n + 1 >= INDENT) cli_print("\n%*s", INDENT, "");
  if (n + 1 < INDENT) cli_print("%*s", (int)(INDENT - n), "");
  cli_print_wrapped(text, INDENT);
  cli_print("\n");
}

static void print_flag(const cli_flag *f) {
  char head[96], text[1024];
  const char letter[8] = {'-', f->letter, ',', ' ', '\0'};
  snprintf(head, sizeof head, "  %s--%s%s%s", f->letter != 0 ? letter : "    ", f->name,
           f->argument != NULL ? " " : "", f->argument != NULL ? f->argument : "");
  snprintf(text, sizeof text, "%s%s", f->help, f->repeat ? " May be given more than once." : "");
  print_two_columns(head, text);
}

/* Prints the flags of the verb first, then the flags that every verb has. */
static void print_flags(const cli_verb *verb) {
  for (int common = 0; common < 2; common++)
    for (const cli_flag *f = cli_flags; f->name != NULL; f++)
      if (cli_flag_belongs_to_verb(f, verb) && (strcmp(f->verb, "any") == 0) == common)
        print_flag(f);
}

void cli_print_verb_help(const cli_verb *v) {
  cli_print("usage: volta %s [FLAGS]%s%s\n\n%s\n\nflags:\n", v->name,
            v->operands[0] != '\0' ? " " : "", v->operands, v->summary);
  print_flags(v);
  cli_print("\nexample:\n  %s\n", v->example);
}

void cli_print_help(void) {
  cli_print(
      "usage: volta VERB [FLAGS] [OPERANDS]\n\n"
      "One graph, one meaning, many backends, the same bits.\n\nverbs:\n");
  for (const cli_verb *v = cli_verbs; v->name != NULL; v++) {
    char head[64];
    snprintf(head, sizeof head, "  %s %s", v->name, v->operands);
    print_two_columns(head, v->summary);
  }
  cli_print("\nflags:\n");
  print_flags(NULL);
  cli_print("\nenvironment:\n");
  for (const cli_variable *x = cli_variables; x->name != NULL; x++) {
    char head[64];
    snprintf(head, sizeof head, "  %s", x->name);
    print_two_columns(head, x->help);
  }
  cli_print("\nexample:\n  %s\n", cli_verb_find("run")->example);
  cli_print("\n`volta help VERB` shows the flags of a verb, `volta explain` the exit codes.\n");
}

vt_status verb_help(const cli_args *a, cli_error *e) {
  const cli_verb *v = a->n_operands == 0 ? NULL : cli_verb_find(a->operands[0]);
  if (a->n_operands != 0 && v == NULL) return cli_fail_unknown_verb(a->operands[0], e);
  if (v == NULL) cli_print_help();
  if (v != NULL) cli_print_verb_help(v);
  return VT_OK;
}
