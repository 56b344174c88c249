/* SPDX-License-Identifier: Apache-2.0
 * op_reduction.h - helpers that reductions, norms and losses share: sets of axes as bit masks,
 * the nodes that reduce over them, and the two nested walks of a kernel that reduces. Private to
 * src/op. S is the ordered sum of docs/numerics.md; a mask has a bit for each axis. */
#ifndef VT_OP_REDUCING_H
#define VT_OP_REDUCING_H
#include "op_rows.h"

/* Reads a list of axes as a mask; an empty list means all axes. */
vt_status vt_axes_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out,
                       vt_diag *d) VT_NODISCARD;
/* The product of the dimensions of the axes in `mask`; INT64_MAX if it overflows, which only
 * happens for an empty tensor. */
int64_t vt_axes_element_count(uint32_t rank, const int64_t *dim, unsigned mask);

/* ---- nodes ---- */

/* Writes the reduction `op` of x over the axes of `mask`, which keep length 1 in the result. */
uint32_t vt_build_reduce_over(vt_builder *b, uint32_t op, uint32_t x, unsigned mask);
/* Writes the mean S(x)/n over the axes of `mask`, which keep length 1 in the result; n, the number
 * of elements, is converted to the type with one rounding. */
uint32_t vt_build_mean(vt_builder *b, uint32_t x, unsigned mask);
/* Reshapes y, the result of a reduction of x over `mask`, so that the reduced axes are there with
 * length 1. */
uint32_t vt_build_restore_axes(vt_builder *b, uint32_t y, uint32_t x, unsigned mask);
/* Broadcasts y to the shape of x. */
uint32_t vt_build_broadcast_like(vt_builder *b, uint32_t y, uint32_t x);
/* Writes x > 0 ? y : x < 0 ? -y : +0. This is the gradient of abs(x) if y is that of its result. */
uint32_t vt_build_y_times_sign_of_x(vt_builder *b, uint32_t x, uint32_t y);

/* ---- kernels ---- */

/* The functions that compute one result of a reduction, one for each class of types. `inner` visits
 * the elements that are reduced, and x points at the first of them. A function is NULL if the op
 * does not accept the types; `whole` is for integers and bool. */
typedef struct vt_reduction {
  void (*f32)(vt_walk inner, const float *x, float *y);
  void (*f64)(vt_walk inner, const double *x, double *y);
  int64_t (*whole)(vt_walk inner, const void *x, uint32_t dtype);
} vt_reduction;
/* Computes a reduction of operand 0 of the kernel over `axes`, which the shape rule has checked, by
 * the functions f. */
vt_status vt_reduce_run(const vt_kernel *k, const vt_attr_list *axes, const vt_reduction *f);
#endif
