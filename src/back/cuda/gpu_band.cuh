/* SPDX-License-Identifier: Apache-2.0
 * gpu_band.cuh - skinny GEMM of up to 16 rows with a large matrix that is contiguous along k, k
 * being a multiple of 256. The matrix is streamed as in gpu_stream.cuh. Repeated reads of shared
 * memory would limit the speed, so the lanes of a warp form a 4 x 8 grid, each with 4 rows of 4
 * columns: every value read is used 4 times. */
#ifndef VT_GPU_BAND_CUH
#define VT_GPU_BAND_CUH
#include "gpu_stream.cuh"

struct vt_band {
  typedef vt_ring<3> ring;
  enum { R = VT_GPU_SKINNY / 4, C = 4, PITCH = VT_GPU_BLOCK + 4, ROWS = VT_GPU_SKINNY * PITCH };
  static_assert(ROWS + ring::FLOATS * VT_STREAM_T / 32 == VT_GPU_BAND_FLOATS,
                "what a launch asks for");
  ring r;
  int rank, file; /* this lane's row (rank) and column (file) in the warp's 4 x 8 grid */

  /* Sets rank and file so that neighbouring lanes share rows or columns: then one access of shared
   * memory serves two lanes. */
  __device__ __forceinline__ void place_thread() {
    rank = (r.lane() >> 3 & 2) | (r.lane() & 1);
    file = r.lane() >> 1 & 7;
  }
  __device__ __forceinline__ int row(int i) { return rank + 4 * i; }
  __device__ __forceinline__ int column(int c) {
    return (int)threadIdx.x - r.lane() + file + 8 * c;
  }

  /* Multiplies four k of this lane's rows of x with those of its columns of w and adds the products
   * to the chains p. */
  __device__ __forceinline__ void multiply(const float *x, const float *w, float (&p)[R][C]) {
    float u[C][4];
    VT_UNROLL
    for (int c = 0; c < C; c++) vt_gemm_load_16(w + (file + 8 * c) * ring::PITCH, u[c]);
    VT_UNROLL
    for (int i = 0; i < R; i++) {
      float v[4];
      vt_gemm_load_16(x + row(i) * PITCH, v);
      VT_UNROLL
      for (int q = 0; q < 4; q++) VT_UNROLL
      for (int c = 0; c < C; c++) p[i][c] = __fmaf_rn(v[q], u[c][q], p[i][c]);
    }
  }
};

template <class End>
VT_GPU_FN void vt_band_along(const vt_gpu_gemm &g, const End &end) {
  typedef vt_band::ring ring;
  const vt_skinny_block h = vt_skinny_place_block<true, VT_STREAM_T>(g);
  float *x = vt_shared<float>(), p[vt_band::R][vt_band::C] = {};
  vt_band s;
  s.place_thread();
  vt_stream_copy_rows<VT_GPU_SKINNY, vt_band::PITCH>(g, vt_skinny_address_of_a(g, h), x);
  s.r.begin(g.b, vt_skinny_address_of_b(g, h), h, x + vt_band::ROWS);
  vt_async_wait<ring::SENT>();
  __syncthreads();
  s.r.template run<1>([&](const float *columns, int k) {
    VT_UNROLL
    for (int at = 0; at < ring::STEP; at += 4) s.multiply(x + k + at, columns + at, p);
  });
  VT_UNROLL
  for (int i = 0; i < vt_band::R; i++) VT_UNROLL
  for (int c = 0; c < vt_band::C; c++) vt_skinny_store(g, h, s.row(i), s.column(c), p[i][c], end);
}
#endif
