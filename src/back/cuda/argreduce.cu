// SPDX-License-Identifier: Apache-2.0
// argreduce.cu - argmin and argmax along lines, and cumulative sums. A line is the elements of
// one result. Few long lines are cut into spans, which are reduced separately. The best element
// of a line is its extreme at the lowest position. A chunk is 1024 elements, as in the summation
// order S of docs/numerics.md; its carry is the sum of the chunks before it.
#include "gpu_lanes.cuh"

/* ---- argmin and argmax: the highest key, and of equal keys the lowest position ---- */

struct best_element {
  uint64_t key;
  int64_t place;
};
VT_GPU_FN best_element better_of(best_element a, best_element b) {
  return b.key > a.key || (b.key == a.key && b.place < a.place) ? b : a;
}
VT_GPU_FN best_element best_of_warp(best_element b) {
  for (int h = VT_GPU_LANES / 2; h > 0; h /= 2) {
    best_element other;
    other.key = __shfl_xor_sync(0xffffffffu, b.key, h);
    other.place = __shfl_xor_sync(0xffffffffu, b.place, h);
    b = better_of(b, other);
  }
  return b;
}
VT_GPU_FN void store_best(const vt_gpu_argreduce &a, int64_t line, int64_t span,
                          best_element best) {
  int64_t at[2];
  if (a.spans > 1) {
    a.key[line * a.spans + span] = best.key;
    a.place[line * a.spans + span] = best.place;
  } else {
    vt_offsets<2>(a.lines, line, at);
    a.y[at[1]] = best.place;
  }
}

/* Finds the best of the elements first, first + step, ... of a span. The start value has key 0, as
 * a real element may have, but loses to it because its position is INT64_MAX. */
template <class T>
VT_GPU_FN best_element best_of_span(const vt_gpu_argreduce &a, int64_t line, int64_t span,
                                    int first, int step) {
  const int64_t from = span * a.span, end = a.n - from < a.span ? a.n : from + a.span;
  best_element b = {0, INT64_MAX};
  int64_t at[2], along[1];
  vt_offsets<2>(a.lines, line, at);
  const T *x = (const T *)a.x + at[0];
  for (int64_t i = from + first; i < end; i += step) {
    vt_offsets<1>(a.along, i, along);
    const T v = x[along[0]];
    const uint64_t key = a.least ? vt_lane_of<T>::low(v) : vt_lane_of<T>::high(v);
    if (key > b.key || b.place == INT64_MAX) b = best_element{key, i};
  }
  return b;
}

template <class T>
VT_GPU_FN void argreduce_by_warps(const vt_gpu_argreduce &a) {
  const int64_t items = a.lines.n * a.spans, warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  const int lane = (int)threadIdx.x % VT_GPU_LANES;
  for (int64_t item = vt_gpu_first_item() / VT_GPU_LANES; item < items; item += warp_stride) {
    const int64_t line = item / a.spans, span = item - line * a.spans;
    const best_element b = best_of_warp(best_of_span<T>(a, line, span, lane, VT_GPU_LANES));
    if (lane == 0) store_best(a, line, span, b);
  }
}
template <class T>
VT_GPU_FN void argreduce_by_threads(const vt_gpu_argreduce &a) {
  for (int64_t item = vt_gpu_first_item(); item < a.lines.n * a.spans;
       item += vt_gpu_grid_stride()) {
    const int64_t span = item / a.lines.n, line = item - span * a.lines.n;
    store_best(a, line, span, best_of_span<T>(a, line, span, 0, 1));
  }
}

VT_KERNEL(argreduce_lines_f32, vt_gpu_argreduce, 256) { argreduce_by_warps<float>(a); }
VT_KERNEL(argreduce_lines_f64, vt_gpu_argreduce, 256) { argreduce_by_warps<double>(a); }
VT_KERNEL(argreduce_lines_i8, vt_gpu_argreduce, 256) { argreduce_by_warps<int8_t>(a); }
VT_KERNEL(argreduce_lines_u8, vt_gpu_argreduce, 256) { argreduce_by_warps<uint8_t>(a); }
VT_KERNEL(argreduce_lines_i32, vt_gpu_argreduce, 256) { argreduce_by_warps<int32_t>(a); }
VT_KERNEL(argreduce_lines_i64, vt_gpu_argreduce, 256) { argreduce_by_warps<int64_t>(a); }

VT_KERNEL(argreduce_columns_f32, vt_gpu_argreduce, 256) { argreduce_by_threads<float>(a); }
VT_KERNEL(argreduce_columns_f64, vt_gpu_argreduce, 256) { argreduce_by_threads<double>(a); }
VT_KERNEL(argreduce_columns_i8, vt_gpu_argreduce, 256) { argreduce_by_threads<int8_t>(a); }
VT_KERNEL(argreduce_columns_u8, vt_gpu_argreduce, 256) { argreduce_by_threads<uint8_t>(a); }
VT_KERNEL(argreduce_columns_i32, vt_gpu_argreduce, 256) { argreduce_by_threads<int32_t>(a); }
VT_KERNEL(argreduce_columns_i64, vt_gpu_argreduce, 256) { argreduce_by_threads<int64_t>(a); }

/* Finds the best element of each line among the best elements of its spans. */
VT_KERNEL(argreduce_spans, vt_gpu_argreduce, 256) {
  const int64_t warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  const int lane = (int)threadIdx.x % VT_GPU_LANES;
  for (int64_t line = vt_gpu_first_item() / VT_GPU_LANES; line < a.lines.n; line += warp_stride) {
    best_element b = {0, INT64_MAX};
    for (int64_t s = lane; s < a.spans; s += VT_GPU_LANES)
      b = better_of(b, best_element{a.key[line * a.spans + s], a.place[line * a.spans + s]});
    b = best_of_warp(b);
    int64_t at[2];
    vt_offsets<2>(a.lines, line, at);
    if (lane == 0) a.y[at[1]] = b.place;
  }
}

/* ---- cumulative sums: a within a row of 32, plus b of the rows before, plus the carry of the
 * chunks before ---- */

enum { CUMSUM_THREADS = 128 };

/* Each lane of a warp passes the sum of one row of a chunk; returns the sum of the rows before this
 * lane's row. */
template <class C>
VT_GPU_FN C sum_of_rows_before(C sum) {
  const int lane = (int)threadIdx.x % VT_GPU_LANES;
  C b = (C)0;
  for (int r = 0; r < VT_GPU_LANES - 1; r++) {
    const C of_row = __shfl_sync(0xffffffffu, sum, r);
    b = lane > r ? b + of_row : b;
  }
  return b;
}

/* A chunk in a warp's shared memory; each row of 32 has a pad of one element to avoid bank
 * conflicts. */
enum { PADDED_CHUNK = VT_GPU_LANES * (VT_GPU_LANES + 1) };
VT_GPU_FN int padded_index(int i) { return i + i / VT_GPU_LANES; }

template <class T, class C>
VT_GPU_FN void load_padded_chunk(const vt_gpu_cumsum &a, const T *x, int64_t first, C *shared) {
  const int count = a.n - first < VT_GPU_CHUNK ? (int)(a.n - first) : VT_GPU_CHUNK;
  for (int i = (int)threadIdx.x % VT_GPU_LANES; i < VT_GPU_CHUNK; i += VT_GPU_LANES) {
    int64_t at[1];
    vt_offsets<1>(a.along, first + (i < count ? i : 0), at);
    shared[padded_index(i)] = i < count ? (C)x[at[0]] : (C)0;
  }
}

template <class T, class C>
VT_GPU_FN void store_cumsum_chunk(const vt_gpu_cumsum &a, T *y, int64_t first, const C *shared) {
  const int count = a.n - first < VT_GPU_CHUNK ? (int)(a.n - first) : VT_GPU_CHUNK;
  for (int i = (int)threadIdx.x % VT_GPU_LANES; i < count; i += VT_GPU_LANES) {
    int64_t at[2];
    if (first + i + a.late >= a.n) continue;
    vt_offsets<2>(a.along, first + i + a.late, at);
    y[at[1]] = (T)shared[padded_index(i)];
  }
}

/* Replaces the elements of a chunk by their cumulative sums b + a; returns the last one. A shorter
 * chunk is padded by 0, which changes no sum. */
template <class C>
VT_GPU_FN C cumsum_chunk(C *shared) {
  C *row = shared + (int)threadIdx.x % VT_GPU_LANES * (VT_GPU_LANES + 1), s = (C)0;
  for (int k = 0; k < VT_GPU_LANES; k++) row[k] = s = s + row[k];
  const C b = sum_of_rows_before<C>(s);
  for (int k = 0; k < VT_GPU_LANES; k++) row[k] = b + row[k];
  return __shfl_sync(0xffffffffu, b + s, VT_GPU_LANES - 1);
}

/* The first pass (`last_pass` is false) writes the sum of each chunk to a.carry. The last pass adds
 * the carry of each chunk to its cumulative sums and writes them to y. */
template <class T>
VT_GPU_FN void cumsum_pass(const vt_gpu_cumsum &a, bool last_pass) {
  typedef typename vt_lane_of<T>::acc C;
  __shared__ C rooms[CUMSUM_THREADS / VT_GPU_LANES][PADDED_CHUNK];
  C *shared = rooms[threadIdx.x / VT_GPU_LANES];
  const int64_t items = a.lines.n * a.chunks, warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  const int lane = (int)threadIdx.x % VT_GPU_LANES;
  for (int64_t item = vt_gpu_first_item() / VT_GPU_LANES; item < items; item += warp_stride) {
    const int64_t line = item / a.chunks, first = (item - line * a.chunks) * VT_GPU_CHUNK;
    int64_t at[2], place[2];
    vt_offsets<2>(a.lines, line, at);
    __syncwarp();
    load_padded_chunk<T, C>(a, (const T *)a.x + at[0], first, shared);
    __syncwarp();
    const C sum = cumsum_chunk<C>(shared);
    if (!last_pass) {
      if (lane == 0) ((T *)a.carry)[item] = (T)sum;
      continue;
    }
    const C carry = a.carry == nullptr ? (C)0 : (C)((const T *)a.carry)[item];
    C *row = shared + lane * (VT_GPU_LANES + 1);
    for (int k = 0; k < VT_GPU_LANES; k++) row[k] = carry + row[k];
    __syncwarp();
    store_cumsum_chunk<T, C>(a, (T *)a.y + at[1], first, shared);
    if (a.late && first == 0 && lane == 0) {
      vt_offsets<2>(a.along, 0, place);
      ((T *)a.y)[at[1] + place[1]] = (T)0;
    }
  }
}

/* Replaces the sum of each chunk in a.carry by the chunk's carry. The carry of the next chunk is
 * this carry plus this sum, which is also the result for the chunk's last element. */
template <class T>
VT_GPU_FN void replace_sums_by_carries(const vt_gpu_cumsum &a) {
  typedef typename vt_lane_of<T>::acc C;
  for (int64_t line = vt_gpu_first_item(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    T *p = (T *)a.carry + line * a.chunks;
    C carry = (C)0;
    for (int64_t c = 0; c < a.chunks; c++) {
      const C next = carry + (C)p[c];
      p[c] = (T)carry;
      carry = next;
    }
  }
}

VT_KERNEL(cumsum_chunks_f32, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<float>(a, false); }
VT_KERNEL(cumsum_chunks_f64, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<double>(a, false); }
VT_KERNEL(cumsum_chunks_i8, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int8_t>(a, false); }
VT_KERNEL(cumsum_chunks_u8, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<uint8_t>(a, false); }
VT_KERNEL(cumsum_chunks_i32, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int32_t>(a, false); }
VT_KERNEL(cumsum_chunks_i64, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int64_t>(a, false); }

VT_KERNEL(cumsum_carry_f32, vt_gpu_cumsum, 128) { replace_sums_by_carries<float>(a); }
VT_KERNEL(cumsum_carry_f64, vt_gpu_cumsum, 128) { replace_sums_by_carries<double>(a); }
VT_KERNEL(cumsum_carry_i8, vt_gpu_cumsum, 128) { replace_sums_by_carries<int8_t>(a); }
VT_KERNEL(cumsum_carry_u8, vt_gpu_cumsum, 128) { replace_sums_by_carries<uint8_t>(a); }
VT_KERNEL(cumsum_carry_i32, vt_gpu_cumsum, 128) { replace_sums_by_carries<int32_t>(a); }
VT_KERNEL(cumsum_carry_i64, vt_gpu_cumsum, 128) { replace_sums_by_carries<int64_t>(a); }

VT_KERNEL(cumsum_f32, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<float>(a, true); }
VT_KERNEL(cumsum_f64, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<double>(a, true); }
VT_KERNEL(cumsum_i8, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int8_t>(a, true); }
VT_KERNEL(cumsum_u8, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<uint8_t>(a, true); }
VT_KERNEL(cumsum_i32, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int32_t>(a, true); }
VT_KERNEL(cumsum_i64, vt_gpu_cumsum, CUMSUM_THREADS) { cumsum_pass<int64_t>(a, true); }
