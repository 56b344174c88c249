// SPDX-License-Identifier: Apache-2.0
// fold.cu - reductions: sums, products, extremes, for each type; the exponentials of a softmax
// summed are in exp.cu.
#include "gpu_folds.cuh"

struct by_lines {
  template <class T, class W>
  VT_GPU_FN void run(const vt_gpu_fold &a, void *) {
    vt_fold_lines<T, W>(a);
  }
};
struct by_columns {
  template <class T, class W>
  VT_GPU_FN void run(const vt_gpu_fold &a, void *room) {
    vt_fold_columns<T, W>(a, room);
  }
};
struct by_threads {
  template <class T, class W>
  VT_GPU_FN void run(const vt_gpu_fold &a, void *) {
    vt_fold_short<T, W>(a);
  }
};

/* The kind is one for the whole grid. */
template <class T, class By>
VT_GPU_FN void fold(const vt_gpu_fold &a, void *room) {
  switch (a.kind) {
    case VT_GPU_FOLD_SUM:
      By::template run<T, vt_way_sum<T>>(a, room);
      break;
    case VT_GPU_FOLD_PROD:
      By::template run<T, vt_way_prod<T>>(a, room);
      break;
    case VT_GPU_FOLD_MAX:
      By::template run<T, vt_way_max<T>>(a, room);
      break;
    case VT_GPU_FOLD_MIN:
      By::template run<T, vt_way_min<T>>(a, room);
      break;
  }
  if constexpr (vt_lane_of<T>::real) {
    if (a.kind == VT_GPU_FOLD_SQUARES) By::template run<T, vt_way_squares<T>>(a, room);
    if (a.kind == VT_GPU_FOLD_SIZES) By::template run<T, vt_way_sizes<T>>(a, room);
  }
}
template <class T>
VT_GPU_FN void fold_columns(const vt_gpu_fold &a) {
  __shared__ uint64_t room[VT_FOLD_ROOM];
  fold<T, by_columns>(a, room);
}

VT_KERNEL(fold_lines_f32, vt_gpu_fold, VT_FOLD_THREADS) { fold<float, by_lines>(a, nullptr); }
VT_KERNEL(fold_lines_f64, vt_gpu_fold, VT_FOLD_THREADS) { fold<double, by_lines>(a, nullptr); }
VT_KERNEL(fold_lines_i8, vt_gpu_fold, VT_FOLD_THREADS) { fold<int8_t, by_lines>(a, nullptr); }
VT_KERNEL(fold_lines_u8, vt_gpu_fold, VT_FOLD_THREADS) { fold<uint8_t, by_lines>(a, nullptr); }
VT_KERNEL(fold_lines_i32, vt_gpu_fold, VT_FOLD_THREADS) { fold<int32_t, by_lines>(a, nullptr); }
VT_KERNEL(fold_lines_i64, vt_gpu_fold, VT_FOLD_THREADS) { fold<int64_t, by_lines>(a, nullptr); }

VT_KERNEL(fold_columns_f32, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<float>(a); }
VT_KERNEL(fold_columns_f64, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<double>(a); }
VT_KERNEL(fold_columns_i8, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<int8_t>(a); }
VT_KERNEL(fold_columns_u8, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<uint8_t>(a); }
VT_KERNEL(fold_columns_i32, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<int32_t>(a); }
VT_KERNEL(fold_columns_i64, vt_gpu_fold, VT_FOLD_THREADS) { fold_columns<int64_t>(a); }

VT_KERNEL(fold_short_f32, vt_gpu_fold, VT_FOLD_THREADS) { fold<float, by_threads>(a, nullptr); }
VT_KERNEL(fold_short_f64, vt_gpu_fold, VT_FOLD_THREADS) { fold<double, by_threads>(a, nullptr); }
VT_KERNEL(fold_short_i8, vt_gpu_fold, VT_FOLD_THREADS) { fold<int8_t, by_threads>(a, nullptr); }
VT_KERNEL(fold_short_u8, vt_gpu_fold, VT_FOLD_THREADS) { fold<uint8_t, by_threads>(a, nullptr); }
VT_KERNEL(fold_short_i32, vt_gpu_fold, VT_FOLD_THREADS) { fold<int32_t, by_threads>(a, nullptr); }
VT_KERNEL(fold_short_i64, vt_gpu_fold, VT_FOLD_THREADS) { fold<int64_t, by_threads>(a, nullptr); }
