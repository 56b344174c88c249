/* SPDX-License-Identifier: Apache-2.0
 * cpu_reduce.h - private to src/back/cpu: sorts the axes of a reduction into those that are kept
 * and those that are reduced, and joins neighbouring axes that are contiguous. */
#ifndef VT_CPU_REDUCE_H
#define VT_CPU_REDUCE_H
#include "cpu_move.h"

/* Axes that are walked together in row-major order. Neighbouring axes that are one axis in both
 * views are joined, and axes of length 1 are dropped. */
typedef struct vt_cpu_axes {
  uint32_t n; /* number of axes; at least one, of length 1 if there is nothing to walk */
  /* dim: extents; x, y: strides in the operand and in the result, in elements */
  int64_t dim[VT_MAX_RANK], x[VT_MAX_RANK], y[VT_MAX_RANK];
  int64_t count; /* number of elements; INT64_MAX if it does not fit, which only happens if another
                    axis is empty */
} vt_cpu_axes;
/* Appends an axis inside the others; *a must be zeroed before the first one. */
void vt_cpu_axes_append(vt_cpu_axes *a, int64_t dim, int64_t x_stride, int64_t y_stride);
/* The axes of x that are set in `mask`; y is NULL or a view of the same rank. */
void vt_cpu_axes_select(const vt_view *x, const vt_view *y, unsigned mask, vt_cpu_axes *out);
/* The offsets of element i in the two views. */
void vt_cpu_axes_offsets(const vt_cpu_axes *a, int64_t i, int64_t *out_x, int64_t *out_y);
/* How many elements starting at i are evenly spaced, at most `left`; their distance is the stride
 * of the last axis. */
int64_t vt_cpu_axes_count_evenly_spaced(const vt_cpu_axes *a, int64_t i, int64_t left);

/* The axes of an attribute as a bit mask; an empty list means all axes. */
unsigned vt_cpu_axis_mask(const vt_attr_list *axes, uint32_t rank);
/* The result of a reduction with the rank of x: reduced axes have length 1. */
vt_view vt_cpu_keepdims_view(const vt_view *y, const vt_view *x, unsigned mask);
#endif
