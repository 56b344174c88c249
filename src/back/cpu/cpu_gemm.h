/* SPDX-License-Identifier: Apache-2.0
 * cpu_gemm.h - private to src/back/cpu: products of matrices in the order fma256, from panels of a
 * and b that are packed on the way, or of b before. */
#ifndef VT_CPU_GEMM_H
#define VT_CPU_GEMM_H
#include "cpu_backend.h"

/* Rows of a, or columns of b: number i at k is data[i*across + k*along]. */
typedef struct vt_cpu_side {
  const void *data;
  int64_t across, along; /* elements */
} vt_cpu_side;

/* c[i*row + j*column] = D over k of a[i, k] * b[k, j]. */
typedef struct vt_cpu_product {
  int64_t m, n, k;
  vt_cpu_side a, b;
  const void *packed; /* all panels of b, made by vt_cpu_gemm_pack; or NULL */
  void *c;
  int64_t row, column;  /* elements */
  int64_t first;        /* c[0, 0] is this element of the step's result, row-major; ... */
  int64_t epilogue_row; /* ... and c[1, 0] lies so many further, c[0, 1] one. For the tail */
  const void *bias;     /* bias[j*bias_step] is added to column j once it is D; NULL: nothing is */
  int64_t bias_step;
} vt_cpu_product;

/* Products 0 .. n-1 of one size and of `dtype` (f32, f64), described by `get` where they are
 * needed, shared by the team; each part of a result is handed to `tail` once it is final (NULL: to
 * nobody). Then every `column` is 1. What `get` fills in is all 0 before. */
typedef void vt_cpu_product_fn(const void *context, int64_t i, vt_cpu_product *out);
typedef struct vt_cpu_products {
  uint32_t dtype;
  int64_t n, m_each, n_each, k_each; /* how many, and their size */
  vt_cpu_product_fn *get;
  const void *context;
  vt_cpu_chain *tail;
  int straight; /* 1: b of every product is a matrix with `across` 1, and not packed */
  int packed;   /* 1: b of every product is packed */
} vt_cpu_products;
void vt_cpu_gemm(const vt_cpu_team *t, const vt_cpu_products *p, void *work);
/* Scratch of that call, whether b is packed or not. */
uint64_t vt_cpu_gemm_work(const vt_cpu_team *t, const vt_cpu_products *p);

/* All panels of a b of n columns, to be used as `packed` later: bytes, and the packing, by the
 * team. */
uint64_t vt_cpu_gemm_pack_bytes(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k);
void vt_cpu_gemm_pack(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k,
                      const vt_cpu_side *b, void *out);

/* The kernels of a type. */
const vt_cpu_gemm_type *vt_cpu_gemm_of(const vt_cpu_team *t, uint32_t dtype);
#endif
