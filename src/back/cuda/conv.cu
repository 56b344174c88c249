// SPDX-License-Identifier: Apache-2.0
// conv.cu - direct convolutions with any strides and sizes, one thread per output. A transposed
// convolution may have results that no element of x contributes to; they are called uncovered.
#include "gpu_contract.cuh"
#include "gpu_direct_conv.cuh"

template <class T, class I>
VT_GPU_FN void conv_outputs(const vt_gpu_direct_conv &a) {
  const T *x = (const T *)a.x, *w = (const T *)a.w, *bias = (const T *)a.bias;
  const int64_t total = vt_direct_conv_output_count(a);
  for (int64_t i = vt_gpu_first_item(); i < total; i += vt_gpu_grid_stride()) {
    const vt_direct_conv_at<I> o = vt_direct_conv_find<I>(a, (I)i);
    if (!o.there) continue;
    vt_gpu_chain<T> d;
    vt_gpu_chain_begin(d);
    vt_direct_conv_for_taps(a, o, [&](I at_x, I at_w, bool inside) {
      vt_gpu_chain_add(d, inside ? x[at_x] : (T)0, w[at_w]);
    });
    T y = vt_gpu_chain_result(d);
    if (bias != nullptr) y = vt_gpu_plus(y, bias[o.channel * a.bias_step]);
    ((T *)a.y)[o.y] = y;
  }
}

VT_KERNEL_RESIDENT(conv_each_f32, vt_gpu_direct_conv, 256, 4) { conv_outputs<float, int32_t>(a); }
VT_KERNEL_RESIDENT(conv_each_f64, vt_gpu_direct_conv, 256, 4) { conv_outputs<double, int32_t>(a); }
VT_KERNEL_RESIDENT(conv_huge_f32, vt_gpu_direct_conv, 128, 4) { conv_outputs<float, int64_t>(a); }
VT_KERNEL_RESIDENT(conv_huge_f64, vt_gpu_direct_conv, 128, 4) { conv_outputs<double, int64_t>(a); }

// Stores the uncovered results of a transposed convolution: +0 plus the bias.
template <class T>
VT_GPU_FN void store_uncovered_outputs(const vt_gpu_direct_conv &a) {
  const T *bias = (const T *)a.bias;
  int64_t total = a.images * a.rows * a.groups;
  for (int k = 0; k < VT_GPU_AXES; k++) total *= a.axis[k].outputs;
  for (int64_t i = vt_gpu_first_item(); i < total; i += vt_gpu_grid_stride()) {
    int64_t left = i, at = 0;
    VT_UNROLL
    for (int k = VT_GPU_AXES - 1; k >= 0; k--)
      at += vt_direct_conv_divide_return_rest(left, a.axis[k].outputs) * a.axis[k].y_one;
    at += vt_direct_conv_divide_return_rest(left, a.images) * a.y_image;
    const int64_t row = vt_direct_conv_divide_return_rest(left, a.rows);
    ((T *)a.y)[at + row * a.y_row + left * a.y_group] =
        bias == nullptr ? (T)0 : vt_gpu_plus((T)0, bias[(left * a.rows + row) * a.bias_step]);
  }
}
VT_KERNEL(conv_uncovered_f32, vt_gpu_direct_conv, 256) { store_uncovered_outputs<float>(a); }
VT_KERNEL(conv_uncovered_f64, vt_gpu_direct_conv, 256) { store_uncovered_outputs<double>(a); }
