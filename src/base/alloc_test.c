/* SPDX-License-Identifier: Apache-2.0
 * alloc_test.c - the allocator wrappers, and checked arithmetic at the ends of each type. */
#include "vt_alloc.h"
#include <string.h>
#include "vt_test.h"

static int all_zero(const unsigned char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != 0) return 0;
  return 1;
}

static void test_new_memory_is_zeroed(vt_alloc a) {
  /* reused memory is dirty, so vt_alloc_new must zero it again */
  for (int round = 0; round < 3; round++) {
    unsigned char *p = vt_alloc_new(a, 1000);
    CHECK(p != NULL && all_zero(p, 1000));
    if (p != NULL) memset(p, 0xa5, 1000);
    vt_alloc_free(a, p, 1000);
  }
  void *p = vt_alloc_new(a, 0), *q = vt_alloc_new(a, 0);
  CHECK(p != NULL && q != NULL && p != q);
  vt_alloc_free(a, p, 0);
  vt_alloc_free(a, q, 0);
  vt_alloc_free(a, NULL, 0);
}

static void test_failed_allocation_is_null(void) {
  vt_fault f = {.left = 1};
  CHECK(vt_alloc_new(vt_fault_alloc(&f), 8) == NULL);
  CHECK(f.asked == 1 && f.live == 0);
}

/* An allocator that records the two sizes of its last call. When memory is freed, the old size must
 * be the size that was requested for it. */
static size_t seen_old, seen_new;
static void *recording_resize(void *user, void *p, size_t old_size, size_t new_size) {
  (void)user;
  seen_old = old_size;
  seen_new = new_size;
  if (new_size != 0) return realloc(p, new_size);
  free(p);
  return NULL;
}

static void test_allocator_gets_right_sizes(void) {
  const vt_alloc a = {NULL, recording_resize};
  void *p = vt_alloc_new(a, 24);
  CHECK(seen_old == 0 && seen_new == 24);
  vt_alloc_free(a, p, 24);
  CHECK(seen_old == 24 && seen_new == 0);
  p = vt_alloc_new(a, 0);
  CHECK(seen_new != 0); /* the allocator is never asked for 0 bytes, which would mean "free" */
  vt_alloc_free(a, p, 0);
}

static void test_unsigned_arithmetic(void) {
  uint64_t u = 7;
  CHECK(vt_size_mul(0, UINT64_MAX, &u) && u == 0);
  CHECK(vt_size_mul(UINT64_MAX, 0, &u) && u == 0);
  CHECK(vt_size_mul(UINT64_MAX, 1, &u) && u == UINT64_MAX);
  CHECK(vt_size_mul(1u << 31, (uint64_t)1 << 32, &u) && u == (uint64_t)1 << 63);
  u = 7;
  CHECK(!vt_size_mul((uint64_t)1 << 32, (uint64_t)1 << 32, &u) && u == 7);
  CHECK(!vt_size_mul(UINT64_MAX / 3 + 1, 3, &u) && u == 7);
  CHECK(vt_size_mul(UINT64_MAX / 3, 3, &u) && u == UINT64_MAX);
  CHECK(vt_size_add(UINT64_MAX, 0, &u) && u == UINT64_MAX);
  u = 7;
  CHECK(!vt_size_add(UINT64_MAX, 1, &u) && !vt_size_add(1, UINT64_MAX, &u) && u == 7);
}

/* Compares vt_i64_mul and vt_i64_add with the compiler's overflow checks, for every pair from a
 * list of numbers near 0 and near both ends of int64_t. */
static void test_signed_arithmetic(void) {
  static const int64_t edge[] = {
      INT64_MIN,  INT64_MIN + 1, INT64_MIN / 2, -4294967296,   -3,       -2, -1, 0, 1, 2, 3,
      4294967296, INT64_MAX / 2, INT64_MAX / 3, INT64_MAX - 1, INT64_MAX};
  const size_t n = sizeof edge / sizeof edge[0];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      int64_t want, got = 7;
      const int fits = !__builtin_mul_overflow(edge[i], edge[j], &want);
      CHECK(vt_i64_mul(edge[i], edge[j], &got) == fits && got == (fits ? want : 7));
      got = 7;
      const int sum_fits = !__builtin_add_overflow(edge[i], edge[j], &want);
      CHECK(vt_i64_add(edge[i], edge[j], &got) == sum_fits && got == (sum_fits ? want : 7));
    }
}

int main(void) {
  vt_fault f = {0};
  test_new_memory_is_zeroed(vt_fault_alloc(&f));
  CHECK(f.live == 0);
  test_new_memory_is_zeroed(vt_alloc_default());
  test_new_memory_is_zeroed(
      (vt_alloc){NULL, NULL}); /* an empty vt_alloc means the default allocator */
  test_failed_allocation_is_null();
  test_allocator_gets_right_sizes();
  test_unsigned_arithmetic();
  test_signed_arithmetic();
  TEST_DONE();
}
