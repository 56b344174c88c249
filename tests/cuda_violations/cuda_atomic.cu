// SPDX-License-Identifier: Apache-2.0
// cuda_atomic.cu - the planted kernel: long sums of f32 to which threads add their partial sums by
// atomics, as GPU code often does. Each thread's partial sum is a lane of S, as in
// reduce_lines_f32, but the order in which they are added varies.
#include "gpu_reductions.cuh"

#ifndef __CUDACC__
/* The emulated GPU lacks this function, because no kernel of the backend may use it. */
VT_GPU_FN float atomicAdd(float *p, float x) {
  return __uint_as_float(vt_gpu_atomic_update(
      (unsigned *)p, [=](unsigned y) { return __float_as_uint(__uint_as_float(y) + x); }));
}
#endif

/* All chunk results are 0 before the launch; that of the first chunk becomes the sum of its line.
 */
VT_KERNEL(cuda_atomic, vt_gpu_reduce, VT_REDUCE_THREADS) {
  const int64_t items = a.lines.n * a.chunks, warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  for (int64_t item = vt_gpu_first_item() / VT_GPU_LANES; item < items; item += warp_stride) {
    const int64_t line = item / a.chunks, chunk = item - line * a.chunks;
    int64_t at[1];
    vt_offsets<1>(a.lines, line, at);
    const float *x = (const float *)a.x + at[0];
    const float y = vt_reduce_chunk<float, vt_reducer_sum<float>>(a, x, chunk * VT_GPU_CHUNK, 0);
    atomicAdd((float *)a.y + line * a.chunks, y);
  }
}
