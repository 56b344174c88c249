/* SPDX-License-Identifier: Apache-2.0
 * integer_test.c - wrapping, and division without a hole. */
#include "num_test.h"

static void test_wrap(void) {
  CHECK(vt_i64_wrap_add(INT64_MAX, 1) == INT64_MIN);
  CHECK(vt_i64_wrap_add(INT64_MIN, -1) == INT64_MAX);
  CHECK(vt_i64_wrap_sub(INT64_MIN, 1) == INT64_MAX);
  CHECK(vt_i64_wrap_sub(0, INT64_MIN) == INT64_MIN);
  CHECK(vt_i64_wrap_mul(INT64_MIN, -1) == INT64_MIN);
  CHECK(vt_i64_wrap_mul(INT64_MAX, 2) == -2);
  CHECK(vt_i64_wrap_mul(INT64_C(1) << 32, INT64_C(1) << 32) == 0);
  CHECK(vt_i64_wrap_mul(-7, 6) == -42);
}

static void test_division(void) {
  static const struct {
    int64_t a, b, div, mod;
  } row[] = {
      {7, 2, 3, 1},
      {-7, 2, -3, -1},
      {7, -2, -3, 1},
      {-7, -2, 3, -1},
      {5, 0, 0, 5},
      {-5, 0, 0, -5},
      {0, 0, 0, 0},
      {INT64_MIN, 0, 0, INT64_MIN},
      {INT64_MIN, -1, INT64_MIN, 0},
      {INT64_MIN, 1, INT64_MIN, 0},
      {INT64_MAX, -1, -INT64_MAX, 0},
      {INT64_MIN, INT64_MAX, -1, -1},
      {3, INT64_MIN, 0, 3},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    CHECK(vt_i64_div(row[i].a, row[i].b) == row[i].div);
    CHECK(vt_i64_mod(row[i].a, row[i].b) == row[i].mod);
  }
}

int main(void) {
  test_wrap();
  test_division();
  TEST_DONE();
}
