/* SPDX-License-Identifier: Apache-2.0
 * gpu_stream.cuh - one row times a large matrix whose k are whole blocks of 256, read as a stream:
 * a thread has 256 k of one or two columns, and what it needs next is on its way while it
 * multiplies. No thread waits for those of another warp. gpu_few.cuh says how the chains of a
 * column become its result. */
#ifndef VT_GPU_STREAM_CUH
#define VT_GPU_STREAM_CUH
#include "gpu_few.cuh"

enum { VT_STREAM_T = VT_GPU_STREAM_THREADS };

/* Neighbours across lie side by side: two columns a thread, straight to registers, 16 k while the
 * 16 before are multiplied. */
struct vt_stream_across {
  enum { V = 2, AT_ONCE = 16, BY_K = 0 };
  const float *from;
  int64_t line;
  float w[2][AT_ONCE][V];

  __device__ __forceinline__ int column() { return V * (int)threadIdx.x; }

  __device__ __forceinline__ void fetch(int into) {
    VT_UNROLL
    for (int k = 0; k < AT_ONCE; k++, from += line) vt_pass_8(from, w[into][k]);
  }
  __device__ __forceinline__ void multiply(const float *x, int which, float (&p)[V]) {
    VT_UNROLL
    for (int k = 0; k < AT_ONCE; k += 4) {
      float v[4];
      vt_gemm_get(x + k, v);
      VT_UNROLL
      for (int q = 0; q < 4; q++) VT_UNROLL
      for (int c = 0; c < V; c++) p[c] = __fmaf_rn(v[q], w[which][k + q][c], p[c]);
    }
  }

  /* Columns that are not there are read as the last ones. */
  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b, const vt_few_here &h,
                                        float *) {
    from = b + min(column(), h.columns - V);
    line = s.along;
    fetch(0);
  }
  __device__ __forceinline__ void run(const float *x, float (&p)[V]) {
    VT_UNROLL
    for (int k = 0; k < VT_GPU_BLOCK; k += AT_ONCE) {
      const int now = k / AT_ONCE % 2;
      if (k + AT_ONCE < VT_GPU_BLOCK) fetch(now ^ 1);
      multiply(x + k, now, p);
    }
  }
};

/* Neighbours along k lie side by side: a warp has 32 columns, and shared memory of its own in which
 * 32 k of them lie as they do in memory; three such stages are on their way. */
struct vt_stream_along {
  enum {
    V = 1,
    BY_K = 1,
    STEP = 32,
    STAGES = 4,
    STEPS = VT_GPU_BLOCK / STEP,
    PITCH = STEP + 4,
    STAGE = 32 * PITCH,
    ROOM = STAGES * STAGE, /* of a warp */
    BESIDE = STEP / 4,     /* lanes along k */
    LINES = 32 / BESIDE
  };
  static_assert(ROOM * VT_STREAM_T / 32 == VT_GPU_STREAM_ROOM, "what a launch asks for");
  float *ring;
  const float *from;
  int64_t across;
  int lines; /* columns from this lane's first on */

  __device__ __forceinline__ int column() { return (int)threadIdx.x; }

  __device__ __forceinline__ void send(int step) {
    const int lane = (int)threadIdx.x & 31;
    float *to = ring + step % STAGES * STAGE + lane / BESIDE * PITCH + lane % BESIDE * 4;
    VT_UNROLL
    for (int r = 0; r < 32; r += LINES)
      if (step < STEPS) vt_ahead_16(to + r * PITCH, from + r * across, r < lines);
    from += STEP;
    vt_ahead_close();
  }

  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b, const vt_few_here &h,
                                        float *room) {
    const int lane = (int)threadIdx.x & 31, first = (int)threadIdx.x - lane;
    ring = room + first / 32 * ROOM;
    across = h.columns == 1 ? 0 : s.across; /* of one column it may be anything */
    from = b + (first + lane / BESIDE) * across + lane % BESIDE * 4;
    lines = h.columns - first - lane / BESIDE;
    VT_UNROLL
    for (int step = 0; step < STAGES - 1; step++) send(step);
  }
  __device__ __forceinline__ void run(const float *x, float (&p)[V]) {
    const float *column = ring + ((int)threadIdx.x & 31) * PITCH;
    VT_UNROLL
    for (int step = 0; step < STEPS; step++) {
      vt_ahead_wait<STAGES - 2>();
      __syncwarp();
      send(step + STAGES - 1);
      VT_UNROLL
      for (int k = 0; k < STEP; k += 4) {
        float v[4], w[4];
        vt_gemm_get(x + step * STEP + k, v);
        vt_gemm_get(column + step % STAGES * STAGE + k, w);
        VT_UNROLL
        for (int q = 0; q < 4; q++) p[0] = __fmaf_rn(v[q], w[q], p[0]);
      }
    }
  }
};

template <class S, class End>
VT_GPU_FN void vt_stream(const vt_gpu_gemm &g, const End &end) {
  const vt_few_here h = vt_few_place<S::BY_K != 0, S::V * VT_STREAM_T>(g);
  const float *a = vt_few_a(g, h);
  float *x = vt_shared<float>(), p[S::V] = {};
  S s;
  s.begin(g.b, vt_few_b(g, h), h, x + VT_GPU_BLOCK);
  /* Every k of the block is there. */
  for (int k = (int)threadIdx.x; k < VT_GPU_BLOCK; k += VT_STREAM_T) x[k] = a[k * g.a.along];
  __syncthreads();
  s.run(x, p);
  VT_UNROLL
  for (int c = 0; c < S::V; c++) vt_few_give(g, h, 0, s.column() + c, p[c], end);
  vt_few_end<4>(g, h, end);
}
#endif
