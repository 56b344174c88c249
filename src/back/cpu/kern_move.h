/* SPDX-License-Identifier: Apache-2.0
 * kern_move.h - the move kernels of one instruction set: copies of planes of elements between any
 * strides, random numbers, and scatters. */
#ifndef VT_KERN_MOVE_H
#define VT_KERN_MOVE_H
#include <stdint.h>
#include "cpu_radix.h"
#include "kern_types.h"

/* A plane of rows and columns to copy. Strides are in bytes; those of `from` may be 0 or
 * negative. */
typedef struct vt_cpu_plane {
  char *to;
  const char *from;
  int64_t rows, columns;
  int64_t to_row, to_column, from_row, from_column;
} vt_cpu_plane;
typedef void vt_cpu_plane_fn(const vt_cpu_plane *p);

/* The state of a counter-based random generator: docs/numerics.md defines it. */
typedef struct vt_cpu_random_source {
  uint64_t seed;
  uint32_t stream, step;
} vt_cpu_random_source;
/* Writes the random elements of blocks first .. first + n - 1, four per block. */
typedef void vt_cpu_draw_fn(const vt_cpu_random_source *s, uint64_t first, int64_t n, void *out);

/* Updates that are scattered to the same row: rows[i].at is the offset of update i from `from`, in
 * bytes. */
typedef struct vt_cpu_row_updates {
  char *to;
  const char *from;
  const vt_cpu_record *rows;
  int64_t n, columns, to_step,
      from_step; /* to_step, from_step: bytes from one column to the next */
} vt_cpu_row_updates;
typedef void vt_cpu_scatter_fn(const vt_cpu_row_updates *l);

enum { VT_CPU_SIZES = 5 }; /* elements of 1, 2, 4, 8 and 16 bytes */
typedef struct vt_cpu_moves {
  vt_cpu_plane_fn *strided[VT_CPU_SIZES]; /* copies between any strides */
  /* Transposes; from_row and to_column must be the size of an element. */
  vt_cpu_plane_fn *transpose[VT_CPU_SIZES];
  vt_cpu_draw_fn *bits, *uniform, *normal; /* results are i64, f32, f32 */
  /* By type: `to` plus the ordered sum S of the updates; the maximum or minimum of `to` and the
   * updates. */
  vt_cpu_scatter_fn *sum[VT_CPU_TYPES], *max[VT_CPU_TYPES], *min[VT_CPU_TYPES];
} vt_cpu_moves;
#endif
