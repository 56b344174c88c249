/* SPDX-License-Identifier: Apache-2.0
 * sort_test.c - the result is ordered and stable for every small length, and running out of memory
 * leaves the items unchanged. */
#include "vt_sort.h"
#include <string.h>
#include "vt_test.h"

typedef struct item {
  uint32_t key, position;
  char pad[5]; /* an odd size, so that the sort cannot rely on whole words */
} item;

static int compare_keys(const void *a, const void *b, const void *context) {
  const uint32_t ka = ((const item *)a)->key, kb = ((const item *)b)->key;
  const int sign = *(const int *)context;
  return ka < kb ? -sign : ka > kb ? sign : 0;
}

static uint32_t next_random(uint32_t *s) { return *s = *s * 1664525u + 1013904223u, *s >> 16; }

static void fill_random(item *v, size_t n, uint32_t keys, uint32_t *seed) {
  memset(v, 0, n * sizeof *v);
  for (size_t i = 0; i < n; i++) {
    v[i].key = next_random(seed) % keys;
    v[i].position = (uint32_t)i;
    memset(v[i].pad, (int)i, sizeof v[i].pad);
  }
}

/* Returns whether v is a permutation of the original items, ordered by key and then by original
 * position. */
static int is_stably_sorted_permutation(const item *v, size_t n, uint32_t keys, uint32_t seed,
                                        int sign) {
  static item original[5000];
  static char seen[5000];
  fill_random(original, n, keys, &seed);
  memset(seen, 0, sizeof seen);
  for (size_t i = 0; i < n; i++) {
    if (v[i].position >= n || seen[v[i].position]++) return 0;
    if (memcmp(&v[i], &original[v[i].position], sizeof v[i]) != 0) return 0;
    if (i == 0) continue;
    const int order = compare_keys(&v[i - 1], &v[i], &sign);
    if (order > 0 || (order == 0 && v[i - 1].position > v[i].position)) return 0;
  }
  return 1;
}

static void test_sorted_and_stable(void) {
  static item v[5000];
  vt_fault f = {0};
  uint32_t seed = 1;
  for (size_t n = 0; n <= 5000; n += n < 70 ? 1 : 493)
    for (uint32_t keys = 1; keys <= 1000; keys *= 10) {
      const int sign = n % 2 != 0 ? 1 : -1;
      const uint32_t start = seed;
      fill_random(v, n, keys, &seed);
      CHECK(vt_sort(v, n, sizeof v[0], compare_keys, &sign, vt_fault_alloc(&f)) == VT_OK);
      CHECK(is_stably_sorted_permutation(v, n, keys, start, sign));
    }
  CHECK(f.live == 0 && f.asked > 0);
}

static void test_short_array_takes_no_memory(void) {
  vt_fault f = {.left = 1};
  item one = {.key = 1};
  const int sign = 1;
  CHECK(vt_sort(&one, 1, sizeof one, compare_keys, &sign, vt_fault_alloc(&f)) == VT_OK);
  CHECK(vt_sort(NULL, 0, sizeof one, compare_keys, &sign, vt_fault_alloc(&f)) == VT_OK);
  CHECK(f.asked == 0);
}

static void test_failure_leaves_items_unchanged(void) {
  item v[3] = {{.key = 3}, {.key = 2}, {.key = 1}};
  const int sign = 1;
  vt_fault f = {.left = 1};
  CHECK(vt_sort(v, 3, sizeof v[0], compare_keys, &sign, vt_fault_alloc(&f)) == VT_NOMEM);
  CHECK(v[0].key == 3 && v[1].key == 2 && v[2].key == 1 && f.live == 0);
  CHECK(vt_sort(v, SIZE_MAX / 2, sizeof v[0], compare_keys, &sign, vt_fault_alloc(&f)) == VT_LIMIT);
  CHECK(f.asked == 1); /* the size was refused before the allocator was called */
}

int main(void) {
  test_sorted_and_stable();
  test_short_array_takes_no_memory();
  test_failure_leaves_items_unchanged();
  TEST_DONE();
}
