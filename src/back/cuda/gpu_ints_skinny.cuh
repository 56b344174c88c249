// SPDX-License-Identifier: Apache-2.0
// gpu_ints_skinny.cuh - skinny products of i8 and u8, limited by the speed of reading b. A thread
// computes four columns of up to four rows over every 32nd piece along k, with four products per
// instruction. Integer sums are exact, so the order of additions does not matter.
#ifndef VT_GPU_INTS_SKINNY_CUH
#define VT_GPU_INTS_SKINNY_CUH
#include "gpu_ints_tile.cuh"

enum {
  VT_INTS_LANES = 32,
  VT_INTS_SKINNY_THREADS = VT_GPU_INTS_SKINNY_COLUMNS / 4 * VT_INTS_LANES
};

// A piece is WORDS words of four k. If b is contiguous across k (ACROSS), neighbouring threads have
// neighbouring columns; else they have neighbouring pieces along k.
template <bool ACROSS>
struct vt_ints_skinny {
  enum { R = VT_GPU_INTS_SKINNY_ROWS, C = 4, WORDS = ACROSS ? 1 : 4, STEP = 4 * WORDS };
  const vt_gpu_ints_tile &v;
  const uint8_t *a, *b;
  int64_t row, column;
  int32_t acc[R][C], in_rows[R], in_columns[C], count;

  __device__ __forceinline__ vt_ints_skinny(const vt_gpu_ints_tile &args) : v(args) {}

  __device__ __forceinline__ void clear() {
    count = 0;
    VT_UNROLL
    for (int r = 0; r < R; r++) {
      in_rows[r] = 0;
      VT_UNROLL
      for (int c = 0; c < C; c++) acc[r][c] = 0;
    }
    VT_UNROLL
    for (int c = 0; c < C; c++) in_columns[c] = 0;
  }

  __device__ __forceinline__ void fetch(int64_t k, uint32_t (&w)[C][WORDS]) const {
    const vt_gpu_ints &p = v.p;
    const uint32_t flip = p.b_flip ^ 0x80u;
    if constexpr (ACROSS) {
      uint32_t transposed[4];
      vt_ints_transpose_4(vt_ints_load_square(b + k * p.b_step + column, p.b_step, 1, v.b_wide != 0,
                                              p.k - k, p.n - column, flip),
                          transposed);
      VT_UNROLL
      for (int c = 0; c < C; c++) w[c][0] = transposed[c];
    } else {
      VT_UNROLL
      for (int c = 0; c < C; c++) {
        const uint4 x = vt_ints_load_line(b + (column + c) * p.b_column + k, 1, v.b_wide != 0,
                                          column + c < p.n ? p.k - k : 0, flip);
        w[c][0] = x.x;
        w[c][1] = x.y;
        w[c][2] = x.z;
        w[c][3] = x.w;
      }
    }
  }

  __device__ __forceinline__ void multiply(int64_t k) {
    const vt_gpu_ints &p = v.p;
    const uint32_t flip = 0x01010101u * (p.a_flip ^ 0x80u);
    uint32_t w[C][WORDS];
    fetch(k, w);
    count += (int32_t)min(p.k - k, (int64_t)STEP);
    VT_UNROLL
    for (int c = 0; c < C; c++) VT_UNROLL
    for (int i = 0; i < WORDS; i++) in_columns[c] = __dp4a((int)w[c][i], 0x01010101, in_columns[c]);
    VT_UNROLL
    for (int r = 0; r < R; r++) {
      const uint8_t *from = a + (row + r) * p.a_row + k;
      VT_UNROLL
      for (int i = 0; i < WORDS; i++) {
        const int64_t left = row + r < p.m ? p.k - k - 4 * i : 0;
        uint32_t x = 0;
        if (left >= 4) {
          x = *(const uint32_t *)(from + 4 * i) ^ flip;
        } else {
          for (int e = 0; e < left; e++) x |= (from[4 * i + e] ^ (flip & 0xffu)) << 8 * e;
        }
        in_rows[r] = __dp4a((int)x, 0x01010101, in_rows[r]);
        VT_UNROLL
        for (int c = 0; c < C; c++) acc[r][c] = __dp4a((int)x, (int)w[c][i], acc[r][c]);
      }
    }
  }

  // Adds the partial sums of the lanes of a warp that have the same columns, and then the sums of
  // the warps.
  __device__ __forceinline__ void add(int32_t *sums, int quad, bool first) {
    const vt_gpu_ints &p = v.p;
    const uint32_t za =
        (uint32_t)(vt_ints_load_zero_point(p.za, 0, p.a_flip) - (p.a_flip ? 0 : 128));
    VT_UNROLL
    for (int c = 0; c < C; c++) {
      const int64_t at = column + c < p.n ? column + c : 0;
      const uint32_t zb = (uint32_t)(vt_ints_load_zero_point(p.zb, at * p.zb_step, p.b_flip) -
                                     (p.b_flip ? 0 : 128));
      VT_UNROLL
      for (int r = 0; r < R; r++) {
        uint32_t s = (uint32_t)acc[r][c] + zb * ((uint32_t)count * za - (uint32_t)in_rows[r]) -
                     za * (uint32_t)in_columns[c];
        for (int h = VT_INTS_LANES / 2; h >= (ACROSS ? 8 : 1); h /= 2)
          s += __shfl_xor_sync(0xffffffffu, s, h);
        if (first) atomicAdd(&sums[r * VT_GPU_INTS_SKINNY_COLUMNS + 4 * quad + c], (int)s);
      }
    }
  }

  __device__ __forceinline__ void run() {
    __shared__ int32_t sums[R * VT_GPU_INTS_SKINNY_COLUMNS];
    const vt_gpu_ints &p = v.p;
    const int t = (int)threadIdx.x, lane = t % VT_INTS_LANES, warp = t / VT_INTS_LANES;
    const int quad = ACROSS ? lane % 8 : warp, piece = ACROSS ? 4 * warp + lane / 8 : lane;
    const int64_t tiles = (int64_t)v.tiles_m * v.tiles_n, z = blockIdx.x / tiles;
    const int64_t tile = blockIdx.x - z * tiles;
    int64_t at[3];
    vt_offsets<3>(p.lead, z, at);
    a = (const uint8_t *)p.a + at[1];
    b = (const uint8_t *)p.b + at[2];
    row = tile % v.tiles_m * R;
    const int64_t first = tile / v.tiles_m * VT_GPU_INTS_SKINNY_COLUMNS;
    column = first + 4 * quad;
    clear();
    if (t < R * VT_GPU_INTS_SKINNY_COLUMNS) sums[t] = 0;
    __syncthreads();
    if (column < p.n)
      for (int64_t k = piece * STEP; k < p.k; k += VT_INTS_LANES * STEP) multiply(k);
    add(sums, quad, ACROSS ? lane < 8 : lane == 0);
    __syncthreads();
    const int64_t r = row + t / VT_GPU_INTS_SKINNY_COLUMNS,
                  c = first + t % VT_GPU_INTS_SKINNY_COLUMNS;
    if (t < R * VT_GPU_INTS_SKINNY_COLUMNS && r < p.m && c < p.n)
      p.y[at[0] + r * p.y_row + c * p.y_column] =
          (int32_t)((uint32_t)sums[t] + vt_ints_load_bias(p.bias, c * p.bias_step));
  }
};
#endif
