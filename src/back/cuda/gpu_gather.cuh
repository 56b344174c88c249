// SPDX-License-Identifier: Apache-2.0
// gpu_gather.cuh - computes which element of x, or padding, belongs to an output position and a
// number k of a convolution's contraction.
#ifndef VT_GPU_GATHER_CUH
#define VT_GPU_GATHER_CUH
#include "gpu_gather.h"
#include "gpu_words.cuh"

VT_GPU_FN vt_gpu_tap vt_gather_tap(const vt_gpu_gather &v, uint32_t k) {
  vt_gpu_tap t = {0, {0, 0, 0}};
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

// An output position: the offset and position in x of tap 0. If `place` is not below n, no tap is
// inside of x.
struct vt_gather_place {
  int32_t at, m[VT_GPU_AXES];

  __device__ __forceinline__ void begin(const vt_gpu_gather &v, int64_t place, int64_t n) {
    uint32_t left = (uint32_t)(place < n ? place : 0);
    at = 0;
    VT_UNROLL
    for (int r = VT_GPU_AXES - 1; r >= 0; r--) {
      const uint32_t up = left / (uint32_t)v.places[r];
      m[r] = (int32_t)(left - up * (uint32_t)v.places[r]) * v.step[r] + v.base[r];
      at += m[r] * v.stride[r];
      left = up;
    }
    if (place >= n) m[0] = -0x40000000;
  }
  // Returns whether the element of tap t of this window is inside of x. t is a vt_gpu_tap, loaded
  // in one access. All axes are compared without branches, because a branch costs more than the
  // comparisons.
  __device__ __forceinline__ bool has(const vt_gpu_gather &v, int4 t) const {
    return ((uint32_t)(m[0] + t.y) < (uint32_t)v.dim[0]) &
           ((uint32_t)(m[1] + t.z) < (uint32_t)v.dim[1]) &
           ((uint32_t)(m[2] + t.w) < (uint32_t)v.dim[2]);
  }
};
#endif
