/* SPDX-License-Identifier: Apache-2.0
 * cuda_lines.h - views of a tensor as lines, for ops that work along some axes: one walk over the
 * lines and one along a line. Also reduces each line to a number. A line is the elements of a
 * tensor that differ only in their indices along given axes; a walk (gpu_walk.h) visits elements
 * in order. */
#ifndef VT_CUDA_LINES_H
#define VT_CUDA_LINES_H
#include "cuda_backend.h"
#include "gpu_reduce.h"

typedef struct vt_cuda_lines {
  /* A walk over the lines and a walk along one line. Operand 0 is x; the other operands are the
   * views that the caller gave, in order. */
  vt_gpu_walk lines, along;
} vt_cuda_lines;

/* 1 if the view has no elements. The product of its other dimensions may overflow. */
int vt_cuda_is_empty(const vt_view *v);
/* Returns the axes of an attribute as a bit mask; an empty list means all axes. */
unsigned vt_cuda_axes_mask(const vt_attr_list *axes, uint32_t rank);
/* Returns a view of y, the result of a reduction of x, that has the reduced axes with length 1. */
vt_view vt_cuda_keepdims_view(const vt_view *y, const vt_view *x, unsigned axes_mask);
/* Builds the walks for n views that have the rank of the first. `axes_mask` has the axes of a line.
 * Lines are numbered so that neighbours in memory have neighbouring numbers; along a line the order
 * is row-major. A line may be empty; the other axes may not. */
vt_cuda_lines vt_cuda_lines_of(const vt_view *const *v, uint32_t n, unsigned axes_mask);
/* 1 if, in operand number `operand`, neighbouring lines are closer together in memory than
 * neighbouring elements of one line. */
int vt_cuda_lines_are_interleaved(const vt_cuda_lines *l, uint32_t operand);
/* Makes operand number `operand` of a walk over lines a vector with one number per line; the
 * numbers are `elements_per_line` elements apart. */
void vt_cuda_lines_set_consecutive(vt_gpu_walk *lines, uint32_t operand, int64_t elements_per_line);

/* ---- reductions ---- */

typedef struct vt_cuda_reduction {
  const void *x, *shift;
  void *y;
  uint32_t dtype, kind, touch;
  int64_t divisor;
  vt_cuda_lines at; /* operand 0: x, 1: y */
} vt_cuda_reduction;
/* Returns the bytes of scratch for reducing `lines` lines of n elements. */
uint64_t vt_cuda_reduce_scratch(int64_t lines, int64_t n, uint32_t dtype);
vt_status vt_cuda_reduce(vt_cuda_call *c, const vt_cuda_reduction *f, void *work);
#endif
