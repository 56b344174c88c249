/* SPDX-License-Identifier: Apache-2.0
 * sort.c - bottom-up merge sort. Sorted runs of 1, 2, 4, ... items are merged alternately from the
 * items into the scratch and back; if the last result is in the scratch, it is copied back. */
#include "vt_sort.h"
#include <stdint.h>
#include <string.h>

typedef struct sorter {
  size_t size;
  vt_order_fn *order;
  const void *context;
} sorter;

/* Merges from[lo..mid) and from[mid..hi) into to[lo..hi). On a tie the left item comes first, which
 * makes the sort stable. */
static void merge(const sorter *s, const char *from, char *to, size_t lo, size_t mid, size_t hi) {
  size_t i = lo, j = mid;
  for (size_t k = lo; k < hi; k++) {
    const char *left = from + i * s->size, *right = from + j * s->size;
    const int take_left = j >= hi || (i < mid && s->order(left, right, s->context) <= 0);
    memcpy(to + k * s->size, take_left ? left : right, s->size);
    i += (size_t)take_left;
    j += (size_t)!take_left;
  }
}

static void merge_runs(const sorter *s, const char *from, char *to, size_t n, size_t run) {
  for (size_t lo = 0; lo < n;) {
    const size_t mid = n - lo > run ? lo + run : n;
    const size_t hi = n - mid > run ? mid + run : n;
    merge(s, from, to, lo, mid, hi);
    lo = hi;
  }
}

vt_status vt_sort(void *items, size_t n, size_t size, vt_order_fn *order, const void *context,
                  vt_alloc a) {
  if (n < 2 || size == 0) return VT_OK;
  if (n > SIZE_MAX / 2 / size) return VT_LIMIT;
  char *scratch = vt_alloc_new(a, n * size);
  if (scratch == NULL) return VT_NOMEM;
  const sorter s = {size, order, context};
  char *from = items, *to = scratch;
  for (size_t run = 1; run < n; run *= 2) {
    merge_runs(&s, from, to, n, run);
    char *swap = from;
    from = to;
    to = swap;
  }
  if (from == scratch) memcpy(items, scratch, n * size);
  vt_alloc_free(a, scratch, n * size);
  return VT_OK;
}
