// SPDX-License-Identifier: Apache-2.0
// softmax.cu - softmax and log_softmax of rows in registers or shared memory, and the separate
// kernels of these and of logsumexp for any tensor. S is the summation order of docs/numerics.md;
// the quick and the accurate phase of exp are in gpu_exp.cuh; FULL elements of each lane exist in
// every row.
//
// m = max x ignores NaN and is either zero if both zeros are greatest. A NaN makes the sum NaN
// whatever m is. If both zeros are greatest the sum is 2 or more, so the sign of m does not show.
#include "gpu_exp.cuh"
#include "gpu_reductions.cuh"
#include "gpu_rows.cuh"

/* elements per lane that some functions process at a time, because more would need too many
 * registers */
enum { AT_A_TIME = 8 };

/* ---- e^(x - m) of a part of a row ---- */

/* v[at] = x for an index known only at run time; a select per element keeps v in registers. */
template <int STEPS>
VT_GPU_FN void set_element(float (&v)[STEPS], int at, float x) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) v[k] = k == at ? x : v[k];
}
/* Recomputes the few elements that the quick phase left undecided, reading x again. Bit k of `open`
 * is element STEPS-1-k. */
template <int STEPS>
VT_GPU_FN void exp_undecided(uint32_t open, const float *x, float m, float (&v)[STEPS]) {
  while (open != 0) {
    const int bit = 31 - __clz((int)open), k = STEPS - 1 - bit;
    set_element<STEPS>(v, k, vt_ff_exp(x[vt_lane_element_index(k)] - m));
    open ^= 1u << bit;
  }
}

/* Handles NaN and elements far below m. Their exp is 0, or the accurate phase must compute it:
 * returns a mask of the elements for which it must. Works on a few elements at a time to save
 * registers. */
template <int STEPS, class P>
VT_GPU_FN uint32_t exp_far_elements(const float *x, P there, float m, float (&v)[STEPS]) {
  uint32_t open = 0;
  VT_LOOP
  for (int first = 0; first < STEPS; first += AT_A_TIME) {
    const float *mine = vt_lane_address(x) + first * VT_GPU_LANES;
    float d[AT_A_TIME];
    VT_UNROLL
    for (int k = 0; k < AT_A_TIME; k++)
      d[k] = (there.at(first + k) ? mine[k * VT_GPU_LANES] : -INFINITY) - m;
    VT_UNROLL
    for (int k = 0; k < STEPS; k++)
      v[k] =
          ((k / AT_A_TIME * AT_A_TIME == first) & (d[k % AT_A_TIME] < VT_EXP_ZERO)) ? 0.0f : v[k];
    VT_UNROLL
    for (int k = 0; k < AT_A_TIME; k++)
      open = 2 * open +
             (uint32_t)(there.at(first + k) & !(d[k] < VT_EXP_ZERO) & !(d[k] >= VT_EXP_LEAST));
  }
  return open;
}

/* Replaces v by exp(v - m); elements after the end of the row give +0. Returns true if some
 * exponentials may be below 2^-100 without being 0. */
template <int STEPS, class P>
VT_GPU_FN bool exp_elements(vt_exp_entry table, const float *x, P there, float m,
                            float (&v)[STEPS]) {
  bool far = false;
  uint32_t open = 0, below = 0;
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    float e;
    const float d = v[k] - m;
    const uint32_t unsettled = vt_exp_undecided_above_least(table, max(d, VT_EXP_LEAST), e);
    far |= there.at(k) & !(d >= VT_EXP_LEAST);
    open = 2 * open + (there.at(k) ? unsettled : 0);
    v[k] = there.at(k) ? e : 0.0f;
  }
  if (far) below = exp_far_elements<STEPS>(x, there, m, v);
  exp_undecided<STEPS>(open | below, x, m, v);
  return below != 0;
}

template <int STEPS>
VT_GPU_FN float add_exps_to_lane(const float (&v)[STEPS], float s) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) s = s + v[k];
  return s;
}

/* ---- results from exponentials ---- */

/* Divides exponentials e by their sum. For 1 <= sum < 2^24, r is the f32 nearest to 1/sum. So e*r
 * is within 1.5 units in the last place of e/sum, and after one correction within 0.6; by
 * Markstein's theorem the next correction gives the rounded quotient. The remainders are exact
 * while e is 0 or not below 2^-100. A NaN sum gives NaN. */
struct quotients {
  float sum, r;
  bool tiny; /* true if an e may be between 0 and 2^-100, so that real divisions are needed */

  __device__ __forceinline__ float of(float e) const {
    float q = e * r;
    q = __fmaf_rn(__fmaf_rn(-q, sum, e), r, q);
    return __fmaf_rn(__fmaf_rn(-q, sum, e), r, q);
  }
};
VT_GPU_FN quotients prepare_quotients(float sum, bool tiny) {
  return quotients{sum, 1.0f / sum, tiny};
}

template <int STEPS, class P>
VT_GPU_FN void store_quotients(const float (&v)[STEPS], const quotients &s, float *y, P there) {
  float *const mine = vt_lane_address(y);
  if (s.tiny) {
    VT_UNROLL
    for (int k = 0; k < STEPS; k++)
      if (there.at(k)) mine[k * VT_GPU_LANES] = v[k] / s.sum;
  } else {
    VT_UNROLL
    for (int k = 0; k < STEPS; k++)
      if (there.at(k)) mine[k * VT_GPU_LANES] = s.of(v[k]);
  }
}

template <int STEPS, class P>
VT_GPU_FN void store_logs(const float (&v)[STEPS], float m, float l, float *y, P there) {
  float *const mine = vt_lane_address(y);
  VT_UNROLL
  for (int k = 0; k < STEPS; k++)
    if (there.at(k)) mine[k * VT_GPU_LANES] = (v[k] - m) - l;
}

/* ---- rows in registers ---- */

template <int STEPS>
VT_GPU_FN float max_of_warp(const float (&v)[STEPS]) {
  float m = v[0];
  VT_UNROLL
  for (int k = 1; k < STEPS; k++) m = max(m, v[k]);
  return vt_lanes_max(m);
}

/* Computes the exponentials of a lane and their sum. They replace the elements, unless LOGS needs
 * those again; then the exponentials are computed a few at a time to save registers. */
template <int STEPS, int FULL, bool LOGS>
VT_GPU_FN float exp_and_sum_lane(vt_exp_entry table, const vt_row &row, float m, float (&v)[STEPS],
                                 bool &tiny) {
  enum { PART = LOGS ? AT_A_TIME : STEPS };
  float s = 0;
  VT_UNROLL
  for (int first = 0; first < STEPS; first += PART) {
    const float *x = row.x + first * VT_GPU_LANES;
    const int left = row.count - first * VT_GPU_LANES;
    float e[PART];
    VT_UNROLL
    for (int k = 0; k < PART; k++) e[k] = v[first + k];
    if (first + PART <= FULL) {
      tiny |= exp_elements<PART>(table, x, vt_present<PART>{left}, m, e);
    } else {
      tiny |= exp_elements<PART>(table, x, vt_present<(LOGS ? 0 : FULL)>{left}, m, e);
    }
    VT_UNROLL
    for (int k = 0; k < PART; k++) v[first + k] = LOGS ? v[first + k] : e[k];
    s = add_exps_to_lane<PART>(e, s);
  }
  return s;
}

template <int STEPS, int FULL, bool LOGS>
VT_GPU_FN void softmax_row_in_registers(const vt_row &row, vt_exp_entry table, int warps,
                                        float *exchange) {
  const vt_present<FULL> there = {row.count};
  bool tiny = false;
  float v[STEPS];
  vt_row_load_elements<STEPS>(row.x, there, -INFINITY, v);
  const float m = vt_warps_max(max_of_warp<STEPS>(v), warps, exchange);
  const float s = exp_and_sum_lane<STEPS, FULL, LOGS>(table, row, m, v, tiny);
  const float sum =
      vt_warps_sum(vt_lanes_join<vt_reducer_sum<float>>(s), warps, exchange + VT_GPU_LANES);
  if (LOGS) {
    store_logs<STEPS>(v, m, vt_ff_log(sum), row.y, there);
  } else {
    store_quotients<STEPS>(v, prepare_quotients(sum, tiny), row.y, there);
  }
}

/* One warp per row. All of the row except the last quarter of its steps is full. */
template <int STEPS, bool LOGS>
VT_GPU_FN void softmax_rows_by_warp(const vt_gpu_rows &a) {
  const vt_exp_entry table = vt_exp_load_entry();
  const int64_t warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  for (int64_t line = vt_gpu_first_item() / VT_GPU_LANES; line < a.lines.n; line += warp_stride)
    softmax_row_in_registers<STEPS, STEPS - VT_ROW_QUARTER, LOGS>(vt_row_part_of(a, line, 0), table,
                                                                  1, nullptr);
}
/* One thread block per row, one warp per chunk. */
template <int FULL, bool LOGS>
VT_GPU_FN void softmax_rows_by_block(const vt_gpu_rows &a, float *exchange) {
  const vt_exp_entry table = vt_exp_load_entry();
  for (int64_t line = blockIdx.x; line < a.lines.n; line += gridDim.x)
    softmax_row_in_registers<VT_GPU_LANES, FULL, LOGS>(vt_row_part_of(a, line, vt_warp()), table,
                                                       vt_warp_count(), exchange);
}
template <bool LOGS>
VT_GPU_FN void softmax_rows_by_block_of_any_size(const vt_gpu_rows &a) {
  __shared__ float exchange[2 * VT_GPU_LANES];
  if (a.n % VT_GPU_CHUNK == 0) {
    softmax_rows_by_block<VT_GPU_LANES, LOGS>(a, exchange);
  } else {
    softmax_rows_by_block<0, LOGS>(a, exchange);
  }
}

VT_KERNEL(softmax_8, vt_gpu_rows, 128) { softmax_rows_by_warp<8, false>(a); }
VT_KERNEL(softmax_16, vt_gpu_rows, 128) { softmax_rows_by_warp<16, false>(a); }
VT_KERNEL(softmax_24, vt_gpu_rows, 128) { softmax_rows_by_warp<24, false>(a); }
VT_KERNEL_RESIDENT(softmax_32, vt_gpu_rows, 128, 7) { softmax_rows_by_warp<32, false>(a); }
VT_KERNEL_RESIDENT(softmax_block, vt_gpu_rows, VT_GPU_ROW_THREADS, 4) {
  softmax_rows_by_block_of_any_size<false>(a);
}
VT_KERNEL(log_softmax_8, vt_gpu_rows, 128) { softmax_rows_by_warp<8, true>(a); }
VT_KERNEL(log_softmax_16, vt_gpu_rows, 128) { softmax_rows_by_warp<16, true>(a); }
VT_KERNEL(log_softmax_24, vt_gpu_rows, 128) { softmax_rows_by_warp<24, true>(a); }
VT_KERNEL_RESIDENT(log_softmax_32, vt_gpu_rows, 128, 7) { softmax_rows_by_warp<32, true>(a); }
VT_KERNEL_RESIDENT(log_softmax_block, vt_gpu_rows, VT_GPU_ROW_THREADS, 4) {
  softmax_rows_by_block_of_any_size<true>(a);
}

/* ---- long rows ---- */

/* Computes the maximum over all chunks of a warp and writes it to the entry of each of these chunks
 * in the exchange buffer. */
VT_GPU_FN void write_long_row_max(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                  float *exchange) {
  float m = -INFINITY;
  vt_for_spans_of_row<AT_A_TIME>(a, row, [&](auto at) {
    float v[AT_A_TIME];
    vt_span_load(at, row, t.kept, -INFINITY, v);
    VT_UNROLL
    for (int k = 0; k < AT_A_TIME; k++) m = max(m, v[k]);
  });
  m = vt_lanes_max(m);
  for (int c = vt_warp(); c < vt_chunk_count(row.count); c += vt_warp_count())
    if (vt_lane() == 0) exchange[t.chunk + c] = m;
}

/* Writes the sums of chunks to the exchange buffer. Exponentials replace the elements in shared
 * memory, unless log_softmax needs the elements again. Returns true if some exponentials may be
 * below 2^-100 without being 0. */
VT_GPU_FN bool write_long_row_exp_sums(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                       vt_exp_entry table, float m, float *exchange) {
  bool tiny = false;
  vt_write_chunk_sums<AT_A_TIME>(a, t, row, exchange, [&](auto at, float s) {
    float v[AT_A_TIME];
    vt_span_load(at, row, t.kept, -INFINITY, v);
    tiny |= exp_elements(table, row.x + at.first, at.there, m, v);
    if (at.stays && !a.logs) vt_span_store_shared(t.kept, at.first, v);
    return add_exps_to_lane(v, s);
  });
  return tiny;
}

VT_GPU_FN void store_long_row_quotients(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                        vt_exp_entry table, float m, const quotients &s) {
  vt_for_spans_of_row<AT_A_TIME>(a, row, [&](auto at) {
    float v[AT_A_TIME];
    vt_span_load(at, row, t.kept, -INFINITY, v);
    if (!at.stays) exp_elements(table, row.x + at.first, at.there, m, v);
    store_quotients(v, s, row.y + at.first, at.there);
  });
}

VT_GPU_FN void store_long_row_logs(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                   float m, float l) {
  vt_for_spans_of_row<AT_A_TIME>(a, row, [&](auto at) {
    float v[AT_A_TIME];
    vt_span_load(at, row, t.kept, 0, v);
    store_logs(v, m, l, row.y + at.first, at.there);
  });
}

VT_KERNEL(softmax_long, vt_gpu_rows, VT_GPU_LONG_THREADS) {
  const vt_exp_entry table = vt_exp_load_entry();
  vt_team t = vt_team_of(a);
  for (int64_t line = t.first; line < a.lines.n; line += t.row_step) {
    const vt_row row = vt_team_row_part(a, t, line);
    float *const first = t.exchange, *const second = t.exchange + vt_chunk_count(a.n);
    vt_row_copy_to_shared(a, row, t.kept, -INFINITY);
    write_long_row_max(a, t, row, first);
    vt_team_barrier(a, t.arrivals);
    const float m = vt_chunks_max(first, vt_chunk_count(a.n));
    const bool tiny = write_long_row_exp_sums(a, t, row, table, m, second);
    vt_team_barrier(a, t.arrivals);
    const float sum = vt_chunks_sum(second, vt_chunk_count(a.n));
    if (a.logs) {
      store_long_row_logs(a, t, row, m, vt_ff_log(sum));
    } else {
      store_long_row_quotients(a, t, row, table, m, prepare_quotients(sum, tiny));
    }
  }
  vt_team_leave(a, t.arrivals);
}

/* ---- any tensor ---- */

struct only_exp {
  template <class F>
  static __device__ __forceinline__ float pick(uint32_t, const F &f) {
    return f.template run<vt_reducer_exp>();
  }
};
VT_KERNEL(reduce_lines_exp, vt_gpu_reduce, VT_REDUCE_THREADS) {
  vt_reduce_lines<float, only_exp>(a);
}
VT_KERNEL(reduce_columns_exp, vt_gpu_reduce, VT_REDUCE_THREADS) {
  vt_reduce_columns<float, only_exp>(a);
}

/* Computes the result of each element from m and S of its line. */
VT_KERNEL(softmax_out, vt_gpu_rows, 256) {
  for (int64_t i = vt_gpu_first_item(); i < a.lines.n * a.n; i += vt_gpu_grid_stride()) {
    const int64_t up = a.interleaved ? i / a.lines.n : i / a.n;
    const int64_t line = a.interleaved ? i - up * a.lines.n : up,
                  k = a.interleaved ? up : i - up * a.n;
    int64_t at[2], along[2];
    vt_offsets<2>(a.lines, line, at);
    vt_offsets<2>(a.along, k, along);
    const float d = ((const float *)a.x)[at[0] + along[0]] - ((const float *)a.shift)[line];
    const float scale = ((const float *)a.scale)[line];
    ((float *)a.y)[at[1] + along[1]] = a.logs ? d - scale : vt_ff_exp(d) / scale;
  }
}

/* Replaces the sums by their logarithms; for logsumexp adds m, if it is finite, and stores the
 * result. */
VT_KERNEL(softmax_logs, vt_gpu_line_factors, 128) {
  for (int64_t line = vt_gpu_first_item(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    const float l = vt_ff_log(((const float *)a.sum)[line]);
    if (a.y == nullptr) {
      ((float *)a.sum)[line] = l;
    } else {
      int64_t at[2];
      const float m = ((const float *)a.shift)[line];
      vt_offsets<2>(a.lines, line, at);
      ((float *)a.y)[at[1]] = m - m == 0.0f ? m + l : m;
    }
  }
}
