/* SPDX-License-Identifier: Apache-2.0
 * gpu_lookup.h - argument structs of gathers, scatters and nonzero. C and CUDA include it. The
 * index of a gather or scatter has rows of coordinates, each of which names a position (for
 * gathers a slice) in a tensor. */
#ifndef VT_GPU_LOOKUP_H
#define VT_GPU_LOOKUP_H
#include "gpu_fault.h"

/* Rows of coordinates in an index tensor. `limit` has the extent that each coordinate must be
 * below. */
typedef struct vt_gpu_lookup {
  const void *index;
  /* wide: 1 if indices are i64, 0 if they are i32; depth: coordinates per row */
  uint32_t wide, depth;
  int64_t coordinate_step; /* elements between the coordinates of a row */
  int64_t limit[VT_GPU_RANK], stride[VT_GPU_RANK];
} vt_gpu_lookup;

typedef struct vt_gpu_check {
  vt_gpu_lookup lookup;
  vt_gpu_fault *fault;
  vt_gpu_walk walk; /* walk over the index tensor */
} vt_gpu_check;

typedef struct vt_gpu_gather {
  void *to;
  const void *from;
  vt_gpu_lookup lookup;
  /* walk over the result: operand 0 is `to`, 1 is `from` at coordinates 0, 2 is the index */
  vt_gpu_walk walk;
} vt_gpu_gather;

/* Makes a record of gpu_sort.h for each row of updates: the key is the number of the position that
 * the row goes to. */
typedef struct vt_gpu_find {
  void *records;
  /* has no tensor's strides: its strides, and those of the walk's operand 0, give the number of a
   * position, row-major */
  vt_gpu_lookup lookup;
  /* walk over the rows of updates; the offset of operand 0 is what the batch axes add to the
   * position's number, operand 1 is the index */
  vt_gpu_walk walk;
  uint32_t wide, reserved;
} vt_gpu_find;

enum { VT_GPU_CHUNK = 1024 }; /* elements per chunk of the summation order S of docs/numerics.md */
/* Scatters rows that were sorted by position. Rows of one position keep their order. */
typedef struct vt_gpu_scatter {
  void *to;
  const void *from, *records;
  /* for positions whose sum S has several chunks: their sums; two rows per 1024 sorted rows */
  void *partial;
  int64_t n, slice;    /* number of rows of updates, and elements per row */
  vt_gpu_walk places;  /* walk over the positions in `to`, in the order of their numbers */
  vt_gpu_walk rows;    /* walk over the rows of updates in `from` */
  vt_gpu_walk element; /* walk over the elements of a row; operand 0 is `to`, 1 is `from` */
  uint32_t wide, reserved;
} vt_gpu_scatter;

enum { VT_GPU_LISTED = 2048 }; /* elements that a thread block of nonzero tests */
typedef struct vt_gpu_list {
  const void *x;
  /* number of nonzero elements of each thread block, later of all blocks before it */
  int64_t *before;
  int64_t *total, *places;
  uint64_t mask; /* an element is nonzero if any of these bits is set */
  int64_t bound, row, column, dim[VT_GPU_RANK];
  vt_gpu_walk walk; /* walk over x */
  uint32_t rank, reserved;
} vt_gpu_list;
#endif
