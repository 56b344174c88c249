// SPDX-License-Identifier: Apache-2.0
// gpu_ints_conv.cuh - a tile of a convolution of i8 and u8: like gpu_ints_tile.cuh, but rows are
// output positions and are gathered from x. Padding has the value of the zero point, so it adds
// nothing.
#ifndef VT_GPU_INTS_CONV_CUH
#define VT_GPU_INTS_CONV_CUH
#include "gpu_gather.cuh"
#include "gpu_ints_tile.cuh"

// Loads W output positions into shared memory. A thread loads 16 values of k of one position at a
// time; neighbouring threads have neighbouring positions. The table that maps k to taps is in
// shared memory for two steps.
template <int W>
struct vt_ints_places {
  enum {
    BK = VT_GPU_INTS_STEP,
    PITCH = VT_GPU_INTS_PITCH,
    GROUPS_K = 256 / W,
    PARTS = BK / 16 / GROUPS_K
  };
  const vt_gpu_gather &gather;
  const uint8_t *x;
  int64_t k;
  // flip is inverted in a byte to convert it to i8; nothing is the byte that padding is loaded as
  uint32_t flip, nothing;
  vt_gpu_tap *taps;
  vt_gather_place place;
  uint4 part[PARTS];

  // Computes the table for the step that begins at k0. Entries beyond the last k are never read.
  __device__ __forceinline__ void compute_taps(int64_t k0) {
    if (threadIdx.x < BK && k0 + threadIdx.x < k)
      taps[k0 % (2 * BK) + threadIdx.x] = vt_gather_tap(gather, (uint32_t)k0 + threadIdx.x);
  }

  __device__ __forceinline__ void begin(int64_t first, int64_t places) {
    place.begin(gather, first + threadIdx.x % W, places);
    compute_taps(0);
    compute_taps(BK);
    __syncthreads();
  }

  __device__ __forceinline__ uint32_t byte_at(const vt_gpu_tap *tap) const {
    const int4 t = *(const int4 *)tap;
    return (place.has(gather, t) ? x[place.at + t.x] : nothing) ^ flip;
  }

  __device__ __forceinline__ void load(int64_t, int64_t k0) {
    VT_UNROLL
    for (int i = 0; i < PARTS; i++) {
      const int at = (i * GROUPS_K + (int)threadIdx.x / W) * 16;
      const vt_gpu_tap *tap = taps + k0 % (2 * BK) + at;
      const int64_t left = k - k0 - at;
      uint32_t w[4] = {0, 0, 0, 0};
      VT_UNROLL
      for (int q = 0; q < 16; q++)
        if (q < left) w[q / 4] |= byte_at(tap + q) << 8 * (q % 4);
      part[i] = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }

  __device__ __forceinline__ void store(uint8_t *to) const {
    VT_UNROLL
    for (int i = 0; i < PARTS; i++)
      *(uint4 *)(to + threadIdx.x % W * PITCH + (i * GROUPS_K + threadIdx.x / W) * 16) = part[i];
  }
};

template <int BM, int BN>
VT_GPU_FN void vt_ints_conv(const vt_gpu_ints_conv &v) {
  typedef vt_ints_tile<BM, BN> tile;
  const vt_gpu_ints &p = v.t.p;
  tile t(v.t);
  int64_t at[3];
  const int64_t z = t.place_block();
  vt_offsets<3>(p.lead, z, at);
  vt_ints_places<BM> a = {v.gather,
                          (const uint8_t *)p.a + at[1],
                          p.k,
                          p.a_flip ^ 0x80u,
                          p.za == nullptr ? 0u : *(const uint8_t *)p.za,
                          (vt_gpu_tap *)(vt_shared<uint8_t>() + 2 * tile::STAGE)};
  vt_ints_side<BN> b = t.columns_of(at[2]);
  a.begin(t.m0, p.m);
  t.multiply_all(a, b);
  t.store(p.y + at[0], z % v.groups * p.n);
}
#endif
