// SPDX-License-Identifier: Apache-2.0
// move.cu - elements from one place to another.
#include "gpu_words.cuh"
#include "gpu_copy.h"
#include "gpu_fill.h"

template <class T> VT_GPU_FN void copy(const vt_gpu_copy &a) {
  for (int64_t i = vt_gpu_first(); i < a.walk.n; i += vt_gpu_apart()) {
    int64_t at[2];
    vt_places<2>(a.walk, i, at);
    ((T *)a.to)[at[0]] = ((const T *)a.from)[at[1]];
  }
}

VT_KERNEL(copy_1, vt_gpu_copy, 256) { copy<uint8_t>(a); }
VT_KERNEL(copy_2, vt_gpu_copy, 256) { copy<uint16_t>(a); }
VT_KERNEL(copy_4, vt_gpu_copy, 256) { copy<uint32_t>(a); }
VT_KERNEL(copy_8, vt_gpu_copy, 256) { copy<uint64_t>(a); }

VT_KERNEL(put_8, vt_gpu_fill, 32) {
  if (threadIdx.x == 0) *(uint64_t *)a.to = a.bits;
}
