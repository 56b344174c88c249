/* SPDX-License-Identifier: Apache-2.0
 * kern_move.h - what the moves have in each instruction set: planes of elements copied from one
 * pair of strides to another, and random numbers. */
#ifndef VT_KERN_MOVE_H
#define VT_KERN_MOVE_H
#include <stdint.h>
#include "cpu_radix.h"
#include "kern_types.h"

/* Rows of columns of elements. All strides are bytes and may be 0 (from) or less than 0 (from). */
typedef struct vt_cpu_plane {
  char *to;
  const char *from;
  int64_t rows, columns;
  int64_t to_row, to_column, from_row, from_column;
} vt_cpu_plane;
typedef void vt_cpu_plane_fn(const vt_cpu_plane *p);

/* Where random numbers come from: docs/numerics.md says how. */
typedef struct vt_cpu_source {
  uint64_t seed;
  uint32_t stream, step;
} vt_cpu_source;
/* The elements of blocks first .. first + n - 1, four for each. */
typedef void vt_cpu_draw_fn(const vt_cpu_source *s, uint64_t first, int64_t n, void *out);

/* Rows of updates that land in one place: `rows` say where each starts, in bytes from `from`. */
typedef struct vt_cpu_landing {
  char *to;
  const char *from;
  const vt_cpu_record *rows;
  int64_t n, columns, to_step, from_step; /* steps from column to column, in bytes */
} vt_cpu_landing;
typedef void vt_cpu_scatter_fn(const vt_cpu_landing *l);

enum { VT_CPU_SIZES = 5 }; /* elements of 1, 2, 4, 8 and 16 bytes */
typedef struct vt_cpu_moves {
  vt_cpu_plane_fn *each[VT_CPU_SIZES];     /* any strides */
  vt_cpu_plane_fn *turn[VT_CPU_SIZES];     /* from_row and to_column are the size of an element */
  vt_cpu_draw_fn *bits, *uniform, *normal; /* i64, f32, f32 */
  /* to + S(rows), and the greatest and the least of `to` and the rows, by type */
  vt_cpu_scatter_fn *sum[VT_CPU_TYPES], *greatest[VT_CPU_TYPES], *least[VT_CPU_TYPES];
} vt_cpu_moves;
#endif
