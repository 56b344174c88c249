/* SPDX-License-Identifier: Apache-2.0
 * cli_text_test.c - elements, positions, names of files and bindings as text: what no model or file
 * of the exact-output tests can bring about. */
#include <stdlib.h>
#include <string.h>
#include "cli_bind.h"
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

int main(void) {
  test_elements();
  test_positions();
  test_types();
  test_file_names();
  test_bindings();
  TEST_DONE();
}
