// SPDX-License-Identifier: Apache-2.0
// gpu_contract.cuh - the order D for one result, computed by one thread: chains of 256 products,
// then groups of 8 chains. D is the order of docs/numerics.md for sums of products, T its part
// after the chains: sums of 8 chains, of 8 of these, and so on.
#ifndef VT_GPU_CONTRACT_CUH
#define VT_GPU_CONTRACT_CUH
#include "gpu_words.cuh"

VT_GPU_FN float vt_gpu_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
VT_GPU_FN double vt_gpu_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
VT_GPU_FN float vt_gpu_plus(float a, float b) { return __fadd_rn(a, b); }
VT_GPU_FN double vt_gpu_plus(double a, double b) { return __dadd_rn(a, b); }

// Streaming state of the orders D and T. Each level holds the sum of what was passed to it since it
// last passed a complete group on. A sum that starts at +0 is never -0, so the first group passed
// to an empty level may replace its +0.
enum { VT_CHAIN_BLOCK = 256, VT_CHAIN_GROUP = 8, VT_CHAIN_LEVELS = 20 };
template <class T>
struct vt_gpu_chain {
  T p, t, up[VT_CHAIN_LEVELS];
  uint32_t k;
  uint64_t blocks;
};

template <class T>
VT_GPU_FN void vt_gpu_chain_begin(vt_gpu_chain<T> &d) {
  d.p = d.t = 0;
  d.k = 0;
  d.blocks = 0;
}

template <class T>
VT_GPU_FN void vt_gpu_chain_end_block(vt_gpu_chain<T> &d) {
  d.t = vt_gpu_plus(d.t, d.p);
  d.p = 0;
  d.k = 0;
  uint64_t full = ++d.blocks;
  if (full % VT_CHAIN_GROUP != 0) return;
  T t = d.t;
  d.t = 0;
  for (int l = 0; full % VT_CHAIN_GROUP == 0; l++) {
    full /= VT_CHAIN_GROUP;
    if (full > 1) t = vt_gpu_plus(d.up[l], t);
    d.up[l] = full % VT_CHAIN_GROUP == 0 ? (T)0 : t;
  }
}

template <class T>
VT_GPU_FN void vt_gpu_chain_add(vt_gpu_chain<T> &d, T a, T b) {
  d.p = vt_gpu_fma(a, b, d.p);
  if (++d.k == VT_CHAIN_BLOCK) vt_gpu_chain_end_block(d);
}

template <class T>
VT_GPU_FN T vt_gpu_chain_result(vt_gpu_chain<T> &d) {
  if (d.k > 0) vt_gpu_chain_end_block(d);
  T t = d.t;
  int l = 0;
  for (uint64_t m = d.blocks / VT_CHAIN_GROUP; m > 0; m /= VT_CHAIN_GROUP, l++)
    t = vt_gpu_plus(d.up[l], t);
  return t;
}
#endif
