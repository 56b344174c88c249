// SPDX-License-Identifier: Apache-2.0
// ints.cu - contractions of i8 and u8 with any strides and sizes, one thread per result.
#include "gpu_ints.cuh"
#include "gpu_ints.h"
#include "gpu_direct_conv.cuh"

VT_KERNEL(ints_each, vt_gpu_ints, 256) {
  const int64_t each = a.m * a.n, total = each * a.lead.n;
  const int32_t za = vt_ints_load_zero_point(a.za, 0, a.a_flip);
  for (int64_t i = vt_gpu_first_item(); i < total; i += vt_gpu_grid_stride()) {
    const int64_t product = i / each, row = i % each / a.n, column = i % a.n;
    int64_t at[3];
    vt_offsets<3>(a.lead, product, at);
    const int32_t zb = vt_ints_load_zero_point(a.zb, column * a.zb_step, a.b_flip);
    int64_t pa = at[1] + row * a.a_row, pb = at[2] + column * a.b_column;
    // the sum is unsigned, because it may wrap
    uint32_t sum = vt_ints_load_bias(a.bias, column * a.bias_step);
    for (int64_t k = 0; k < a.k; k++, pa += a.a_step, pb += a.b_step)
      sum += (uint32_t)((vt_ints_load(a.a, pa, a.a_flip) - za) *
                        (vt_ints_load(a.b, pb, a.b_flip) - zb));
    a.y[at[0] + row * a.y_row + column * a.y_column] = (int32_t)sum;
  }
}

template <class I>
VT_GPU_FN void conv_int(const vt_gpu_direct_conv_int &a) {
  const vt_gpu_direct_conv &s = a.conv;
  const int64_t total = vt_direct_conv_output_count(s);
  const int32_t zx = vt_ints_load_zero_point(a.x_zero, 0, a.x_flip);
  for (int64_t i = vt_gpu_first_item(); i < total; i += vt_gpu_grid_stride()) {
    const vt_direct_conv_at<I> o = vt_direct_conv_find<I>(s, (I)i);
    const int32_t zw = vt_ints_load_zero_point(a.w_zero, o.channel * a.w_zero_step, a.w_flip);
    uint32_t sum = vt_ints_load_bias(s.bias, o.channel * s.bias_step);
    vt_direct_conv_for_taps(s, o, [&](I at_x, I at_w, bool inside) {
      if (inside)
        sum += (uint32_t)((vt_ints_load(s.x, at_x, a.x_flip) - zx) *
                          (vt_ints_load(s.w, at_w, a.w_flip) - zw));
    });
    ((int32_t *)s.y)[o.y] = (int32_t)sum;
  }
}
VT_KERNEL(conv_int_each, vt_gpu_direct_conv_int, 256) { conv_int<int32_t>(a); }
VT_KERNEL_RESIDENT(conv_int_huge, vt_gpu_direct_conv_int, 128, 4) { conv_int<int64_t>(a); }
