/* SPDX-License-Identifier: Apache-2.0
 * gemm_variants.h - the backend's kernel variants for a product of f32 matrices, and its choice
 * among them, for gemm_bench.cu. */
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
  uint32_t *counters; /* counters of the backend: VT_CUDA_COUNTERS zeros in device memory */
  int processors;
  uint32_t shared; /* most bytes of shared memory of a block */
} gemm_product;

/* Writes the name and the bytes of scratch of variant number i; returns 0 if there are fewer
 * variants. */
int gemm_describe_variant(const gemm_product *p, uint32_t i, char *name, size_t name_bytes,
                          uint64_t *scratch_bytes);
/* Launches variant number i of the product, or, if i is negative, the variant that the backend
 * chooses. Returns 0 on success. */
int gemm_issue_variant(const gemm_product *p, int i);
/* returns the bytes of scratch of the variant that the backend chooses */
uint64_t gemm_scratch_bytes(const gemm_product *p);

/* Implemented by the benchmark: launches kernel `name` on its stream; returns 0 on success. */
int gemm_launch_kernel(const char *name, uint32_t blocks_x, uint32_t blocks_y, uint32_t threads,
                       uint32_t shared_bytes, const void *args);
#ifdef __cplusplus
}
#endif
#endif
