/* SPDX-License-Identifier: Apache-2.0
 * vt_layout.h - where the elements of a tensor lie relative to its first byte, and the ops that
 * only change that. */
#ifndef VT_LAYOUT_H
#define VT_LAYOUT_H
#include "vt_op.h"

typedef struct vt_layout {
  int64_t stride[VT_MAX_RANK]; /* elements, never negative; unused entries are 0 */
  uint64_t first;              /* elements before the first one */
} vt_layout;

/* Row-major without gaps; axes of length 0 count as 1. */
void vt_layout_dense(const vt_type *t, vt_layout *out);
int vt_layout_is_dense(const vt_type *t, const vt_layout *l);
/* Bytes from the first element to the end of the last one; 0 when there are none. */
uint64_t vt_layout_span(const vt_type *t, const vt_layout *l);
/* 1 when the result of the op, of type `out`, is its operand `x` in layout `l` seen through the
 * strides *made. Every dimension is bound. */
int vt_op_view(uint32_t op, const void *attrs, const vt_type *x, const vt_layout *l,
               const vt_type *out, vt_layout *made);
#endif
