/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.cuh - rows without gaps that are read once: a warp has a chunk of its row in registers,
 * a lane every 32nd element, as S has them. Short rows have a warp each, others a block, whose
 * warps tell each other the results of their chunks. */
#ifndef VT_GPU_ROWS_CUH
#define VT_GPU_ROWS_CUH
#include "gpu_lanes.cuh"
#include "gpu_rows.h"

struct vt_row {
  const float *x; /* of this warp's chunk */
  float *y;
  int64_t line, first;
  int count; /* elements of the chunk */
};

VT_GPU_FN int vt_lane() { return (int)threadIdx.x % VT_GPU_LANES; }
VT_GPU_FN int vt_warp() { return (int)threadIdx.x / VT_GPU_LANES; }
VT_GPU_FN int vt_warps() { return (int)blockDim.x / VT_GPU_LANES; }

VT_GPU_FN vt_row vt_row_of(const vt_gpu_rows &a, int64_t line, int64_t chunk) {
  int64_t at[2];
  vt_places<2>(a.lines, line, at);
  const int64_t first = chunk * VT_GPU_CHUNK, left = a.n - first;
  return vt_row{(const float *)a.x + at[0] + first, (float *)a.y + at[1] + first, line, first,
                left < VT_GPU_CHUNK ? (int)left : VT_GPU_CHUNK};
}

/* Number k of a lane is element k*32 + lane of a chunk or a stretch; it is there, or not. The first
 * FULL of each lane always are, which saves the question. */
template <int FULL>
struct vt_present {
  int count;
  __device__ __forceinline__ bool at(int k) const {
    return k < FULL || k * VT_GPU_LANES + vt_lane() < count;
  }
};
enum { VT_ROW_QUARTER = VT_GPU_LANES / 4 }; /* elements of a lane */
VT_GPU_FN int vt_row_at(int k) { return k * VT_GPU_LANES + vt_lane(); }

/* `none` where there is no such element. */
template <int STEPS, class P>
VT_GPU_FN void vt_row_load(const float *x, P there, float none, float (&v)[STEPS]) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) v[k] = there.at(k) ? x[vt_row_at(k)] : none;
}

VT_GPU_FN float vt_lanes_most(float m) {
  VT_UNROLL
  for (int h = VT_GPU_LANES / 2; h > 0; h /= 2) m = max(m, __shfl_xor_sync(0xffffffffu, m, h));
  return m;
}

/* What the warps of a block have each, given to all of them; 32 warps at most. `room` is used again
 * only when the warps have met somewhere else in between. */
VT_GPU_FN float vt_warps_most(float m, int warps, float *room) {
  if (warps == 1) return m;
  if (vt_lane() == 0) room[vt_warp()] = m;
  __syncthreads();
  return vt_lanes_most(vt_lane() < warps ? room[vt_lane()] : m);
}
/* S of the results of chunks: each of them is in a lane of its own. */
VT_GPU_FN float vt_warps_sum(float s, int warps, float *room) {
  if (warps == 1) return s;
  if (vt_lane() == 0) room[vt_warp()] = s;
  __syncthreads();
  return vt_lanes_join<vt_way_sum<float>>(vt_lane() < warps ? 0.0f + room[vt_lane()] : 0.0f);
}
/* S of the results of up to 1024 chunks, which lie in shared memory. */
VT_GPU_FN float vt_chunks_sum(const float *part, int chunks) {
  float s = 0;
  for (int c = vt_lane(); c < chunks; c += VT_GPU_LANES) s = s + part[c];
  return vt_lanes_join<vt_way_sum<float>>(s);
}

/* ---- long rows: the first chunks stay in shared memory, the others are read again ---- */

VT_GPU_FN int vt_row_chunks(const vt_gpu_rows &a) {
  return (int)((a.n + VT_GPU_CHUNK - 1) / VT_GPU_CHUNK);
}

/* The chunks of this warp that stay, on their way to `kept`; zeros where a row has ended. Each
 * thread keeps for itself, so that nobody waits for another. */
VT_GPU_FN void vt_row_send(const vt_gpu_rows &a, const vt_row &row, float *kept) {
  for (int c = vt_warp(); c < (int)a.keep; c += vt_warps()) {
    const int64_t first = (int64_t)c * VT_GPU_CHUNK;
    VT_UNROLL
    for (int k = 0; k < VT_GPU_LANES; k++) {
      const int64_t i = first + vt_row_at(k);
      vt_ahead_4(kept + i, row.x + i, i < a.n);
    }
  }
  vt_ahead_close();
}
/* Waits for them, and puts `none` where the row has ended. */
VT_GPU_FN void vt_row_receive(const vt_gpu_rows &a, float *kept, float none) {
  const int last = vt_row_chunks(a) - 1;
  vt_ahead_wait<0>();
  if (last >= (int)a.keep || last % vt_warps() != vt_warp()) return;
  for (int64_t i = (int64_t)last * VT_GPU_CHUNK + vt_lane(); i < (last + 1) * VT_GPU_CHUNK;
       i += VT_GPU_LANES)
    if (i >= a.n) kept[i] = none;
}

/* What is computed on chip leaves memory idle: the row that a block will have when those at work
 * are done is brought nearer. */
VT_GPU_FN void vt_row_hint(const vt_gpu_rows &a, int64_t line) {
  enum { LINE = 128 / sizeof(float) };
  if (line + a.at_work >= a.lines.n) return;
  const float *x = vt_row_of(a, line + a.at_work, 0).x;
  for (int64_t i = (int64_t)threadIdx.x * LINE; i < a.n; i += (int64_t)blockDim.x * LINE)
    vt_hint_128(x + i);
}

/* A stretch is what a warp takes at once: N elements a lane, a part of a chunk. f is called for
 * those of this warp, in order, with the chunk, where the stretch begins, and which are there. */
template <int N, class F>
VT_GPU_FN void vt_row_stretches(const vt_gpu_rows &a, F f) {
  enum { EACH = N * VT_GPU_LANES };
  for (int c = vt_warp(); c < vt_row_chunks(a); c += vt_warps())
    for (int in = 0; in < VT_GPU_CHUNK; in += EACH) {
      const int64_t first = (int64_t)c * VT_GPU_CHUNK + in, left = a.n - first;
      if (left >= EACH) {
        f(c, first, vt_present<N>{EACH});
      } else {
        f(c, first, vt_present<0>{left < 0 ? 0 : (int)left});
      }
    }
}
VT_GPU_FN bool vt_stretch_stays(const vt_gpu_rows &a, int64_t first) {
  return first < (int64_t)a.keep * VT_GPU_CHUNK;
}
template <int N>
VT_GPU_FN void vt_stretch_keep(float *kept, int64_t first, const float (&v)[N]) {
  VT_UNROLL
  for (int k = 0; k < N; k++) kept[first + vt_row_at(k)] = v[k];
}
template <int N, class P>
VT_GPU_FN void vt_stretch_load(const vt_gpu_rows &a, const vt_row &row, const float *kept,
                               int64_t first, P there, float none, float (&v)[N]) {
  if (!vt_stretch_stays(a, first)) {
    vt_row_load<N>(row.x + first, there, none, v);
    return;
  }
  VT_UNROLL
  for (int k = 0; k < N; k++) v[k] = kept[first + vt_row_at(k)];
}

/* S of each chunk, of what `sum` adds of a stretch to what it is given, into `part`. */
template <int N, class F>
VT_GPU_FN void vt_row_sums(const vt_gpu_rows &a, float *part, F sum) {
  float s = 0;
  vt_row_stretches<N>(a, [&](int c, int64_t first, auto there) {
    s = sum(first, there, first % VT_GPU_CHUNK == 0 ? 0.0f : s);
    if ((first + N * VT_GPU_LANES) % VT_GPU_CHUNK != 0) return;
    const float all = vt_lanes_join<vt_way_sum<float>>(s);
    if (vt_lane() == 0) part[c] = all;
  });
}
#endif
