// SPDX-License-Identifier: Apache-2.0
// gemm.cu - matrix products: tiled, skinny and masked ones, and sums of the partial results of
// slices of k.
#include "gpu_band.cuh"
#include "gpu_products.cuh"

#define VT_TILE(name, E, bm, bn, bk, tm, tn, stages, resident, speed, a_layout, b_layout) \
  VT_KERNEL_PRODUCT(name, vt_gpu_gemm, vt_##name::RESIDENT)
#include "tiles.def"
#undef VT_TILE

VT_KERNEL_PRODUCT(skinny_4, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(skinny_8, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(skinny_16, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(stream_across_1, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(stream_across_4, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(stream_along_1, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(stream_along_4, vt_gpu_gemm, 0)

VT_KERNEL(band_along, vt_gpu_gemm, VT_GPU_STREAM_THREADS) { vt_band_along(a, vt_gemm_plain()); }
VT_KERNEL(masked_f32, vt_gpu_masked, 256) { vt_masked_product<float>(a); }
VT_KERNEL(masked_f64, vt_gpu_masked, 256) { vt_masked_product<double>(a); }
VT_KERNEL_PRODUCT(sum_slices_f32, vt_gpu_gemm, 0)
VT_KERNEL_PRODUCT(sum_slices_f64, vt_gpu_gemm, 0)
