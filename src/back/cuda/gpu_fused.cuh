/* SPDX-License-Identifier: Apache-2.0
 * gpu_fused.cuh - the primitives of generated kernels for chains of pointwise ops over whole
 * tensors. The generated text has a struct F with N sources and BYTES, the bytes of the largest
 * element type; F::run<G>(m, at) computes G contiguous elements. */
#ifndef VT_GPU_FUSED_CUH
#define VT_GPU_FUSED_CUH
#include "gpu_map.cuh"
#include "gpu_fused.h"

enum { VT_FUSED_THREADS = 256 };

template <class T, int G>
struct alignas(sizeof(T) * G) vt_fused_group {
  T v[G];
};

template <class T, int G>
VT_GPU_FN vt_fused_group<T, G> vt_fused_load(const vt_gpu_fused &m, int source, int64_t at) {
  const T *p = (const T *)m.from[source] + at;
  if (G == 1 || !(m.one >> source & 1)) return *(const vt_fused_group<T, G> *)p;
  vt_fused_group<T, G> x;
  const T same = *p;
  VT_UNROLL
  for (int k = 0; k < G; k++) x.v[k] = same;
  return x;
}

template <class T, int G>
VT_GPU_FN void vt_fused_store(const vt_gpu_fused &m, int64_t at, const vt_fused_group<T, G> &y) {
  *(vt_fused_group<T, G> *)((T *)m.to + at) = y;
}

/* Computes the offsets of element i after the last group of G elements; then the walk has one
 * axis. */
template <int N>
VT_GPU_FN void vt_fused_rest_offsets(const vt_gpu_fused &m, int64_t i, int64_t (&at)[N + 1]) {
  at[0] = i;
  VT_UNROLL
  for (int k = 0; k < N; k++) at[k + 1] = m.one >> k & 1 ? 0 : i;
}

template <class F>
VT_GPU_FN void vt_fused_run(const vt_gpu_fused &m) {
  constexpr int G = VT_GPU_GROUP(F::BYTES);
  const int64_t n = m.walk.n, all = n + m.rest;
  for (int64_t i = vt_gpu_first_item(); i < all; i += vt_gpu_grid_stride()) {
    int64_t at[F::N + 1];
    if (i < n)
      vt_offsets<F::N + 1>(m.walk, i, at);
    else
      vt_fused_rest_offsets<F::N>(m, n * G + i - n, at);
    if (m.grouped && i < n)
      F::template run<G>(m, at);
    else
      F::template run<1>(m, at);
  }
}
#endif
