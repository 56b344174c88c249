// SPDX-License-Identifier: Apache-2.0
// gpu_ints_tile.cuh - a tile of a product of i8 and u8 matrices on the tensor cores. Both operands
// are in shared memory as i8 with k innermost. For u8, 128 is subtracted from every number and from
// its zero point, which changes no difference. Then
//   sum (a' - za')(b' - zb') = sum a'b' - zb'*(sum a') - za'*(sum b') + k*za'*zb',
// and the sums of a' and b' are products with ones. The left side fits in i32 by the rules of the
// op, so intermediate results of the right side may wrap.
#ifndef VT_GPU_INTS_TILE_CUH
#define VT_GPU_INTS_TILE_CUH
#include "gpu_ints.cuh"
#include "gpu_ints.h"

// Loads sixteen bytes of a line along k as i8; bytes beyond `left` are 0.
VT_GPU_FN uint4 vt_ints_load_line(const uint8_t *from, int64_t step, bool wide, int64_t left,
                                  uint32_t flip) {
  uint32_t w[4] = {0, 0, 0, 0};
  if (wide && left >= 16) {
    const uint4 x = *(const uint4 *)from;
    w[0] = x.x;
    w[1] = x.y;
    w[2] = x.z;
    w[3] = x.w;
    VT_UNROLL
    for (int i = 0; i < 4; i++) w[i] ^= 0x01010101u * flip;
  } else {
    VT_UNROLL
    for (int i = 0; i < 16; i++)
      if (i < left) w[i / 4] |= (from[i * step] ^ flip) << 8 * (i % 4);
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

// Loads four neighbouring columns (or rows) for each of four values of k, as i8.
VT_GPU_FN uint4 vt_ints_load_square(const uint8_t *from, int64_t along, int64_t across, bool wide,
                                    int64_t k_left, int64_t left, uint32_t flip) {
  uint32_t w[4] = {0, 0, 0, 0};
  VT_UNROLL
  for (int k = 0; k < 4; k++) {
    if (k >= k_left) break;
    if (wide && left >= 4) {
      w[k] = *(const uint32_t *)(from + k * along) ^ 0x01010101u * flip;
    } else {
      VT_UNROLL
      for (int i = 0; i < 4; i++)
        if (i < left) w[k] |= (from[k * along + i * across] ^ flip) << 8 * i;
    }
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

// Transposes a 4 x 4 square of bytes.
VT_GPU_FN void vt_ints_transpose_4(uint4 x, uint32_t (&to)[4]) {
  const uint32_t low = __byte_perm(x.x, x.y, 0x5140), high = __byte_perm(x.z, x.w, 0x5140);
  const uint32_t low2 = __byte_perm(x.x, x.y, 0x7362), high2 = __byte_perm(x.z, x.w, 0x7362);
  to[0] = __byte_perm(low, high, 0x5410);
  to[1] = __byte_perm(low, high, 0x7632);
  to[2] = __byte_perm(low2, high2, 0x5410);
  to[3] = __byte_perm(low2, high2, 0x7632);
}

// Loads W lines of an operand into shared memory, BK of k at a time, with 256 threads: 16 bytes
// along k, or 4 x 4 squares that are transposed.
template <int W>
struct vt_ints_side {
  enum { BK = VT_GPU_INTS_STEP, PITCH = VT_GPU_INTS_PITCH, PARTS = W * BK / 16 / 256 };
  const uint8_t *from;
  int64_t across, along, limit, k;
  uint32_t flip;
  bool wide, squares;
  uint4 part[PARTS];

  __device__ __forceinline__ void load(int64_t first, int64_t k0) {
    VT_UNROLL
    for (int i = 0; i < PARTS; i++) {
      const int id = (int)threadIdx.x + 256 * i;
      const int line = squares ? (id / 32 % (W / 32) * 8 + id % 8) * 4 : id / 4;
      const int at = squares ? (id / 32 / (W / 32) * 4 + id % 32 / 8) * 4 : id % 4 * 16;
      const int64_t left = limit - first - line, k_left = k - k0 - at;
      const uint8_t *p = from + (first + line) * across + (k0 + at) * along;
      part[i] = left <= 0 || k_left <= 0 ? make_uint4(0, 0, 0, 0)
                : squares ? vt_ints_load_square(p, along, across, wide, k_left, left, flip)
                          : vt_ints_load_line(p, along, wide, k_left, flip);
    }
  }

  __device__ __forceinline__ void compute_taps(int64_t) {}

  __device__ __forceinline__ void store(uint8_t *to) const {
    VT_UNROLL
    for (int i = 0; i < PARTS; i++) {
      const int id = (int)threadIdx.x + 256 * i;
      const uint4 p = part[i];
      if (!squares) {
        *(uint4 *)(to + id / 4 * PITCH + id % 4 * 16) = p;
        continue;
      }
      const int line = (id / 32 % (W / 32) * 8 + id % 8) * 4;
      const int at = (id / 32 / (W / 32) * 4 + id % 32 / 8) * 4;
      uint32_t transposed[4];
      vt_ints_transpose_4(p, transposed);
      VT_UNROLL
      for (int c = 0; c < 4; c++) *(uint32_t *)(to + (line + c) * PITCH + at) = transposed[c];
    }
  }
};

// Eight warps share a tile: two along the rows by four along the columns.
template <int BM, int BN>
struct vt_ints_tile {
  enum {
    BK = VT_GPU_INTS_STEP,
    PITCH = VT_GPU_INTS_PITCH,
    MT = BM / 2 / 16,
    NT = BN / 4 / 8,
    STAGE = (BM + BN) * PITCH
  };
  const vt_gpu_ints_tile &v;
  // acc: the sums of a'b'; rows and columns: the sums of a' and of b', if zero points need them
  int32_t acc[MT][NT][4], rows[MT][4], columns[NT][4];
  int64_t m0, n0;
  int32_t za;
  int row, column;
  bool sum_rows, sum_columns;

  __device__ __forceinline__ vt_ints_tile(const vt_gpu_ints_tile &args) : v(args) {}

  __device__ __forceinline__ void clear() {
    VT_UNROLL
    for (int q = 0; q < 4; q++) {
      VT_UNROLL
      for (int i = 0; i < MT; i++) {
        rows[i][q] = 0;
        VT_UNROLL
        for (int j = 0; j < NT; j++) acc[i][j][q] = 0;
      }
      VT_UNROLL
      for (int j = 0; j < NT; j++) columns[j][q] = 0;
    }
  }

  __device__ __forceinline__ void multiply(const uint8_t *stage) {
    const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const uint8_t *pa = stage + (row + g) * PITCH + 4 * t,
                  *pb = stage + (BM + column + g) * PITCH + 4 * t;
    const uint32_t one = 0x01010101u, one_a[4] = {one, one, one, one}, one_b[2] = {one, one};
    VT_UNROLL
    for (int k = 0; k < BK; k += 32) {
      uint32_t b[NT][2];
      VT_UNROLL
      for (int j = 0; j < NT; j++) {
        b[j][0] = *(const uint32_t *)(pb + 8 * j * PITCH + k);
        b[j][1] = *(const uint32_t *)(pb + 8 * j * PITCH + k + 16);
        if (sum_columns) vt_warp_multiply_int8(columns[j], one_a, b[j]);
      }
      VT_UNROLL
      for (int i = 0; i < MT; i++) {
        const uint8_t *p = pa + 16 * i * PITCH + k;
        const uint32_t a[4] = {*(const uint32_t *)p, *(const uint32_t *)(p + 8 * PITCH),
                               *(const uint32_t *)(p + 16),
                               *(const uint32_t *)(p + 8 * PITCH + 16)};
        if (sum_rows) vt_warp_multiply_int8(rows[i], a, one_b);
        VT_UNROLL
        for (int j = 0; j < NT; j++) vt_warp_multiply_int8(acc[i][j], a, b[j]);
      }
    }
  }

  // Stores the results. `first` is the index of the product's first column in the zero points and
  // biases.
  __device__ __forceinline__ void store(int32_t *y, int64_t first) {
    const vt_gpu_ints &p = v.p;
    const int lane = (int)threadIdx.x % 32;
    VT_UNROLL
    for (int j = 0; j < 2 * NT; j++) {
      const int64_t c = n0 + column + j / 2 * 8 + lane % 4 * 2 + j % 2;
      if (c >= p.n) continue;
      const uint32_t zb =
          (uint32_t)(vt_ints_load_zero_point(p.zb, (first + c) * p.zb_step, p.b_flip) -
                     (p.b_flip ? 0 : 128));
      const uint32_t bias = vt_ints_load_bias(p.bias, (first + c) * p.bias_step);
      VT_UNROLL
      for (int i = 0; i < 2 * MT; i++) {
        const int64_t r = m0 + row + i / 2 * 16 + i % 2 * 8 + lane / 4;
        const int q = i % 2 * 2 + j % 2;
        if (r >= p.m) continue;
        const uint32_t each = (uint32_t)p.k * (uint32_t)za - (uint32_t)rows[i / 2][q];
        y[r * p.y_row + c * p.y_column] =
            (int32_t)((uint32_t)acc[i / 2][j / 2][q] + zb * each -
                      (uint32_t)za * (uint32_t)columns[j / 2][q] + bias);
      }
    }
  }

  // Computes the first row and column of this thread block's tile; returns the number of its
  // product.
  __device__ __forceinline__ int64_t place_block() {
    const vt_gpu_ints &p = v.p;
    const int64_t tiles = (int64_t)v.tiles_m * v.tiles_n, z = blockIdx.x / tiles;
    const int64_t at = blockIdx.x - z * tiles;
    const int warp = (int)threadIdx.x / 32;
    m0 = at % v.tiles_m * BM;
    n0 = at / v.tiles_m * BN;
    row = warp / 4 * (BM / 2);
    column = warp % 4 * (BN / 4);
    za = vt_ints_load_zero_point(p.za, 0, p.a_flip) - (p.a_flip ? 0 : 128);
    sum_rows = p.zb != nullptr || p.b_flip == 0;
    sum_columns = za != 0;
    return z;
  }

  __device__ __forceinline__ vt_ints_side<BN> columns_of(int64_t product) const {
    const vt_gpu_ints &p = v.p;
    return {(const uint8_t *)p.b + product,
            p.b_column,
            p.b_step,
            p.n,
            p.k,
            p.b_flip ^ 0x80u,
            v.b_wide != 0,
            v.b_squares != 0};
  }

  // Runs all steps of k. While a step is multiplied, the next one is loaded, and loader `a`
  // computes its table for the one after that.
  template <class A>
  __device__ __forceinline__ void multiply_all(A &a, vt_ints_side<BN> &b) {
    uint8_t *stage = vt_shared<uint8_t>();
    clear();
    a.load(m0, 0);
    b.load(n0, 0);
    a.store(stage);
    b.store(stage + BM * PITCH);
    __syncthreads();
    for (int64_t k = 0; k < v.p.k; k += BK) {
      uint8_t *other = vt_shared<uint8_t>() + (k / BK % 2 == 0 ? STAGE : 0);
      const bool more = k + BK < v.p.k;
      if (more) {
        a.load(m0, k + BK);
        b.load(n0, k + BK);
      }
      a.compute_taps(k + 2 * BK);
      multiply(stage);
      if (more) {
        a.store(other);
        b.store(other + BM * PITCH);
      }
      stage = other;
      __syncthreads();
    }
  }

  __device__ __forceinline__ void run() {
    const vt_gpu_ints &p = v.p;
    int64_t at[3];
    vt_offsets<3>(p.lead, place_block(), at);
    vt_ints_side<BM> a = {(const uint8_t *)p.a + at[1],
                          p.a_row,
                          p.a_step,
                          p.m,
                          p.k,
                          p.a_flip ^ 0x80u,
                          v.a_wide != 0,
                          false};
    vt_ints_side<BN> b = columns_of(at[2]);
    multiply_all(a, b);
    store(p.y + at[0], 0);
  }
};
#endif
