/* SPDX-License-Identifier: Apache-2.0
 * gpu_skinny.cuh - skinny GEMM of at most 16 rows, limited by the speed of reading b. A thread
 * block copies 256 k of 32 columns to shared memory in one step; then a thread computes ROWS chains
 * of one column. Other resident blocks compute while one waits. The block that finishes a tile last
 * adds the partial results of its slices of k. Which block that is varies; the order of the
 * additions does not. Such a product takes so little time that reading the code counts, so the code
 * is short. */
#ifndef VT_GPU_SKINNY_CUH
#define VT_GPU_SKINNY_CUH
#include "gpu_sums.cuh"

enum { VT_SKINNY_C = VT_GPU_SKINNY_COLUMNS, VT_SKINNY_T = VT_GPU_SKINNY_THREADS };

/* The part of a product that a thread block computes: `left` k starting at k0 and `columns` columns
 * starting at n0 of product z. */
struct vt_skinny_block {
  int64_t z, n0, k0;
  int left, columns;
  uint32_t tile; /* number of the tile in this launch */
  uint32_t slice;
};

/* Places thread blocks so that those which start together read adjacent memory: if b is contiguous
 * along k, the slices of one column block; else one slice of many column blocks. */
template <bool BY_K, int COLUMNS>
VT_GPU_FN vt_skinny_block vt_skinny_place_block(const vt_gpu_gemm &g) {
  vt_skinny_block h;
  const uint32_t block = blockIdx.x + gridDim.x * blockIdx.y;
  h.tile = BY_K ? block / gridDim.y : blockIdx.x;
  h.slice = BY_K ? block - h.tile * gridDim.y : blockIdx.y;
  const int64_t number = g.first + h.tile;
  h.z = g.products == 1 ? 0 : number / g.tiles_n;
  h.n0 = (number - h.z * g.tiles_n) * COLUMNS;
  h.k0 = h.slice * g.slice;
  h.left = (int)min((int64_t)VT_GPU_BLOCK, g.k - h.k0);
  h.columns = (int)min((int64_t)COLUMNS, g.n - h.n0);
  return h;
}

/* Copies b to shared memory as [column][k] or [k][column], whichever is its order in memory. */
template <bool BY_K, int V>
VT_GPU_FN void vt_skinny_load_b(const vt_gpu_side &s, const float *b, float *to,
                                const vt_skinny_block &h) {
  /* accesses per line of b, a line being the elements that are contiguous */
  enum { LINE = (BY_K ? (int)VT_GPU_BLOCK : (int)VT_SKINNY_C) / V };
#pragma unroll 4
  for (int e = (int)threadIdx.x; e < VT_GPU_BLOCK * VT_SKINNY_C / V; e += VT_SKINNY_T) {
    const int side = e % LINE * V, other = e / LINE;
    const int j = BY_K ? other : side, k = BY_K ? side : other;
    float *place = to + (BY_K ? j * VT_GPU_SKINNY_PITCH + k : k * VT_SKINNY_C + j);
    const float *from = b + (j < h.columns ? j : 0) * s.across + k * s.along;
    const bool there = j < h.columns && k < h.left;
    if (V == 4) {
      vt_async_copy_16(place, from, there);
    } else {
      vt_async_copy_4(place, from, there);
    }
  }
}

VT_GPU_FN void vt_skinny_load_a(const vt_gpu_gemm &g, const float *a, float *to, int left) {
#pragma unroll 2
  for (int e = (int)threadIdx.x; e < (int)g.m * VT_GPU_BLOCK; e += VT_SKINNY_T) {
    const int i = e / VT_GPU_BLOCK, k = e % VT_GPU_BLOCK;
    vt_async_copy_4(to + e, a + i * g.a.across + k * g.a.along, k < left);
  }
}

/* Loads the elements of b for four values of k of this thread's column into w. */
template <bool BY_K>
VT_GPU_FN void vt_skinny_load_four_k(const float *b, int k, float *w) {
  if (BY_K) {
    vt_gemm_load_16(b + k, w);
  } else {
    VT_UNROLL
    for (int q = 0; q < 4; q++) w[q] = b[(k + q) * VT_SKINNY_C];
  }
}

template <bool BY_K, int ROWS>
VT_GPU_FN void vt_skinny_compute_chains(const float *x, const float *b, int end, float *p) {
  int k = 0;
#pragma unroll 4
  for (; k + 4 <= end; k += 4) {
    float w[4], v[4];
    vt_skinny_load_four_k<BY_K>(b, k, w);
    VT_UNROLL
    for (int r = 0; r < ROWS; r++) {
      vt_gemm_load_16(x + r * VT_GPU_BLOCK + k, v);
      VT_UNROLL
      for (int q = 0; q < 4; q++) p[r] = __fmaf_rn(v[q], w[q], p[r]);
    }
  }
  VT_LOOP
  for (; k < end; k++) VT_UNROLL
  for (int r = 0; r < ROWS; r++)
    p[r] = __fmaf_rn(x[r * VT_GPU_BLOCK + k], BY_K ? b[k] : b[k * VT_SKINNY_C], p[r]);
}

/* ---- results ---- */

/* Stores the sum p of a chain for row i and column j of this block, if they exist: as a result, or
 * as the partial result of a slice of k. */
template <class End>
VT_GPU_FN void vt_skinny_store(const vt_gpu_gemm &g, const vt_skinny_block &h, int i, int j,
                               float p, const End &end) {
  if (i >= g.m || j >= h.columns) return;
  if (g.partials == nullptr) {
    vt_sum_store_result(g, h.z, i, h.n0 + j, p, end);
  } else {
    ((float *)g.partials)[h.slice * g.y_slice + (h.z * g.m + i) * g.n + h.n0 + j] = p;
  }
}

/* The thread block that finishes last for these columns adds the partial results of all slices. A
 * thread adds ROWS rows of a column at a time, with GROUPS groups of slices loaded ahead. */
template <int GROUPS, int ROWS, class End>
VT_GPU_FN void vt_skinny_sum_slices_if_last(const vt_gpu_gemm &g, const vt_skinny_block &h,
                                            const End &end) {
  if (g.arrived == nullptr || !vt_is_last_block(&g.arrived[h.tile], gridDim.y)) return;
  const float *partials = (const float *)g.partials + h.z * g.m * g.n + h.n0;
  const int m = (int)g.m, all = (m + ROWS - 1) / ROWS * h.columns;
  for (int e = (int)threadIdx.x; e < all; e += (int)blockDim.x) {
    const int i = e / h.columns * ROWS, j = e % h.columns;
    float y[ROWS];
    vt_sum_partials<GROUPS>(partials + i * g.n + j, gridDim.y, g.y_slice, g.n, m - i, y);
    VT_UNROLL
    for (int r = 0; r < ROWS; r++)
      if (i + r < m) vt_sum_store_result(g, h.z, i + r, h.n0 + j, y[r], end);
  }
}

/* ---- the whole ---- */

/* Return the addresses of operands a and b at this block's first k, and for b at its first
 * column. */
VT_GPU_FN const float *vt_skinny_address_of_a(const vt_gpu_gemm &g, const vt_skinny_block &h) {
  return (const float *)g.a.data + vt_gemm_fast_product_offset(g, g.a.step, h.z) + h.k0 * g.a.along;
}
VT_GPU_FN const float *vt_skinny_address_of_b(const vt_gpu_gemm &g, const vt_skinny_block &h) {
  return (const float *)g.b.data + vt_gemm_fast_product_offset(g, g.b.step, h.z) +
         h.n0 * g.b.across + h.k0 * g.b.along;
}

template <bool BY_K, int ROWS, class End>
VT_GPU_FN void vt_skinny_compute_block(const vt_gpu_gemm &g, const End &end) {
  const vt_skinny_block h = vt_skinny_place_block<BY_K, VT_SKINNY_C>(g);
  const float *a = vt_skinny_address_of_a(g, h), *b = vt_skinny_address_of_b(g, h);
  float *x = vt_shared<float>(), *w = x + VT_GPU_BLOCK * 4 * ROWS;
  if (g.b.wide) {
    vt_skinny_load_b<BY_K, 4>(g.b, b, w, h);
  } else {
    vt_skinny_load_b<BY_K, 1>(g.b, b, w, h);
  }
  vt_skinny_load_a(g, a, x, h.left);
  vt_async_close_group();
  vt_async_wait<0>();
  __syncthreads();

  const int lane = (int)threadIdx.x & 31, first = ((int)threadIdx.x >> 5) * ROWS;
  float p[ROWS];
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) p[r] = 0;
  if (first < g.m)
    vt_skinny_compute_chains<BY_K, ROWS>(x + first * VT_GPU_BLOCK,
                                         w + (BY_K ? lane * VT_GPU_SKINNY_PITCH : lane), h.left, p);

  VT_UNROLL
  for (int r = 0; r < ROWS; r++) vt_skinny_store(g, h, first + r, lane, p[r], end);
  vt_skinny_sum_slices_if_last<1, 1>(g, h, end);
}

template <int ROWS, class End>
VT_GPU_FN void vt_skinny(const vt_gpu_gemm &g, const End &end) {
  if (g.b.by_k) {
    vt_skinny_compute_block<true, ROWS>(g, end);
  } else {
    vt_skinny_compute_block<false, ROWS>(g, end);
  }
}
#endif
