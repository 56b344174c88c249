/* SPDX-License-Identifier: Apache-2.0
 * csv.c - reads a table of numbers as text: commas separate fields, newlines separate rows.
 *
 * The file is read twice, in pieces of 64 KiB: the first pass finds the shape and whether all
 * numbers are integers, the second pass reads the numbers into memory of the right size. Each
 * number is rounded once, directly to the requested type, independent of the locale. The first row
 * is a row of names if none of its fields is a number; a first row with both names and numbers is
 * refused. A number is whole if it is written as an integer. */
#include <stdio.h>
#include <string.h>
#include "archive.h"
#include "vt_decimal.h"

enum { PIECE = 64 * 1024, FIELD_MAX = 1024, COLUMNS_MAX = 1 << 20 };

typedef struct table {
  const vt_csv_options *options;
  uint64_t rows, columns; /* shape of the table, without the row of names */
  int named;              /* 1: the first row has names */
  int whole;              /* 1: all numbers are integers */
  uint64_t chosen;        /* index of the requested column, if the options name one */
} table;

typedef struct reader {
  const vt_source *src;
  uint64_t at;               /* position in the file after the bytes in `piece` */
  size_t have, next;         /* number of bytes in `piece`, index of the next one */
  uint32_t line, column;     /* position of the next byte, from 1 */
  uint32_t field_column;     /* column at which the current field began */
  char field[FIELD_MAX + 1]; /* text of the current field, and space for a 0 */
  size_t n;                  /* length of the current field */
  vt_diag *d;
  uint8_t piece[PIECE]; /* bytes of the file that were read ahead */
} reader;

/* What ends a field: a comma, the end of the row, or the end of the file. */
typedef enum terminator { COMMA, NEWLINE, END } terminator;

/* ---- bytes ---- */

static vt_status fail_at_column(reader *r, vt_status s, uint32_t column, const char *what) {
  const int first = r->d != NULL && r->d->code == VT_OK;
  (void)VT_FAIL(r->d, s, "%s", what);
  if (!first) return s;
  r->d->line = r->line;
  r->d->column = column;
  return s;
}

/* Writes the next byte to `out` without consuming it; -1 at the end of the file. */
static vt_status peek(reader *r, int *out) {
  if (r->next == r->have) {
    const uint64_t left = r->src->size - r->at;
    r->have = left < PIECE ? (size_t)left : PIECE;
    r->next = 0;
    VT_TRY(vt_source_read(r->src, r->at, r->piece, r->have, r->d));
    r->at += r->have;
  }
  *out = r->next < r->have ? r->piece[r->next] : -1;
  return VT_OK;
}

static void consume_byte(reader *r) {
  r->next++;
  r->column++;
}

/* Skips the byte order mark of UTF-8, which some programs write first. */
static vt_status skip_byte_order_mark(reader *r) {
  int c;
  VT_TRY(peek(r, &c));
  if (r->have >= 3 && memcmp(r->piece, "\xef\xbb\xbf", 3) == 0) r->next = 3;
  return VT_OK;
}

static vt_status start_pass(reader *r, const vt_source *src, vt_diag *d) {
  r->src = src;
  r->at = 0;
  r->have = r->next = r->n = 0;
  r->line = r->column = 1;
  r->d = d;
  return skip_byte_order_mark(r);
}

/* ---- one field ---- */

static vt_status append_to_field(reader *r, int c) {
  if (r->n == FIELD_MAX)
    return fail_at_column(r, VT_LIMIT, r->field_column, "the field is longer than 1024 bytes");
  r->field[r->n++] = (char)c;
  return VT_OK;
}

static vt_status skip_blanks(reader *r, int *out) {
  VT_TRY(peek(r, out));
  while (*out == ' ' || *out == '\t') {
    consume_byte(r);
    VT_TRY(peek(r, out));
  }
  return VT_OK;
}

/* Reads a field in quotes. Inside them a comma is an ordinary byte, "" is one quote, and a newline
 * is an error. */
static vt_status read_quoted(reader *r) {
  int c;
  for (consume_byte(r);; consume_byte(r)) {
    VT_TRY(peek(r, &c));
    if (c == -1 || c == '\n' || c == '\r')
      return fail_at_column(r, VT_FORMAT, r->field_column,
                            "the quoted field does not end on its line");
    if (c == '"') {
      consume_byte(r);
      VT_TRY(peek(r, &c));
      if (c != '"') return VT_OK;
    }
    VT_TRY(append_to_field(r, c));
  }
}

static vt_status read_unquoted(reader *r) {
  int c;
  for (;; consume_byte(r)) {
    VT_TRY(peek(r, &c));
    if (c == -1 || c == ',' || c == '\n' || c == '\r') break;
    if (c == '"')
      return fail_at_column(r, VT_FORMAT, r->column, "a quote inside a field without quotes");
    VT_TRY(append_to_field(r, c));
  }
  while (r->n > 0 && (r->field[r->n - 1] == ' ' || r->field[r->n - 1] == '\t')) r->n--;
  return VT_OK;
}

static vt_status read_field_end(reader *r, terminator *out) {
  int c;
  VT_TRY(skip_blanks(r, &c));
  *out = c == ',' ? COMMA : c == -1 ? END : NEWLINE;
  if (c == -1) return VT_OK;
  if (c == '\r') {
    consume_byte(r);
    VT_TRY(peek(r, &c));
    if (c != '\n')
      return fail_at_column(r, VT_FORMAT, r->column, "a carriage return without a newline");
  }
  if (c != '\n' && c != ',')
    return fail_at_column(r, VT_FORMAT, r->column, "text after the closing quote of a field");
  consume_byte(r);
  return VT_OK;
}

/* Reads a field to r->field and consumes the byte that ends it. The caller counts lines. */
static vt_status read_field(reader *r, terminator *out) {
  int c;
  r->n = 0;
  VT_TRY(skip_blanks(r, &c));
  r->field_column = r->column;
  VT_TRY(c == '"' ? read_quoted(r) : read_unquoted(r));
  return read_field_end(r, out);
}

static void start_next_line(reader *r) {
  r->line++;
  r->column = 1;
}

/* ---- numbers ---- */

static int is_integer_field(const reader *r) {
  int64_t v;
  return vt_decimal_i64(r->field, r->n, &v);
}

static int is_number_field(const reader *r) {
  double v;
  return vt_decimal_f64(r->field, r->n, &v);
}

static vt_status fail_not_a_number(reader *r, int want_integer) {
  char q[VT_QUOTE_MAX], text[VT_QUOTE_MAX + 64];
  if (r->n == 0) return fail_at_column(r, VT_FORMAT, r->field_column, "the field is empty");
  if (want_integer && is_number_field(r))
    return fail_at_column(r, VT_FORMAT, r->field_column,
                          "the number is not an integer that fits i64");
  vt_archive_escape(r->field, r->n < 40 ? r->n : 40, q);
  const size_t n = strlen(q);
  text[0] = '\'';
  memcpy(text + 1, q, n);
  memcpy(text + 1 + n, "' is not a number", sizeof "' is not a number");
  return fail_at_column(r, VT_FORMAT, r->field_column, text);
}

static vt_status store_number(reader *r, uint32_t dtype, void *data, uint64_t i) {
  float f32;
  double f64;
  int64_t i64;
  int ok = 0;
  if (dtype == VT_DTYPE_F32 && (ok = vt_decimal_f32(r->field, r->n, &f32)) != 0)
    memcpy((uint8_t *)data + i * sizeof f32, &f32, sizeof f32);
  if (dtype == VT_DTYPE_F64 && (ok = vt_decimal_f64(r->field, r->n, &f64)) != 0)
    memcpy((uint8_t *)data + i * sizeof f64, &f64, sizeof f64);
  if (dtype == VT_DTYPE_I64 && (ok = vt_decimal_i64(r->field, r->n, &i64)) != 0)
    memcpy((uint8_t *)data + i * sizeof i64, &i64, sizeof i64);
  return ok ? VT_OK : fail_not_a_number(r, dtype == VT_DTYPE_I64);
}

/* ---- first pass: the shape ---- */

static vt_status note_if_requested_column(reader *r, table *t, uint64_t i, int *found) {
  const char *name = t->options->column;
  if (name == NULL || r->n != strlen(name) || memcmp(r->field, name, r->n) != 0) return VT_OK;
  if (*found)
    return fail_at_column(r, VT_FORMAT, r->field_column, "a second column has the requested name");
  *found = 1;
  t->chosen = i;
  return VT_OK;
}

static vt_status fail_no_column(reader *r, const table *t) {
  char q[VT_QUOTE_MAX];
  const char *name = t->options->column;
  return VT_FAIL(r->d, VT_NAME, "the file has no column '%s'%s",
                 vt_archive_escape(name, strlen(name), q), t->named ? "" : ", and no row of names");
}

/* Column names must follow the rules for names of tensors. */
static vt_status check_column_name(reader *r) {
  char q[VT_QUOTE_MAX], text[VT_QUOTE_MAX + 64];
  if (r->n == 0) return fail_at_column(r, VT_FORMAT, r->field_column, "the field is empty");
  r->field[r->n] = 0;
  if (strlen(r->field) == r->n && vt_archive_name_ok(r->field)) return VT_OK;
  snprintf(text, sizeof text, "'%s' cannot be a column's name",
           vt_archive_escape(r->field, r->n < 40 ? r->n : 40, q));
  return fail_at_column(r, VT_FORMAT, r->field_column, text);
}

/* Reads the first row, which determines the number of columns and whether the file has column
 * names. */
static vt_status scan_first_row(reader *r, table *t, int *out_end) {
  uint64_t numbers = 0, n = 0;
  int found = 0;
  terminator a = COMMA;
  t->whole = 1;
  while (a == COMMA) {
    VT_TRY(read_field(r, &a));
    if (n == COLUMNS_MAX)
      return fail_at_column(r, VT_LIMIT, r->field_column, "more columns than accepted");
    VT_TRY(note_if_requested_column(r, t, n++, &found));
    if (n == 1 && a != COMMA && r->n == 0)
      return fail_at_column(r, VT_FORMAT, 1, "the line is empty");
    const int one = is_number_field(r);
    numbers += (uint64_t)one;
    t->whole &= is_integer_field(r);
    if (numbers == 0) VT_TRY(check_column_name(r));
    if (numbers == 0 || numbers == n) continue;
    if (!one) return fail_not_a_number(r, 0);
    return fail_at_column(r, VT_FORMAT, r->field_column, "a number in a row of names");
  }
  t->columns = n;
  t->named = numbers == 0;
  t->rows = !t->named;
  if (t->named) t->whole = 1;
  if (t->options->column != NULL && (!t->named || !found)) return fail_no_column(r, t);
  start_next_line(r);
  *out_end = a == END;
  return VT_OK;
}

static vt_status fail_ragged_row(reader *r, uint64_t n, const table *t) {
  return fail_at_column(r, VT_FORMAT, r->field_column,
                        n < t->columns ? "the row has fewer fields than the first"
                                       : "the row has more fields than the first");
}

/* Writes 1 to `out` if the end of the file is reached, else 0. It is called after each row, so a
 * newline at the end of the last row does not start another row. */
static vt_status is_at_end(reader *r, int *out) {
  int c;
  VT_TRY(peek(r, &c));
  *out = c == -1;
  return VT_OK;
}

static vt_status scan_row(reader *r, table *t, int *out_end) {
  uint64_t n = 0;
  terminator a = COMMA;
  while (a == COMMA) {
    VT_TRY(read_field(r, &a));
    if (++n > t->columns) return fail_ragged_row(r, n, t);
    if (n == 1 && a != COMMA && r->n == 0)
      return fail_at_column(r, VT_FORMAT, 1, "the line is empty");
    const int whole = is_integer_field(r);
    if (!whole && !is_number_field(r)) return fail_not_a_number(r, 0);
    t->whole &= whole;
  }
  if (n < t->columns) return fail_ragged_row(r, n, t);
  t->rows++;
  start_next_line(r);
  *out_end = a == END;
  return VT_OK;
}

static vt_status scan_table(reader *r, table *t) {
  int end = 0;
  VT_TRY(is_at_end(r, &end));
  if (end) return VT_FAIL(r->d, VT_FORMAT, "the CSV file is empty");
  VT_TRY(scan_first_row(r, t, &end));
  while (!end) {
    VT_TRY(is_at_end(r, &end));
    if (!end) VT_TRY(scan_row(r, t, &end));
  }
  return VT_OK;
}

/* ---- second pass: the numbers ---- */

/* The failure if the second pass finds another shape than the first one. */
static vt_status fail_file_changed(reader *r) {
  return VT_FAIL(r->d, VT_IO, "the CSV file changed while it was read");
}

static vt_status read_row(reader *r, const table *t, uint32_t dtype, void *data, uint64_t row) {
  const int one = t->options->column != NULL;
  for (uint64_t i = 0; i < t->columns; i++) {
    terminator a;
    VT_TRY(read_field(r, &a));
    if ((a == COMMA) != (i + 1 < t->columns)) return fail_file_changed(r);
    if (one && i == t->chosen) VT_TRY(store_number(r, dtype, data, row));
    if (!one) VT_TRY(store_number(r, dtype, data, row * t->columns + i));
  }
  start_next_line(r);
  return VT_OK;
}

static vt_status skip_row(reader *r) {
  terminator a = COMMA;
  while (a == COMMA) VT_TRY(read_field(r, &a));
  start_next_line(r);
  return VT_OK;
}

static vt_status read_numbers(reader *r, const table *t, uint32_t dtype, void *data) {
  if (t->named) VT_TRY(skip_row(r));
  for (uint64_t row = 0; row < t->rows; row++) VT_TRY(read_row(r, t, dtype, data, row));
  int end = 0;
  VT_TRY(is_at_end(r, &end));
  return end ? VT_OK : fail_file_changed(r);
}

/* ---- the file ---- */

static vt_status read_table(vt_archive *ar, reader *r, const vt_source *src, table *t, vt_diag *d) {
  void *data;
  VT_TRY(start_pass(r, src, d));
  VT_TRY(scan_table(r, t));
  vt_tensor like = {.dtype = t->options->dtype, .rank = t->options->column != NULL ? 1 : 2};
  if (like.dtype == 0) like.dtype = t->whole ? VT_DTYPE_I64 : VT_DTYPE_F64;
  like.dim[0] = (int64_t)t->rows;
  if (like.rank == 2) like.dim[1] = (int64_t)t->columns;
  VT_TRY(vt_archive_add(ar, "", &like, &data, d));
  VT_TRY(start_pass(r, src, d));
  return read_numbers(r, t, like.dtype, data);
}

static vt_status read_table_with_new_reader(const vt_source *src, const vt_csv_options *options,
                                            vt_archive *ar, vt_diag *d) {
  reader *r = vt_alloc_new(ar->a, sizeof *r);
  table t = {.options = options};
  if (r == NULL) return VT_FAIL(d, VT_NOMEM, "no memory to read a CSV file");
  vt_status s = read_table(ar, r, src, &t, d);
  if (s == VT_OK) s = vt_source_check_unchanged(src, d);
  vt_alloc_free(ar->a, r, sizeof *r);
  return s;
}

/* Copies and checks the options. An older caller has a shorter struct; missing fields are zero. */
static vt_status check_and_copy_options(const vt_csv_options *given, vt_csv_options *out,
                                        vt_diag *d) {
  vt_csv_options o = {.size = sizeof o};
  if (given != NULL) memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
  if (o.dtype != 0 && o.dtype != VT_DTYPE_F32 && o.dtype != VT_DTYPE_F64 && o.dtype != VT_DTYPE_I64)
    return VT_FAIL(d, VT_UNSUPPORTED, "a CSV file is read as f32, f64 or i64, not as %s",
                   vt_dtype_name(o.dtype) != NULL ? vt_dtype_name(o.dtype) : "that");
  *out = o;
  return VT_OK;
}

static vt_status read_csv_archive(const vt_source *src, const vt_csv_options *options,
                                  const vt_alloc *alloc, vt_archive **out, vt_diag *d) {
  vt_csv_options o = {.size = 0};
  vt_archive *ar = NULL;
  VT_TRY(check_and_copy_options(options, &o, d));
  VT_TRY(vt_archive_new(alloc, &ar, d));
  ar->format = "csv";
  const vt_status s = read_table_with_new_reader(src, &o, ar, d);
  if (s != VT_OK)
    vt_archive_free(ar);
  else
    *out = ar;
  return s;
}

vt_status vt_csv_parse(const void *bytes, size_t n, const vt_csv_options *options,
                       const vt_alloc *alloc, vt_archive **out, vt_diag *d) {
  const vt_source src = vt_source_from_memory(bytes, n);
  return read_csv_archive(&src, options, alloc, out, d);
}

vt_status vt_csv_read(const char *path, const vt_csv_options *options, const vt_alloc *alloc,
                      vt_archive **out, vt_diag *d) {
  vt_source src;
  VT_TRY(vt_source_open(path, VT_ARCHIVE_FILE_LIMIT, &src, d));
  const vt_status s = read_csv_archive(&src, options, alloc, out, d);
  vt_source_close(&src);
  return s;
}
