/* SPDX-License-Identifier: Apache-2.0
 * cli.h - declarations that all verbs share: parsed arguments, errors with their file, buffered
 * output, file helpers, and tensors as text. The command line uses only the public headers of the
 * library. */
#ifndef VOLTA_CLI_H
#define VOLTA_CLI_H
#include <stddef.h>
#include <stdint.h>
#include "cli_table.h"
#include "volta/volta_tools.h"

/* ---- arguments (cli_options.c) ----------------------------------------------------------------
 */

/* One flag of the command line, with its value. */
typedef struct cli_given {
  const cli_flag *flag;
  const char *value; /* "" for a flag that takes no value */
} cli_given;

typedef struct cli_args {
  const cli_verb *verb; /* NULL: no verb was given, only --help or --version */
  const char **operands;
  cli_given *given; /* the flags, in the order of the command line */
  uint32_t n_operands, n_given;
} cli_args;

/* A failure and the file that it is about. */
typedef struct cli_error {
  vt_diag diag;
  const char *path; /* the file; NULL: no file. The string outlives the error */
  int reported;     /* 1: the verb has printed the failure already */
} cli_error;

vt_status cli_args_parse(int argc, char **argv, cli_args *out, cli_error *e) VT_NODISCARD;
void cli_args_free(cli_args *a);
/* 1 if the verb has a flag with this name. */
int cli_verb_accepts_flag(const cli_args *a, const char *name);
/* The value of flag `name`; NULL if it was not given. The verb must have the flag (asserted). */
const char *cli_flag_value(const cli_args *a, const char *name);
/* Value number `i` of a flag that may be given more than once; NULL past the end. */
const char *cli_flag_value_at(const cli_args *a, const char *name, uint32_t i);
/* Parses the value of flag `name` as a whole number from 0 to 2^64-1; writes `otherwise` if the
 * flag was not given. */
vt_status cli_flag_value_u64(const cli_args *a, const char *name, uint64_t otherwise, uint64_t *out,
                             cli_error *e) VT_NODISCARD;
/* VT_USAGE if `flag` and `other` are both given. */
vt_status cli_refuse_both(const cli_args *a, const char *flag, const char *other,
                          cli_error *e) VT_NODISCARD;
/* The name most similar to `word`, for "did you mean"; NULL if no name is similar. `name_at`
 * returns name `i`, and NULL past the last one. */
const char *cli_nearest_name(const char *word,
                             const char *(*name_at)(uint32_t i, const void *context),
                             const void *context);
vt_status cli_fail_unknown_verb(const char *word, cli_error *e) VT_NODISCARD;
int cli_wants_version(const cli_args *a);

/* ---- help (cli_help.c) --------------------------------------------------------------------------
 */

void cli_print_help(void);
void cli_print_verb_help(const cli_verb *v);
/* Prints `text` in lines of at most 80 columns, without a final newline. All lines but the first
 * are indented by `indent` spaces. */
void cli_print_wrapped(const char *text, int indent);

/* ---- output (cli_output.c)
 * ------------------------------------------------------------------------ */

/* Standard output is buffered in memory until cli_flush, so an interrupted verb prints no partial
 * report. */
void cli_print(const char *format, ...) VT_PRINTF(1, 2);
void cli_write(const char *bytes, size_t n);
void cli_print_count(uint64_t n, const char *noun); /* "1 tensor", "2 tensors" */
/* Prints a name from a file safely: control characters, which could break lines or control the
 * terminal, and bytes that are not UTF-8 are printed as \x1b. */
void cli_print_escaped(const char *name);
/* Writes `text`, escaped as cli_print_escaped escapes it, to `out_text`, which has `room` bytes;
 * returns `out_text`. */
const char *cli_escape_text(const char *text, char *out_text, size_t room);
void cli_flush(void);
/* Flushes standard output and returns the exit code for the status of the verb. */
int cli_flush_and_exit_code(vt_status s);

void cli_set_verbosity(const cli_args *a); /* sets the verbosity from -q and -v */
/* Prints to standard error unless -q was given. */
void cli_narrate(const char *format, ...) VT_PRINTF(1, 2);
void cli_warn(void *user, const char *text); /* prints a note of the library; ignores `user` */
/* Prints to standard error if -v was given. */
void cli_narrate_if_verbose(const char *format, ...) VT_PRINTF(1, 2);

/* Replaces the hint of the error. */
void cli_set_hint(cli_error *e, const char *format, ...) VT_PRINTF(2, 3);
/* Prints "FILE:LINE:COLUMN: error: TEXT [NAME]". */
void cli_error_print(const cli_error *e, vt_status s);

/* ---- signals (cli_signal.c)
 * ------------------------------------------------------------------------ */

void cli_signals_init(void);
/* Between cli_critical_begin and cli_critical_end an interrupt is deferred, because a file is being
 * written. */
void cli_critical_begin(void);
void cli_critical_end(void);

/* ---- files (cli_files.c)
 * --------------------------------------------------------------------------- */

/* Writes the file under a temporary name, then gives it its own name. */
vt_status cli_file_write(const char *path, const char *bytes, size_t n, cli_error *e) VT_NODISCARD;
/* Tests whether the file could be written, for verbs that compute for long before they write: it
 * creates a file in the same folder and removes it. */
vt_status cli_file_check_writable(const char *path, cli_error *e) VT_NODISCARD;
/* Writes 1 to `out` if the content of the file is exactly `text`, else 0. */
vt_status cli_file_equals(const char *path, const char *text, int *out, cli_error *e) VT_NODISCARD;
/* Reads a text file of at most `limit` bytes, which may hold no zero byte. The caller frees it. */
vt_status cli_file_read(const char *path, size_t limit, char **out, cli_error *e) VT_NODISCARD;
/* Copies line number `line` (from 1) of a file to `out`, truncated to `room` bytes; "" if the file
 * cannot be read. */
void cli_file_read_line(const char *path, uint32_t line, char *out, size_t room);
/* Splits "FILE:KEY" or "FILE". The caller frees *out_path. *out_key points into the same memory; it
 * is NULL if there is no key. */
vt_status cli_split_file_key(const char *text, char **out_path, const char **out_key,
                             cli_error *e) VT_NODISCARD;
/* Makes a folder; it may exist already. */
vt_status cli_folder_make(const char *path, cli_error *e) VT_NODISCARD;
/* Returns "FOLDER/NAME.SUFFIX", where unsafe bytes of the name are percent-encoded. The caller
 * frees it. NULL: out of memory. */
char *cli_path_join_escaped(const char *folder, const char *name, const char *suffix);
/* Copies `n` bytes and adds a 0; the caller frees the copy; NULL: out of memory. */
char *cli_text_copy(const char *text, size_t n);
const char *cli_basename(const char *path);
int cli_ends_with(const char *text, const char *suffix);
vt_status cli_no_memory(cli_error *e); /* records VT_NOMEM in `e` and returns it */

/* ---- values (cli_values.c)
 * -------------------------------------------------------------------------- */

enum { CLI_HEX_SIZE = 65, CLI_TYPE_SIZE = 224, CLI_VALUE_SIZE = 40 };

void cli_hex(const uint8_t digest[32], char out[CLI_HEX_SIZE]);
void cli_type_text(const vt_tensor *t, char out[CLI_TYPE_SIZE]); /* "f32[2, 3]" */
/* Element `i` as the shortest text that parses back to the same bits. */
void cli_element_text(const vt_tensor *t, uint64_t i, char out[CLI_VALUE_SIZE]);
/* Like cli_element_text, for an element of type `dtype` that is given by its bit pattern. */
void cli_text_of_element_bits(uint32_t dtype, uint64_t bits, char out[CLI_VALUE_SIZE]);
/* Row-major position `i` as "[1, 2, 3]". */
void cli_index_text(const vt_tensor *t, uint64_t i, char out[CLI_TYPE_SIZE]);
double cli_element_number(const vt_tensor *t, uint64_t i); /* element `i` converted to f64 */
int cli_dtype_is_float(uint32_t dtype);
int cli_is_nan(double v);
int cli_is_inf(double v);
/* Prints the first CLI_FIRST_VALUES elements on one line, separated by spaces. */
void cli_print_first_elements(const vt_tensor *t, uint64_t count);
enum { CLI_FIRST_VALUES = 6 };

/* ---- verbs (verb_*.c)
 * -------------------------------------------------------------------------------- */

#define CLI_FLAG(verb, name, letter, argument, complete, repeat, help)
#define CLI_VERB(name, least, most, operands, complete, summary, example) \
  vt_status verb_##name(const cli_args *a, cli_error *e) VT_NODISCARD;
#include "options.def"
#undef CLI_VERB
#undef CLI_FLAG
vt_status cli_print_version(cli_error *e) VT_NODISCARD;

#endif
