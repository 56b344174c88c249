/* SPDX-License-Identifier: Apache-2.0
 * gpu_stream.cuh - skinny GEMM of at most 4 rows with a large matrix, k being a multiple of 256.
 * The matrix is streamed: a thread has 256 k of one or two columns, and a chain for each of them
 * and each of ROWS rows; it loads the next operands while it multiplies. Threads wait for no other
 * warp. gpu_skinny.cuh turns the chains of a column into its result. */
#ifndef VT_GPU_STREAM_CUH
#define VT_GPU_STREAM_CUH
#include "gpu_skinny.cuh"

enum { VT_STREAM_T = VT_GPU_STREAM_THREADS };

/* Multiplies four k of every row with those of V columns and adds the products to the chains p. */
template <int ROWS, int V>
VT_GPU_FN void vt_stream_add_products(const float *x, const float (&w)[4][V], float (&p)[ROWS][V]) {
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) {
    float v[4];
    vt_gemm_load_16(x + r * VT_GPU_BLOCK, v);
    VT_UNROLL
    for (int q = 0; q < 4; q++) VT_UNROLL
    for (int c = 0; c < V; c++) p[r][c] = __fmaf_rn(v[q], w[q][c], p[r][c]);
  }
}

/* Reader of a matrix that is contiguous across k: two columns per thread, loaded straight to
 * registers, 16 k while the 16 before are multiplied. */
template <int ROWS>
struct vt_stream_across {
  enum { V = 2, AT_ONCE = 16, BY_K = 0, SENT = 0, TIMES = ROWS == 1 ? 8 : 1 };
  const float *from;
  int64_t line;
  float w[2][AT_ONCE / 4][4][V];

  __device__ __forceinline__ int column(int c) { return V * (int)threadIdx.x + c; }

  __device__ __forceinline__ void fetch(int into) {
    VT_UNROLL
    for (int k = 0; k < AT_ONCE; k++, from += line) vt_load_8_once(from, w[into][k / 4][k % 4]);
  }
  __device__ __forceinline__ void multiply(const float *x, int which, float (&p)[ROWS][V]) {
    VT_UNROLL
    for (int k = 0; k < AT_ONCE; k += 4) vt_stream_add_products<ROWS, V>(x + k, w[which][k / 4], p);
  }

  /* Columns outside of the matrix are read as its last ones. */
  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b,
                                        const vt_skinny_block &h, float *) {
    from = b + min(column(0), h.columns - V);
    line = s.along;
    fetch(0);
  }
  __device__ __forceinline__ void run(const float *x, float (&p)[ROWS][V]) {
#pragma unroll TIMES
    for (int k = 0; k < VT_GPU_BLOCK; k += 2 * AT_ONCE) {
      fetch(1);
      multiply(x + k, 0, p);
      if (k + 2 * AT_ONCE < VT_GPU_BLOCK) fetch(0);
      multiply(x + k + AT_ONCE, 1, p);
    }
  }
};

/* Reader of a matrix that is contiguous along k. A warp has 32 columns and STAGES stages of its own
 * in shared memory, each with 32 k of them in the order of memory. All stages but one are being
 * loaded. */
template <int STAGES>
struct vt_ring {
  enum {
    STEP = 32,
    STEPS = VT_GPU_BLOCK / STEP,
    /* floats from one column to the next in shared memory, padded so that 8 lanes that read 16
     * bytes of a column each use different banks */
    PITCH = STEP + 4,
    STAGE = 32 * PITCH,
    FLOATS = STAGES * STAGE, /* floats of shared memory per warp */
    SENT = STAGES - 1,       /* stages whose loads are issued before the first wait */
    LANES_K = STEP / 4,      /* lanes along k */
    LINES = 32 / LANES_K
  };
  float *stages;
  const float *from;
  int64_t across;
  int lines; /* number of columns from this lane's first column to the matrix's last */

  __device__ __forceinline__ int lane() { return (int)threadIdx.x & 31; }

  __device__ __forceinline__ void send(int step) {
    float *to = stages + step % STAGES * STAGE + lane() / LANES_K * PITCH + lane() % LANES_K * 4;
    VT_UNROLL
    for (int r = 0; r < 32; r += LINES)
      if (step < STEPS) vt_async_copy_16(to + r * PITCH, from + r * across, r < lines);
    from += STEP;
    vt_async_close_group();
  }

  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b,
                                        const vt_skinny_block &h, float *room) {
    const int first = (int)threadIdx.x - lane();
    stages = room + first / 32 * FLOATS;
    across = h.columns == 1 ? 0 : s.across; /* a single column may have any stride */
    from = b + (first + lane() / LANES_K) * across + lane() % LANES_K * 4;
    lines = h.columns - first - lane() / LANES_K;
    VT_UNROLL
    for (int step = 0; step < SENT; step++) send(step);
  }

  /* Calls take(w, k) for each step: w has the columns' STEP values that begin with k. */
  template <int TIMES, class F>
  __device__ __forceinline__ void run(F take) {
#pragma unroll TIMES
    for (int step = 0; step < STEPS; step++) {
      vt_async_wait<STAGES - 2>();
      __syncwarp();
      send(step + SENT);
      take(stages + step % STAGES * STAGE, step * STEP);
    }
  }
};

/* Multiplies with one column per lane. */
template <int ROWS>
struct vt_stream_along {
  typedef vt_ring<4> ring;
  enum { V = 1, BY_K = 1, SENT = ring::SENT };
  static_assert(ring::FLOATS * VT_STREAM_T / 32 == VT_GPU_STREAM_FLOATS, "what a launch asks for");
  ring r;

  __device__ __forceinline__ int column(int) { return (int)threadIdx.x; }
  __device__ __forceinline__ void begin(const vt_gpu_side &s, const float *b,
                                        const vt_skinny_block &h, float *room) {
    r.begin(s, b, h, room);
  }
  __device__ __forceinline__ void run(const float *x, float (&p)[ROWS][V]) {
    r.template run<ROWS == 1 ? (int)ring::STEPS : 1>([&](const float *columns, int k) {
      VT_UNROLL
      for (int at = 0; at < ring::STEP; at += 4) {
        float w[4][V];
        vt_gemm_load_16(columns + r.lane() * ring::PITCH + at, &w[0][0]);
        vt_stream_add_products<ROWS, V>(x + k + at, w, p);
      }
    });
  }
};

/* Copies the rows' 256 k of this block to shared memory; rows beyond the last repeat it. */
template <int ROWS, int PITCH>
VT_GPU_FN void vt_stream_copy_rows(const vt_gpu_gemm &g, const float *a, float *x) {
  const int each = g.a.by_k && g.a.wide ? 4 : 1;
#pragma unroll 4
  for (int e = each * (int)threadIdx.x; e < ROWS * VT_GPU_BLOCK; e += each * VT_STREAM_T) {
    const int i = e / VT_GPU_BLOCK, k = e % VT_GPU_BLOCK;
    const float *from = a + min(i, (int)g.m - 1) * g.a.across + k * g.a.along;
    if (each == 4) {
      vt_async_copy_16(x + i * PITCH + k, from, true);
    } else {
      vt_async_copy_4(x + i * PITCH + k, from, true);
    }
  }
  vt_async_close_group();
}

template <template <int> class Reader, int ROWS, class End>
VT_GPU_FN void vt_stream(const vt_gpu_gemm &g, const End &end) {
  typedef Reader<ROWS> reader;
  /* V: columns per thread; GROUPS: groups of slices that are loaded ahead for the final sum */
  enum { V = reader::V, GROUPS = 4 / ROWS };
  const vt_skinny_block h = vt_skinny_place_block<reader::BY_K != 0, V * VT_STREAM_T>(g);
  float *x = vt_shared<float>(), p[ROWS][V] = {};
  reader s;
  vt_stream_copy_rows<ROWS, VT_GPU_BLOCK>(g, vt_skinny_address_of_a(g, h), x);
  s.begin(g.b, vt_skinny_address_of_b(g, h), h, x + ROWS * VT_GPU_BLOCK);
  vt_async_wait<reader::SENT>();
  __syncthreads();
  s.run(x, p);
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) VT_UNROLL
  for (int c = 0; c < V; c++) vt_skinny_store(g, h, r, s.column(c), p[r][c], end);
  vt_skinny_sum_slices_if_last<GROUPS, ROWS>(g, h, end);
}
#endif
