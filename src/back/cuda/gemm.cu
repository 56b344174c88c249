// SPDX-License-Identifier: Apache-2.0
// gemm.cu - products of matrices: by tiles, with few rows, with absent products; and the sums of
// what was computed apart.
#include "gpu_band.cuh"
#include "gpu_gemm.cuh"
#include "gpu_stream.cuh"
#include "gpu_sums.cuh"

#define VT_TILE(name, E, bm, bn, bk, tm, tn, stages, beside, speed, a_comes, b_comes)       \
  typedef vt_gemm_tile<E, bm, bn, bk, tm, tn, stages, vt_gemm_##a_comes, vt_gemm_##b_comes> \
      vt_##name;                                                                            \
  VT_KERNEL_BESIDE(name, vt_gpu_gemm, vt_##name::T, vt_##name::fit(beside)) {               \
    vt_##name(a).run(vt_gemm_plain());                                                      \
  }
#include "tiles.def"
#undef VT_TILE

VT_KERNEL(few_4, vt_gpu_gemm, VT_GPU_FEW_THREADS) { vt_few<1>(a, vt_gemm_plain()); }
VT_KERNEL(few_8, vt_gpu_gemm, VT_GPU_FEW_THREADS) { vt_few<2>(a, vt_gemm_plain()); }
VT_KERNEL(few_16, vt_gpu_gemm, VT_GPU_FEW_THREADS) { vt_few<4>(a, vt_gemm_plain()); }

#define STREAM(how, rows)                                                \
  VT_KERNEL(stream_##how##_##rows, vt_gpu_gemm, VT_GPU_STREAM_THREADS) { \
    vt_stream<vt_stream_##how, rows>(a, vt_gemm_plain());                \
  }
STREAM(across, 1)
STREAM(across, 4)
STREAM(along, 1)
STREAM(along, 4)

VT_KERNEL(band_along, vt_gpu_gemm, VT_GPU_STREAM_THREADS) { vt_band_along(a, vt_gemm_plain()); }

VT_KERNEL(masked_f32, vt_gpu_masked, 256) { vt_masked<float>(a); }
VT_KERNEL(masked_f64, vt_gpu_masked, 256) { vt_masked<double>(a); }
VT_KERNEL(parts_f32, vt_gpu_gemm, 256) { vt_parts<float>(a, vt_gemm_plain()); }
VT_KERNEL(parts_f64, vt_gpu_gemm, 256) { vt_parts<double>(a, vt_gemm_plain()); }
