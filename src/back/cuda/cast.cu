// SPDX-License-Identifier: Apache-2.0
// cast.cu - casts between all pairs of types.
#define VT_GPU_WITHOUT_FUN
#include "gpu_map.cuh"
#include "map_run.cuh"

#define VT_CAST(from, to) VT_MAP_KERNEL_cast(from, to)
#include "gpu_casts.def"
#undef VT_CAST
