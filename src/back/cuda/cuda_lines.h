/* SPDX-License-Identifier: Apache-2.0
 * cuda_lines.h - how a tensor is seen by what goes along some of its axes: a walk from line to line
 * and one along a line, and the fold of every line into a number. */
#ifndef VT_CUDA_LINES_H
#define VT_CUDA_LINES_H
#include "cuda_backend.h"
#include "gpu_reduce.h"

typedef struct vt_cuda_lines {
  vt_gpu_walk lines, along; /* operand 0: x, the others as they were given */
} vt_cuda_lines;

/* 1 when it has no elements, however long its other axes are. */
int vt_cuda_is_empty(const vt_view *v);
/* The axes of an attribute as a bit mask; an empty list means all of them. */
unsigned vt_cuda_mask(const vt_attr_list *axes, uint32_t rank);
/* The result of a reduction with its reduced axes as axes of length 1. */
vt_view vt_cuda_kept(const vt_view *y, const vt_view *x, unsigned mask);
/* Of views that have the rank of the first; `mask` has the axes of a line. Lines are numbered so
 * that neighbours in memory are neighbours; the order along a line is row-major. Nothing may be
 * empty but a line. */
vt_cuda_lines vt_cuda_lines_of(const vt_view *const *v, uint32_t n, unsigned mask);
/* 1 when operand k has the elements of neighbouring lines closer together than those of one. */
int vt_cuda_lines_contiguous(const vt_cuda_lines *l, uint32_t k);
/* Operand k has a number for each line, without gaps. */
void vt_cuda_lines_number(vt_gpu_walk *lines, uint32_t k, int64_t each);

/* ---- folds ---- */

typedef struct vt_cuda_folding {
  const void *x, *shift;
  void *y;
  uint32_t dtype, kind, touch;
  int64_t divisor;
  vt_cuda_lines at; /* operand 0: x, 1: y */
} vt_cuda_folding;
/* Bytes of scratch that a fold of lines of n elements takes. */
uint64_t vt_cuda_reduce_bytes(int64_t lines, int64_t n, uint32_t dtype);
vt_status vt_cuda_reduce(vt_cuda_call *c, const vt_cuda_folding *f, void *work);
#endif
