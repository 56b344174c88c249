/* SPDX-License-Identifier: Apache-2.0
 * text_test.c - growth, embedded zeros, formats, sticky failure, and the edit distance. */
#include "vt_text.h"
#include <string.h>
#include "vt_test.h"

static void test_capacity_grows(void) {
  vt_fault f = {0};
  vt_text t;
  vt_text_init(&t, vt_fault_alloc(&f));
  CHECK(t.s == NULL && t.n == 0);
  for (int i = 0; i < 1000; i++) vt_text_add(&t, "%d,%s;", i, "ab");
  CHECK(vt_text_status(&t) == VT_OK);
  CHECK(t.n == 10 * 5 + 90 * 6 + 900 * 7 && strlen(t.s) == t.n);
  CHECK(strncmp(t.s, "0,ab;1,ab;", 10) == 0);
  CHECK(strcmp(t.s + t.n - 14, "998,ab;999,ab;") == 0);
  CHECK(f.asked < 12); /* few allocations suffice, because the capacity doubles */
  vt_text_done(&t);
  CHECK(f.live == 0 && t.s == NULL && t.n == 0);
}

static void test_add_bytes(void) {
  vt_text t;
  vt_text_init(&t, (vt_alloc){NULL, NULL});
  vt_text_add_bytes(&t, "a\0b", 3);
  vt_text_add_bytes(&t, NULL, 0);
  vt_text_add(&t, "%s", "");
  vt_text_add(&t, "%c", 'c');
  CHECK(t.n == 4 && memcmp(t.s, "a\0bc", 5) == 0);
  vt_text_done(&t);
  vt_text_init(&t, (vt_alloc){NULL, NULL});
  vt_text_add(&t, "%s", "");
  CHECK(t.s != NULL && t.s[0] == 0 && t.n == 0); /* the text is an empty string, not NULL */
  vt_text_done(&t);
  vt_text zero = {{NULL, NULL}, NULL, 0, 0, 0};
  vt_text_add(&zero, "%d", 5);
  CHECK(strcmp(zero.s, "5") == 0);
  vt_text_done(&zero);
}

/* Tests every length around the capacities: the terminating 0 must always be inside the buffer. */
static void test_terminating_zero_fits(void) {
  char want[300];
  memset(want, 'q', sizeof want);
  for (int n = 0; n < 300; n++) {
    vt_text t;
    vt_text_init(&t, (vt_alloc){NULL, NULL});
    vt_text_add(&t, "%.*s", n, want);
    CHECK(t.n == (size_t)n && t.s[n] == 0 && memcmp(t.s, want, (size_t)n) == 0);
    CHECK(t.cap > t.n);
    vt_text_done(&t);
  }
}

/* Conversions formatted by our own code and by vsnprintf, separate and mixed, give the text that
 * printf gives. */
static void test_formats_equal_printf(void) {
  static const unsigned long long numbers[] = {0,   1,   9,          10,        99,
                                               100, 101, UINT32_MAX, INT64_MAX, UINT64_MAX};
  char want[400];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const unsigned long long u = numbers[i];
    const long long s = u <= INT64_MAX ? -(long long)u : INT64_MIN;
    vt_text t;
    vt_text_init(&t, (vt_alloc){NULL, NULL});
    vt_text_add(&t, "%u %llu|%lld,%lld%s%s;", (unsigned)u, u, s, (long long)(u / 2), "", "ab");
    vt_text_add(&t, "%s%.*s%%%08llx", "cd", 2, "efg", u);
    vt_text_add(&t, "%u%d%s%c", 7u, -8, "x", 'y');
    snprintf(want, sizeof want, "%u %llu|%lld,%lld%s%s;%s%.*s%%%08llx%u%d%s%c", (unsigned)u, u, s,
             (long long)(u / 2), "", "ab", "cd", 2, "efg", u, 7u, -8, "x", 'y');
    CHECK(strcmp(t.s, want) == 0 && t.n == strlen(want));
    vt_text_done(&t);
  }
  char digits[20];
  CHECK(vt_text_digits(digits, UINT64_MAX) == 20);
  CHECK(memcmp(digits, "18446744073709551615", 20) == 0);
}

/* If memory runs out while a piece of text is added, no part of the piece stays in the text. */
static void test_pieces_are_added_whole(void) {
  char wide[200];
  memset(wide, 'w', sizeof wide);
  wide[sizeof wide - 1] = 0;
  for (long k = 2; k < 4; k++) {
    vt_fault f = {.left = k};
    vt_text t;
    vt_text_init(&t, vt_fault_alloc(&f));
    vt_text_add(&t, "kept %u", 1u);
    vt_text_add(&t, "lost %s%s%s", "a", wide, k == 2 ? "" : wide);
    CHECK(vt_text_status(&t) == VT_NOMEM && strcmp(t.s, "kept 1") == 0 && t.n == 6);
    vt_text_done(&t);
  }
}

static vt_status add_several_texts(vt_alloc a) {
  vt_text t;
  vt_text_init(&t, a);
  for (int i = 0; i < 2000; i++) vt_text_add(&t, "line %d\n", i);
  const vt_status s = vt_text_status(&t);
  vt_text_done(&t);
  return s;
}

static void test_every_allocation_failure(void) {
  long fails = 0;
  for (long k = 1;; k++) {
    vt_fault f = {.left = k};
    const vt_status s = add_several_texts(vt_fault_alloc(&f));
    CHECK(f.live == 0);
    if (s == VT_OK) break;
    CHECK(s == VT_NOMEM && f.asked == k);
    fails++;
  }
  CHECK(fails > 5);
}

static void test_too_long_is_refused(void) {
  vt_fault f = {0};
  vt_text t;
  vt_text_init(&t, vt_fault_alloc(&f));
  vt_text_add(&t, "kept");
  const long asked = f.asked;
  /* the bytes are never read, because the size is refused first */
  vt_text_add_bytes(&t, "x", SIZE_MAX - 2);
  CHECK(vt_text_status(&t) == VT_NOMEM && f.asked == asked);
  CHECK(strcmp(t.s, "kept") == 0);
  vt_text_add(&t, "more");
  CHECK(strcmp(t.s, "kept") == 0);
  vt_text_done(&t);
  CHECK(f.live == 0 && vt_text_status(&t) == VT_OK);
}

static void test_edit_distance(void) {
  static const struct {
    const char *a, *b;
    unsigned want;
  } rows[] = {{"", "", 0},          {"relu", "relu", 0},      {"relu", "rely", 1},
              {"relu", "reu", 1},   {"relu", "rellu", 1},     {"matmul", "matmlu", 2},
              {"", "abc", 3},       {"", "abcd", 99},         {"softmax", "softplus", 99},
              {"sum", "cumsum", 3}, {"kitten", "sitting", 3}, {"abcdef", "ghijkl", 99},
              {"a", "b", 1},        {"ab", "ba", 2},          {"reshape", "rehsape", 2}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    CHECK(vt_text_distance(rows[i].a, rows[i].b) == rows[i].want);
    CHECK(vt_text_distance(rows[i].b, rows[i].a) == rows[i].want);
  }
  char a[66], b[66];
  memset(a, 'x', sizeof a), memset(b, 'x', sizeof b);
  a[64] = b[64] = 0;
  CHECK(vt_text_distance(a, b) == 0);
  a[64] = b[64] = 'x', a[65] = b[65] = 0;
  /* the names are equal, but longer than the function compares */
  CHECK(vt_text_distance(a, b) == 99);
}

int main(void) {
  test_capacity_grows();
  test_add_bytes();
  test_terminating_zero_fits();
  test_formats_equal_printf();
  test_pieces_are_added_whole();
  test_every_allocation_failure();
  test_too_long_is_refused();
  test_edit_distance();
  TEST_DONE();
}
