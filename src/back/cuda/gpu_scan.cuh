/* SPDX-License-Identifier: Apache-2.0
 * gpu_scan.cuh - prefix sums over a thread block of 256. */
#ifndef VT_GPU_SCAN_CUH
#define VT_GPU_SCAN_CUH
#include "gpu_words.cuh"

enum { VT_SCANNED = 256 };

VT_GPU_FN uint64_t vt_scan_warp_inclusive(uint64_t x) {
  for (unsigned by = 1; by < 32; by *= 2) {
    const unsigned long long other = __shfl_up_sync(0xffffffffu, (unsigned long long)x, by);
    if (threadIdx.x % 32 >= by) x += other;
  }
  return x;
}

/* Exclusive prefix sum of x over the threads of the block; `total` is the sum over all threads.
 * `exchange` is shared memory for 8 numbers. It may be reused after all threads have returned and
 * passed a barrier. */
VT_GPU_FN uint64_t vt_scan_block_exclusive(uint64_t x, uint64_t *exchange, uint64_t *total) {
  const unsigned warp = threadIdx.x / 32;
  const uint64_t mine = vt_scan_warp_inclusive(x);
  uint64_t before = 0, all = 0;
  if (threadIdx.x % 32 == 31) exchange[warp] = mine;
  __syncthreads();
  for (unsigned w = 0; w < VT_SCANNED / 32; w++) {
    if (w < warp) before += exchange[w];
    all += exchange[w];
  }
  *total = all;
  return before + mine - x;
}
#endif
