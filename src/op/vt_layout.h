/* SPDX-License-Identifier: Apache-2.0
 * vt_layout.h - the layout of a tensor (strides and position of the first element), and the ops
 * whose result is only another layout of their operand. */
#ifndef VT_LAYOUT_H
#define VT_LAYOUT_H
#include "vt_op.h"

typedef struct vt_layout {
  int64_t
      stride[VT_MAX_RANK]; /* strides in elements, never negative; entries beyond the rank are 0 */
  uint64_t first;          /* offset of the first element in the memory, in elements */
} vt_layout;

/* Sets *out to the row-major strides without gaps; an axis of length 0 counts as one of length
 * 1. */
void vt_layout_dense(const vt_type *t, vt_layout *out);
int vt_layout_is_dense(const vt_type *t, const vt_layout *l);
/* The number of bytes from the first element to the end of the last one; 0 for an empty tensor. */
uint64_t vt_layout_span_bytes(const vt_type *t, const vt_layout *l);
/* Whether the result of `op`, which has the type `y`, can be a view of its operand of type `x` in
 * layout `x_layout`. Returns 1 and the layout of the result in *out_layout, or 0 if elements must
 * be copied. Every dimension must be bound. */
int vt_op_result_view(uint32_t op, const void *attrs, const vt_type *x, const vt_layout *x_layout,
                      const vt_type *y, vt_layout *out_layout);
#endif
