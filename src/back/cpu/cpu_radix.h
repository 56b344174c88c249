/* SPDX-License-Identifier: Apache-2.0
 * cpu_radix.h - sorts records by their keys; records with equal keys keep their order. */
#ifndef VT_CPU_RADIX_H
#define VT_CPU_RADIX_H
#include <stdint.h>

typedef struct vt_cpu_record {
  uint64_t key;
  int64_t at; /* an index or offset that is sorted along with the key */
} vt_cpu_record;
/* Sorts n records, using `other` as a second buffer; returns the buffer that holds the result. Keys
 * may differ only in their lowest `bits` bits. */
vt_cpu_record *vt_cpu_radix_sort(vt_cpu_record *r, vt_cpu_record *other, int64_t n, int bits);
/* Sorts n records in one pass, with a table of `range` counters; all keys must be below `range`.
 * This is faster if there are about as many records as counters. Returns `other`. */
vt_cpu_record *vt_cpu_counting_sort(const vt_cpu_record *r, vt_cpu_record *other, int64_t n,
                                    int64_t *table, uint64_t range);
/* Like vt_cpu_radix_sort, for 64-bit words that hold a key in their upper half and a number in
 * their lower half. */
uint64_t *vt_cpu_radix_sort_words(uint64_t *r, uint64_t *other, int64_t n, int bits);
#endif
