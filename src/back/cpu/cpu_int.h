/* SPDX-License-Identifier: Apache-2.0
 * cpu_int.h - private to src/back/cpu: products of matrices of small integers, for whatever can say
 * where its bytes are. */
#ifndef VT_CPU_INT_H
#define VT_CPU_INT_H
#include "cpu_backend.h"

/* One number for each row or column; NULL: 0 for all. */
typedef struct vt_cpu_numbers {
  const void *data;
  uint32_t dtype;
  int64_t step; /* elements */
} vt_cpu_numbers;

/* y[i, j] = sum over k of (a[i, k] - za[i]) * (b[k, j] - zb[j]), + bias of the row or column. */
typedef struct vt_cpu_int_place {
  int32_t *y;
  int64_t row; /* elements; columns are neighbours */
  vt_cpu_numbers za, zb, row_bias, column_bias;
} vt_cpu_int_place;

/* Columns first .. first+count-1 of b. `room` has the bytes that were asked for, to put them. */
typedef vt_cpu_bytes vt_cpu_int_columns_fn(const void *context, int64_t product, int64_t first,
                                           int64_t count, void *room);
typedef vt_cpu_bytes vt_cpu_int_rows_fn(const void *context, int64_t set);
typedef void vt_cpu_int_place_fn(const void *context, int64_t product, vt_cpu_int_place *out);

/* Products of one size. Number i takes rows of set i % row_sets. */
typedef struct vt_cpu_int_products {
  int64_t products, m, n, k, row_sets;
  uint32_t row_type, column_type; /* i8 or u8 */
  uint64_t room;
  vt_cpu_int_rows_fn *rows;
  vt_cpu_int_columns_fn *columns;
  vt_cpu_int_place_fn *place;
  const void *context;
  const void *packed_rows, *packed_columns; /* made before, of one set, or NULL */
} vt_cpu_int_products;
void vt_cpu_int_run(const vt_cpu_team *t, const vt_cpu_int_products *p, void *work);
uint64_t vt_cpu_int_work(const vt_cpu_team *t, const vt_cpu_int_products *p);

/* All panels of the rows, or of the columns of product 0, to be used as packed later. */
uint64_t vt_cpu_int_rows_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p);
void vt_cpu_int_rows_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out);
uint64_t vt_cpu_int_columns_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p);
void vt_cpu_int_columns_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out);
#endif
