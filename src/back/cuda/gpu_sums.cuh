/* SPDX-License-Identifier: Apache-2.0
 * gpu_sums.cuh - the order T, an element at a time: sums of what units left, and whole products
 * with absent ones among them. */
#ifndef VT_GPU_SUMS_CUH
#define VT_GPU_SUMS_CUH
#include "gpu_combine.h"
#include "gpu_gemm.cuh"

/* T as a stream. Level l has the sum of complete groups of 8^l, each a chain from +0, and such a
 * chain is never -0: adding it to an empty one leaves it as it is. 8^11 blocks are 2^41 products.
 */
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

/* The sums of the parts of N results, `next` from one to the next of which `there` are there. Of
 * parts there are less than 8^6; GROUPS groups of 8 are read together, and then added one by one.
 */
template <int GROUPS, int N, class E>
VT_GPU_FN void vt_parts_sums(const E *p, int64_t count, int64_t apart, int64_t next, int there,
                             E (&sum)[N]) {
  enum { AHEAD = GROUPS * VT_GPU_GROUP };
  vt_sums<E, 5> groups[N];
  VT_UNROLL
  for (int i = 0; i < N; i++) groups[i].begin();
  for (int64_t first = 0; first < count; first += AHEAD) {
    const int here = (int)min(count - first, (int64_t)AHEAD);
    E v[AHEAD][N];
    VT_UNROLL
    for (int c = 0; c < AHEAD; c++, p += apart) VT_UNROLL
    for (int i = 0; i < N; i++) v[c][i] = c < here && i < there ? p[i * next] : (E)0;
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

/* Whether all of `all` blocks have come here and this one is the last: what the others wrote before
 * is then seen by every thread of it. `arrived` is 0 before the first has come and after the last.
 */
VT_GPU_FN bool vt_is_last(uint32_t *arrived, uint32_t all) {
  __shared__ uint32_t before;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    before = atomicInc(arrived, all - 1);
    __threadfence();
  }
  __syncthreads();
  return before == all - 1;
}

template <class E>
VT_GPU_FN void vt_combine(const vt_gpu_combine &a) {
  for (int64_t i = vt_gpu_first(); i < a.walk.n; i += vt_gpu_apart()) {
    int64_t at[3];
    vt_places<3>(a.walk, i, at);
    E y[1];
    vt_parts_sums<1>((const E *)a.part + at[1], a.count, a.apart, 0, 1, y);
    if (a.bias != nullptr) y[0] = vt_gemm_add(y[0], ((const E *)a.bias)[at[2]]);
    ((E *)a.y)[at[0]] = y[0];
  }
}

/* An absent k keeps its place in the numbering, and its product is not formed. */
template <class E>
VT_GPU_FN E vt_masked_dot(const vt_gpu_masked &a, const E *x, const E *w, const uint8_t *present) {
  vt_sums<E> sums;
  sums.begin();
  for (int64_t k = 0; k < a.g.k;) {
    const int64_t end = min(k + VT_GPU_BLOCK, a.g.k);
    E p = 0;
    for (; k < end; k++)
      if (present[k * a.p_column] != 0)
        p = vt_gemm_fused(x[k * a.g.a.along], w[k * a.g.b.along], p);
    sums.add(p);
  }
  return sums.end();
}

template <class E>
VT_GPU_FN void vt_masked(const vt_gpu_masked &a) {
  const vt_gpu_gemm &g = a.g;
  const int64_t all = g.products * g.m * g.n;
  for (int64_t e = vt_gpu_first(); e < all; e += vt_gpu_apart()) {
    const int64_t r = e / g.n, j = e - r * g.n, z = r / g.m, i = r - z * g.m;
    const E *x = (const E *)g.a.data + vt_gemm_product(g, g.a.step, z) + i * g.a.across;
    const E *w = (const E *)g.b.data + vt_gemm_product(g, g.b.step, z) + j * g.b.across;
    const uint8_t *present = a.present + vt_gemm_product(g, a.p_step, z) + i * a.p_row;
    E *y = (E *)g.y + vt_gemm_product(g, g.y_step, z);
    y[i * g.y_row + j * g.y_column] = vt_masked_dot(a, x, w, present);
  }
}
#endif
