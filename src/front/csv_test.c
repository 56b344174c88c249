/* SPDX-License-Identifier: Apache-2.0
 * csv_test.c - tests CSV files that are read and CSV files that are refused. */
#include "archive_test.h"

static vt_status parse_csv(const char *text, size_t n, uint32_t dtype, const char *column,
                           long fail_at, vt_archive **out, vt_fault *f, vt_diag *d) {
  const vt_csv_options o = {.size = sizeof o, .dtype = dtype, .column = column};
  char *copy = malloc(n != 0 ? n : 1);
  if (copy == NULL) abort();
  memcpy(copy, text, n);
  *f = (vt_fault){.left = fail_at};
  *d = (vt_diag){.code = VT_OK};
  *out = NULL;
  const vt_alloc a = vt_fault_alloc(f);
  const vt_status s = vt_csv_parse(copy, n, &o, &a, out, d);
  free(copy);
  CHECK((s == VT_OK) == (*out != NULL) && s == d->code);
  CHECK(s == VT_OK || (f->live == 0 && d->text[0] != '\0'));
  for (const char *c = d->text; *c != '\0'; c++) CHECK((uint8_t)*c >= 0x20 && *c != 0x7f);
  return s;
}

static void check_csv_reads_as(const char *text, uint32_t requested_dtype, const char *column,
                               uint32_t dtype, int64_t rows, int64_t columns, const void *data,
                               size_t size) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t;
  const char *name;
  CHECK(parse_csv(text, strlen(text), requested_dtype, column, 0, &ar, &f, &d) == VT_OK);
  if (ar == NULL) {
    fprintf(stderr, "  %s: %s\n", text, d.text);
    return;
  }
  CHECK(strcmp(vt_archive_format(ar), "csv") == 0 && vt_archive_count(ar) == 1);
  CHECK(vt_archive_tensor(ar, 0, &name, &t) == VT_OK && name[0] == 0);
  CHECK(t.dtype == dtype && t.rank == (column != NULL ? 1u : 2u) && t.dim[0] == rows);
  CHECK(column != NULL || t.dim[1] == columns);
  CHECK(size == 0 || memcmp(t.data, data, size) == 0);
  vt_archive_free(ar);
  CHECK(f.live == 0);
}

static void test_deduced_and_requested_dtypes(void) {
  static const int64_t whole[4] = {1, -2, 3, INT64_MIN};
  static const double wide[4] = {1, -2, 3.5, 1e300};
  static const float single[4] = {1, -2, 16777216, 0x1.fffffep127f};
  check_csv_reads_as("1,-2\n3,-9223372036854775808\n", 0, NULL, VT_DTYPE_I64, 2, 2, whole,
                     sizeof whole);
  check_csv_reads_as("1,-2\n3.5,1e300", 0, NULL, VT_DTYPE_F64, 2, 2, wide, sizeof wide);
  /* 16777216.9999999999 is below the midpoint of the floats 16777216 and 16777218, so it rounds to
   * 16777216; 3.4028235e38 rounds to the largest float. */
  check_csv_reads_as("1,-2\n16777216.9999999999,3.4028235e38", VT_DTYPE_F32, NULL, VT_DTYPE_F32, 2,
                     2, single, sizeof single);
  static const double specials[4] = {-0.0, 0x1p-1074, 0x1.8p1, 9223372036854775808.0};
  check_csv_reads_as("-0,4.9e-324,0x1.8p1,9223372036854775808", 0, NULL, VT_DTYPE_F64, 1, 4,
                     specials, sizeof specials);
}

/* A number slightly above the midpoint of two floats, whose double is exactly the midpoint:
 * rounding twice would give the lower float. */
static void test_f32_is_rounded_once(void) {
  static const float want[1] = {0x1.000002p0f};
  check_csv_reads_as("1.000000059604644775390625000001", VT_DTYPE_F32, NULL, VT_DTYPE_F32, 1, 1,
                     want, 4);
}

static void test_spellings_of_one_table(void) {
  static const int64_t want[4] = {1, 2, 3, 4};
  static const char *const forms[] = {"1,2\r\n3,4\r\n",
                                      "1,2\n3,4",
                                      " 1 ,\t2\n3 , 4 \n",
                                      "\"1\",2\n\"3\" , \"4\"\n",
                                      "\xef\xbb\xbf\x31,2\n3,4",
                                      "a,b\n1,2\n3,4\n",
                                      "\"a,\"\"x\"\"\",\xc3\xa4 b\n1,2\n3,4",
                                      "a,a\n1,2\n+3,04"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    check_csv_reads_as(forms[i], 0, NULL, VT_DTYPE_I64, 2, 2, want, sizeof want);
  check_csv_reads_as("a,b\n", 0, NULL, VT_DTYPE_I64, 0, 2, want, 0);
  check_csv_reads_as("a,b", VT_DTYPE_F32, NULL, VT_DTYPE_F32, 0, 2, want, 0);
}

static void test_column_option_reads_one_column(void) {
  static const float y[2] = {2, 4};
  static const int64_t x[2] = {1, 3};
  check_csv_reads_as("x,y\n1,2\n3,4\n", VT_DTYPE_F32, "y", VT_DTYPE_F32, 2, 0, y, sizeof y);
  check_csv_reads_as("x,y\n1,2\n3,4\n", 0, "x", VT_DTYPE_I64, 2, 0, x, sizeof x);
}

static const struct {
  const char *text;
  uint32_t dtype;
  const char *column;
  vt_status status;
  uint32_t line, at;
  const char *says;
} refused[] = {
    {"", 0, NULL, VT_FORMAT, 0, 0, "the CSV file is empty"},
    {"\n", 0, NULL, VT_FORMAT, 1, 1, "the line is empty"},
    {"1,2\n\n3,4", 0, NULL, VT_FORMAT, 2, 1, "the line is empty"},
    {"1,2\n3", 0, NULL, VT_FORMAT, 2, 1, "the row has fewer fields than the first"},
    {"1,2\n3,4,5", 0, NULL, VT_FORMAT, 2, 5, "the row has more fields than the first"},
    {"1,2\n3,", 0, NULL, VT_FORMAT, 2, 3, "the field is empty"},
    {"1,2\n3, x\x1b[2J", 0, NULL, VT_FORMAT, 2, 4, "'x\\x1b[2J' is not a number"},
    {"1,a\n", 0, NULL, VT_FORMAT, 1, 3, "'a' is not a number"},
    {"a,1\n", 0, NULL, VT_FORMAT, 1, 3, "a number in a row of names"},
    {"1.5", VT_DTYPE_I64, NULL, VT_FORMAT, 1, 1, "the number is not an integer that fits i64"},
    {"9223372036854775808", VT_DTYPE_I64, NULL, VT_FORMAT, 1, 1,
     "the number is not an integer that fits i64"},
    {"1,\"2\n", 0, NULL, VT_FORMAT, 1, 3, "the quoted field does not end on its line"},
    {"1,\"2", 0, NULL, VT_FORMAT, 1, 3, "the quoted field does not end on its line"},
    {"1,\"2\"3\n", 0, NULL, VT_FORMAT, 1, 6, "text after the closing quote of a field"},
    {"1,2\"3\n", 0, NULL, VT_FORMAT, 1, 4, "a quote inside a field without quotes"},
    {"1,2\r3\n", 0, NULL, VT_FORMAT, 1, 5, "a carriage return without a newline"},
    {"1;2\n", 0, NULL, VT_OK, 0, 0,
     ""}, /* "1;2" is not a number, so the row is a row of column names */
    {"a,\n1,2\n", 0, NULL, VT_FORMAT, 1, 3, "the field is empty"},
    {"\"\",a\n1,2\n", 0, NULL, VT_FORMAT, 1, 1, "the field is empty"},
    {"a,\x1b[2J\n1,2\n", 0, NULL, VT_FORMAT, 1, 3, "'\\x1b[2J' cannot be a column's name"},
    {"a, \"b\tc\"\n1,2\n", 0, NULL, VT_FORMAT, 1, 4, "'b\\x09c' cannot be a column's name"},
    {"\xff,b\n1,2\n", 0, NULL, VT_FORMAT, 1, 1, "'\\xff' cannot be a column's name"},
    {"\xc2\x9b,b\n1,2\n", 0, NULL, VT_FORMAT, 1, 1, "'\\xc2\\x9b' cannot be a column's name"},
    {"1,2\n", 0, "x", VT_NAME, 0, 0, "the file has no column 'x', and no row of names"},
    {"a,b\n1,2\n", 0, "c", VT_NAME, 0, 0, "the file has no column 'c'"},
    {"a,a\n1,2\n", 0, "a", VT_FORMAT, 1, 3, "a second column has the requested name"},
    {"1", VT_DTYPE_F16, NULL, VT_UNSUPPORTED, 0, 0,
     "a CSV file is read as f32, f64 or i64, not as f16"},
};

static void test_bad_files_refused(void) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    const vt_status s = parse_csv(refused[i].text, strlen(refused[i].text), refused[i].dtype,
                                  refused[i].column, 0, &ar, &f, &d);
    const int ok = s == refused[i].status && strcmp(d.text, refused[i].says) == 0 &&
                   d.line == refused[i].line && d.column == refused[i].at;
    CHECK(ok);
    if (!ok)
      fprintf(stderr, "  %s: %d %u:%u %s\n", refused[i].text, (int)s, d.line, d.column, d.text);
    vt_archive_free(ar);
  }
}

/* A zero byte in a column name must be refused: alone, at the start, inside and at the end. */
static void test_zero_byte_in_name_refused(void) {
  static const char *const rows[] = {"\0\0\0", "\0ab", "a\0b", "ab\0"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[] = "x,123\n1,2\n";
    memcpy(text + 2, rows[i], 3);
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    CHECK(parse_csv(text, sizeof text - 1, 0, NULL, 0, &ar, &f, &d) == VT_FORMAT);
    CHECK(strstr(d.text, "\\x00") != NULL && d.line == 1 && d.column == 3);
    vt_archive_free(ar);
  }
}

/* A column name as long as a field may be is accepted; a name one byte longer is refused. */
static void test_column_name_length_limit(void) {
  enum { MOST = 1024 };
  char text[MOST + 4];
  for (size_t n = MOST; n <= MOST + 1; n++) {
    memset(text, 'a', n);
    memcpy(text + n, "\n1", 2);
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    CHECK(parse_csv(text, n + 2, 0, NULL, 0, &ar, &f, &d) == (n == MOST ? VT_OK : VT_LIMIT));
    vt_archive_free(ar);
  }
}

/* A field that never ends is refused once it is too long; a file longer than the 64 KiB that are
 * read at a time is read. */
static void test_long_field_refused_long_file_ok(void) {
  enum { N = 7 * 28571 };
  char *text = malloc(N);
  if (text == NULL) return;
  memset(text, 0, N);
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  CHECK(parse_csv(text, N, 0, NULL, 0, &ar, &f, &d) == VT_LIMIT);
  memset(text, '1', N); /* rows of 7 bytes, some of which cross the end of a piece of 64 KiB */
  for (size_t i = 0; i < N; i++) text[i] = i % 7 == 6 ? '\n' : i % 7 == 3 ? ',' : '1';
  CHECK(parse_csv(text, N, 0, NULL, 0, &ar, &f, &d) == VT_OK);
  vt_tensor t = {.rank = 0};
  const char *name;
  if (ar != NULL) CHECK(vt_archive_tensor(ar, 0, &name, &t) == VT_OK);
  CHECK(t.rank == 2 && t.dim[0] == N / 7);
  for (int64_t i = 0; t.rank == 2 && i < t.dim[0]; i++) CHECK(((int64_t *)t.data)[2 * i] == 111);
  vt_archive_free(ar);
  free(text);
}

/* Each byte changed to every value, and each prefix, is accepted or refused without harm. */
static void test_mutations_harmless(void) {
  const char text[] = "x,\"y\"\n1.5, -2\r\n3e2,\"4\"\n";
  char m[sizeof text];
  for (size_t n = 0; n < sizeof text; n++)
    for (int v = 0; v < 256; v++) {
      vt_archive *ar;
      vt_fault f;
      vt_diag d;
      memcpy(m, text, sizeof text);
      m[n] = (char)v;
      const vt_status s = parse_csv(m, sizeof text - 1, 0, v % 2 ? "y" : NULL, 0, &ar, &f, &d);
      CHECK(s == VT_OK || s == VT_FORMAT || s == VT_LIMIT || s == VT_NAME);
      vt_archive_free(ar);
      CHECK(f.live == 0);
      (void)parse_csv(m, n, 0, NULL, 0, &ar, &f, &d);
      vt_archive_free(ar);
      CHECK(f.live == 0);
    }
}

static void test_failing_allocations(void) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  long k = 1;
  while (parse_csv("1,2\n3,4", 7, 0, NULL, k, &ar, &f, &d) == VT_NOMEM) k++;
  CHECK(d.code == VT_OK && ar != NULL && k > 3);
  vt_archive_free(ar);
  CHECK(f.live == 0);
}

static void test_file_on_disk_and_missing_file(void) {
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_bytes_write(path_in_test_folder("t.csv"), "1,2\n", 4, &d) == VT_OK);
  CHECK(vt_archive_read(path_in_test_folder("t.csv"), NULL, &ar, &d) == VT_OK && ar != NULL);
  vt_archive_free(ar);
  ar = NULL;
  CHECK(vt_csv_read(path_in_test_folder("none.csv"), NULL, NULL, &ar, &d) == VT_IO && ar == NULL);
  CHECK(unlink(path_in_test_folder("t.csv")) == 0);
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  test_deduced_and_requested_dtypes();
  test_f32_is_rounded_once();
  test_spellings_of_one_table();
  test_column_option_reads_one_column();
  test_bad_files_refused();
  test_zero_byte_in_name_refused();
  test_column_name_length_limit();
  test_long_field_refused_long_file_ok();
  test_mutations_harmless();
  test_failing_allocations();
  test_file_on_disk_and_missing_file();
  const bytes table = {.p = "a,b\n1,2\n3,4\n", .n = 12};
  check_growing_file_refused("c.csv", &table);
  CHECK(rmdir(test_folder) == 0);
  TEST_DONE();
}
