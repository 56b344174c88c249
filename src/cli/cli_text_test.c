/* SPDX-License-Identifier: Apache-2.0
 * cli_text_test.c - tests how elements, positions, file names, bindings and sizes are converted to
 * text, in cases that the exact-output tests cannot cause. */
#include <stdlib.h>
#include <string.h>
#include "cli_plan.h"
#include "cli_xml.h"
#include "vt_test.h"

static int element_prints_as(uint32_t dtype, uint64_t bits, const char *want) {
  char text[CLI_VALUE_SIZE];
  cli_text_of_element_bits(dtype, bits, text);
  if (strcmp(text, want) != 0) fprintf(stderr, "%s instead of %s\n", text, want);
  return strcmp(text, want) == 0;
}

static void test_elements_of_each_dtype_as_text(void) {
  CHECK(element_prints_as(VT_DTYPE_F32, 0x3dcccccd, "0.1"));
  CHECK(element_prints_as(VT_DTYPE_F32, 0x80000000, "-0"));
  CHECK(element_prints_as(VT_DTYPE_F32, 0xc1200000, "-10"));
  CHECK(element_prints_as(VT_DTYPE_F32, 0x7f7fffff, "3.4028235e+38"));
  CHECK(element_prints_as(VT_DTYPE_F32, 0xff800000, "-inf"));
  CHECK(element_prints_as(VT_DTYPE_F32, 0x7fc00000, "nan"));
  CHECK(element_prints_as(VT_DTYPE_F32, 1, "1e-45"));
  CHECK(element_prints_as(VT_DTYPE_F64, 0x3fb999999999999a, "0.1"));
  CHECK(element_prints_as(VT_DTYPE_F64, 0x3fb999999999999b, "0.10000000000000002"));
  CHECK(element_prints_as(VT_DTYPE_F64, 0x7ff0000000000000, "inf"));
  CHECK(element_prints_as(VT_DTYPE_BF16, 0x3fc0, "1.5"));
  CHECK(element_prints_as(VT_DTYPE_BF16, 0x7fc0, "nan"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0x0001, "5.9604645e-08"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0x83ff, "-6.097555e-05"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0x0400, "6.1035156e-05"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0x7bff, "65504"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0xfc00, "-inf"));
  CHECK(element_prints_as(VT_DTYPE_F16, 0x7e00, "nan"));
  CHECK(element_prints_as(VT_DTYPE_I8, 0x80, "-128"));
  CHECK(element_prints_as(VT_DTYPE_U8, 0x80, "128"));
  CHECK(element_prints_as(VT_DTYPE_I32, 0xffffffff, "-1"));
  CHECK(element_prints_as(VT_DTYPE_I64, UINT64_C(1) << 63, "-9223372036854775808"));
  CHECK(element_prints_as(VT_DTYPE_BOOL, 1, "true"));
  CHECK(element_prints_as(VT_DTYPE_BOOL, 0, "false"));
}

static void test_row_major_index_text(void) {
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 3, .dim = {2, 3, 4}}, scalar = {.rank = 0};
  char text[CLI_TYPE_SIZE];
  cli_index_text(&t, 23, text);
  CHECK(strcmp(text, "[1, 2, 3]") == 0);
  cli_index_text(&t, 4, text);
  CHECK(strcmp(text, "[0, 1, 0]") == 0);
  cli_index_text(&scalar, 0, text);
  CHECK(strcmp(text, "[]") == 0);
}

/* The longest possible type fits into CLI_TYPE_SIZE. */
static void test_longest_type_text_fits_buffer(void) {
  vt_tensor t = {.dtype = VT_DTYPE_BOOL, .rank = VT_MAX_RANK};
  for (int i = 0; i < VT_MAX_RANK; i++) t.dim[i] = INT64_MIN;
  char text[CLI_TYPE_SIZE];
  cli_type_text(&t, text);
  CHECK(text[strlen(text) - 1] == ']');
}

static int joined_path_is(const char *name, const char *want) {
  char *path = cli_path_join_escaped("out", name, ".npy");
  const int same = path != NULL && strcmp(path, want) == 0;
  free(path);
  return same;
}

static void test_joined_path_escapes_name(void) {
  CHECK(joined_path_is("h.0.x", "out/h.0.x.npy"));
  CHECK(joined_path_is("a/b", "out/a%2Fb.npy"));
  CHECK(joined_path_is("../x", "out/%2E.%2Fx.npy"));
  CHECK(joined_path_is(".", "out/%2E.npy"));
  CHECK(joined_path_is("100%", "out/100%25.npy"));
  CHECK(joined_path_is("a b\n\xc3\xa9", "out/a%20b%0A%C3%A9.npy"));
}

static void test_bind_equals_text_and_find(void) {
  vt_binding row[2] = {{"B", 2}, {"BB", 16}};
  const cli_bind two = {.row = row, .n = 2}, none = {0};
  CHECK(cli_bind_equals_text(&two, "B=2,BB=16"));
  CHECK(cli_bind_equals_text(&two, "BB=16,B=2"));
  CHECK(!cli_bind_equals_text(&two, "BB=16"));
  CHECK(!cli_bind_equals_text(&two, "B=2,BB=160"));
  CHECK(!cli_bind_equals_text(&two, "B=2,B=2"));
  CHECK(!cli_bind_equals_text(&two, "B=2,BB=16,T=1"));
  CHECK(!cli_bind_equals_text(&two, "-"));
  CHECK(cli_bind_equals_text(&none, "-"));
  CHECK(!cli_bind_equals_text(&none, "B=2"));
  CHECK(cli_bind_find(&two, "B=", 1) == &row[0]);
  CHECK(cli_bind_find(&two, "BBB", 2) == &row[1]);
  CHECK(cli_bind_find(&two, "T", 1) == NULL);
}

static int size_parses_to(const char *text, uint64_t want) {
  uint64_t bytes = want + 1;
  return cli_size_parse(text, &bytes) && bytes == want;
}

static int size_is_refused(const char *text) {
  uint64_t bytes;
  return !cli_size_parse(text, &bytes);
}

static void test_sizes_parsed_or_refused(void) {
  CHECK(size_parses_to("0", 0) && size_parses_to("4096", 4096) && size_parses_to("7B", 7) &&
        size_parses_to("007kB", 7000));
  CHECK(size_parses_to("3MB", 3000000) && size_parses_to("2GB", 2000000000) &&
        size_parses_to("1TB", UINT64_C(1000000000000)));
  CHECK(size_parses_to("3KiB", 3072) && size_parses_to("64MiB", 67108864) &&
        size_parses_to("1GiB", 1073741824));
  CHECK(size_parses_to("1TiB", UINT64_C(1) << 40) &&
        size_parses_to("9223372036854775807", INT64_MAX));
  CHECK(size_is_refused("") && size_is_refused("MiB") && size_is_refused("-1") &&
        size_is_refused("+1") && size_is_refused(" 1"));
  CHECK(size_is_refused("1 MiB") && size_is_refused("1MiBs") && size_is_refused("1kb") &&
        size_is_refused("1K") && size_is_refused("1.5MB"));
  CHECK(size_is_refused("9223372036854775808") && size_is_refused("18446744073709551616") &&
        size_is_refused("8388608TiB"));
  CHECK(size_is_refused("99999999999999999999") && size_is_refused("0x10") &&
        size_is_refused("18446744073709551615TiB"));
}

static int size_prints_as(uint64_t bytes, const char *want) {
  char text[CLI_SIZE_TEXT];
  cli_size_text(bytes, text);
  return strcmp(text, want) == 0;
}

static void test_sizes_as_text(void) {
  CHECK(size_prints_as(0, "0 B") && size_prints_as(1023, "1023 B") &&
        size_prints_as(1024, "1.0 KiB"));
  CHECK(size_prints_as(1536, "1.5 KiB") && size_prints_as((UINT64_C(1) << 20) - 1, "1.0 MiB"));
  CHECK(size_prints_as(UINT64_C(5) << 30, "5.0 GiB") && size_prints_as(UINT64_MAX, "16.0 EiB"));
}

static int escapes_to(const char *text, const char *want) {
  char out[64];
  return strcmp(cli_escape_text(text, out, sizeof out), want) == 0;
}

/* Characters that control a terminal, and bytes that are not UTF-8, are escaped. */
static void test_terminal_controls_escaped(void) {
  char out[8];
  CHECK(escapes_to("", "") && escapes_to("a b~", "a b~") &&
        escapes_to("caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"));
  CHECK(escapes_to("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"));
  CHECK(escapes_to("a\n\033[31m\177\t", "a\\x0a\\x1b[31m\\x7f\\x09"));
  CHECK(escapes_to("\xff\xfe", "\\xff\\xfe") && escapes_to("\xc3", "\\xc3") &&
        escapes_to("\xe2\x82", "\\xe2\\x82"));
  CHECK(escapes_to("\xc2\x9b", "\\xc2\\x9b"));          /* the control character CSI */
  CHECK(escapes_to("\xe2\x80\xae", "\\xe2\\x80\\xae")); /* the right-to-left override */
  CHECK(escapes_to("\xc0\xaf", "\\xc0\\xaf"));          /* an overlong encoding */
  CHECK(escapes_to("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"));
  CHECK(escapes_to("\xed\xa0\x80", "\\xed\\xa0\\x80"));          /* a surrogate */
  CHECK(escapes_to("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80")); /* above U+10FFFF */
  /* An escape that does not fit completely is left out. */
  CHECK(strcmp(cli_escape_text("abc\n\n", out, sizeof out), "abc\\x0a") == 0);
  CHECK(strcmp(cli_escape_text("abcdef\xc3\xa9", out, sizeof out), "abcdef") == 0);
}

static void test_svg_text_escape_cut_and_fit(void) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&text, &n);
  const cli_box wide = {0, 0, 40, 20}, high = {0, 0, 20, 40}, small = {0, 0, 20, 20};
  if (f == NULL) exit(1);
  cli_xml_text(f, "<a&\"b\">\n\xff|");
  cli_xml_text_cut(f, "abcdef|", 6);
  CHECK(cli_xml_label_if_fits(f, &wide, "name") == 1 &&
        cli_xml_label_if_fits(f, &high, "name") == 1);
  CHECK(cli_xml_label_if_fits(f, &small, "name") == 0);
  CHECK(fclose(f) == 0);
  CHECK(strncmp(text, "&lt;a&amp;&quot;b&quot;&gt;??|abc...<text", 41) == 0);
  CHECK(strstr(text, "rotate(-90 10.0 20.0)") != NULL);
  free(text);
}

int main(void) {
  test_terminal_controls_escaped();
  test_elements_of_each_dtype_as_text();
  test_row_major_index_text();
  test_longest_type_text_fits_buffer();
  test_joined_path_escapes_name();
  test_bind_equals_text_and_find();
  test_sizes_parsed_or_refused();
  test_sizes_as_text();
  test_svg_text_escape_cut_and_fit();
  TEST_DONE();
}
