// SPDX-License-Identifier: Apache-2.0
// gpu_direct_conv.cuh - maps the number of a result of a direct convolution to its window: which
// elements of x and w it uses.
#ifndef VT_GPU_DIRECT_CONV_CUH
#define VT_GPU_DIRECT_CONV_CUH
#include "gpu_words.cuh"
#include "gpu_direct_conv.h"

// I is the integer type of counts and offsets: int32_t if all of them fit, else int64_t.

// One axis for the outputs of one class: number of positions and of taps, `base` of the formula in
// gpu_direct_conv.h, and the offsets in w and y at which the class begins.
template <class I>
struct vt_direct_conv_class {
  I places, taps, base, w, y;
};

template <class I>
VT_GPU_FN vt_direct_conv_class<I> vt_direct_conv_class_of(const vt_gpu_direct_conv_axis &x,
                                                          I first) {
  if (x.classes == 0) return {(I)x.places, (I)x.taps, (I)x.base, 0, 0};
  const I conv_stride = (I)x.conv_stride, at = first * (I)x.dilation - (I)x.low,
          r = at % conv_stride;
  const I remainder = r < 0 ? r + conv_stride : r, left = (I)x.outputs - remainder;
  return {left > 0 ? (left + conv_stride - 1) / conv_stride : 0,
          ((I)x.kernel - first + (I)x.period - 1) / (I)x.period, (remainder - at) / conv_stride,
          first * (I)x.w_one, remainder * (I)x.y_one};
}

// One output: the position of its first tap in x and the number of taps along each axis, and its
// offsets in x, w and y.
template <class I>
struct vt_direct_conv_at {
  // channel: channel of y and of the bias
  I begin[VT_GPU_AXES], taps[VT_GPU_AXES], x, w, y, channel;
  // there: false if this class has no such position, because it has fewer than the largest
  bool there;
};

template <class I>
VT_GPU_FN I vt_direct_conv_divide_return_rest(I &i, int64_t n) {
  const I up = i / (I)n, here = i - up * (I)n;
  i = up;
  return here;
}

// Finds output number i. Positions vary fastest, then image, row, group, class.
template <class I>
VT_GPU_FN vt_direct_conv_at<I> vt_direct_conv_find(const vt_gpu_direct_conv &a, I i) {
  vt_direct_conv_at<I> o;
  I p[VT_GPU_AXES];
  VT_UNROLL
  for (int k = VT_GPU_AXES - 1; k >= 0; k--)
    p[k] = vt_direct_conv_divide_return_rest(i, a.axis[k].places);
  const I image = vt_direct_conv_divide_return_rest(i, a.images),
          row = vt_direct_conv_divide_return_rest(i, a.rows);
  const I group = vt_direct_conv_divide_return_rest(i, a.groups);
  o.channel = group * (I)a.rows + row;
  o.x = image * (I)a.x_image + group * (I)a.x_group;
  o.w = group * (I)a.w_group + row * (I)a.w_row;
  o.y = image * (I)a.y_image + group * (I)a.y_group + row * (I)a.y_row;
  o.there = true;
  VT_UNROLL
  for (int k = VT_GPU_AXES - 1; k >= 0; k--) {
    const vt_gpu_direct_conv_axis &x = a.axis[k];
    const vt_direct_conv_class<I> c = vt_direct_conv_class_of<I>(
        x, x.classes > 1 ? vt_direct_conv_divide_return_rest(i, x.classes) : 0);
    o.there = o.there && p[k] < c.places;
    o.begin[k] = p[k] * (I)x.step + c.base;
    o.taps[k] = c.taps;
    o.w += c.w;
    o.y += c.y + p[k] * (I)x.out;
  }
  return o;
}

VT_GPU_FN int64_t vt_direct_conv_output_count(const vt_gpu_direct_conv &a) {
  int64_t n = a.images * a.rows * a.groups;
  VT_UNROLL
  for (int k = 0; k < VT_GPU_AXES; k++)
    n *= a.axis[k].places * (a.axis[k].classes > 1 ? a.axis[k].classes : 1);
  return n;
}

VT_GPU_FN bool vt_direct_conv_inside(int32_t position, int64_t dim) {
  return (uint32_t)position < (uint32_t)dim;
}
VT_GPU_FN bool vt_direct_conv_inside(int64_t position, int64_t dim) {
  return (uint64_t)position < (uint64_t)dim;
}

// Calls give(offset in x, offset in w, inside) for all taps of an output, in the order of the sum;
// `inside` is false for padding.
template <class I, class F>
VT_GPU_FN void vt_direct_conv_for_taps(const vt_gpu_direct_conv &a, const vt_direct_conv_at<I> &o,
                                       F give) {
  const vt_gpu_direct_conv_axis &A = a.axis[0], &B = a.axis[1], &C = a.axis[2];
  for (I c = 0; c < (I)a.depth; c++)
    for (I i = 0; i < o.taps[0]; i++) {
      const I m0 = o.begin[0] + i * (I)A.delta;
      const bool in0 = vt_direct_conv_inside(m0, A.dim);
      for (I j = 0; j < o.taps[1]; j++) {
        const I m1 = o.begin[1] + j * (I)B.delta;
        const bool in1 = in0 && vt_direct_conv_inside(m1, B.dim);
        I m = o.begin[2],
          x = o.x + c * (I)a.x_channel + m0 * (I)A.stride + m1 * (I)B.stride + m * (I)C.stride;
        I w = o.w + c * (I)a.w_channel + i * (I)A.weight + j * (I)B.weight;
        for (I k = 0; k < o.taps[2]; k++) {
          give(x, w, in1 && vt_direct_conv_inside(m, C.dim));
          m += (I)C.delta;
          x += (I)(C.delta * C.stride);
          w += (I)C.weight;
        }
      }
    }
}
#endif
