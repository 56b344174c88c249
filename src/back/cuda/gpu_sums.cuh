/* SPDX-License-Identifier: Apache-2.0
 * gpu_sums.cuh - the order T, one element at a time: sums of the partial results of slices of k,
 * and masked products. T is the order of docs/numerics.md in which the sums of fma chains are
 * added: groups of 8, groups of 8 groups, and so on. */
#ifndef VT_GPU_SUMS_CUH
#define VT_GPU_SUMS_CUH
#include "gpu_gemm.cuh"

/* Streaming state of T. Level l holds the sum of complete groups of 8^l, which starts at +0 and is
 * never -0; so adding it to an empty level gives it unchanged. 8^11 blocks are 2^41 products. */
template <class E, int LEVELS = 12>
struct vt_sums {
  E t[LEVELS];
  int64_t count;

  __device__ __forceinline__ void begin() {
    VT_UNROLL
    for (int l = 0; l < LEVELS; l++) t[l] = 0;
    count = 0;
  }
  __device__ __forceinline__ void add(E p) {
    t[0] = vt_gemm_add(t[0], p);
    int64_t full = ++count;
    bool rises = true;
    VT_UNROLL
    for (int l = 0; l + 1 < LEVELS; l++) {
      rises = rises && full % VT_GPU_GROUP == 0;
      if (!rises) break;
      t[l + 1] = vt_gemm_add(t[l + 1], t[l]);
      t[l] = 0;
      full /= VT_GPU_GROUP;
    }
  }
  __device__ __forceinline__ E end() {
    VT_UNROLL
    for (int l = 1; l < LEVELS; l++) t[l] = vt_gemm_add(t[l], t[l - 1]);
    return t[LEVELS - 1];
  }
};

/* Adds the partial results of slices for N results. A result has `count` partial results, less than
 * 8^6, which are `partial_step` elements apart; neighbouring results are `result_step` elements
 * apart. Only the first `wanted` results are computed. GROUPS groups of 8 partial results are
 * loaded together and then added one by one. */
template <int GROUPS, int N, class E>
VT_GPU_FN void vt_sum_partials(const E *p, int64_t count, int64_t partial_step, int64_t result_step,
                               int wanted, E (&sum)[N]) {
  enum { AHEAD = GROUPS * VT_GPU_GROUP };
  vt_sums<E, 5> groups[N];
  VT_UNROLL
  for (int i = 0; i < N; i++) groups[i].begin();
  for (int64_t first = 0; first < count; first += AHEAD) {
    const int here = (int)min(count - first, (int64_t)AHEAD);
    E v[AHEAD][N];
    VT_UNROLL
    for (int c = 0; c < AHEAD; c++, p += partial_step) VT_UNROLL
    for (int i = 0; i < N; i++) v[c][i] = c < here && i < wanted ? p[i * result_step] : (E)0;
    VT_UNROLL
    for (int i = 0; i < N; i++) VT_UNROLL
    for (int g = 0; g < AHEAD; g += VT_GPU_GROUP) {
      E t = 0;
      VT_UNROLL
      for (int c = g; c < g + VT_GPU_GROUP; c++)
        if (c < here) t = vt_gemm_add(t, v[c][i]);
      if (GROUPS == 1 || g < here) groups[i].add(t);
    }
  }
  VT_UNROLL
  for (int i = 0; i < N; i++) sum[i] = groups[i].end();
}

/* Adds the bias to result (i, j) of product z and stores it, or passes it to the epilogue. */
template <class E, class End>
VT_GPU_FN void vt_sum_store_result(const vt_gpu_gemm &g, int64_t z, int64_t i, int64_t j, E p,
                                   const End &end) {
  /* makes -0 to +0: p may be -0, but a sum in the order T starts at +0 and is never -0 */
  p = vt_gemm_add((E)0, p);
  if (g.bias != nullptr) {
    const int64_t group = g.bias_group == 0 ? 0 : z % g.dim[g.rank - 1];
    const E *bias = (const E *)g.bias + group * g.bias_group;
    p = vt_gemm_add(p, bias[i * g.bias_row + j * g.bias_column]);
  }
  if constexpr (End::THERE) {
    int64_t begin[End::SIDES];
    end.find(g, z, begin);
    end.put(vt_epilogue_here<E, 1, 1>{&p, begin, {i}, {j}, {1}});
  } else {
    E *y = (E *)g.y + vt_gemm_fast_product_offset(g, g.y_step, z);
    y[i * g.y_row + j * g.y_column] = p;
  }
}

/* Adds the partial results in `partials` of all results of a product. */
template <class E, class End>
VT_GPU_FN void vt_sum_slices(const vt_gpu_gemm &g, const End &end) {
  const int64_t count = (g.k + g.slice - 1) / g.slice;
  for (int64_t e = vt_gpu_first_item(); e < g.y_slice; e += vt_gpu_grid_stride()) {
    const int64_t r = e / g.n, j = e - r * g.n, z = g.products == 1 ? 0 : r / g.m;
    E y[1];
    vt_sum_partials<1>((const E *)g.partials + e, count, g.y_slice, 0, 1, y);
    vt_sum_store_result(g, z, r - z * g.m, j, y[0], end);
  }
}

/* Returns true in the block that arrives last of `blocks`. Its threads then see what the other
 * blocks wrote before. `arrived` is 0 before the first block and after the last one. */
VT_GPU_FN bool vt_is_last_block(uint32_t *arrived, uint32_t blocks) {
  __shared__ uint32_t before;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    before = atomicInc(arrived, blocks - 1);
    __threadfence();
  }
  __syncthreads();
  return before == blocks - 1;
}

/* Returns the dot product of x and w in the order D. A k with present[k] = 0 keeps its place in the
 * order, but its product is skipped. */
template <class E>
VT_GPU_FN E vt_masked_dot(const vt_gpu_masked &a, const E *x, const E *w, const uint8_t *present) {
  vt_sums<E> sums;
  sums.begin();
  for (int64_t k = 0; k < a.g.k;) {
    const int64_t end = min(k + VT_GPU_BLOCK, a.g.k);
    E p = 0;
    for (; k < end; k++)
      if (present[k * a.p_column] != 0) p = vt_gemm_fma(x[k * a.g.a.along], w[k * a.g.b.along], p);
    sums.add(p);
  }
  return sums.end();
}

template <class E>
VT_GPU_FN void vt_masked_product(const vt_gpu_masked &a) {
  const vt_gpu_gemm &g = a.g;
  const int64_t all = g.products * g.m * g.n;
  for (int64_t e = vt_gpu_first_item(); e < all; e += vt_gpu_grid_stride()) {
    const int64_t r = e / g.n, j = e - r * g.n, z = r / g.m, i = r - z * g.m;
    const E *x = (const E *)g.a.data + vt_gemm_product_offset(g, g.a.step, z) + i * g.a.across;
    const E *w = (const E *)g.b.data + vt_gemm_product_offset(g, g.b.step, z) + j * g.b.across;
    const uint8_t *present = a.present + vt_gemm_product_offset(g, a.p_step, z) + i * a.p_row;
    E *y = (E *)g.y + vt_gemm_product_offset(g, g.y_step, z);
    y[i * g.y_row + j * g.y_column] = vt_masked_dot(a, x, w, present);
  }
}
#endif
