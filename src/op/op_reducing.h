/* SPDX-License-Identifier: Apache-2.0
 * op_reducing.h - what reductions, norms and losses share: sets of axes as bit masks, how nodes
 * over them are written, and the two nested walks of a kernel that reduces. Private to src/op. */
#ifndef VT_OP_REDUCING_H
#define VT_OP_REDUCING_H
#include "op_rows.h"

/* The axes as a bit mask; an empty list means all of them. */
vt_status vt_axes_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out,
                       vt_diag *d) VT_NODISCARD;
/* How many elements the axes of `mask` hold together; INT64_MAX where that does not fit, which
 * only an empty tensor can bring. */
int64_t vt_axes_count(uint32_t rank, const int64_t *dim, unsigned mask);

/* ---- nodes ---- */

/* A reduction over the axes of `mask`, which stay as axes of length 1. */
uint32_t vt_build_over(vt_builder *b, uint32_t op, uint32_t x, unsigned mask);
/* S(x)/n over the axes of `mask`, kept; n is converted to the type with one rounding. */
uint32_t vt_build_mean(vt_builder *b, uint32_t x, unsigned mask);
/* y, the result of a reduction of x over `mask`, with those axes as axes of length 1. */
uint32_t vt_build_kept(vt_builder *b, uint32_t y, uint32_t x, unsigned mask);
/* y repeated to the shape of x. */
uint32_t vt_build_repeat(vt_builder *b, uint32_t y, uint32_t x);
/* which > 0 ? y : which < 0 ? -y : +0, the slope of an absolute value */
uint32_t vt_build_signed(vt_builder *b, uint32_t which, uint32_t y);

/* ---- kernels ---- */

/* One result from the walk over what is reduced; `x` points at its first element. */
typedef struct vt_reduction {
  void (*f32)(vt_walk inner, const float *x, float *y);
  void (*f64)(vt_walk inner, const double *x, double *y);
  int64_t (*whole)(vt_walk inner, const void *x, uint32_t dtype);
} vt_reduction;
/* Reduces operand 0 over `axes`, which the shape rule has seen. */
vt_status vt_reduce_run(const vt_kernel *k, const vt_attr_list *axes, const vt_reduction *f);
#endif
