// SPDX-License-Identifier: Apache-2.0
// conv_tiles.cu - convolutions as products of matrices, by the tiles of conv_tiles.def.
#include "gpu_products.cuh"

#define VT_CONV_TILE(name, E, bm, bn, bk, tm, tn, stages, resident, speed) \
  VT_KERNEL_PRODUCT(name, vt_gpu_conv, vt_##name::RESIDENT)
#include "conv_tiles.def"
#undef VT_CONV_TILE
