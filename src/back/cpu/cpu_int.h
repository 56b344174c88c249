/* SPDX-License-Identifier: Apache-2.0
 * cpu_int.h - private to src/back/cpu: matrix products of 8-bit integers, exact in i32. The caller
 * gives functions that say where the operands are; panels are drawn in cpu_gemm.h. */
#ifndef VT_CPU_INT_H
#define VT_CPU_INT_H
#include "cpu_backend.h"

/* One number per row or column, such as zero points; NULL data: all of them are 0. */
typedef struct vt_cpu_numbers {
  const void *data;
  uint32_t dtype;
  int64_t step; /* stride in elements */
} vt_cpu_numbers;

/* Where a product is stored, with its zero points and biases: y[i, j] = sum over k of (a[i, k] -
 * za[i]) * (b[k, j] - zb[j]), + bias of the row or column. */
typedef struct vt_cpu_int_place {
  int32_t *y;
  int64_t row; /* elements from one row of y to the next; columns are contiguous */
  vt_cpu_numbers za, zb, row_bias, column_bias;
} vt_cpu_int_place;

/* Returns where columns first .. first+count-1 of b are. The function may copy them to `scratch`,
 * which has the bytes that the products ask for in `scratch_bytes`. */
typedef vt_cpu_bytes vt_cpu_int_columns_fn(const void *context, int64_t product, int64_t first,
                                           int64_t count, void *scratch);
typedef vt_cpu_bytes vt_cpu_int_rows_fn(const void *context, int64_t set);
typedef void vt_cpu_int_place_fn(const void *context, int64_t product, vt_cpu_int_place *out);

/* Products that all have one size. Product i uses the rows of set i % row_sets. */
typedef struct vt_cpu_int_products {
  int64_t products, m, n, k, row_sets;
  uint32_t row_type, column_type; /* i8 or u8 */
  uint64_t scratch_bytes;         /* bytes of scratch that `columns` wants for one panel */
  vt_cpu_int_rows_fn *rows;
  vt_cpu_int_columns_fn *columns;
  vt_cpu_int_place_fn *place;
  const void *context;
  /* all rows, and the columns that all products share, packed beforehand; or NULL */
  const void *packed_rows, *packed_columns;
} vt_cpu_int_products;
void vt_cpu_int_multiply(const vt_cpu_team *t, const vt_cpu_int_products *p, void *work);
uint64_t vt_cpu_int_scratch_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p);

/* Packs all panels of the rows, or of the columns of product 0, for later use as packed_rows or
 * packed_columns: the bytes they need, and the packing itself. */
uint64_t vt_cpu_int_packed_rows_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p);
void vt_cpu_int_rows_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out);
uint64_t vt_cpu_int_packed_columns_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p);
void vt_cpu_int_columns_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out);
#endif
