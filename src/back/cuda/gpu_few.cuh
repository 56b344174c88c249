/* SPDX-License-Identifier: Apache-2.0
 * gpu_few.cuh - a product with at most 16 rows, at the speed that b can be read with: a block of
 * threads brings 256 k of 32 columns into shared memory, all of it at once, and then a thread has
 * one column and ROWS chains. Many blocks wait while others compute. The chains of a column's
 * blocks of 256 are added by the kernel combine. */
#ifndef VT_GPU_FEW_CUH
#define VT_GPU_FEW_CUH
#include "gpu_gemm.cuh"

enum {
  VT_FEW_QUARTER = VT_GPU_BLOCK / 4,
  VT_FEW_C = VT_GPU_FEW_COLUMNS,
  VT_FEW_T = VT_GPU_FEW_THREADS
};

/* A quarter of the block, k from `k` on, of which `left` are there: b as [column][k] or
 * [k][column], as it lies in memory. */
VT_GPU_FN void vt_few_load_b(const vt_gpu_side &s, const float *b, float *to, int k, int columns,
                             int left) {
  const int tid = (int)threadIdx.x, v = s.wide ? 4 : 1;
  const int line = (s.by_k ? VT_FEW_QUARTER : VT_FEW_C) / v; /* accesses side by side */
  for (int e = tid; e < VT_FEW_QUARTER * VT_FEW_C / v; e += VT_FEW_T) {
    const int side = e % line * v, other = e / line;
    const int j = s.by_k ? other : side, at = k + (s.by_k ? side : other);
    float *place = to + (s.by_k ? j * VT_GPU_FEW_PITCH + at : at * VT_FEW_C + j);
    const float *from = b + j * s.across + at * s.along;
    const bool there = j < columns && at < left;
    if (s.wide) {
      vt_ahead_16(place, from, there);
    } else {
      vt_ahead_4(place, from, there);
    }
  }
}

VT_GPU_FN void vt_few_load_a(const vt_gpu_gemm &g, const float *a, float *to, int k, int left) {
  const int rows = (int)g.m;
  for (int e = (int)threadIdx.x; e < rows * VT_FEW_QUARTER; e += VT_FEW_T) {
    const int i = e / VT_FEW_QUARTER, at = k + e % VT_FEW_QUARTER;
    vt_ahead_4(to + i * VT_GPU_BLOCK + at, a + i * g.a.across + at * g.a.along, at < left);
  }
}

/* Four k of this thread's column. */
VT_GPU_FN void vt_few_take(const float *b, bool by_k, int k, float *w) {
  if (by_k) {
    vt_gemm_get(b + k, w);
  } else {
    VT_UNROLL
    for (int q = 0; q < 4; q++) w[q] = b[(k + q) * VT_FEW_C];
  }
}

template <int ROWS>
VT_GPU_FN void vt_few_chain(const float *x, const float *b, bool by_k, int from, int end,
                            float *p) {
  int k = from;
#pragma unroll 4
  for (; k + 4 <= end; k += 4) {
    float w[4], v[4];
    vt_few_take(b, by_k, k, w);
    VT_UNROLL
    for (int r = 0; r < ROWS; r++) {
      vt_gemm_get(x + r * VT_GPU_BLOCK + k, v);
      VT_UNROLL
      for (int q = 0; q < 4; q++) p[r] = __fmaf_rn(v[q], w[q], p[r]);
    }
  }
#pragma unroll 1
  for (; k < end; k++) VT_UNROLL
  for (int r = 0; r < ROWS; r++)
    p[r] = __fmaf_rn(x[r * VT_GPU_BLOCK + k], by_k ? b[k] : b[k * VT_FEW_C], p[r]);
}

/* The quarter that all but `LATER` have come before. */
template <int ROWS, int LATER>
VT_GPU_FN void vt_few_quarter(const float *x, const float *b, bool by_k, bool mine, int left,
                              float *p) {
  const int k = (3 - LATER) * VT_FEW_QUARTER;
  vt_ahead_wait<LATER>();
  __syncthreads();
  if (!mine || k >= left) return;
  const int end = min(k + (int)VT_FEW_QUARTER, left);
  if (by_k) {
    vt_few_chain<ROWS>(x, b, true, k, end, p);
  } else {
    vt_few_chain<ROWS>(x, b, false, k, end, p);
  }
}

VT_GPU_FN void vt_few_store(const vt_gpu_gemm &g, float *y, int64_t i, int64_t j, float p) {
  p = __fadd_rn(0.0f, p); /* it may be -0, which no sum is */
  if (g.bias != nullptr)
    p = __fadd_rn(p, ((const float *)g.bias)[i * g.bias_row + j * g.bias_column]);
  y[i * g.y_row + j * g.y_column] = p;
}

template <int ROWS>
VT_GPU_FN void vt_few(const vt_gpu_gemm &g) {
  const int64_t number = g.first + blockIdx.x, z = number / g.tiles_n;
  const int64_t n0 = (number - z * g.tiles_n) * VT_FEW_C, k0 = blockIdx.y * g.unit;
  const int left = (int)min((int64_t)VT_GPU_BLOCK, g.k - k0);
  const int columns = (int)min((int64_t)VT_FEW_C, g.n - n0);
  const bool by_k = g.b.by_k != 0;
  const float *a = (const float *)g.a.data + vt_gemm_product(g, g.a.step, z) + k0 * g.a.along;
  const float *b =
      (const float *)g.b.data + vt_gemm_product(g, g.b.step, z) + n0 * g.b.across + k0 * g.b.along;
  float *x = vt_shared<float>(), *w = x + VT_GPU_BLOCK * 4 * ROWS;
  for (int q = 0; q < 4; q++) {
    vt_few_load_a(g, a, x, q * VT_FEW_QUARTER, left);
    vt_few_load_b(g.b, b, w, q * VT_FEW_QUARTER, columns, left);
    vt_ahead_close();
  }

  const int lane = (int)threadIdx.x & 31, first = ((int)threadIdx.x >> 5) * ROWS;
  const bool mine = first < g.m;
  float p[ROWS];
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) p[r] = 0;
  x += first * VT_GPU_BLOCK;
  w += by_k ? lane * VT_GPU_FEW_PITCH : lane;
  vt_few_quarter<ROWS, 3>(x, w, by_k, mine, left, p);
  vt_few_quarter<ROWS, 2>(x, w, by_k, mine, left, p);
  vt_few_quarter<ROWS, 1>(x, w, by_k, mine, left, p);
  vt_few_quarter<ROWS, 0>(x, w, by_k, mine, left, p);

  float *y = (float *)g.y + vt_gemm_product(g, g.y_step, z) + blockIdx.y * g.y_unit;
  VT_UNROLL
  for (int r = 0; r < ROWS; r++)
    if (first + r < g.m && lane < columns) vt_few_store(g, y, first + r, n0 + lane, p[r]);
}
#endif
