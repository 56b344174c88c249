/* SPDX-License-Identifier: Apache-2.0
 * gemm_variants.h - the backend's own choice of kernels for a product of f32 matrices, as
 * gemm_bench.cu sees it. */
#ifndef GEMM_VARIANTS_H
#define GEMM_VARIANTS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct gemm_product {
  int64_t m, n, k;
  const float *a, *b;
  float *y;
  int64_t a_row, a_column, b_row, b_column;
  void *work;
  uint32_t *counters; /* VT_CUDA_COUNTERS zeros on the card */
  int processors;
  uint32_t shared; /* bytes of shared memory that a block may have */
} gemm_product;

/* Way number i, its name and the bytes of scratch it needs; 0 behind the last. */
int gemm_variant(const gemm_product *p, uint32_t i, char *name, size_t room, uint64_t *work);
/* Issues it; the way that the backend takes when i is negative. 0: all went well. */
int gemm_issue(const gemm_product *p, int i);
uint64_t gemm_work(const gemm_product *p); /* of the way that the backend takes */

/* What the program gives: starts kernel `name` on its stream. */
int gemm_start(const char *name, uint32_t x, uint32_t y, uint32_t threads, uint32_t shared,
               const void *args);
#ifdef __cplusplus
}
#endif
#endif
