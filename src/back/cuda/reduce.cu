// SPDX-License-Identifier: Apache-2.0
// reduce.cu - reductions for each type: sums, products, extremes. The sums of exponentials of
// softmax are in softmax.cu.
#include "gpu_reductions.cuh"

/* Selects the reducer of a kind. The kind is the same for the whole grid, so the branches do not
 * diverge. */
template <class T>
struct kinds {
  template <class F>
  static __device__ __forceinline__ T pick(uint32_t kind, const F &f) {
    if constexpr (vt_lane_of<T>::real) {
      if (kind == VT_GPU_REDUCE_SQUARES) return f.template run<vt_reducer_squares<T>>();
      if (kind == VT_GPU_REDUCE_SIZES) return f.template run<vt_reducer_sizes<T>>();
    }
    if (kind == VT_GPU_REDUCE_PROD) return f.template run<vt_reducer_prod<T>>();
    if (kind == VT_GPU_REDUCE_MAX) return f.template run<vt_reducer_max<T>>();
    if (kind == VT_GPU_REDUCE_MIN) return f.template run<vt_reducer_min<T>>();
    return f.template run<vt_reducer_sum<T>>();
  }
};
template <class T>
VT_GPU_FN void reduce_lines(const vt_gpu_reduce &a) {
  vt_reduce_lines<T, kinds<T>>(a);
}
template <class T>
VT_GPU_FN void reduce_columns(const vt_gpu_reduce &a) {
  vt_reduce_columns<T, kinds<T>>(a);
}
template <class T>
VT_GPU_FN void reduce_short_lines(const vt_gpu_reduce &a) {
  vt_reduce_short_lines<T, kinds<T>>(a);
}

VT_KERNEL(reduce_lines_f32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<float>(a); }
VT_KERNEL(reduce_lines_f64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<double>(a); }
VT_KERNEL(reduce_lines_i8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<int8_t>(a); }
VT_KERNEL(reduce_lines_u8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<uint8_t>(a); }
VT_KERNEL(reduce_lines_i32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<int32_t>(a); }
VT_KERNEL(reduce_lines_i64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_lines<int64_t>(a); }

VT_KERNEL(reduce_columns_f32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<float>(a); }
VT_KERNEL(reduce_columns_f64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<double>(a); }
VT_KERNEL(reduce_columns_i8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<int8_t>(a); }
VT_KERNEL(reduce_columns_u8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<uint8_t>(a); }
VT_KERNEL(reduce_columns_i32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<int32_t>(a); }
VT_KERNEL(reduce_columns_i64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_columns<int64_t>(a); }

VT_KERNEL(reduce_short_f32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<float>(a); }
VT_KERNEL(reduce_short_f64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<double>(a); }
VT_KERNEL(reduce_short_i8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<int8_t>(a); }
VT_KERNEL(reduce_short_u8, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<uint8_t>(a); }
VT_KERNEL(reduce_short_i32, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<int32_t>(a); }
VT_KERNEL(reduce_short_i64, vt_gpu_reduce, VT_REDUCE_THREADS) { reduce_short_lines<int64_t>(a); }
