/* SPDX-License-Identifier: Apache-2.0
 * op_reduction.h - helpers that reductions, norms and losses share: sets of axes as bit masks, the
 * nodes that reduce over them, and the two nested walks of a kernel that reduces. Private to
 * src/op. */
#ifndef VT_OP_REDUCING_H
#define VT_OP_REDUCING_H
#include "op_rows.h"

/* Reads a list of axes as a bit mask; an empty list means all axes. */
vt_status vt_axes_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out,
                       vt_diag *d) VT_NODISCARD;
/* The product of the dimensions of the axes in `mask`; INT64_MAX if it overflows, which only
 * happens for an empty tensor. */
int64_t vt_axes_count(uint32_t rank, const int64_t *dim, unsigned mask);

/* ---- nodes ---- */

/* `op`, a reduction, over the axes of `mask`; they stay, with length 1. */
uint32_t vt_build_reduce_over(vt_builder *b, uint32_t op, uint32_t x, unsigned mask);
/* The mean S(x)/n over the axes of `mask`, which stay with length 1; n is converted to the type
 * with one rounding. */
uint32_t vt_build_mean(vt_builder *b, uint32_t x, unsigned mask);
/* Reshapes y, the result of a reduction of x over `mask`, so that the reduced axes stay with length
 * 1. */
uint32_t vt_build_keep_axes(vt_builder *b, uint32_t y, uint32_t x, unsigned mask);
/* y broadcast to the shape of x. */
uint32_t vt_build_broadcast_like(vt_builder *b, uint32_t y, uint32_t x);
/* which > 0 ? y : which < 0 ? -y : +0, the gradient of an absolute value */
uint32_t vt_build_signed(vt_builder *b, uint32_t which, uint32_t y);

/* ---- kernels ---- */

/* The functions that compute one result; `inner` visits the elements that are reduced, and x points
 * at the first of them. A function is NULL if the op does not accept the type. */
typedef struct vt_reduction {
  void (*f32)(vt_walk inner, const float *x, float *y);
  void (*f64)(vt_walk inner, const double *x, double *y);
  int64_t (*whole)(vt_walk inner, const void *x, uint32_t dtype);
} vt_reduction;
/* Reduces operand 0 of the kernel over `axes`, which the shape rule has checked. */
vt_status vt_reduce_run(const vt_kernel *k, const vt_attr_list *axes, const vt_reduction *f);
#endif
