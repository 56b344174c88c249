// SPDX-License-Identifier: Apache-2.0
// gpu_conv.cuh - a tile of a convolution as a matrix product: like gpu_gemm.cuh, but columns are
// output positions and their entries are gathered from x. A block of k is 256 values of k, a tap is
// the element of x that a k stands for. Table entries for 256 values of k are computed while the
// 256 before them are multiplied.
#ifndef VT_GPU_CONV_CUH
#define VT_GPU_CONV_CUH
#include "gpu_conv.h"
#include "gpu_gather.cuh"
#include "gpu_gemm.cuh"

// Loads W output positions by BK values of k with T threads, one element at a time. Padding and
// elements outside of the tile are loaded as +0.
template <class E, int W, int BK, int T>
struct vt_conv_places {
  enum { PITCH = W + 16 / (int)sizeof(E), ROUND = T / W, ROUNDS = BK / ROUND };
  static_assert(T % W == 0 && BK % ROUND == 0, "threads share the places evenly");
  const E *x;
  vt_gather_place place;
  int to, k;

  __device__ __forceinline__ void begin(const vt_gpu_conv &v, const E *from, int64_t first) {
    const int i = (int)threadIdx.x % W;
    x = from;
    place.begin(v.gather, first + i, v.g.n);
    k = (int)threadIdx.x / W;
    to = k * PITCH + i;
  }

  __device__ __forceinline__ void load(const vt_gpu_conv &v, E *stage, const vt_gpu_tap *taps,
                                       int left) {
    VT_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
      const int4 t = *(const int4 *)(taps + k + r * ROUND);
      const bool there = (k + r * ROUND < left) & place.has(v.gather, t);
      vt_async_copy_one(stage + to + r * ROUND * PITCH, there ? x + (place.at + t.x) : x, there);
    }
  }
};

template <class E, int BM, int BN, int BK, int TM, int TN, int STAGES>
struct vt_conv_tile : vt_gemm_tile<E, BM, BN, BK, TM, TN, STAGES> {
  typedef vt_gemm_tile<E, BM, BN, BK, TM, TN, STAGES> tile;
  typedef typename tile::rows rows;
  typedef vt_conv_places<E, BN, BK, tile::T> columns;
  static_assert((int)columns::PITCH == (int)tile::columns::PITCH, "they stand as in a product");
  const vt_gpu_conv &v;
  vt_gpu_tap *taps;  // tables for two blocks of k, after the tile's own shared memory

  __device__ __forceinline__ vt_conv_tile(const vt_gpu_conv &args) : tile(args.g), v(args) {}

  // Computes the table for block c of k. Entries beyond the last k are never read.
  __device__ __forceinline__ void compute_taps(int64_t k0, uint32_t c) {
    vt_gpu_tap *to = taps + (c & 1) * VT_GPU_BLOCK;
    for (int i = (int)threadIdx.x; i < VT_GPU_BLOCK; i += tile::T)
      to[i] = vt_gather_tap(v.gather, (uint32_t)k0 + c * VT_GPU_BLOCK + (uint32_t)i);
  }

  template <class End>
  __device__ __forceinline__ void run(const End &end) {
    rows ra;
    columns rb;
    vt_gemm_position h = vt_gemm_position_of(v.g, BM, BN);
    const int64_t image = h.z / v.g.dim[1], group = h.z - image * v.g.dim[1], k0 = h.k0;
    ra.begin(v.g.a, group * v.g.a.step[1], h.m0, v.g.m, k0);
    rb.begin(v, (const E *)v.x + image * v.x_image + group * v.x_group, h.n0);
    h.y = (E *)v.g.y + image * v.g.y_step[0] + group * v.g.y_step[1] + blockIdx.y * v.g.y_slice;
    if (threadIdx.x == 0) vt_gemm_shared_position() = h;
    this->place_thread();
    taps = (vt_gpu_tap *)(vt_shared<E>() + STAGES * tile::STAGE + BM * BN);
    compute_taps(k0, 0);
    __syncthreads();
    this->run_steps(
        h.k,
        [&](E *stage, uint32_t sent, int left) {
          ra.load(stage, left);
          rb.load(v, stage + BK * rows::PITCH, taps + sent * BK % (2 * VT_GPU_BLOCK), left);
        },
        [](E *, int) {},
        // The loads of the previous block were all issued before the last barrier, and several
        // steps lie between this step and the first load of the next block, so the table may be
        // replaced now.
        [&](uint32_t t) {
          if (t % (VT_GPU_BLOCK / BK) == 0) compute_taps(k0, t / (VT_GPU_BLOCK / BK) + 1);
        });
    const E *bias = (const E *)v.g.bias;
    this->store(bias != nullptr ? bias + group * v.g.bias_group : nullptr, end);
  }
};
#endif
