/* SPDX-License-Identifier: Apache-2.0
 * compare_test.c - vt_tensor_compare: how many elements differ, which is the first, and the largest
 * distance. */
#include <string.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

static vt_tensor make_vector(uint32_t dtype, int64_t n, void *data) {
  return (vt_tensor){.dtype = dtype, .rank = 1, .dim = {n}, .data = data};
}

/* Returns the distance between two elements and checks that it is the same in both directions. */
static uint64_t distance(uint32_t dtype, uint64_t x_bits, uint64_t y_bits) {
  const vt_tensor a = make_vector(dtype, 1, &x_bits), b = make_vector(dtype, 1, &y_bits);
  vt_compare ab = {.size = 0}, ba = {.size = 0};
  CHECK(vt_tensor_compare(&a, &b, &ab, NULL) == VT_OK);
  CHECK(vt_tensor_compare(&b, &a, &ba, NULL) == VT_OK);
  CHECK(ab.largest == ba.largest && ab.differing == ba.differing);
  CHECK(ab.size == sizeof ab && ab.compared == 1 && ab.differing == (ab.largest != 0));
  return ab.largest;
}

static void test_f32_distances(void) {
  CHECK(distance(VT_DTYPE_F32, 0x3f800000, 0x3f800000) == 0);
  CHECK(distance(VT_DTYPE_F32, 0x3f800000, 0x3f800001) == 1);
  CHECK(distance(VT_DTYPE_F32, 0xbf800000, 0xbf800003) == 3);
  CHECK(distance(VT_DTYPE_F32, 0x00000000, 0x80000000) == 1); /* +0 and -0 are neighbours */
  CHECK(distance(VT_DTYPE_F32, 0x00000001, 0x80000001) == 3);
  /* The largest number and infinity are neighbours. */
  CHECK(distance(VT_DTYPE_F32, 0x7f7fffff, 0x7f800000) == 1);
  CHECK(distance(VT_DTYPE_F32, 0x7f800000, 0xff800000) == 0xff000001u);
  CHECK(distance(VT_DTYPE_F32, 0x7fc00000, 0xff800001) == 0); /* two NaNs are equal */
  CHECK(distance(VT_DTYPE_F32, 0x7fc00000, 0x7f800000) == UINT64_MAX);
  CHECK(distance(VT_DTYPE_F32, 0xffffffff, 0x00000000) == UINT64_MAX);
}

static void test_other_float_distances(void) {
  const uint64_t inf = UINT64_C(0x7ff0000000000000), sign = UINT64_C(1) << 63;
  CHECK(distance(VT_DTYPE_F64, 0, sign) == 1);
  CHECK(distance(VT_DTYPE_F64, inf, inf | sign) == 2 * inf + 1);
  CHECK(distance(VT_DTYPE_F64, inf + 1, sign | (inf + 99)) == 0);
  CHECK(distance(VT_DTYPE_F64, inf + 1, inf) == UINT64_MAX);
  CHECK(distance(VT_DTYPE_F16, 0x3c00, 0x3bff) == 1);
  CHECK(distance(VT_DTYPE_F16, 0x7c01, 0xffff) == 0);
  CHECK(distance(VT_DTYPE_F16, 0x8000, 0x0001) == 2);
  CHECK(distance(VT_DTYPE_F16, 0x7c01, 0x7c00) == UINT64_MAX);
  CHECK(distance(VT_DTYPE_BF16, 0x7f81, 0xff81) == 0);
  CHECK(distance(VT_DTYPE_BF16, 0x7f80, 0x7f7f) == 1);
  CHECK(distance(VT_DTYPE_BF16, 0x7f80, 0x7f81) == UINT64_MAX);
}

static void test_integer_distances(void) {
  CHECK(distance(VT_DTYPE_I8, 0x80, 0x7f) == 255);
  CHECK(distance(VT_DTYPE_I8, 0xff, 0x00) == 1);
  CHECK(distance(VT_DTYPE_U8, 0xff, 0x00) == 255);
  CHECK(distance(VT_DTYPE_I32, 0x80000000, 0x7fffffff) == 0xffffffffu);
  CHECK(distance(VT_DTYPE_I32, 0xffffffff, 0x00000002) == 3);
  /* These bits are NaNs as f32, but numbers as i32. */
  CHECK(distance(VT_DTYPE_I32, 0x7f800001, 0x7fc00000) == 0x3fffff);
  CHECK(distance(VT_DTYPE_I64, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1) == UINT64_MAX);
  CHECK(distance(VT_DTYPE_I64, UINT64_MAX, 1) == 2);
  CHECK(distance(VT_DTYPE_BOOL, 1, 255) == 0);
  CHECK(distance(VT_DTYPE_BOOL, 0, 2) == 1);
}

/* The first difference and the largest one are in different pieces of 4096 elements. */
static void test_first_and_largest_difference(void) {
  enum { N = 10000 };
  static uint32_t x[N], y[N];
  for (uint32_t i = 0; i < N; i++) x[i] = y[i] = i * 2654435761u;
  x[5] = 0x7f800001u, y[5] = 0xffffffffu; /* two NaNs, which are equal */
  x[4999] = 0x40000000u, y[4999] = 0x40000002u;
  x[9999] = 0x40000000u, y[9999] = 0x3fffff00u;
  const vt_tensor a = make_vector(VT_DTYPE_F32, N, x), b = make_vector(VT_DTYPE_F32, N, y);
  vt_compare c;
  CHECK(vt_tensor_compare(&a, &b, &c, NULL) == VT_OK);
  CHECK(c.compared == N && c.differing == 2 && c.largest == 256);
  CHECK(c.first == 4999 && c.first_a == 0x40000000u && c.first_b == 0x40000002u);
  CHECK(vt_tensor_compare(&a, &a, &c, NULL) == VT_OK);
  CHECK(c.compared == N && c.differing == 0 && c.largest == 0 && c.first == 0 && c.first_a == 0);
  x[0] = 0xffc00001u; /* this NaN is reported as the canonical NaN */
  CHECK(vt_tensor_compare(&a, &b, &c, NULL) == VT_OK);
  CHECK(c.first == 0 && c.first_a == 0x7fc00000u && c.first_b == 0 && c.largest == UINT64_MAX);
}

static void test_empty_tensors(void) {
  const vt_tensor a = make_vector(VT_DTYPE_F32, 0, NULL);
  vt_compare c = {.differing = 7};
  CHECK(vt_tensor_compare(&a, &a, &c, NULL) == VT_OK && c.compared == 0 && c.differing == 0);
}

static void expect_refused(vt_tensor a, vt_tensor b, vt_status want) {
  vt_compare c = {.compared = 77};
  vt_diag d = {.code = VT_OK};
  CHECK(vt_tensor_compare(&a, &b, &c, &d) == want);
  CHECK(d.code == want && d.text[0] != '\0' && c.compared == 77);
}

static void test_refused_pairs(void) {
  uint64_t x[2] = {0, 0};
  const vt_tensor a = make_vector(VT_DTYPE_F32, 2, x), row = {VT_DTYPE_F32, 2, {1, 2}, x};
  const vt_tensor column = {VT_DTYPE_F32, 2, {2, 1}, x};
  expect_refused(a, make_vector(VT_DTYPE_I32, 2, x), VT_TENSOR);
  expect_refused(a, make_vector(VT_DTYPE_F32, 1, x), VT_TENSOR);
  expect_refused(a, row, VT_TENSOR);
  expect_refused(row, column, VT_TENSOR);
  expect_refused(a, make_vector(VT_DTYPE_F32, 2, NULL), VT_TENSOR);
  expect_refused(make_vector(VT_DTYPE_F32, 2, NULL), a, VT_TENSOR);
  expect_refused(a, make_vector(99, 2, x), VT_TENSOR);
  expect_refused(make_vector(VT_DTYPE_F32, INT64_MAX, x), a, VT_LIMIT);
}

int main(void) {
  test_f32_distances();
  test_other_float_distances();
  test_integer_distances();
  test_first_and_largest_difference();
  test_empty_tensors();
  test_refused_pairs();
  TEST_DONE();
}
