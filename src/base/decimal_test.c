/* SPDX-License-Identifier: Apache-2.0
 * decimal_test.c - every text is read as the nearest value, and every value is written as the
 * shortest text that reads back. Expected results come from the C library in the C locale, which
 * rounds correctly. */
#include "vt_decimal.h"
#include <float.h>
#include <locale.h>
#include <string.h>
#include "hostile_fpenv.h"
#include "vt_test.h"

enum { RANDOM_CASES = 1000000 };

static uint64_t seed = 20260101; /* fixed, so that a failure can be reproduced */
static uint64_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed * 0x2545f4914f6cdd1du;
}

static uint32_t bits32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static uint64_t bits64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static float float32(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
static double float64(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Read `s` as f32 and as f64; a refused text gives a pattern that no text gives. */
static uint32_t read_f32_bits(const char *s) {
  float x;
  return vt_decimal_f32(s, strlen(s), &x) ? bits32(x) : 0xffffffffu;
}
static uint64_t read_f64_bits(const char *s) {
  double x;
  return vt_decimal_f64(s, strlen(s), &x) ? bits64(x) : UINT64_MAX;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void test_known_texts(void) {
  static const struct {
    const char *s;
    uint32_t f;
    uint64_t d;
  } rows[] = {
      {"0", 0, 0},
      {"-0", 0x80000000, 0x8000000000000000},
      {"+1", 0x3f800000, 0x3ff0000000000000},
      {"1.5E1", 0x41700000, 0x402e000000000000},
      {"0.1", 0x3dcccccd, 0x3fb999999999999a},
      {"inf", 0x7f800000, 0x7ff0000000000000},
      {"-inf", 0xff800000, 0xfff0000000000000},
      {"nan", 0x7fc00000, 0x7ff8000000000000},
      {"-nan", 0x7fc00000, 0x7ff8000000000000},
      {"1e999999999999999999999999", 0x7f800000, 0x7ff0000000000000},
      {"-1e-999999999999999999999999", 0x80000000, 0x8000000000000000},
      {"0e999999999999999999999999", 0, 0},
      {"0.000e-5", 0, 0},
      {"5e-324", 0, 1},
      {"2.4703282292062327e-324", 0, 0},
      {"2.4703282292062328e-324", 0, 1},
      {"1.4e-45", 1, 0x369ff868bf4d956a},
      {"340282356779733661637539395458142568448", 0x7f800000,
       0x47effffff0000000}, /* the midpoint between the largest f32 and 2^128 */
      /* just below the midpoint between the largest f32 and 2^128 */
      {"3.40282356779733661637e38", 0x7f7fffff, 0x47effffff0000000},
      {"1.7976931348623158e308", 0x7f800000, 0x7fefffffffffffff},
      {"1.7976931348623159e308", 0x7f800000, 0x7ff0000000000000},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int right =
        read_f32_bits(rows[i].s) == rows[i].f && read_f64_bits(rows[i].s) == rows[i].d;
    CHECK(right);
    if (!right) fprintf(stderr, "  %s\n", rows[i].s);
  }
}

/* Groups of texts that must give different f32. Rounded to f64 first, all texts of a group would
 * become one midpoint between two f32, and then the same f32. */
static void test_text_is_rounded_once(void) {
  CHECK(read_f32_bits("1.00000017881393432617187499") == 0x3f800001);
  CHECK(read_f32_bits("1.000000178813934326171875") ==
        0x3f800002); /* the midpoint rounds to even */
  CHECK(read_f32_bits("1.00000017881393432617187501") == 0x3f800002);
  CHECK(read_f32_bits("1.00000005960464477539062499") == 0x3f800000);
  CHECK(read_f32_bits("1.000000059604644775390625") == 0x3f800000);
  CHECK(read_f32_bits("1.00000005960464477539062501") == 0x3f800001);
  CHECK(read_f32_bits("0x1.000003p0") == 0x3f800002 && read_f32_bits("0x1.000001p0") == 0x3f800000);
  CHECK(read_f32_bits("0x1.0000010000000000000000000000000001p0") == 0x3f800001);
  CHECK(read_f32_bits("0x1.000000ffffffffffffffffffffffffffffp0") == 0x3f800000);
}

static void test_hexadecimal_texts(void) {
  CHECK(read_f64_bits("0x1.8p-3") == bits64(0.1875) && read_f64_bits("-0X1.8P+1") == bits64(-3.0));
  CHECK(read_f64_bits("0xff") == bits64(255.0) &&
        read_f64_bits("0x0.0000000001p40") == bits64(1.0));
  CHECK(read_f64_bits("0x1p-1074") == 1 && read_f64_bits("0x1p-1075") == 0);
  CHECK(read_f64_bits("0x1.0000000000000000001p-1075") == 1);
  CHECK(read_f64_bits("0x1.fffffffffffff8p1023") == 0x7ff0000000000000);
  CHECK(read_f64_bits("0x1.fffffffffffff7p1023") == 0x7fefffffffffffff);
  CHECK(read_f64_bits("0x0p99999999999999999999") == 0);
  CHECK(read_f32_bits("0x1p-149") == 1 && read_f32_bits("0x1p-150") == 0 &&
        read_f32_bits("0x1.8p-150") == 1);
  CHECK(read_f32_bits("0x1.ffffffp127") == 0x7f800000 &&
        read_f32_bits("0x1.fffffep127") == 0x7f7fffff);
  CHECK(read_f32_bits("0x.8p0") == 0xffffffffu && read_f32_bits("0x1.p0") == 0xffffffffu);
  CHECK(read_f32_bits("0x") == 0xffffffffu && read_f32_bits("0x1p") == 0xffffffffu);
}

static void test_invalid_texts(void) {
  static const char *const wrong[] = {
      "",     " ",    "1 ",    " 1",  "+",    "-",    ".",     "1.",   ".5",   "1e",       "1e+",
      "1e5x", "1,5",  "e5",    "--1", "+-1",  "1.5.", "1..5",  "inff", "in",   "infinity", "INF",
      "NaN",  "nan(", "1_000", "1f",  "0b11", "0x1g", "1e0x1", "1e 5", "1e1.5"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    double d = 42;
    float f = 42;
    const int taken = vt_decimal_f64(wrong[i], strlen(wrong[i]), &d) ||
                      vt_decimal_f32(wrong[i], strlen(wrong[i]), &f);
    CHECK(!taken && d == 42 && f == 42);
    if (taken) fprintf(stderr, "  '%s'\n", wrong[i]);
  }
  double d;
  CHECK(!vt_decimal_f64("1\0", 2, &d) && !vt_decimal_f64(NULL, 0, &d));
  CHECK(vt_decimal_f64("12345", 2, &d) && d == 12); /* bytes beyond n are not read */
}

static void test_integer_texts(void) {
  static const struct {
    const char *s;
    int ok;
    int64_t v;
  } rows[] = {{"0", 1, 0},
              {"-0", 1, 0},
              {"+17", 1, 17},
              {"-00042", 1, -42},
              {"9223372036854775807", 1, INT64_MAX},
              {"-9223372036854775808", 1, INT64_MIN},
              {"9223372036854775808", 0, 0},
              {"-9223372036854775809", 0, 0},
              {"18446744073709551616", 0, 0},
              {"99999999999999999999999", 0, 0},
              {"", 0, 0},
              {"-", 0, 0},
              {"1.0", 0, 0},
              {"1e3", 0, 0},
              {"0x10", 0, 0},
              {" 1", 0, 0},
              {"1 ", 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t v = 4711;
    CHECK(vt_decimal_i64(rows[i].s, strlen(rows[i].s), &v) == rows[i].ok);
    CHECK(v == (rows[i].ok ? rows[i].v : 4711));
  }
}

static int agrees_with_libc(const char *s) {
  return read_f32_bits(s) == bits32(strtof(s, NULL)) && read_f64_bits(s) == bits64(strtod(s, NULL));
}

static void random_decimal(char *s, int max_digits, int max_exponent) {
  const int n = (int)(next_random() % (unsigned)max_digits) + 1;
  const int point = (int)(next_random() % (unsigned)(n + 1));
  if (next_random() % 2) *s++ = '-';
  *s++ = (char)('0' + next_random() % 10);
  for (int i = 1; i < n; i++) {
    if (i == point) *s++ = '.';
    *s++ = (char)('0' + next_random() % 10);
  }
  const int e = (int)(next_random() % (unsigned)(2 * max_exponent + 1)) - max_exponent;
  sprintf(s, "e%d", e);
}

static void compare_random_decimals(int cases, int max_digits, int max_exponent) {
  static char s[2048];
  int wrong = 0;
  for (int i = 0; i < cases; i++) {
    random_decimal(s, max_digits, max_exponent);
    if (agrees_with_libc(s)) continue;
    if (wrong++ == 0) fprintf(stderr, "  %s\n", s);
  }
  CHECK(wrong == 0);
}

static void test_random_decimals(void) {
  compare_random_decimals(RANDOM_CASES * 6 / 10, 20, 50);
  compare_random_decimals(RANDOM_CASES * 3 / 10, 40, 340);
  compare_random_decimals(RANDOM_CASES / 10, 120, 400);
  compare_random_decimals(2000, 1200, 1500);
}

/* Modifies a decimal "digits e exponent": up_or_down == 1 makes it slightly larger by a 1 far
 * behind all digits, == 2 slightly smaller by decrementing the last nonzero digit and appending
 * nines. */
static void nudge_decimal(char *s, int up_or_down) {
  char *e = strchr(s, 'e'), suffix[16];
  if (up_or_down == 0) return;
  (void)snprintf(suffix, sizeof suffix, "%s", e);
  if (up_or_down == 1) { /* slightly larger: zeros beyond the digits that are kept, then a one */
    memset(e, '0', 900);
    e += 900;
    *e++ = '1';
  } else { /* slightly smaller: the last nonzero digit minus one, then nines */
    char *last = e - 1;
    while (*last == '0' || *last == '.') last--;
    (*last)--;
    for (char *p = last + 1; p < e; p++)
      if (*p == '0') *p = '9';
    *e++ = '9';
  }
  memcpy(e, suffix, strlen(suffix) + 1);
}

/* Decimals at and close to the exact midpoints between neighbouring floats, where the last digit
 * decides the rounding. */
static void test_decimals_near_midpoints(void) {
  static char s[4096];
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    const uint32_t u = (uint32_t)next_random() % 0x7f7fffffu;
    const double middle = ((double)float32(u) + (double)float32(u + 1)) / 2;
    /* "%.170e" prints the midpoint exactly: at most 113 of its digits are nonzero */
    sprintf(s, "%.170e", middle);
    nudge_decimal(s, i % 3);
    wrong += !agrees_with_libc(s);
  }
  for (int i = 0; i < 3000 && LDBL_MANT_DIG >= 64; i++) {
    const uint64_t u = next_random() % 0x7fefffffffffffffu;
    const long double middle = ((long double)float64(u) + (long double)float64(u + 1)) / 2;
    sprintf(s, "%.790Le", middle);
    nudge_decimal(s, i % 3);
    wrong += !agrees_with_libc(s);
  }
  CHECK(wrong == 0);
}

/* More digits than the parser keeps, before and after the point, with exponents that bring the
 * value back into range. */
static void test_very_long_decimals(void) {
  enum { N = 100000 };
  static char s[N + 64];
  memset(s, '0', N);
  s[0] = '1';
  sprintf(s + N, "e-%d", N - 1);
  CHECK(read_f64_bits(s) == bits64(1.0) && read_f32_bits(s) == bits32(1.0f));
  s[N - 1] = '1';
  CHECK(read_f64_bits(s) == bits64(1.0));
  memset(s, '0', N);
  s[1] = '.';
  s[N - 1] = '1';
  sprintf(s + N, "e%d", N - 2);
  CHECK(read_f64_bits(s) == bits64(1.0) && read_f32_bits(s) == bits32(1.0f));
  memset(s, '9', N);
  sprintf(s + N, "e-%d", N);
  CHECK(read_f64_bits(s) == bits64(1.0) && read_f32_bits(s) == bits32(1.0f));
}

/* ---- writing ------------------------------------------------------------------------------ */

static int f64_prints_as(double x, const char *want) {
  char s[VT_DECIMAL_MAX];
  vt_decimal_print_f64(x, s);
  if (strcmp(s, want) != 0) fprintf(stderr, "  %s, not %s\n", s, want);
  return strcmp(s, want) == 0;
}

static int f32_prints_as(float x, const char *want) {
  char s[VT_DECIMAL_MAX];
  vt_decimal_print_f32(x, s);
  if (strcmp(s, want) != 0) fprintf(stderr, "  %s, not %s\n", s, want);
  return strcmp(s, want) == 0;
}

static void test_output_notation(void) {
  static const struct {
    double x;
    const char *want;
  } rows[] = {{0.0, "0.0"},
              {-0.0, "-0.0"},
              {0.5, "0.5"},
              {2, "2.0"},
              {-1234.5, "-1234.5"},
              {1e15, "1000000000000000.0"},
              {1234567890123456.8, "1234567890123456.8"},
              {9007199254740993.0, "9007199254740992.0"},
              {1e16, "1e+16"},
              {0.0001, "0.0001"},
              {1e-5, "1e-05"},
              {1.5e-5, "1.5e-05"},
              {-0.00012345678901234567, "-0.00012345678901234567"},
              {0.1, "0.1"},
              {1e23, "1e+23"},
              {9.5e-301, "9.5e-301"},
              {5e-324, "5e-324"},
              {0x1p-44, "5.684341886080802e-14"}, /* a power of two, where the nearest decimal of
                                                     this length does not read back */
              {2.2250738585072014e-308, "2.2250738585072014e-308"},
              {-1.7976931348623157e308, "-1.7976931348623157e+308"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    CHECK(f64_prints_as(rows[i].x, rows[i].want));
  CHECK(f32_prints_as(0.1f, "0.1"));
  CHECK(f32_prints_as(FLT_MAX, "3.4028235e+38"));
  CHECK(f32_prints_as(float32(1), "1e-45"));
  CHECK(f32_prints_as(16777216.0f, "16777216.0"));
  CHECK(f32_prints_as(float32(0xff800000), "-inf"));
  CHECK(f32_prints_as(float32(0xffc12345), "nan"));
  CHECK(f64_prints_as(float64(0x7ff0000000000000), "inf"));
  CHECK(f64_prints_as(float64(0xfff0000000000001), "nan"));
}

static int is_nan32(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; }
static int is_nan64(uint64_t u) { return (u & INT64_MAX) > 0x7ff0000000000000u; }

static int survives_round_trip32(uint32_t u) {
  char s[VT_DECIMAL_MAX];
  vt_decimal_print_f32(float32(u), s);
  return read_f32_bits(s) == (is_nan32(u) ? 0x7fc00000u : u);
}

static int survives_round_trip64(uint64_t u) {
  char s[VT_DECIMAL_MAX];
  vt_decimal_print_f64(float64(u), s);
  return read_f64_bits(s) == (is_nan64(u) ? 0x7ff8000000000000u : u);
}

static void test_round_trips(void) {
  long wrong = 0;
  for (uint64_t u = 0; u <= UINT32_MAX; u += 9973) wrong += !survives_round_trip32((uint32_t)u);
  for (uint32_t e = 0; e < 256; e++) /* values around every power of two */
    for (uint32_t i = 0; i < 6; i++) wrong += !survives_round_trip32((e << 23) + i - 3);
  for (uint64_t e = 0; e < 2048; e++)
    for (uint64_t i = 0; i < 6; i++) wrong += !survives_round_trip64((e << 52) + i - 3);
  for (int i = 0; i < RANDOM_CASES; i++) {
    wrong += !survives_round_trip32((uint32_t)next_random());
    wrong += !survives_round_trip64(next_random());
  }
  CHECK(wrong == 0);
}

static int significant_digits(const char *s) {
  int n = 0, zeros = 0;
  for (; *s != 0 && *s != 'e'; s++) {
    if (*s < '0' || *s > '9') continue;
    if (*s == '0')
      zeros += n != 0;
    else
      n += zeros + 1, zeros = 0;
  }
  return n;
}

/* No shorter decimal reads back: the C library's nearest decimal with one digit less must read as
 * another value. For powers of two this proves less, because another decimal of that length might
 * read back. */
static void test_output_is_shortest(void) {
  int wrong = 0;
  for (int i = 0; i < 100000; i++) {
    char s[VT_DECIMAL_MAX], less[64];
    uint64_t u = next_random() & INT64_MAX;
    if (i % 2)
      u &= ~(uint64_t)0
           << (next_random() % 50 +
               2); /* clears low bits, because values with few bits have short decimals */
    if (u == 0 || u >= 0x7ff0000000000000u) continue;
    vt_decimal_print_f64(float64(u), s);
    const int n = significant_digits(s);
    wrong += n > 17 || n < 1;
    if (n < 2) continue;
    sprintf(less, "%.*e", n - 2, float64(u));
    wrong += bits64(strtod(less, NULL)) == u;
  }
  CHECK(wrong == 0);
}

/* ---- independence of environment and locale -------------------------------------------------- */

/* Reading and writing give the same bits in the worst floating-point environment. */
static void test_same_bits_in_hostile_fpenv(void) {
  const hostile_words before = hostile_read_words();
  long wrong = 0;
  hostile_write_words(hostile_worst_words());
  for (uint64_t u = 1; u <= UINT32_MAX - 70000; u += 69997)
    wrong += !survives_round_trip32((uint32_t)u);
  wrong += read_f32_bits("0.1") != 0x3dcccccd;
  wrong += read_f64_bits("5e-324") != 1;
  wrong += read_f32_bits("1e-45") != 1;
  hostile_write_words(before);
  CHECK(wrong == 0);
}

/* A locale with a decimal comma, if one is installed, changes nothing. */
static void test_locale_with_decimal_comma(void) {
  static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  char s[VT_DECIMAL_MAX];
  for (size_t i = 0; i < sizeof comma / sizeof comma[0]; i++)
    if (setlocale(LC_ALL, comma[i]) != NULL) break;
  vt_decimal_print_f64(1.5, s);
  CHECK(strcmp(s, "1.5") == 0 && read_f64_bits("1.5") == bits64(1.5) &&
        read_f64_bits("1,5") == UINT64_MAX);
  (void)setlocale(LC_ALL, "C");
}

int main(void) {
  test_known_texts();
  test_text_is_rounded_once();
  test_hexadecimal_texts();
  test_invalid_texts();
  test_integer_texts();
  test_random_decimals();
  test_decimals_near_midpoints();
  test_very_long_decimals();
  test_output_notation();
  test_round_trips();
  test_output_is_shortest();
  test_same_bits_in_hostile_fpenv();
  test_locale_with_decimal_comma();
  TEST_DONE();
}
