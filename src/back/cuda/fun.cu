// SPDX-License-Identifier: Apache-2.0
// fun.cu - pointwise kernels for the functions of the numerics and the compositions of one
// function.
#include "gpu_map.cuh"
#include "map_run.cuh"

#define VT_MADE_no(op, n, result)
#define VT_MADE_yes(op, n, result)
#define VT_MADE_fused(op, n, result)
#define VT_MADE_f32(op, n, result) VT_MAP_KERNEL_##result(f32, op, n)
#define VT_MAP(op, n, result, f, i, t, cost) VT_MADE_##f(op, n, result)
#include "maps.def"
#undef VT_MAP
