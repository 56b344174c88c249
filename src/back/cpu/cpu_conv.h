/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv.h - private to src/back/cpu: the axes of a convolution of any kind, read from its
 * step. */
#ifndef VT_CPU_CONV_H
#define VT_CPU_CONV_H
#include "cpu_direct_conv.h"
#include "vt_window.h"

/* Sets the axes of a convolution over x [N, C, spatial...] with a window of `kernel` taps and
 * `places` outputs per axis. The strides of the weight and of y are left 0 for the caller to
 * set. */
void vt_cpu_conv_read_axes(const vt_view *x, const vt_window_lists *l, const int64_t *kernel,
                           const int64_t *places, vt_cpu_axis axis[VT_CPU_AXES]);
/* Joins axes that have one tap, step 1 and no padding and that are contiguous in x and y. */
void vt_cpu_conv_join_axes(vt_cpu_axis axis[VT_CPU_AXES]);
#endif
