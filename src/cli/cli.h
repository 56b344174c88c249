/* SPDX-License-Identifier: Apache-2.0
 * cli.h - what the verbs share: parsed arguments, errors that know their file, output that is
 * written whole, files, and values as text. The command line is a client of the public headers
 * like any other. */
#ifndef VOLTA_CLI_H
#define VOLTA_CLI_H
#include <stddef.h>
#include <stdint.h>
#include "cli_table.h"
#include "volta/volta_tools.h"

/* ---- arguments (cli_options.c) ----------------------------------------------------------------
 */

typedef struct cli_given {
  const cli_flag *flag;
  const char *value; /* "" for a flag without argument */
} cli_given;

typedef struct cli_args {
  const cli_verb *verb; /* NULL: none, and then help or version was asked for */
  const char **operands;
  cli_given *given;
  uint32_t n_operands, n_given;
} cli_args;

/* A failure and the file it is about. */
typedef struct cli_error {
  vt_diag diag;
  const char *path; /* NULL: none; otherwise it outlives the error */
  int reported;     /* the verb has said it already */
} cli_error;

vt_status cli_args_parse(int argc, char **argv, cli_args *out, cli_error *e) VT_NODISCARD;
void cli_args_free(cli_args *a);
/* 1 when the verb has a flag of this name. */
int cli_takes(const cli_args *a, const char *name);
/* The value of flag `name`, NULL when it was not given. A flag that the verb does not have is a bug
 * in the verb. */
const char *cli_value(const cli_args *a, const char *name);
/* The i-th value of a flag that repeats; NULL past the end. */
const char *cli_value_at(const cli_args *a, const char *name, uint32_t i);
/* A whole number from 0 to 2^64-1 given by flag `name`; `otherwise` when it was not given. */
vt_status cli_value_u64(const cli_args *a, const char *name, uint64_t otherwise, uint64_t *out,
                        cli_error *e) VT_NODISCARD;
/* Refuses flags `x` and `y` given together. */
vt_status cli_contradict(const cli_args *a, const char *x, const char *y,
                         cli_error *e) VT_NODISCARD;
/* The name among those `next` hands out (NULL ends) that is most like `word`; NULL: none is. */
const char *cli_nearest(const char *word, const char *(*next)(uint32_t i, const void *context),
                        const void *context);
vt_status cli_unknown_verb(const char *word, cli_error *e) VT_NODISCARD;
int cli_wants_version(const cli_args *a);

/* ---- help (cli_help.c) --------------------------------------------------------------------------
 */

void cli_help_all(void);
void cli_help_verb(const cli_verb *v);
/* `text` in lines of 80 columns, all but the first indented; no newline at the end. */
void cli_print_wrapped(const char *text, int indent);

/* ---- output (cli_output.c)
 * ------------------------------------------------------------------------ */

/* Standard output is gathered and written whole by cli_flush, so that an interrupted verb leaves
 * no half of a report. */
void cli_print(const char *format, ...) VT_PRINTF(1, 2);
void cli_write(const char *bytes, size_t n);
void cli_print_count(uint64_t n, const char *noun); /* "1 tensor", "2 tensors" */
/* The same without control characters, which would break lines or reach the terminal, and without
 * bytes that are no UTF-8: \x1b. */
void cli_print_name(const char *name);
/* That as a text of at most `room` bytes, which is also what is returned. */
const char *cli_plain(const char *text, char *out_text, size_t room);
void cli_flush(void);
/* Writes what is left and turns the verb's status into the exit code. */
int cli_finish(vt_status s);

void cli_verbosity(const cli_args *a);
void cli_narrate(const char *format, ...) VT_PRINTF(1, 2); /* unless -q */
void cli_warn(void *user, const char *text); /* what the library notes; `user` is not looked at */
void cli_detail(const char *format, ...) VT_PRINTF(1, 2); /* with -v */

void cli_hint(cli_error *e, const char *format, ...) VT_PRINTF(2, 3);
void cli_error_print(const cli_error *e, vt_status s);

/* ---- signals (cli_signal.c)
 * ------------------------------------------------------------------------ */

void cli_signals_init(void);
/* Between the two an interrupt waits: a file is being written. */
void cli_critical_begin(void);
void cli_critical_end(void);

/* ---- files (cli_files.c)
 * --------------------------------------------------------------------------- */

/* Writes under a temporary name and renames. */
vt_status cli_file_write(const char *path, const char *bytes, size_t n, cli_error *e) VT_NODISCARD;
/* Whether it could, for those who work long before they write: makes a file beside it, and removes
 * it. */
vt_status cli_file_try(const char *path, cli_error *e) VT_NODISCARD;
/* 1 when the file holds exactly `text`. */
vt_status cli_file_equals(const char *path, const char *text, int *out, cli_error *e) VT_NODISCARD;
/* Line number `line` (from 1) of a file, cut to `room`; "" when it cannot be read. */
void cli_file_line(const char *path, uint32_t line, char *out, size_t room);
/* "FILE:KEY" or "FILE"; the key, NULL when there is none, lies in the path's memory; free that. */
vt_status cli_path_split(const char *text, char **out_path, const char **out_key,
                         cli_error *e) VT_NODISCARD;
vt_status cli_folder_make(const char *path, cli_error *e) VT_NODISCARD;
/* "folder/name" with `suffix`, the name made safe; free it. NULL: no memory. */
char *cli_path_join(const char *folder, const char *name, const char *suffix);
char *cli_text_copy(const char *text, size_t n); /* NULL: no memory */
const char *cli_basename(const char *path);
int cli_ends_with(const char *text, const char *tail);
vt_status cli_no_memory(cli_error *e);

/* ---- values (cli_values.c)
 * -------------------------------------------------------------------------- */

enum { CLI_HEX_SIZE = 65, CLI_TYPE_SIZE = 224, CLI_VALUE_SIZE = 40 };

void cli_hex(const uint8_t digest[32], char out[CLI_HEX_SIZE]);
void cli_type_text(const vt_tensor *t, char out[CLI_TYPE_SIZE]); /* "f32[2, 3]" */
/* Element i, the shortest text that reads back to the same bits. */
void cli_element_text(const vt_tensor *t, uint64_t i, char out[CLI_VALUE_SIZE]);
/* The same of a bit pattern, as vt_compare reports it. */
void cli_bits_text(uint32_t dtype, uint64_t bits, char out[CLI_VALUE_SIZE]);
/* Row-major position `i` as "[1, 2, 3]". */
void cli_index_text(const vt_tensor *t, uint64_t i, char out[CLI_TYPE_SIZE]);
double cli_element_number(const vt_tensor *t, uint64_t i);
int cli_dtype_is_float(uint32_t dtype);
int cli_is_nan(double v);
int cli_is_inf(double v);
/* The first few elements on one line, separated by spaces. */
void cli_print_elements(const vt_tensor *t, uint64_t count);
enum { CLI_FIRST_VALUES = 6 };

/* ---- verbs (verb_*.c)
 * -------------------------------------------------------------------------------- */

#define CLI_FLAG(verb, name, letter, argument, complete, repeat, help)
#define CLI_VERB(name, least, most, operands, complete, summary, example) \
  vt_status verb_##name(const cli_args *a, cli_error *e) VT_NODISCARD;
#include "options.def"
#undef CLI_VERB
#undef CLI_FLAG
vt_status cli_version(cli_error *e) VT_NODISCARD;

#endif
