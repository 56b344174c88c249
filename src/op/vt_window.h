/* SPDX-License-Identifier: Apache-2.0
 * vt_window.h - kernels that slide along spatial axes, for convolutions and pools: the attributes
 * stride, dilation, low and high read and checked, and the number of positions, symbolic where that
 * is exact. Private to src/op. */
#ifndef VT_WINDOW_H
#define VT_WINDOW_H
#include "vt_op.h"

enum { VT_SPATIAL_MAX = 3 }; /* spatial axes, which follow [N, C] */

/* One axis: position p meets the input at p*stride + k*dilation - low, k in 0 .. kernel-1. */
typedef struct vt_window {
  int64_t kernel, stride, dilation, low, high;
} vt_window;

/* The lists as an op's attributes hold them; NULL: as if it were empty. */
typedef struct vt_window_lists {
  const vt_attr_list *kernel, *stride, *dilation, *low, *high;
} vt_window_lists;

/* Entry i: a list of one holds for every axis, an empty one stands for `usual`. */
int64_t vt_window_entry(const vt_attr_list *list, uint32_t i, int64_t usual);
/* A list has no entry, one, or `axes` of them, each in least .. 2^40. */
vt_status vt_window_check_list(const vt_attr_list *list, const char *name, uint32_t axes,
                               int64_t least, vt_diag *d) VT_NODISCARD;
/* `t` is [N, C, spatial...] with one to three spatial axes. */
vt_status vt_window_check_rank(const vt_rule *r, uint32_t operand, vt_diag *d) VT_NODISCARD;
/* All lists of an op over `axes` spatial axes, and that no kernel reaches beyond 2^40. The kernel
 * sizes are those of `kernel`, which were checked to be known. */
vt_status vt_window_check(const vt_window_lists *l, const int64_t *kernel, uint32_t axes,
                          vt_diag *d) VT_NODISCARD;
/* Axis i of lists that were checked; `usual_stride` for an empty list of strides. */
vt_window vt_window_axis(const vt_window_lists *l, uint32_t i, int64_t kernel,
                         int64_t usual_stride);
/* From the first tap to the last, both counted. */
int64_t vt_window_extent(const vt_window *w);
/* Positions along spatial axis i of operand 0: (I + low + high - extent) / stride + 1, rounded
 * down, or up with `ceil`, where a last window that starts at or beyond I + low is dropped. */
vt_status vt_window_count(const vt_rule *r, uint32_t i, const vt_window *w, int ceil, int64_t *out,
                          vt_diag *d) VT_NODISCARD;
#endif
