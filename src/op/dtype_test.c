/* SPDX-License-Identifier: Apache-2.0
 * dtype_test.c - tests the published numbers of the dtypes, and that sizes of tensors fail instead
 * of overflowing. */
#include <string.h>
#include "vt_test.h"

/* Numbers and widths are part of the ABI and of every digest, so this second list of them makes a
 * change fail. */
static void test_dtype_numbers_and_widths(void) {
  static const struct {
    const char *name;
    uint32_t number, bytes;
  } want[] = {{"f32", 1, 4}, {"f64", 2, 8},  {"i8", 3, 1},  {"u8", 4, 1},  {"i32", 5, 4},
              {"i64", 6, 8}, {"bool", 7, 1}, {"f16", 8, 2}, {"bf16", 9, 2}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const char *name = vt_dtype_name(want[i].number);
    CHECK(name != NULL && strcmp(name, want[i].name) == 0);
    CHECK(vt_dtype_find(want[i].name) == want[i].number);
    CHECK(vt_dtype_bytes(want[i].number) == want[i].bytes);
  }
  CHECK(vt_dtype_name(0) == NULL && vt_dtype_name(10) == NULL);
  CHECK(vt_dtype_bytes(0) == 0 && vt_dtype_bytes(10) == 0);
  CHECK(vt_dtype_find("") == 0 && vt_dtype_find("F32") == 0 && vt_dtype_find(NULL) == 0);
}

static vt_status tensor_size(uint32_t dtype, uint32_t rank, int64_t d0, int64_t d1, uint64_t *count,
                             uint64_t *bytes) {
  const vt_tensor t = {.dtype = dtype, .rank = rank, .dim = {d0, d1}};
  *count = *bytes = 77;
  return vt_tensor_bytes(&t, count, bytes, NULL);
}

static void test_tensor_sizes(void) {
  const int64_t big = INT64_C(1) << 62;
  uint64_t n, b;
  CHECK(tensor_size(VT_DTYPE_F64, 0, 0, 0, &n, &b) == VT_OK && n == 1 && b == 8);
  CHECK(tensor_size(VT_DTYPE_F32, 2, 3, 5, &n, &b) == VT_OK && n == 15 && b == 60);
  CHECK(tensor_size(VT_DTYPE_F32, 2, 0, 5, &n, &b) == VT_OK && n == 0 && b == 0);
  CHECK(tensor_size(VT_DTYPE_U8, 1, INT64_MAX, 0, &n, &b) == VT_OK && n == INT64_MAX && b == n);
  CHECK(tensor_size(VT_DTYPE_U8, 2, big, 2, &n, &b) == VT_LIMIT && n == 77 && b == 77);
  CHECK(tensor_size(VT_DTYPE_U8, 2, big, 4, &n, &b) == VT_LIMIT);
  CHECK(tensor_size(VT_DTYPE_U8, 2, big, 8, &n, &b) == VT_LIMIT);
  CHECK(tensor_size(VT_DTYPE_F16, 1, big, 0, &n, &b) == VT_LIMIT);
  /* a dimension that is too large fails even next to a dimension of 0 */
  CHECK(tensor_size(VT_DTYPE_F32, 2, 0, big, &n, &b) == VT_LIMIT);
  CHECK(tensor_size(VT_DTYPE_F32, 2, big, 0, &n, &b) == VT_LIMIT);
  CHECK(tensor_size(VT_DTYPE_F32, 1, -1, 0, &n, &b) == VT_TENSOR);
  CHECK(tensor_size(VT_DTYPE_F32, 2, 0, -1, &n, &b) == VT_TENSOR);
  CHECK(tensor_size(VT_DTYPE_F32, 9, 1, 1, &n, &b) == VT_LIMIT);
  CHECK(tensor_size(0, 0, 0, 0, &n, &b) == VT_TENSOR &&
        tensor_size(10, 0, 0, 0, &n, &b) == VT_TENSOR);
}

int main(void) {
  test_dtype_numbers_and_widths();
  test_tensor_sizes();
  TEST_DONE();
}
