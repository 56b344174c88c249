/* SPDX-License-Identifier: Apache-2.0
 * cli_text_test.c - elements, positions, names of files and bindings as text: what no model or file
 * of the exact-output tests can bring about. */
#include <stdlib.h>
#include <string.h>
#include "cli_plan.h"
#include "cli_xml.h"
#include "vt_test.h"

static int shows(uint32_t dtype, uint64_t bits, const char *want) {
  char text[CLI_VALUE_SIZE];
  cli_bits_text(dtype, bits, text);
  if (strcmp(text, want) != 0) fprintf(stderr, "%s instead of %s\n", text, want);
  return strcmp(text, want) == 0;
}

static void test_elements(void) {
  CHECK(shows(VT_DTYPE_F32, 0x3dcccccd, "0.1"));
  CHECK(shows(VT_DTYPE_F32, 0x80000000, "-0"));
  CHECK(shows(VT_DTYPE_F32, 0xc1200000, "-10"));
  CHECK(shows(VT_DTYPE_F32, 0x7f7fffff, "3.4028235e+38"));
  CHECK(shows(VT_DTYPE_F32, 0xff800000, "-inf"));
  CHECK(shows(VT_DTYPE_F32, 0x7fc00000, "nan"));
  CHECK(shows(VT_DTYPE_F32, 1, "1e-45"));
  CHECK(shows(VT_DTYPE_F64, 0x3fb999999999999a, "0.1"));
  CHECK(shows(VT_DTYPE_F64, 0x3fb999999999999b, "0.10000000000000002"));
  CHECK(shows(VT_DTYPE_F64, 0x7ff0000000000000, "inf"));
  CHECK(shows(VT_DTYPE_BF16, 0x3fc0, "1.5"));
  CHECK(shows(VT_DTYPE_BF16, 0x7fc0, "nan"));
  CHECK(shows(VT_DTYPE_F16, 0x0001, "5.9604645e-08"));
  CHECK(shows(VT_DTYPE_F16, 0x83ff, "-6.097555e-05"));
  CHECK(shows(VT_DTYPE_F16, 0x0400, "6.1035156e-05"));
  CHECK(shows(VT_DTYPE_F16, 0x7bff, "65504"));
  CHECK(shows(VT_DTYPE_F16, 0xfc00, "-inf"));
  CHECK(shows(VT_DTYPE_F16, 0x7e00, "nan"));
  CHECK(shows(VT_DTYPE_I8, 0x80, "-128"));
  CHECK(shows(VT_DTYPE_U8, 0x80, "128"));
  CHECK(shows(VT_DTYPE_I32, 0xffffffff, "-1"));
  CHECK(shows(VT_DTYPE_I64, UINT64_C(1) << 63, "-9223372036854775808"));
  CHECK(shows(VT_DTYPE_BOOL, 1, "true"));
  CHECK(shows(VT_DTYPE_BOOL, 0, "false"));
}

static void test_positions(void) {
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 3, .dim = {2, 3, 4}}, scalar = {.rank = 0};
  char text[CLI_TYPE_SIZE];
  cli_index_text(&t, 23, text);
  CHECK(strcmp(text, "[1, 2, 3]") == 0);
  cli_index_text(&t, 4, text);
  CHECK(strcmp(text, "[0, 1, 0]") == 0);
  cli_index_text(&scalar, 0, text);
  CHECK(strcmp(text, "[]") == 0);
}

/* The longest type there is fits. */
static void test_types(void) {
  vt_tensor t = {.dtype = VT_DTYPE_BOOL, .rank = VT_MAX_RANK};
  for (int i = 0; i < VT_MAX_RANK; i++) t.dim[i] = INT64_MIN;
  char text[CLI_TYPE_SIZE];
  cli_type_text(&t, text);
  CHECK(text[strlen(text) - 1] == ']');
}

static int joins(const char *name, const char *want) {
  char *path = cli_path_join("out", name, ".npy");
  const int same = path != NULL && strcmp(path, want) == 0;
  free(path);
  return same;
}

static void test_file_names(void) {
  CHECK(joins("h.0.x", "out/h.0.x.npy"));
  CHECK(joins("a/b", "out/a%2Fb.npy"));
  CHECK(joins("../x", "out/%2E.%2Fx.npy"));
  CHECK(joins(".", "out/%2E.npy"));
  CHECK(joins("100%", "out/100%25.npy"));
  CHECK(joins("a b\n\xc3\xa9", "out/a%20b%0A%C3%A9.npy"));
}

static void test_bindings(void) {
  vt_binding row[2] = {{"B", 2}, {"BB", 16}};
  const cli_bind two = {.row = row, .n = 2}, none = {0};
  CHECK(cli_bind_matches(&two, "B=2,BB=16"));
  CHECK(cli_bind_matches(&two, "BB=16,B=2"));
  CHECK(!cli_bind_matches(&two, "BB=16"));
  CHECK(!cli_bind_matches(&two, "B=2,BB=160"));
  CHECK(!cli_bind_matches(&two, "B=2,B=2"));
  CHECK(!cli_bind_matches(&two, "B=2,BB=16,T=1"));
  CHECK(!cli_bind_matches(&two, "-"));
  CHECK(cli_bind_matches(&none, "-"));
  CHECK(!cli_bind_matches(&none, "B=2"));
  CHECK(cli_bind_find(&two, "B=", 1) == &row[0]);
  CHECK(cli_bind_find(&two, "BBB", 2) == &row[1]);
  CHECK(cli_bind_find(&two, "T", 1) == NULL);
}

static int reads(const char *text, uint64_t want) {
  uint64_t bytes = want + 1;
  return cli_size_parse(text, &bytes) && bytes == want;
}

static int refuses(const char *text) {
  uint64_t bytes;
  return !cli_size_parse(text, &bytes);
}

static void test_sizes(void) {
  CHECK(reads("0", 0) && reads("4096", 4096) && reads("7B", 7) && reads("007kB", 7000));
  CHECK(reads("3MB", 3000000) && reads("2GB", 2000000000) && reads("1TB", UINT64_C(1000000000000)));
  CHECK(reads("3KiB", 3072) && reads("64MiB", 67108864) && reads("1GiB", 1073741824));
  CHECK(reads("1TiB", UINT64_C(1) << 40) && reads("9223372036854775807", INT64_MAX));
  CHECK(refuses("") && refuses("MiB") && refuses("-1") && refuses("+1") && refuses(" 1"));
  CHECK(refuses("1 MiB") && refuses("1MiBs") && refuses("1kb") && refuses("1K") &&
        refuses("1.5MB"));
  CHECK(refuses("9223372036854775808") && refuses("18446744073709551616") && refuses("8388608TiB"));
  CHECK(refuses("99999999999999999999") && refuses("0x10") && refuses("18446744073709551615TiB"));
}

static int sized(uint64_t bytes, const char *want) {
  char text[CLI_SIZE_TEXT];
  cli_size_text(bytes, text);
  return strcmp(text, want) == 0;
}

static void test_size_texts(void) {
  CHECK(sized(0, "0 B") && sized(1023, "1023 B") && sized(1024, "1.0 KiB"));
  CHECK(sized(1536, "1.5 KiB") && sized((UINT64_C(1) << 20) - 1, "1.0 MiB"));
  CHECK(sized(UINT64_C(5) << 30, "5.0 GiB") && sized(UINT64_MAX, "16.0 EiB"));
}

static int plain(const char *text, const char *want) {
  char out[64];
  return strcmp(cli_plain(text, out, sizeof out), want) == 0;
}

/* What a terminal obeys, and bytes that are no UTF-8, are shown and not sent. */
static void test_plain(void) {
  char out[8];
  CHECK(plain("", "") && plain("a b~", "a b~") &&
        plain("caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"));
  CHECK(plain("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"));
  CHECK(plain("a\n\033[31m\177\t", "a\\x0a\\x1b[31m\\x7f\\x09"));
  CHECK(plain("\xff\xfe", "\\xff\\xfe") && plain("\xc3", "\\xc3") &&
        plain("\xe2\x82", "\\xe2\\x82"));
  CHECK(plain("\xc2\x9b", "\\xc2\\x9b"));          /* an escape in one character */
  CHECK(plain("\xe2\x80\xae", "\\xe2\\x80\\xae")); /* from right to left */
  CHECK(plain("\xc0\xaf", "\\xc0\\xaf"));          /* longer than it must be */
  CHECK(plain("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"));
  CHECK(plain("\xed\xa0\x80", "\\xed\\xa0\\x80"));                       /* half of a pair */
  CHECK(plain("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"));              /* beyond the last */
  CHECK(strcmp(cli_plain("abc\n\n", out, sizeof out), "abc\\x0a") == 0); /* never half an escape */
  CHECK(strcmp(cli_plain("abcdef\xc3\xa9", out, sizeof out), "abcdef") == 0);
}

static void test_pictures(void) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  const cli_box wide = {0, 0, 40, 20}, high = {0, 0, 20, 40}, small = {0, 0, 20, 20};
  if (f == NULL) exit(1);
  cli_xml_text(f, "<a&\"b\">\n\xff|");
  cli_xml_cut(f, "abcdef|", 6);
  CHECK(cli_xml_label(f, &wide, "name") == 1 && cli_xml_label(f, &high, "name") == 1);
  CHECK(cli_xml_label(f, &small, "name") == 0);
  CHECK(fclose(f) == 0);
  CHECK(strncmp(text, "&lt;a&amp;&quot;b&quot;&gt;??|abc...<text", 41) == 0);
  CHECK(strstr(text, "rotate(-90 10.0 20.0)") != NULL);
  free(text);
}

int main(void) {
  test_plain();
  test_elements();
  test_positions();
  test_types();
  test_file_names();
  test_bindings();
  test_sizes();
  test_size_texts();
  test_pictures();
  TEST_DONE();
}
