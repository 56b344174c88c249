/* SPDX-License-Identifier: Apache-2.0
 * cuda_sort.h - sorts records by key, for sort ops and for scatters. */
#ifndef VT_CUDA_SORT_H
#define VT_CUDA_SORT_H
#include "cuda_backend.h"
#include "gpu_sort.h"

/* Dimensions of a sort: `count` lines of n records. A record is one 64-bit word if `wide` is 0, two
 * if it is 1. */
typedef struct vt_cuda_records {
  int64_t count, n;
  int wide, bits; /* 1 if a record has two words; bits of a key (its higher bits are 0) */
} vt_cuda_records;

/* Returns 1 if a key of `key_bits` bits and a record number below n do not fit in one word. */
int vt_cuda_records_are_wide(int key_bits, int64_t n);
/* Returns the bytes of scratch for a sort: the records, then buffers. */
uint64_t vt_cuda_records_scratch(const vt_cuda_records *r);
/* Sorts the records at the start of `work`; *out is set to where the sorted records are. */
vt_status vt_cuda_records_sort(vt_cuda_call *c, const vt_cuda_records *r, void *work, void **out);

/* Computes exclusive prefix sums: replaces each number in `rows` rows of n numbers by the sum of
 * the numbers before it in its row, and writes the sum of each row to `totals`. */
vt_status vt_cuda_exclusive_prefix_sums(vt_cuda_call *c, void *x, int64_t rows, int64_t n,
                                        void *totals);
#endif
