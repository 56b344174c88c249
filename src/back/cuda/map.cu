// SPDX-License-Identifier: Apache-2.0
// map.cu - pointwise kernels for floating types: the rows of maps.def that are formulas, and
// `select`.
#define VT_GPU_WITHOUT_FUN
#include "gpu_map.cuh"
#include "map_run.cuh"

#define VT_MADE_no(type, op, n, result)
#define VT_MADE_f32(type, op, n, result)
#define VT_MADE_yes(type, op, n, result) VT_MAP_KERNEL_##result(type, op, n)
#define VT_MADE_fused VT_MADE_yes
#define VT_MAP(op, n, result, f, i, t, cost) \
  VT_MADE_##f(f32, op, n, result) VT_MADE_##f(f64, op, n, result)
#include "maps.def"
#undef VT_MAP

// The formula of `select`, a ? b : c, for elements of any type T of some number of bytes.
template <class T>
struct select_by {
  typedef uint8_t A;
  typedef T B, C, R;
  static constexpr int N = 3;
  VT_GPU_FN R at(A a, B b, C c) { return a != 0 ? b : c; }
};
VT_KERNEL(map_choice_1, vt_gpu_map, VT_MAP_THREADS) { vt_map<select_by<uint8_t>>::run(a); }
VT_KERNEL(map_choice_2, vt_gpu_map, VT_MAP_THREADS) { vt_map<select_by<uint16_t>>::run(a); }
VT_KERNEL(map_choice_4, vt_gpu_map, VT_MAP_THREADS) { vt_map<select_by<uint32_t>>::run(a); }
VT_KERNEL(map_choice_8, vt_gpu_map, VT_MAP_THREADS) { vt_map<select_by<uint64_t>>::run(a); }
