/* SPDX-License-Identifier: Apache-2.0
 * gpu_scan.cuh - sums of what the threads before have, over a block of 256. */
#ifndef VT_GPU_SCAN_CUH
#define VT_GPU_SCAN_CUH
#include "gpu_words.cuh"

enum { VT_SCANNED = 256 };

VT_GPU_FN uint64_t vt_scan_warp(uint64_t x) {
  for (unsigned by = 1; by < 32; by *= 2) {
    const unsigned long long other = __shfl_up_sync(0xffffffffu, (unsigned long long)x, by);
    if (threadIdx.x % 32 >= by) x += other;
  }
  return x;
}

/* The sum of x over the threads before this one; `total` is that over all of them. `warps` is
 * shared memory for 8 numbers, free again when every thread has returned and met the others. */
VT_GPU_FN uint64_t vt_scan_block(uint64_t x, uint64_t *warps, uint64_t *total) {
  const unsigned warp = threadIdx.x / 32;
  const uint64_t mine = vt_scan_warp(x);
  uint64_t before = 0, all = 0;
  if (threadIdx.x % 32 == 31) warps[warp] = mine;
  __syncthreads();
  for (unsigned w = 0; w < VT_SCANNED / 32; w++) {
    if (w < warp) before += warps[w];
    all += warps[w];
  }
  *total = all;
  return before + mine - x;
}
#endif
