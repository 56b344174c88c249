/* SPDX-License-Identifier: Apache-2.0
 * integer_test.c - integer operations wrap, and division is defined for all operands. */
#include "num_test.h"

static void test_wrapping(void) {
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

__extension__ typedef __int128 i128;

/* The low 64 bits of x. */
static int64_t low_64_bits(i128 x) { return (int64_t)(uint64_t)x; }

static int agrees_with_128_bit_arithmetic(int64_t a, int64_t b) {
  const i128 x = a, y = b;
  const int sums = vt_i64_wrap_add(a, b) == low_64_bits(x + y) &&
                   vt_i64_wrap_sub(a, b) == low_64_bits(x - y) &&
                   vt_i64_wrap_mul(a, b) == low_64_bits(x * y);
  if (b == 0) return sums && vt_i64_div(a, b) == 0 && vt_i64_mod(a, b) == a;
  return sums && vt_i64_div(a, b) == low_64_bits(x / y) && vt_i64_mod(a, b) == low_64_bits(x % y);
}

/* Compares with 128-bit arithmetic, which does not overflow: all pairs of small numbers, numbers
 * around both ends of the range, and numbers of every length. */
static void test_against_128_bits(void) {
  uint64_t seed = 51;
  int bad = 0;
  for (int64_t a = -300; a <= 300; a++)
    for (int64_t b = -300; b <= 300; b++) {
      bad += !agrees_with_128_bit_arithmetic(a, b);
      bad += !agrees_with_128_bit_arithmetic(vt_i64_wrap_add(INT64_MIN, a), b) ||
             !agrees_with_128_bit_arithmetic(a, vt_i64_wrap_add(INT64_MIN, b));
      bad += !agrees_with_128_bit_arithmetic(vt_i64_wrap_add(INT64_MIN, a),
                                             vt_i64_wrap_add(INT64_MIN, b));
    }
  for (int i = 0; i < 500000; i++) {
    const int64_t a = (int64_t)random_u64(&seed) >> (i % 64);
    bad += !agrees_with_128_bit_arithmetic(a, (int64_t)random_u64(&seed) >> (i / 64 % 64));
  }
  CHECK(bad == 0);
}

/* An operation of a narrower type, computed in 64 bits and truncated, equals the operation in its
 * own width. */
static void test_narrow_types_by_truncation(void) {
  int bad = 0;
  for (int a = -128; a < 128; a++)
    for (int b = -128; b < 128; b++) {
      bad += (int8_t)vt_i64_wrap_mul(a, b) != (int8_t)(uint8_t)((unsigned)a * (unsigned)b);
      bad += (int8_t)vt_i64_wrap_add(a, b) != (int8_t)(uint8_t)((unsigned)a + (unsigned)b);
      bad += a == -128 && b == -1 && (int8_t)vt_i64_div(a, b) != -128;
    }
  CHECK(bad == 0);
}

int main(void) {
  test_wrapping();
  test_against_128_bits();
  test_narrow_types_by_truncation();
  test_division();
  TEST_DONE();
}
