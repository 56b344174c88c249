/* SPDX-License-Identifier: Apache-2.0
 * kern_int.h - products of small integers, exact in i32. Numbers are packed as panels in which
 * `group` neighbours along k stand together, because that is what one instruction multiplies and
 * adds. Rows are packed as 0 .. 255, columns as -128 .. 127, whatever they were; what this adds to
 * the sums is taken off again, see cpu_int.c. Sums wrap, so that they need no order. */
#ifndef VT_KERN_INT_H
#define VT_KERN_INT_H
#include <stdint.h>

/* Bytes of a matrix: number (k, j) lies at at[k*along + j*across]. */
typedef struct vt_cpu_bytes {
  const uint8_t *at;
  int64_t along, across;
} vt_cpu_bytes;

/* What the packers are told: `count` rows or columns of `k` numbers; what is flipped by `flip` is
 * then within the range above. */
typedef struct vt_cpu_int_side {
  vt_cpu_bytes from;
  int64_t count, k;
  uint8_t flip; /* 0 or 0x80 */
} vt_cpu_int_side;
/* panel[k/group][tile][group], those past `count` and `k` being 0; sums[j] = those of row j. */
typedef void vt_cpu_int_pack_fn(const vt_cpu_int_side *s, void *panel, int32_t *sums);
/* y[r][columns] of the first r rows: the sums over `steps` groups. r is the tile's own. */
typedef void vt_cpu_int_tile_fn(int64_t steps, const void *a, const void *b, int32_t *y);

enum { VT_CPU_INT_ROWS_MAX = 8, VT_CPU_INT_COLUMNS_MAX = 48 };
typedef struct vt_cpu_ints {
  int rows, columns, group;
  int bytes; /* of a packed number */
  vt_cpu_int_pack_fn *pack_rows, *pack_columns;
  vt_cpu_int_tile_fn *tile[VT_CPU_INT_ROWS_MAX]; /* [r - 1], r = 1 .. rows */
} vt_cpu_ints;

/* Kernels that want more than their instruction set has; chosen where the processor has it. */
extern const vt_cpu_ints vt_cpu_ints_vnni;
#endif
