/* SPDX-License-Identifier: Apache-2.0
 * gpu_epilogue.cuh - the primitives of generated epilogues: pointwise ops over the results of a
 * product that a thread holds in registers. The generated text has a struct F with N sources;
 * F::run(m, h) runs the epilogue on one group of results. It loads all operands before it stores
 * the first result, so the loads overlap. A source is an operand of the epilogue; a side is a
 * tensor with strides that lead to the element for a result; a group is some neighbouring results
 * in a row. */
#ifndef VT_GPU_EPILOGUE_CUH
#define VT_GPU_EPILOGUE_CUH
#include "gpu_fused.cuh"
#include "gpu_gemm.cuh"
#include "gpu_epilogue.h"

/* Returns the offset of group u of results in side I. */
template <int I, class H>
VT_GPU_FN int64_t vt_epilogue_offset(const vt_gpu_epilogue &m, const H &h, int u) {
  return h.begin[I] + h.r[u] * m.side[I].row + h.c[u] * m.side[I].column;
}

template <class T, int W>
VT_GPU_FN void vt_epilogue_load_group(const vt_gpu_epilogue_side &s, const T *p, int left, T *x) {
  if (W > 1 && s.wide && left > 0) {
    const vt_fused_group<T, W> all = *(const vt_fused_group<T, W> *)p;
    VT_UNROLL
    for (int k = 0; k < W; k++) x[k] = all.v[k];
  } else if (s.column == 0) {
    const T one = left > 0 ? *p : (T)0;
    VT_UNROLL
    for (int k = 0; k < W; k++) x[k] = one;
  } else {
    VT_UNROLL
    for (int k = 0; k < W; k++) x[k] = k < left ? p[k * s.column] : (T)0;
  }
}

/* Loads the elements of source I for this thread's results; source 0 is the product itself. */
template <class T, int I, class E, int G, int W>
VT_GPU_FN vt_fused_group<T, G> vt_epilogue_load(const vt_gpu_epilogue &m,
                                                const vt_epilogue_here<E, G, W> &h) {
  vt_fused_group<T, G> x;
  if constexpr (I == 0) {
    VT_UNROLL
    for (int k = 0; k < G; k++) x.v[k] = h.made[k];
  } else {
    const vt_gpu_epilogue_side &s = m.side[I];
    VT_UNROLL
    for (int u = 0; u < G / W; u++)
      vt_epilogue_load_group<T, W>(s, (const T *)s.data + vt_epilogue_offset<I>(m, h, u), h.left[u],
                                   x.v + u * W);
  }
  return x;
}

template <class T, class E, int G, int W>
VT_GPU_FN void vt_epilogue_store(const vt_gpu_epilogue &m, const vt_epilogue_here<E, G, W> &h,
                                 const vt_fused_group<T, G> &y) {
  const vt_gpu_epilogue_side &s = m.side[0];
  VT_UNROLL
  for (int u = 0; u < G / W; u++) {
    T *p = (T *)s.data + vt_epilogue_offset<0>(m, h, u);
    vt_fused_group<T, W> all;
    VT_UNROLL
    for (int k = 0; k < W; k++) all.v[k] = y.v[u * W + k];
    if (W > 1 && s.wide) {
      if (h.left[u] > 0) *(vt_fused_group<T, W> *)p = all;
      continue;
    }
    VT_UNROLL
    for (int k = 0; k < W; k++)
      if (k < h.left[u]) p[k * s.column] = all.v[k];
  }
}

/* Replaces vt_gemm_plain in a product's kernel: runs the epilogue F instead of storing the results.
 */
template <class F>
struct vt_epilogue {
  enum { THERE = 1, SIDES = F::N };
  const vt_gpu_epilogue &m;
  __device__ __forceinline__ void find(const vt_gpu_gemm &g, int64_t z, int64_t *begin) const {
    VT_UNROLL
    for (int i = 0; i < SIDES; i++) begin[i] = vt_gemm_fast_product_offset(g, m.side[i].step, z);
  }
  template <class E, int G, int W>
  __device__ __forceinline__ void put(const vt_epilogue_here<E, G, W> &h) const {
    F::run(m, h);
  }
};
#endif
