/* SPDX-License-Identifier: Apache-2.0
 * cli_output.c - output of the command line: data on standard output, buffered until cli_flush;
 * narration (messages that -q silences), warnings and errors on standard error. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

/* ---- standard output ---- */

static struct {
  char *bytes;
  size_t n, room; /* bytes in the buffer, size of the buffer */
  int no_memory;  /* 1: some output was lost because the buffer could not grow */
  int failed;     /* errno of the first write that failed; later output is dropped */
} out;

static int grow_buffer(size_t more) {
  if (more <= out.room - out.n) return 1;
  const size_t want = out.n + more > 2 * out.room ? out.n + more : 2 * out.room;
  char *p = more < SIZE_MAX / 4 && want < SIZE_MAX / 2 ? realloc(out.bytes, want) : NULL;
  out.no_memory |= p == NULL;
  if (p == NULL) return 0;
  out.bytes = p;
  out.room = want;
  return 1;
}

void cli_write(const char *bytes, size_t n) {
  if (n == 0 || !grow_buffer(n)) return;
  memcpy(out.bytes + out.n, bytes, n);
  out.n += n;
}

void cli_print(const char *format, ...) {
  va_list ap, again;
  va_start(ap, format);
  va_copy(again, ap);
  const int n = vsnprintf(NULL, 0, format, ap);
  if (n >= 0 && grow_buffer((size_t)n + 1)) {
    vsnprintf(out.bytes + out.n, (size_t)n + 1, format, again);
    out.n += (size_t)n;
  }
  va_end(again);
  va_end(ap);
}

void cli_print_count(uint64_t n, const char *noun) {
  cli_print("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

/* Decodes a UTF-8 character of two or more bytes. Returns its length; 0 if it is not UTF-8. */
static size_t decode_multibyte_utf8(const unsigned char *s, uint32_t *out_c) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  uint32_t c = s[0] & (0xffu >> (n + 1));
  if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (s[i] & 0x3f);
  }
  *out_c = c;
  return c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? n : 0;
}

/* Length of the character at `p` if it can be printed as it is. Returns 0 for characters that
 * control a terminal (control characters, changes of direction, line separators) and for bytes that
 * are not UTF-8. */
static size_t printable_char_length(const char *p) {
  const unsigned char first = (unsigned char)*p;
  uint32_t c = 0;
  if (first < 0x80) return first >= 0x20 && first != 0x7f;
  const size_t n = decode_multibyte_utf8((const unsigned char *)p, &c);
  const int obeyed = c < 0xa0 || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return obeyed ? 0 : n;
}

void cli_print_escaped(const char *name) {
  for (const char *p = name; *p != '\0';) {
    const size_t n = printable_char_length(p);
    if (n == 0)
      cli_print("\\x%02x", (unsigned char)*p);
    else
      cli_write(p, n);
    p += n == 0 ? 1 : n;
  }
}

const char *cli_escape_text(const char *text, char *out_text, size_t room) {
  size_t used = 0;
  for (const char *p = text; *p != '\0';) {
    const size_t n = printable_char_length(p), takes = n == 0 ? 4 : n;
    if (used + takes + 1 > room) break;
    if (n == 0)
      snprintf(out_text + used, 5, "\\x%02x", (unsigned char)*p);
    else
      memcpy(out_text + used, p, n);
    used += takes;
    p += n == 0 ? 1 : n;
  }
  out_text[used] = '\0';
  return out_text;
}

void cli_flush(void) {
  for (size_t at = 0; at < out.n && out.failed == 0;) {
    const ssize_t n = write(STDOUT_FILENO, out.bytes + at, out.n - at);
    if (n >= 0) at += (size_t)n;
    if (n < 0 && errno != EINTR) out.failed = errno;
  }
  out.n = 0;
}

static vt_status check_output_written(cli_error *e) {
  if (out.no_memory) return cli_no_memory(e);
  if (out.failed == 0 || out.failed == EPIPE) return VT_OK;
  return VT_FAIL(&e->diag, VT_IO, "standard output cannot be written: %s", strerror(out.failed));
}

int cli_flush_and_exit_code(vt_status s) {
  cli_flush();
  cli_error e = {0};
  const vt_status o = check_output_written(&e);
  if (o != VT_OK) cli_error_print(&e, o);
  free(out.bytes);
  out.bytes = NULL;
  out.room = 0;
  return vt_status_exit(o != VT_OK ? o : s);
}

/* ---- narration ---- */

static int verbosity; /* -1: -q was given; 1: -v was given; 0: neither */

void cli_set_verbosity(const cli_args *a) {
  verbosity = (cli_flag_value(a, "verbose") != NULL) - (cli_flag_value(a, "quiet") != NULL);
}

void cli_narrate(const char *format, ...) {
  if (verbosity < 0) return;
  va_list ap;
  va_start(ap, format);
  vfprintf(stderr, format, ap);
  va_end(ap);
}

/* The text is escaped, because it contains file names. Repetitions of the last warning are dropped,
 * because a model with many groups of steps may cause the same one many times. */
void cli_warn(void *user, const char *text) {
  static char last[2048];
  char plain[sizeof last];
  (void)user;
  if (strcmp(cli_escape_text(text, plain, sizeof plain), last) == 0) return;
  snprintf(last, sizeof last, "%s", plain);
  cli_narrate("volta: warning: %s\n", plain);
}

void cli_narrate_if_verbose(const char *format, ...) {
  if (verbosity < 1) return;
  va_list ap;
  va_start(ap, format);
  vfprintf(stderr, format, ap);
  va_end(ap);
}

/* ---- errors ---- */

void cli_set_hint(cli_error *e, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(e->diag.hint, sizeof e->diag.hint, format, ap);
  va_end(ap);
}

static int stderr_takes_colour(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no != NULL && no[0] != '\0') return 0;
  return isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

/* Prints text from a file; characters that control a terminal become '?'. */
static void print_without_controls(const char *text) {
  for (const char *p = text; *p != '\0';) {
    const size_t n = *p == '\t' ? 1 : printable_char_length(p);
    fwrite(n == 0 ? "?" : p, 1, n == 0 ? 1 : n, stderr);
    p += n == 0 ? 1 : n;
  }
}

/* Prints a caret under the byte at `column`, which counts from 1. Tabs stay tabs, and a character
 * of several bytes is one column wide, so that the caret is under its character. */
static void print_caret(const char *source, uint32_t column) {
  if (column == 0 || column > strlen(source) + 1) return;
  for (uint32_t i = 0; i + 1 < column; i++) {
    if (((unsigned char)source[i] & 0xc0) == 0x80) continue;
    putc(source[i] == '\t' ? '\t' : ' ', stderr);
  }
  fputs("^\n", stderr);
}

/* 1 if the message `text` contains `path` as a word, so that the file need not be named before
 * it. */
static int text_names_path(const char *text, const char *path) {
  const size_t n = strlen(path);
  for (const char *p = strstr(text, path); p != NULL && n > 0; p = strstr(p + 1, path))
    if ((p == text || p[-1] == ' ') && strchr(" :,", p[n]) != NULL) return 1;
  return 0;
}

static void print_error_prefix(const cli_error *e) {
  const vt_diag *d = &e->diag;
  if (e->path == NULL || (d->line == 0 && text_names_path(d->text, e->path))) {
    fputs("volta: ", stderr);
    return;
  }
  print_without_controls(e->path);
  if (d->line != 0) fprintf(stderr, ":%u:%u", d->line, d->column);
  fputs(": ", stderr);
}

/* Prints the source line of a failure. A failure found after parsing has a line number but not the
 * line, so the line is read from the file again. */
static void print_source_line(const cli_error *e) {
  char line[sizeof e->diag.source];
  snprintf(line, sizeof line, "%s", e->diag.source);
  if (line[0] == '\0' && e->path != NULL && e->diag.line != 0)
    cli_file_read_line(e->path, e->diag.line, line, sizeof line);
  if (line[0] == '\0') return;
  print_without_controls(line);
  putc('\n', stderr);
  print_caret(line, e->diag.column);
}

void cli_error_print(const cli_error *e, vt_status s) {
  if (e->reported) return;
  const vt_diag *d = &e->diag;
  cli_flush();
  print_error_prefix(e);
  fputs(stderr_takes_colour() ? "\033[1;31merror:\033[0m " : "error: ", stderr);
  print_without_controls(d->text[0] != '\0' ? d->text : vt_status_text(s));
  fprintf(stderr, " [%s]\n", vt_status_name(s));
  print_source_line(e);
  if (d->hint[0] == '\0') return;
  fputs("  help: ", stderr);
  print_without_controls(d->hint);
  putc('\n', stderr);
}
