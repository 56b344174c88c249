/* SPDX-License-Identifier: Apache-2.0
 * kern_int.h - the kernels of matrix products of 8-bit integers, exact in i32. In a panel, `group`
 * neighbours along k are stored together, because one instruction multiplies and adds a group. Rows
 * are packed as 0 .. 255 and columns as -128 .. 127, whatever their type; cpu_int.c subtracts from
 * the sums what this adds. Sums wrap, so their order does not matter. */
#ifndef VT_KERN_INT_H
#define VT_KERN_INT_H
#include <stdint.h>

/* A matrix of bytes in place: element (k, j) is at[k*along + j*across]. */
typedef struct vt_cpu_bytes {
  const uint8_t *at;
  int64_t along, across;
} vt_cpu_bytes;

/* Operands of the packers: `count` rows or columns of `k` numbers. XOR with `flip` brings each byte
 * into the range of packed rows or columns. */
typedef struct vt_cpu_int_side {
  vt_cpu_bytes from;
  int64_t count, k;
  uint8_t flip; /* 0 or 0x80 */
} vt_cpu_int_side;
/* Packs one panel as panel[k/group][tile][group]; elements past `count` and `k` are 0. sums[j] is
 * the sum of packed row j. */
typedef void vt_cpu_int_pack_fn(const vt_cpu_int_side *s, void *panel, int32_t *sums);
/* y[r][columns] for the first r rows, r being the height of the tile: the sums over `steps`
 * groups. */
typedef void vt_cpu_int_tile_fn(int64_t steps, const void *a, const void *b, int32_t *y);

enum { VT_CPU_INT_ROWS_MAX = 8, VT_CPU_INT_COLUMNS_MAX = 48 };
typedef struct vt_cpu_ints {
  int rows, columns, group;
  int bytes; /* bytes of a packed number */
  vt_cpu_int_pack_fn *pack_rows, *pack_columns;
  vt_cpu_int_tile_fn *tile[VT_CPU_INT_ROWS_MAX]; /* by [r - 1], r = 1 .. rows */
} vt_cpu_ints;

/* Kernels that need VNNI in addition to AVX-512; used only if the processor has it. */
extern const vt_cpu_ints vt_cpu_ints_vnni;
#endif
