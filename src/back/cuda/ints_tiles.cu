// SPDX-License-Identifier: Apache-2.0
// ints_tiles.cu - tiled products and convolutions of 8-bit integers, and skinny products of them.
#include "gpu_ints_conv.cuh"
#include "gpu_ints_skinny.cuh"

VT_KERNEL_RESIDENT(ints_128_128, vt_gpu_ints_tile, 256, 1) { vt_ints_tile<128, 128>(a).run(); }
VT_KERNEL_RESIDENT(ints_64_64, vt_gpu_ints_tile, 256, 2) { vt_ints_tile<64, 64>(a).run(); }

VT_KERNEL_RESIDENT(ints_conv_128_128, vt_gpu_ints_conv, 256, 1) { vt_ints_conv<128, 128>(a); }
VT_KERNEL_RESIDENT(ints_conv_64_64, vt_gpu_ints_conv, 256, 2) { vt_ints_conv<64, 64>(a); }

VT_KERNEL_RESIDENT(ints_skinny_along, vt_gpu_ints_tile, VT_INTS_SKINNY_THREADS, 3) {
  vt_ints_skinny<false>(a).run();
}
VT_KERNEL_RESIDENT(ints_skinny_across, vt_gpu_ints_tile, VT_INTS_SKINNY_THREADS, 3) {
  vt_ints_skinny<true>(a).run();
}
