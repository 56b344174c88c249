/* SPDX-License-Identifier: Apache-2.0
 * cpu_reduce.h - how a tensor is seen by what goes along some of its axes: which axes are kept,
 * which are gone through, and in what order they lie in memory. Private to src/back/cpu. */
#ifndef VT_CPU_REDUCE_H
#define VT_CPU_REDUCE_H
#include "cpu_move.h"

/* Axes walked together, row-major; neighbours that are one axis to all views are joined, axes of
 * length 1 are gone.*/
typedef struct vt_cpu_axes {
  uint32_t n; /* at least one, of length 1 if need be */
  int64_t dim[VT_MAX_RANK], x[VT_MAX_RANK], y[VT_MAX_RANK]; /* strides of two views, elements */
  int64_t count; /* INT64_MAX where that does not fit: only an empty tensor can be so long */
} vt_cpu_axes;
/* One more axis inside the others; the first one goes into zeroed axes. */
void vt_cpu_axes_put(vt_cpu_axes *a, int64_t dim, int64_t x, int64_t y);
/* Those axes of x that `mask` has; y is NULL, or a view of the same rank. */
void vt_cpu_axes_of(const vt_view *x, const vt_view *y, unsigned mask, vt_cpu_axes *out);
/* Where element i is. */
void vt_cpu_axes_at(const vt_cpu_axes *a, int64_t i, int64_t *out_x, int64_t *out_y);
/* Elements from i on that lie evenly: how many of them, `left` at most. The stride is that of the
 * last axis. */
int64_t vt_cpu_axes_run(const vt_cpu_axes *a, int64_t i, int64_t left);

/* The axes of an attribute as a bit mask; an empty list means all of them. */
unsigned vt_cpu_mask(const vt_attr_list *axes, uint32_t rank);
/* The result of a reduction with its reduced axes as axes of length 1. */
vt_view vt_cpu_kept_view(const vt_view *y, const vt_view *x, unsigned mask);
#endif
