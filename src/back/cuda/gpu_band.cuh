/* SPDX-License-Identifier: Apache-2.0
 * gpu_band.cuh - up to 16 rows times a large matrix whose k are whole blocks of 256 and lie side by
 * side, read as a stream like that of gpu_stream.cuh. What would take the time here are the numbers
 * that are read again on chip: the lanes of a warp are 4 x 8, and each has 4 rows of 4 columns, so
 * that what it reads is multiplied 4 times. */
#ifndef VT_GPU_BAND_CUH
#define VT_GPU_BAND_CUH
#include "gpu_stream.cuh"

struct vt_band {
  enum {
    ROWS = VT_GPU_FEW,
    R = ROWS / 4, /* of a lane */
    C = 4,
    COLUMNS = 8 * C, /* of a warp */
    STEP = 32,
    STAGES = 3,
    STEPS = VT_GPU_BLOCK / STEP,
    PITCH = STEP + 4, /* 8 lanes that read 16 bytes of a column each meet no bank */
    STAGE = COLUMNS * PITCH,
    ROOM = STAGES * STAGE,
    BESIDE = STEP / 4, /* lanes along k */
    LINES = 32 / BESIDE,
    X_PITCH = VT_GPU_BLOCK + 4
  };
  static_assert(COLUMNS * VT_STREAM_T / 32 == VT_GPU_BAND_COLUMNS &&
                    ROWS * X_PITCH + ROOM * VT_STREAM_T / 32 == VT_GPU_BAND_ROOM,
                "what a launch asks for");
  float *ring;
  const float *x, *from;
  int64_t across;
  int lines;      /* columns from this lane's first on */
  int rank, file; /* of this lane */

  __device__ __forceinline__ int lane() { return (int)threadIdx.x & 31; }
  __device__ __forceinline__ int first() { return (int)threadIdx.x / 32 * COLUMNS; }
  __device__ __forceinline__ int row(int r) { return rank + 4 * r; }
  __device__ __forceinline__ int column(int c) { return first() + file + 8 * c; }

  __device__ __forceinline__ void send(int step) {
    float *to = ring + step % STAGES * STAGE + lane() / BESIDE * PITCH + lane() % BESIDE * 4;
    VT_UNROLL
    for (int r = 0; r < COLUMNS; r += LINES)
      if (step < STEPS) vt_ahead_16(to + r * PITCH, from + r * across, r < lines);
    from += STEP;
    vt_ahead_close();
  }

  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b, const vt_few_here &h,
                                        float *room) {
    /* Neighbouring lanes share either rows or columns: two of them are served by one access. */
    rank = (lane() >> 3 & 2) | (lane() & 1);
    file = lane() >> 1 & 7;
    x = room + rank * X_PITCH;
    ring = room + ROWS * X_PITCH + (int)threadIdx.x / 32 * ROOM;
    across = h.columns == 1 ? 0 : s.across; /* of one column it may be anything */
    from = b + (first() + lane() / BESIDE) * across + lane() % BESIDE * 4;
    lines = h.columns - first() - lane() / BESIDE;
    VT_UNROLL
    for (int step = 0; step < STAGES - 1; step++) send(step);
  }

  /* Four k. */
  __device__ __forceinline__ void multiply(const float *stage, int at, int k, float (&p)[R][C]) {
    float w[C][4];
    VT_UNROLL
    for (int c = 0; c < C; c++) vt_gemm_get(stage + (file + 8 * c) * PITCH + at, w[c]);
    VT_UNROLL
    for (int r = 0; r < R; r++) {
      float v[4];
      vt_gemm_get(x + 4 * r * X_PITCH + k, v);
      VT_UNROLL
      for (int q = 0; q < 4; q++) VT_UNROLL
      for (int c = 0; c < C; c++) p[r][c] = __fmaf_rn(v[q], w[c][q], p[r][c]);
    }
  }

  __device__ __forceinline__ void run(float (&p)[R][C]) {
    VT_LOOP
    for (int step = 0; step < STEPS; step++) {
      vt_ahead_wait<STAGES - 2>();
      __syncwarp();
      send(step + STAGES - 1);
      VT_UNROLL
      for (int k = 0; k < STEP; k += 4)
        multiply(ring + step % STAGES * STAGE, k, step * STEP + k, p);
    }
  }
};

template <class End>
VT_GPU_FN void vt_band_along(const vt_gpu_gemm &g, const End &end) {
  const vt_few_here h = vt_few_place<true, VT_GPU_BAND_COLUMNS>(g);
  float *x = vt_shared<float>(), p[vt_band::R][vt_band::C] = {};
  vt_band s;
  vt_stream_rows<vt_band::ROWS, vt_band::X_PITCH>(g, vt_few_a(g, h), x);
  s.begin(g.b, vt_few_b(g, h), h, x);
  vt_ahead_wait<vt_band::STAGES - 1>();
  __syncthreads();
  s.run(p);
  VT_UNROLL
  for (int r = 0; r < vt_band::R; r++) VT_UNROLL
  for (int c = 0; c < vt_band::C; c++) vt_few_give(g, h, s.row(r), s.column(c), p[r][c], end);
}
#endif
