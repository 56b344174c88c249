/* SPDX-License-Identifier: Apache-2.0
 * vt_window.h - windows that move along spatial axes, for convolutions and pools: reads and checks
 * the attributes stride, dilation, low and high, and counts the positions of a window, symbolically
 * if that is exact. Private to src/op.
 *
 *     x  . . 0 1 2 3 4 5 .     low = 2, high = 1 elements of padding
 *        k . k . k             position 0: kernel = 3 taps, dilation = 2
 *              k . k . k       position 1: stride = 3 */
#ifndef VT_WINDOW_H
#define VT_WINDOW_H
#include "vt_op.h"

enum { VT_SPATIAL_MAX = 3 }; /* the greatest number of spatial axes; they follow [N, C] */

/* The window along one axis: at position p tap k reads element p*stride + k*dilation - low of the
 * input, for k in 0 .. kernel-1. */
typedef struct vt_window {
  int64_t kernel, stride, dilation, low, high;
} vt_window;

/* The attributes of an op that describe its windows; NULL is read as an empty list. */
typedef struct vt_window_lists {
  const vt_attr_list *kernel, *stride, *dilation, *low, *high;
} vt_window_lists;

/* The entry of a list for spatial axis i. A list of one entry holds for every axis; an empty list
 * means `usual`. */
int64_t vt_window_entry(const vt_attr_list *list, uint32_t i, int64_t usual);
/* Checks that a list has no entry, one entry, or `axes` entries, each in least .. 2^40. `name` is
 * the attribute that a message names. */
vt_status vt_window_check_list(const vt_attr_list *list, const char *name, uint32_t axes,
                               int64_t least, vt_diag *d) VT_NODISCARD;
/* Checks that the operand is [N, C, spatial...] with one to three spatial axes. */
vt_status vt_window_check_rank(const vt_rule *r, uint32_t operand, vt_diag *d) VT_NODISCARD;
/* Checks the lists of an op with `axes` spatial axes, that the kernel sizes are known and that no
 * kernel with its dilation is longer than 2^40. kernel[i] is the kernel size along axis i. */
vt_status vt_window_check(const vt_window_lists *l, const int64_t *kernel, uint32_t axes,
                          vt_diag *d) VT_NODISCARD;
/* The window along axis i, from lists that were checked; if the list of strides is empty, the
 * stride is `usual_stride`. */
vt_window vt_window_axis(const vt_window_lists *l, uint32_t i, int64_t kernel,
                         int64_t usual_stride);
/* The number of input elements from the first tap of a window to its last one, both included. */
int64_t vt_window_extent(const vt_window *w);
/* The number of positions of the window along spatial axis i of operand 0, of length I: (I + low +
 * high - extent) / stride + 1. The quotient is rounded down, or with `ceil` up; in that case a last
 * window that starts at or beyond I + low is dropped. */
vt_status vt_window_count(const vt_rule *r, uint32_t i, const vt_window *w, int ceil, int64_t *out,
                          vt_diag *d) VT_NODISCARD;
#endif
