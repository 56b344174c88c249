/* SPDX-License-Identifier: Apache-2.0
 * gpu_copy.h - the elements of one tensor into those of another. Read by C and by CUDA. */
#ifndef VT_GPU_COPY_H
#define VT_GPU_COPY_H
#include "gpu_walk.h"

typedef struct vt_gpu_copy {
  void *to;
  const void *from;
  vt_gpu_walk walk; /* operand 0: to, 1: from */
} vt_gpu_copy;

/* Planes that are turned over: `to` has its columns side by side, `from` its rows. */
enum { VT_GPU_TRANSPOSE_TILE = 32 }; /* the side of the square that a block turns at a time */
typedef struct vt_gpu_transpose {
  void *to;
  const void *from;
  int64_t rows, columns, to_row, from_column; /* how far apart they are, in elements */
  vt_gpu_walk walk;                           /* along the planes */
} vt_gpu_transpose;

/* The same number of elements in two shapes, both counted row-major. */
typedef struct vt_gpu_reshape {
  void *to;
  const void *from;
  vt_gpu_walk to_walk, from_walk;
} vt_gpu_reshape;

/* Result axes of which each has a part in the middle that is x, or that is x again and again. */
typedef struct vt_gpu_pad {
  void *to;
  const void *from, *value;                        /* what lies around x */
  int64_t n, dim[VT_GPU_RANK], x_dim[VT_GPU_RANK]; /* elements and shapes, of the result and of x */
  int64_t low[VT_GPU_RANK];                        /* where x begins */
  int64_t to_stride[VT_GPU_RANK], from_stride[VT_GPU_RANK];
  uint32_t rank, reserved;
} vt_gpu_pad;

/* Numbers counted along one axis: place 1 of the walk is the number itself. */
typedef struct vt_gpu_count {
  void *to;
  vt_gpu_walk walk; /* operand 0: to, 1: the number */
} vt_gpu_count;
#endif
