// SPDX-License-Identifier: Apache-2.0
// map_whole.cu - pointwise kernels for integers and bool: the rows of maps.def.
#define VT_GPU_WITHOUT_FUN
#include "gpu_map.cuh"
#include "map_run.cuh"

#define VT_MADE_no(type, op, n, result)
#define VT_MADE_yes(type, op, n, result) VT_MAP_KERNEL_##result(type, op, n)
#define VT_MAP(op, n, result, f, i, t, cost)                                                    \
  VT_MADE_##i(i8, op, n, result) VT_MADE_##i(u8, op, n, result) VT_MADE_##i(i32, op, n, result) \
      VT_MADE_##i(i64, op, n, result) VT_MADE_##t(bool, op, n, result)
#include "maps.def"
#undef VT_MAP
