/* SPDX-License-Identifier: Apache-2.0
 * cpu_radix.c - a stable radix sort, from the lowest digit up. Its time does not depend on the
 * input order. */
#include "cpu_radix.h"
#include <string.h>

/* Up to INSERTION_MAX records are sorted by insertion, because a table of digits would cost more.
 */
enum {
  RADIX_BITS = 8,
  RADIX = 1 << RADIX_BITS,
  RADIX_DIGITS_MAX = 64 / RADIX_BITS,
  INSERTION_MAX = 48
};

#define RECORD vt_cpu_record
#define KEY(r) ((r).key)
#define NAME(x) record_##x
#include "cpu_radix.inc"

#define RECORD uint64_t
#define KEY(r) ((r) >> 32)
#define NAME(x) word_##x
#include "cpu_radix.inc"

vt_cpu_record *vt_cpu_radix_sort(vt_cpu_record *r, vt_cpu_record *other, int64_t n, int bits) {
  return record_sort(r, other, n, bits);
}

uint64_t *vt_cpu_radix_sort_words(uint64_t *r, uint64_t *other, int64_t n, int bits) {
  return word_sort(r, other, n, bits);
}

vt_cpu_record *vt_cpu_counting_sort(const vt_cpu_record *r, vt_cpu_record *other, int64_t n,
                                    int64_t *table, uint64_t range) {
  int64_t at = 0;
  memset(table, 0, (size_t)range * sizeof *table);
  for (int64_t i = 0; i < n; i++) table[r[i].key]++;
  for (uint64_t k = 0; k < range; k++) {
    const int64_t here = table[k];
    table[k] = at;
    at += here;
  }
  for (int64_t i = 0; i < n; i++) other[table[r[i].key]++] = r[i];
  return other;
}
