/* SPDX-License-Identifier: Apache-2.0
 * gpu_direct_conv.h - convolutions of all kinds in one form, taps that slide over x:
 *
 *   y[image, group, row, p...] = D over (channel, t...) of x[image, group, channel, m...] *
 *                                w[group, row, channel, t...],   m = p*step + base + t*delta,
 *
 * +0 for x where some m is outside of it. A transposed convolution sorts its outputs by their
 * remainder by the stride along every axis: those of one class meet the same taps, every `period`
 * of the kernel, and slide by one. Read by C and by CUDA. */
#ifndef VT_GPU_DIRECT_CONV_H
#define VT_GPU_DIRECT_CONV_H
#include <stdint.h>

enum { VT_GPU_AXES = 3 };
typedef struct vt_gpu_direct_conv_axis {
  int64_t dim, stride;       /* of x */
  int64_t step, base, delta; /* base of class 0 is worked out on the card where there are classes */
  int64_t places, taps;      /* the most that a class has */
  int64_t weight, out;       /* from tap to tap in w, from place to place in y */
  int64_t classes;           /* 0: it is no transposed convolution, and what follows is not set */
  int64_t period, apart, dilation, low, kernel, outputs, w_one, y_one;
} vt_gpu_direct_conv_axis;

/* Strides are in elements. */
typedef struct vt_gpu_direct_conv {
  const void *x, *w, *bias; /* bias may be NULL */
  void *y;
  int64_t images, groups, rows, depth;
  int64_t x_image, x_group, x_channel;
  int64_t w_group, w_row, w_channel;
  int64_t y_image, y_group, y_row, bias_step;
  int64_t length; /* the most that is contracted */
  uint32_t small; /* 1: all counts and offsets fit 31 bits */
  uint32_t reserved;
  vt_gpu_direct_conv_axis
      axis[VT_GPU_AXES]; /* the last ones are used; others have one place, one tap */
} vt_gpu_direct_conv;

/* Of small integers: (x - x_zero) * (w - w_zero[row]), exact, padding adds 0; then + bias. */
typedef struct vt_gpu_direct_conv_int {
  vt_gpu_direct_conv slide;
  const void *x_zero, *w_zero; /* NULL: 0 */
  int64_t w_zero_step;
  uint32_t x_flip, w_flip; /* 0x80 for i8, 0 for u8 */
} vt_gpu_direct_conv_int;
#endif
