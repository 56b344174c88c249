// SPDX-License-Identifier: Apache-2.0
// gpu_conv.cuh - a tile of a convolution: that of gpu_gemm.cuh, except that its columns are places
// and are gathered from x. What each number of the contraction stands for is worked out for 256 of
// them at a time, while the 256 before are multiplied.
#ifndef VT_GPU_CONV_CUH
#define VT_GPU_CONV_CUH
#include "gpu_conv.h"
#include "gpu_gemm.cuh"

// Places across and BK numbers along, read by T threads, an element at a time. Padding is there, as
// +0: so is what cannot be read.
template <class E, int W, int BK, int T>
struct vt_conv_places {
  enum { PITCH = W + 16 / (int)sizeof(E), ROUND = T / W, ROUNDS = BK / ROUND };
  static_assert(T % W == 0 && BK % ROUND == 0, "threads share the places evenly");
  const E *x;
  int32_t at, m[VT_GPU_AXES];  // of this thread's place, for taps 0
  int to, k;

  __device__ __forceinline__ void begin(const vt_gpu_conv &v, const E *from, int64_t first) {
    const int tid = (int)threadIdx.x, i = tid % W;
    const int64_t column = first + i;
    uint32_t left = (uint32_t)(column < v.g.n ? column : 0);
    x = from;
    at = 0;
    VT_UNROLL
    for (int r = VT_GPU_AXES - 1; r >= 0; r--) {
      const uint32_t up = left / (uint32_t)v.places[r];
      m[r] = (int32_t)(left - up * (uint32_t)v.places[r]) * v.step[r] + v.base[r];
      at += m[r] * v.stride[r];
      left = up;
    }
    if (column >= v.g.n) m[0] = -0x40000000;  // nothing of it is inside
    k = tid / W;
    to = k * PITCH + i;
  }

  __device__ __forceinline__ void load(const vt_gpu_conv &v, E *stage, const vt_gpu_conv_tap *taps,
                                       int left) {
    VT_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
      const int4 t = *(const int4 *)(taps + k + r * ROUND);
      const bool there = k + r * ROUND < left && (uint32_t)(m[0] + t.y) < (uint32_t)v.dim[0] &&
                         (uint32_t)(m[1] + t.z) < (uint32_t)v.dim[1] &&
                         (uint32_t)(m[2] + t.w) < (uint32_t)v.dim[2];
      vt_gemm_ahead(stage + to + r * ROUND * PITCH, there ? x + (at + t.x) : x, there);
    }
  }
};

VT_GPU_FN vt_gpu_conv_tap vt_conv_tap(const vt_gpu_conv &v, uint32_t k) {
  vt_gpu_conv_tap t = {0, {0, 0, 0}};
  VT_UNROLL
  for (int r = VT_GPU_AXES - 1; r >= 0; r--) {
    const uint32_t up = k / (uint32_t)v.taps[r];
    t.m[r] = (int32_t)(k - up * (uint32_t)v.taps[r]) * v.delta[r];
    t.at += t.m[r] * v.stride[r];
    k = up;
  }
  t.at += (int32_t)k * v.x_channel;
  return t;
}

template <class E, int BM, int BN, int BK, int TM, int TN, int STAGES>
struct vt_conv_tile : vt_gemm_tile<E, BM, BN, BK, TM, TN, STAGES> {
  typedef vt_gemm_tile<E, BM, BN, BK, TM, TN, STAGES> tile;
  typedef typename tile::rows rows;
  typedef vt_conv_places<E, BN, BK, tile::T> columns;
  static_assert((int)columns::PITCH == (int)tile::columns::PITCH, "they stand as in a product");
  const vt_gpu_conv &v;
  vt_gpu_conv_tap *taps;  // of two blocks, behind the tile's own shared memory

  __device__ __forceinline__ vt_conv_tile(const vt_gpu_conv &args) : tile(args.g), v(args) {}

  // What the numbers of block c stand for. Those beyond the last are never asked for.
  __device__ __forceinline__ void explain(uint32_t c) {
    vt_gpu_conv_tap *to = taps + (c & 1) * VT_GPU_BLOCK;
    for (int i = (int)threadIdx.x; i < VT_GPU_BLOCK; i += tile::T)
      to[i] = vt_conv_tap(v, (uint32_t)this->k0 + c * VT_GPU_BLOCK + (uint32_t)i);
  }

  // As in a product, with the bias of the group.
  __device__ __forceinline__ void store(const E *bias) {
#pragma unroll 2
    for (int e = 0; e < tile::EACH; e++) {
      const int64_t r = this->row_at(e), c = this->column_at(e);
      if (r >= v.g.m || c >= v.g.n) continue;
      E t[tile::V] = {}, *at = this->y + r * v.g.y_row + c * v.g.y_column;
      if (this->top > 0) this->get_y(c, at, t);
      if (this->top == 0 && this->blocks > 0) vt_gemm_get(this->kept_at(e), t);
      VT_UNROLL
      for (int q = 0; q < tile::V; q++)
        if (bias != nullptr) t[q] = vt_gemm_add(t[q], bias[r * v.g.bias_row]);
      this->put_y(c, at, t);
    }
  }

  __device__ __forceinline__ void run() {
    rows ra;
    columns rb;
    const int64_t z = this->place(), image = z / v.g.dim[1], group = z - image * v.g.dim[1];
    ra.begin(v.g.a, group * v.g.a.step[1], this->m0, v.g.m, this->k0);
    rb.begin(v, (const E *)v.x + image * v.x_image + group * v.x_group, this->n0);
    this->y = (E *)v.g.y + image * v.g.y_step[0] + group * v.g.y_step[1] + blockIdx.y * v.g.y_unit;
    this->stand();
    taps = (vt_gpu_conv_tap *)(vt_shared<E>() + STAGES * tile::STAGE + BM * BN);
    const uint32_t steps = (uint32_t)((this->k + BK - 1) / BK);
    const int rest = (int)(this->k - (int64_t)(this->k / BK) * BK);
    uint32_t sent = 0;
    E *writes = vt_shared<E>(), *const end = writes + STAGES * tile::STAGE;
    const auto load = [&] {
      if (sent < steps) {
        const int left = sent + 1 == steps && rest != 0 ? rest : BK;
        ra.load(writes, left);
        rb.load(v, writes + BK * rows::PITCH, taps + sent * BK % (2 * VT_GPU_BLOCK), left);
      }
      sent++;
      vt_ahead_close();
      writes = writes + tile::STAGE == end ? vt_shared<E>() : writes + tile::STAGE;
    };

    this->clear();
    explain(0);
    __syncthreads();
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) load();
    vt_ahead_wait<STAGES - 2>();
    __syncthreads();
    const E *reads = vt_shared<E>();
    this->take(0, reads, 0);
#pragma unroll 1
    for (uint32_t t = 1; t <= steps; t++) {
      // All that is sent of the block before was sent before the last meeting, and several steps
      // lie between this and the first that is sent of the block behind.
      if ((t - 1) % (VT_GPU_BLOCK / BK) == 0) explain((t - 1) / (VT_GPU_BLOCK / BK) + 1);
      if (t < steps || rest == 0) {
        this->step(reads, load);
      } else {
#pragma unroll 1
        for (int s = 0; s < rest; s++) {
          this->take(0, reads, s);
          this->multiply(0);
        }
      }
      if (t % (VT_GPU_BLOCK / BK) == 0 || t == steps)
        this->end_block((t - 1) / (VT_GPU_BLOCK / BK));
    }
    const E *bias = (const E *)v.g.bias;
    if (bias != nullptr) bias += group * v.bias_group;
    if (this->top == 0 || bias != nullptr) store(bias);
  }
};
#endif
