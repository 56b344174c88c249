// SPDX-License-Identifier: Apache-2.0
// conv_tiles.cu - convolutions as products of matrices, by the tiles of conv_tiles.def.
#include "gpu_conv.cuh"

#define VT_CONV_TILE(name, E, bm, bn, bk, tm, tn, stages, beside, speed) \
  VT_KERNEL_BESIDE(name, vt_gpu_conv, (bm / tm) * (bn / tn), beside) {   \
    vt_conv_tile<E, bm, bn, bk, tm, tn, stages>(a).run(vt_gemm_plain()); \
  }
#include "conv_tiles.def"
#undef VT_CONV_TILE
