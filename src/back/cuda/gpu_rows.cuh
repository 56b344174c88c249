/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.cuh - contiguous rows in registers or shared memory. A lane holds every 32nd element
 * of a chunk in registers, as S needs them. A short row has one warp; a longer one has a thread
 * block, whose warps exchange the results of their chunks; the longest have several blocks, in
 * whose shared memory they are kept. A chunk is 1024 elements, a unit of the summation order S of
 * docs/numerics.md; a span is the part of a chunk that a warp processes at once; the blocks of a
 * row are a team. */
#ifndef VT_GPU_ROWS_CUH
#define VT_GPU_ROWS_CUH
#include "gpu_lanes.cuh"
#include "gpu_rows.h"

struct vt_row {
  const float *x; /* address of this warp's chunk, or of this block's chunks */
  float *y;
  int64_t line, first; /* number of the row; position of x in the row */
  int count;           /* number of elements, beginning with x, that the warp or block has */
};

VT_GPU_FN int vt_lane() { return (int)threadIdx.x % VT_GPU_LANES; }
VT_GPU_FN int vt_warp() { return (int)threadIdx.x / VT_GPU_LANES; }
VT_GPU_FN int vt_warp_count() { return (int)blockDim.x / VT_GPU_LANES; }

/* The part of a row that begins with chunk number `chunk`, with at most `most` elements. */
VT_GPU_FN vt_row vt_row_part_of(const vt_gpu_rows &a, int64_t line, int64_t chunk,
                                int most = VT_GPU_CHUNK) {
  int64_t at[2];
  vt_offsets<2>(a.lines, line, at);
  const int64_t first = chunk * VT_GPU_CHUNK, left = a.n - first;
  return vt_row{(const float *)a.x + at[0] + first, (float *)a.y + at[1] + first, line, first,
                left < most ? (int)left : most};
}

/* Tells whether a lane's element k, which is element k*32 + lane of a chunk or span, exists. The
 * first FULL elements of each lane always exist and are not tested. */
template <int FULL>
struct vt_present {
  int count;
  __device__ __forceinline__ bool at(int k) const {
    return k < FULL || k * VT_GPU_LANES + vt_lane() < count;
  }
};
enum { VT_ROW_QUARTER = VT_GPU_LANES / 4 }; /* elements per lane in a quarter of a chunk */
VT_GPU_FN int vt_lane_element_index(int step) { return step * VT_GPU_LANES + vt_lane(); }

/* Address of this lane's first element in p, which begins with a chunk or span. Element k is at
 * k*32 from there, a compile-time offset, so one address serves all of them. */
template <class T>
VT_GPU_FN T *vt_lane_address(T *p) {
  return p + vt_lane();
}

/* Loads STEPS elements of this lane into v; elements that do not exist get `absent_value`. */
template <int STEPS, class P>
VT_GPU_FN void vt_row_load_elements(const float *x, P there, float absent_value,
                                    float (&v)[STEPS]) {
  const float *mine = vt_lane_address(x);
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) v[k] = there.at(k) ? mine[k * VT_GPU_LANES] : absent_value;
}

VT_GPU_FN float vt_lanes_max(float m) {
  VT_UNROLL
  for (int h = VT_GPU_LANES / 2; h > 0; h /= 2) m = max(m, __shfl_xor_sync(0xffffffffu, m, h));
  return m;
}

/* Returns the maximum over the warps of a block, at most 32, to all threads. `exchange` may be
 * reused only after another barrier. */
VT_GPU_FN float vt_warps_max(float m, int warps, float *exchange) {
  if (warps == 1) return m;
  if (vt_lane() == 0) exchange[vt_warp()] = m;
  __syncthreads();
  return vt_lanes_max(vt_lane() < warps ? exchange[vt_lane()] : m);
}
/* Returns S of the partial results s of the warps, each for one chunk: the result of a warp is one
 * lane of S. */
VT_GPU_FN float vt_warps_sum(float s, int warps, float *exchange) {
  if (warps == 1) return s;
  if (vt_lane() == 0) exchange[vt_warp()] = s;
  __syncthreads();
  return vt_lanes_join<vt_reducer_sum<float>>(vt_lane() < warps ? 0.0f + exchange[vt_lane()]
                                                                : 0.0f);
}

/* Returns the factor of a norm: 1/sqrt(squares/n + eps). */
template <class T>
VT_GPU_FN T vt_norm_factor(T squares, int64_t n, double eps) {
  typedef vt_lane_of<T> of;
  return (T)1 / of::root(squares / of::count(n) + (T)eps);
}

/* ---- long rows: a team of thread blocks has a row, each block some of its chunks ---- */

/* A block's membership in a team. Its first chunks stay in shared memory; others, if any, are read
 * again. Blocks publish the results of chunks in an exchange buffer and then wait for each other.
 * Two buffers alternate, so a block never overwrites results before all blocks have read them and
 * passed one more barrier. A row has at most 2^20 elements, so positions in it are int. */
struct vt_team {
  int64_t first, row_step; /* first row of the team, and distance to the team's next row */
  int chunk;               /* this block's first chunk of each row */
  float *kept, *exchange;
  /* value of the team's counter of arrivals when the last barrier was complete */
  uint32_t arrivals;
};
VT_GPU_FN vt_team vt_team_of(const vt_gpu_rows &a) {
  const uint32_t team = blockIdx.x / a.blocks, member = blockIdx.x % a.blocks;
  float *kept = vt_shared<float>();
  return vt_team{team,
                 gridDim.x / a.blocks,
                 (int)(member * a.chunks),
                 kept,
                 a.blocks == 1 ? kept + a.keep * VT_GPU_CHUNK
                               : (float *)a.exchange + (int64_t)team * 2 * VT_GPU_CHUNK,
                 0};
}
VT_GPU_FN vt_row vt_team_row_part(const vt_gpu_rows &a, const vt_team &t, int64_t line) {
  return vt_row_part_of(a, line, t.chunk, (int)a.chunks * VT_GPU_CHUNK);
}
VT_GPU_FN int vt_chunk_count(int64_t n) { return (int)((n + VT_GPU_CHUNK - 1) / VT_GPU_CHUNK); }

/* Barrier of a team. All its blocks are resident, so they may wait for each other. */
template <class A>
VT_GPU_FN void vt_team_barrier(const A &a, uint32_t &arrivals) {
  if (a.blocks == 1) {
    __syncthreads();
  } else {
    arrivals += a.blocks;
    vt_blocks_barrier((uint32_t *)a.arrived + blockIdx.x / a.blocks, arrivals);
  }
}
/* The last block to leave resets the team's counter to 0. */
template <class A>
VT_GPU_FN void vt_team_leave(const A &a, uint32_t arrivals) {
  uint32_t *arrived = (uint32_t *)a.arrived + blockIdx.x / a.blocks;
  if (a.blocks > 1 && threadIdx.x == 0 && atomicAdd(arrived, 1u) == arrivals + a.blocks - 1)
    *arrived = 0;
}

/* Return the maximum, and S, of the results of chunks in an exchange buffer. */
VT_GPU_FN float vt_chunks_max(const float *exchange, int chunks) {
  float m = -INFINITY;
  for (int c = vt_lane(); c < chunks; c += VT_GPU_LANES) m = max(m, exchange[c]);
  return vt_lanes_max(m);
}
VT_GPU_FN float vt_chunks_sum(const float *exchange, int chunks) {
  float s = 0;
  for (int c = vt_lane(); c < chunks; c += VT_GPU_LANES) s = s + exchange[c];
  return vt_lanes_join<vt_reducer_sum<float>>(s);
}

/* Copies those chunks of this warp that stay in shared memory to `kept`, and fills it with
 * `absent_value` after the end of the row. Each thread copies its own elements, so no barrier is
 * needed. */
VT_GPU_FN void vt_row_copy_to_shared(const vt_gpu_rows &a, const vt_row &row, float *kept,
                                     float absent_value) {
  const int chunks = min(vt_chunk_count(row.count), (int)a.keep);
  vt_async_compiler_barrier();
  for (int c = vt_warp(); c < chunks; c += vt_warp_count()) {
    const int first = c * VT_GPU_CHUNK, left = row.count - first;
    const float *from = vt_lane_address(row.x + first);
    float *to = vt_lane_address(kept + first);
    if (left >= VT_GPU_CHUNK) {
      VT_UNROLL
      for (int k = 0; k < VT_GPU_CHUNK; k += VT_GPU_LANES) vt_async_copy_4(to + k, from + k, true);
    } else {
      for (int k = 0; k < VT_GPU_CHUNK; k += VT_GPU_LANES)
        if (k + vt_lane() < left) {
          vt_async_copy_4(to + k, from + k, true);
        } else {
          to[k] = absent_value;
        }
    }
  }
  vt_async_close_group();
  vt_async_wait<0>();
  vt_async_compiler_barrier();
}

/* A span: N elements per lane, which a warp processes at once. P tells which of them exist; STAYS
 * is true if they are in shared memory. */
template <class P, bool STAYS>
struct vt_row_span {
  /* number of the span's chunk among those of the block; the span's first element in these
   * chunks */
  int chunk, first;
  P there;
  enum { stays = STAYS };
};

template <int N, bool STAYS, class F>
VT_GPU_FN void vt_for_spans_of_chunk(int chunk, int left, F f) {
  enum { EACH = N * VT_GPU_LANES };
  const int first = chunk * VT_GPU_CHUNK;
  if (left >= VT_GPU_CHUNK) {
    VT_LOOP
    for (int in = 0; in < VT_GPU_CHUNK; in += EACH)
      f(vt_row_span<vt_present<N>, STAYS>{chunk, first + in, {EACH}});
  } else {
    VT_LOOP
    for (int in = 0; in < VT_GPU_CHUNK; in += EACH)
      f(vt_row_span<vt_present<0>, STAYS>{chunk, first + in, {min(max(left - in, 0), (int)EACH)}});
  }
}

/* Calls f for the spans of all chunks of this warp, in order. */
template <int N, class F>
VT_GPU_FN void vt_for_spans_of_row(const vt_gpu_rows &a, const vt_row &row, F f) {
  VT_LOOP
  for (int c = vt_warp(); c < vt_chunk_count(row.count); c += vt_warp_count()) {
    const int left = row.count - c * VT_GPU_CHUNK;
    if (c < (int)a.keep) {
      vt_for_spans_of_chunk<N, true>(c, left, f);
    } else {
      vt_for_spans_of_chunk<N, false>(c, left, f);
    }
  }
}
template <int N>
VT_GPU_FN void vt_span_store_shared(float *kept, int first, const float (&v)[N]) {
  float *mine = vt_lane_address(kept + first);
  VT_UNROLL
  for (int k = 0; k < N; k++) mine[k * VT_GPU_LANES] = v[k];
}
template <int N, class S>
VT_GPU_FN void vt_span_load(const S &at, const vt_row &row, const float *kept, float absent_value,
                            float (&v)[N]) {
  if (S::stays) {
    vt_row_load_elements<N>(kept + at.first, vt_present<N>{}, absent_value, v);
  } else {
    vt_row_load_elements<N>(row.x + at.first, at.there, absent_value, v);
  }
}

/* Writes S of each chunk to the row's exchange buffer; sum(span, s) adds the terms of a span to the
 * lane's accumulator s. */
template <int N, class F>
VT_GPU_FN void vt_write_chunk_sums(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                   float *exchange, F sum) {
  float s = 0;
  vt_for_spans_of_row<N>(a, row, [&](auto at) {
    s = sum(at, at.first % VT_GPU_CHUNK == 0 ? 0.0f : s);
    if ((at.first + N * VT_GPU_LANES) % VT_GPU_CHUNK != 0) return;
    const float all = vt_lanes_join<vt_reducer_sum<float>>(s);
    if (vt_lane() == 0) exchange[t.chunk + at.chunk] = all;
  });
}
#endif
