/* SPDX-License-Identifier: Apache-2.0
 * gpu_direct_conv.h - the common form of direct convolutions: conv, conv_transpose and
 * conv_weight_grad.
 *
 *   y[image, group, row, p...] = D over (channel, t...) of x[image, group, channel, m...] *
 *                                w[group, row, channel, t...],   m = p*step + base + t*delta,
 *
 * with +0 for x if m is outside of it along some axis. The outputs of a transposed convolution are
 * grouped into classes by their remainder modulo the stride, along each axis. The outputs of one
 * class use the same taps of the kernel, every `period`-th of it, and neighbouring outputs of a
 * class use x at neighbouring positions. C and CUDA include it. */
#ifndef VT_GPU_DIRECT_CONV_H
#define VT_GPU_DIRECT_CONV_H
#include <stdint.h>

enum { VT_GPU_AXES = 3 };
typedef struct vt_gpu_direct_conv_axis {
  int64_t dim, stride; /* extent and stride of the axis in x */
  /* step, base, delta of the header's formula; with classes, the kernel computes base for each
   * class */
  int64_t step, base, delta;
  int64_t places, taps; /* most output positions, and most taps, of any class */
  int64_t weight, out;  /* strides in w between taps and in y between positions */
  /* classes of a transposed convolution; 0 for others, which do not set the fields below */
  int64_t classes;
  int64_t period, conv_stride, dilation, low, kernel, outputs, w_one, y_one;
} vt_gpu_direct_conv_axis;

/* Strides are in elements; those of the spatial axes are in `axis`. */
typedef struct vt_gpu_direct_conv {
  const void *x, *w, *bias; /* operands; bias may be NULL */
  void *y;
  int64_t images, groups, rows, depth;
  int64_t x_image, x_group, x_channel;
  int64_t w_group, w_row, w_channel;
  int64_t y_image, y_group, y_row, bias_step;
  int64_t length; /* number of products per output, at most */
  uint32_t small; /* 1 if all counts and offsets fit in 31 bits */
  uint32_t reserved;
  /* the spatial axes come last; unused leading axes have one position and one tap */
  vt_gpu_direct_conv_axis axis[VT_GPU_AXES];
} vt_gpu_direct_conv;

/* 8-bit integers: sums (x - x_zero) * (w - w_zero[row]) exactly. Padding adds 0. The bias is added
 * last. */
typedef struct vt_gpu_direct_conv_int {
  vt_gpu_direct_conv conv;
  const void *x_zero, *w_zero; /* zero points; NULL means 0 */
  int64_t w_zero_step;
  uint32_t x_flip, w_flip; /* 0x80 if the operand is i8, 0 if it is u8 */
} vt_gpu_direct_conv_int;
#endif
