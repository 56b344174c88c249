/* SPDX-License-Identifier: Apache-2.0
 * gpu_copy.h - argument structs of kernels that copy tensors. C and CUDA include it. A plane is
 * the two axes of a tensor that a transpose swaps; a walk (gpu_walk.h) visits elements. */
#ifndef VT_GPU_COPY_H
#define VT_GPU_COPY_H
#include "gpu_walk.h"

typedef struct vt_gpu_copy {
  void *to;
  const void *from;
  vt_gpu_walk walk; /* walk over the elements; operand 0 is `to`, 1 is `from` */
} vt_gpu_copy;

/* Transposes planes: `to` is contiguous along columns, `from` along rows. */
/* side of the square that a thread block transposes at a time */
enum { VT_GPU_TRANSPOSE_TILE = 32 };
typedef struct vt_gpu_transpose {
  void *to;
  const void *from;
  /* size of a plane; strides of its rows in `to` and of its columns in `from`, in elements */
  int64_t rows, columns, to_row, from_column;
  vt_gpu_walk walk; /* walk over the planes; operand 0 is `to`, 1 is `from` */
} vt_gpu_transpose;

/* Reshapes: both shapes have the same number of elements, which are matched in row-major order. */
typedef struct vt_gpu_reshape {
  void *to;
  const void *from;
  vt_gpu_walk to_walk, from_walk;
} vt_gpu_reshape;

/* Pads and tiles: along each axis the result is x with a border of *value, or x repeated. */
typedef struct vt_gpu_pad {
  void *to;
  const void *from, *value; /* the operand x; the value of the border */
  /* elements of the result; shapes of the result and of x */
  int64_t n, dim[VT_GPU_RANK], x_dim[VT_GPU_RANK];
  int64_t low[VT_GPU_RANK]; /* index in the result at which x begins, along each axis */
  int64_t to_stride[VT_GPU_RANK], from_stride[VT_GPU_RANK];
  uint32_t rank, reserved;
} vt_gpu_pad;

/* Arguments of iota. Operand 1 of the walk has no memory; its offset is the number to store. */
typedef struct vt_gpu_count {
  void *to;
  vt_gpu_walk walk; /* operand 0 is `to`; the offset of operand 1 is the number */
} vt_gpu_count;
#endif
