/* SPDX-License-Identifier: Apache-2.0
 * cpu_radix.h - records in the order of their keys. */
#ifndef VT_CPU_RADIX_H
#define VT_CPU_RADIX_H
#include <stdint.h>

typedef struct vt_cpu_record {
  uint64_t key;
  int64_t at;
} vt_cpu_record;
/* Sorts between two arrays of n, equal keys in the order they have; returns the one that holds the
 * result. Keys differ in their lowest `bits` alone. */
vt_cpu_record *vt_cpu_radix(vt_cpu_record *r, vt_cpu_record *other, int64_t n, int bits);
/* The same with a table of `range` numbers, above which no key lies: one pass, worth it where there
 * are about as many records. Returns `other`. */
vt_cpu_record *vt_cpu_radix_counted(const vt_cpu_record *r, vt_cpu_record *other, int64_t n,
                                    int64_t *table, uint64_t range);
/* The same for a key and a number below 2^32 in one word, the key above. */
uint64_t *vt_cpu_radix_words(uint64_t *r, uint64_t *other, int64_t n, int bits);
#endif
