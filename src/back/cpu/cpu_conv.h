/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv.h - private to src/back/cpu: what convolutions of all kinds read out of their step. */
#ifndef VT_CPU_CONV_H
#define VT_CPU_CONV_H
#include "cpu_direct_conv.h"
#include "vt_window.h"

/* The axes of a convolution over x [N, C, spatial...] with the taps of `kernel`; those that y lies
 * along and the weight has are left 0. */
void vt_cpu_conv_axes(const vt_view *x, const vt_window_lists *l, const int64_t *kernel,
                      const int64_t *places, vt_cpu_axis axis[VT_CPU_AXES]);
/* Axes whose taps fall together and which lie dense are one. */
void vt_cpu_conv_merge(vt_cpu_axis axis[VT_CPU_AXES]);
#endif
