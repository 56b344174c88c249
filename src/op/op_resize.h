/* SPDX-License-Identifier: Apache-2.0
 * op_resize.h - reads the attributes of resize and of its gradient into one struct. Private to
 * src/op. */
#ifndef VT_OP_RESIZE_H
#define VT_OP_RESIZE_H
#include "vt_op.h"

typedef struct vt_resizing {
  int64_t mode, coordinates, rounding; /* words of words.def */
  double a, scale; /* a: coefficient of the cubic kernel; scale: 0 if sizes are given instead */
} vt_resizing;

static inline vt_resizing vt_resizing_of(const vt_attr_resize *a) {
  return (vt_resizing){a->mode, a->coordinates, a->rounding, a->a, a->scale};
}

static inline vt_resizing vt_resizing_of_grad(const vt_attr_resize_grad *a) {
  return (vt_resizing){a->mode, a->coordinates, a->rounding, a->a, a->scale};
}
#endif
