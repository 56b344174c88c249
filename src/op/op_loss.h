/* SPDX-License-Identifier: Apache-2.0
 * op_loss.h - what losses share: how rows or elements become the result. Private to src/op. */
#ifndef VT_OP_LOSS_H
#define VT_OP_LOSS_H
#include "op_reducing.h"
#include "vt_num.h"

/* Refuses a reduction that is none of none, mean, sum and, where `batch` says so, batch. */
vt_status vt_loss_reduction(int64_t word, int batch, vt_diag *d) VT_NODISCARD;

/* ---- losses of elements: x and t have one shape ---- */

vt_status vt_loss_shape(const vt_rule *r, int64_t reduction, vt_type *out, vt_diag *d) VT_NODISCARD;
/* The elements themselves, S of them, or that by their number; by the first dimension for batch. */
uint32_t vt_build_loss(vt_builder *b, uint32_t each, int64_t reduction);
/* w, what the gradient of each element is multiplied with: dy over what the sum was divided by. */
uint32_t vt_build_loss_weight(const vt_gradient *g, int64_t reduction);

/* One element from x, t and the attribute p; f64 is NULL where there is no such loss. */
typedef struct vt_loss {
  float (*f32)(float x, float t, double p);
  double (*f64)(double x, double t, double p);
} vt_loss;
vt_status vt_loss_run(const vt_kernel *k, const vt_loss *f, double p, int64_t reduction);
#endif
