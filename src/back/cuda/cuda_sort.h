/* SPDX-License-Identifier: Apache-2.0
 * cuda_sort.h - records in the order of their keys, for sorts and for scatters. */
#ifndef VT_CUDA_SORT_H
#define VT_CUDA_SORT_H
#include "cuda_backend.h"
#include "gpu_sort.h"

/* `count` lines of n records. A record is one word where `wide` is 0, two where it is 1. */
typedef struct vt_cuda_records {
  int64_t count, n;
  int wide, bits; /* of a key: no higher one is set */
} vt_cuda_records;

/* 1 when keys of so many bits and numbers below n need records of two words. */
int vt_cuda_records_wide(int bits, int64_t n);
/* Scratch: the records come first in it, then what sorting needs. */
uint64_t vt_cuda_records_bytes(const vt_cuda_records *r);
/* Sorts the records at the start of `work`; where they are then is `out`. */
vt_status vt_cuda_records_sort(vt_cuda_call *c, const vt_cuda_records *r, void *work, void **out);

/* Each of `rows` rows of n numbers becomes, number by number, the sum of those before it; the sum
 * of all goes to totals. */
vt_status vt_cuda_sum_before(vt_cuda_call *c, void *x, int64_t rows, int64_t n, void *totals);
#endif
