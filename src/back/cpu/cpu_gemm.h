/* SPDX-License-Identifier: Apache-2.0
 * cpu_gemm.h - private to src/back/cpu: matrix products c = a * b in the order D of
 * docs/numerics.md. Both operands are read from packed panels; b may have been packed before.
 *
 * A panel of b has the columns of one tile, for one block of at most 256 k. Its numbers are in the
 * order in which the kernel reads them: all columns for the first k, then for the second.
 *
 *            columns of a tile
 *          j   j+1  j+2  ... j+w-1          one panel in memory:
 *   k0    | . | .  | .  |   | .  |          [k0: j .. j+w-1][k0+1: j .. j+w-1] ... [k1-1: ...]
 *   k0+1  | . | .  | .  |   | .  |
 *    ..                                     columns past the last one of b are +0
 *   k1-1  | . | .  | .  |   | .  |
 *
 *   all of b, packed:  block k 0..255           block k 256..511
 *                     [panel 0][panel 1]...    [panel 0][panel 1]...
 *
 * A panel of a is the same with the rows of a tile in place of its columns. */
#ifndef VT_CPU_GEMM_H
#define VT_CPU_GEMM_H
#include "cpu_backend.h"

/* One operand: the rows of a, or the columns of b. Element k of row or column i is data[i*across +
 * k*along]. */
typedef struct vt_cpu_side {
  const void *data;
  int64_t across, along; /* strides in elements */
} vt_cpu_side;

/* c[i*row + j*column] = D over k of a[i, k] * b[k, j]. */
typedef struct vt_cpu_product {
  int64_t m, n, k;
  vt_cpu_side a, b;
  const void *packed; /* all panels of b, packed by vt_cpu_gemm_pack, or NULL */
  void *c;
  int64_t row, column;  /* strides of c in elements */
  int64_t first;        /* row-major index of c[0, 0] in the step's result, for the epilogue */
  int64_t epilogue_row; /* how much larger this index is for c[1, 0]; for c[0, 1] it is 1 larger */
  const void *bias;     /* bias[j*bias_step] is added to the D of column j; NULL: no bias */
  int64_t bias_step;
} vt_cpu_product;

/* Products 0 .. n-1, all of one size and of `dtype` (f32 or f64), shared by the team. `get` sets
 * the fields of product i, which are 0 before, when a thread starts on it. Each part of a result is
 * passed to `epilogue` as soon as it is final; every `column` is then 1. */
typedef void vt_cpu_product_fn(const void *context, int64_t i, vt_cpu_product *out);
typedef struct vt_cpu_products {
  uint32_t dtype;
  int64_t n, m_each, n_each, k_each; /* number of products, and the sizes m, n and k of each */
  vt_cpu_product_fn *get;
  const void *context;
  vt_cpu_chain *epilogue; /* pointwise steps to run on the results; or NULL */
  int contiguous;         /* 1: every b has `across` 1 and is not packed */
  int packed;             /* 1: every b is packed */
} vt_cpu_products;
void vt_cpu_gemm(const vt_cpu_team *t, const vt_cpu_products *p, void *work);
/* Bytes of scratch that vt_cpu_gemm needs for p, whether b is packed or not. */
uint64_t vt_cpu_gemm_scratch_bytes(const vt_cpu_team *t, const vt_cpu_products *p);

/* Packs all panels of a b with n columns, to be used as `packed` later: the bytes it needs, and the
 * packing itself, with all threads of the team. */
uint64_t vt_cpu_gemm_pack_bytes(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k);
void vt_cpu_gemm_pack(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k,
                      const vt_cpu_side *b, void *out);

/* The kernels for a type, f32 or f64. */
const vt_cpu_gemm_type *vt_cpu_gemm_of(const vt_cpu_team *t, uint32_t dtype);
#endif
