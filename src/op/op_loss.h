/* SPDX-License-Identifier: Apache-2.0
 * op_loss.h - helpers that the losses share: how the loss of each row or element is reduced to the
 * result. Private to src/op. */
#ifndef VT_OP_LOSS_H
#define VT_OP_LOSS_H
#include "op_reduction.h"
#include "vt_num.h"

/* Checks the attribute `reduction`: none, mean or sum, or with `allow_batch` also batch. */
vt_status vt_loss_check_reduction(int64_t word, int allow_batch, vt_diag *d) VT_NODISCARD;

/* ---- losses of elements: x and t have the same shape ---- */

/* The result type: that of x for reduction none, otherwise a scalar. */
vt_status vt_loss_shape(const vt_rule *r, int64_t reduction, vt_type *out, vt_diag *d) VT_NODISCARD;
/* Reduces `each`, the loss of every element: for none `each` itself, for sum S(each), for mean
 * S(each) divided by the number of elements, for batch S(each) divided by the first dimension. */
uint32_t vt_build_reduced_loss(vt_builder *b, uint32_t each, int64_t reduction);
/* The factor w of the gradient of each element: dy divided by the divisor of the reduction. */
uint32_t vt_build_loss_weight(const vt_gradient *g, int64_t reduction);

/* The loss of one element as a function of x, t and the attribute p; f64 is NULL if the op accepts
 * only f32. */
typedef struct vt_loss {
  float (*f32)(float x, float t, double p);
  double (*f64)(double x, double t, double p);
} vt_loss;
vt_status vt_loss_run(const vt_kernel *k, const vt_loss *f, double coefficient, int64_t reduction);
#endif
