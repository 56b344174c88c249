/* SPDX-License-Identifier: Apache-2.0
 * gpu_lookup.h - places that an index names: gathers, scatters, and what is not 0. Read by C and by
 * CUDA. */
#ifndef VT_GPU_LOOKUP_H
#define VT_GPU_LOOKUP_H
#include "gpu_fault.h"

/* One or several coordinates, each with the first number that is too large for it. */
typedef struct vt_gpu_lookup {
  const void *index;
  uint32_t wide, depth; /* 1: i64, 0: i32; how many coordinates a row has ... */
  int64_t apart;        /* ... and how far apart they lie */
  int64_t limit[VT_GPU_RANK], stride[VT_GPU_RANK];
} vt_gpu_lookup;

typedef struct vt_gpu_check {
  vt_gpu_lookup lookup;
  vt_gpu_fault *fault;
  vt_gpu_walk walk; /* of the index alone */
} vt_gpu_check;

typedef struct vt_gpu_gather {
  void *to;
  const void *from;
  vt_gpu_lookup lookup;
  vt_gpu_walk walk; /* operand 0: to, 1: from, but for what the index says, 2: index */
} vt_gpu_gather;

/* Rows of updates with the number of the place each goes to, as records of gpu_sort.h. */
typedef struct vt_gpu_find {
  void *records;
  vt_gpu_lookup lookup; /* its strides, and those of operand 0, number the places row-major */
  vt_gpu_walk walk;     /* along the rows; operand 0: place, 1: index */
  uint32_t wide, reserved;
} vt_gpu_find;

enum { VT_GPU_CHUNK = 1024 }; /* of S */
/* The rows sorted by place, those of one place in the order they had. */
typedef struct vt_gpu_scatter {
  void *to;
  const void *from, *records;
  void *partial;       /* for S over more than one chunk: two rows a chunk of positions */
  int64_t n, slice;    /* rows, elements of each */
  vt_gpu_walk places;  /* of `to`, by their number */
  vt_gpu_walk rows;    /* of `from` */
  vt_gpu_walk element; /* of a slice; operand 0: to, 1: from */
  uint32_t wide, reserved;
} vt_gpu_scatter;

enum { VT_GPU_LISTED = 2048 }; /* elements that a block looks at for what is not 0 */
typedef struct vt_gpu_list {
  const void *x;
  int64_t *before; /* how many there are in each block's elements, then in those before */
  int64_t *total, *places;
  uint64_t mask; /* the bits that make an element something other than 0 */
  int64_t bound, row, column, dim[VT_GPU_RANK];
  vt_gpu_walk walk; /* of x alone */
  uint32_t rank, reserved;
} vt_gpu_list;
#endif
