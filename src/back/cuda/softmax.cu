// SPDX-License-Identifier: Apache-2.0
// softmax.cu - softmax and log_softmax of rows in registers or shared memory, and the separate
// kernels of these and of logsumexp for any tensor.
//
// m = max x ignores NaN and is either zero if both zeros are greatest. A NaN makes the sum NaN
// whatever m is. If both zeros are greatest the sum is 2 or more, so the sign of m does not show.
#include "gpu_exp.cuh"
#include "gpu_reductions.cuh"
#include "gpu_rows.cuh"

enum { FEW = 8 }; /* elements per lane at a time where more would need too many registers */

/* ---- e^(x - m) of a part of a row ---- */

/* v[at] = x for an index known only at run time; a select per element keeps v in registers. */
template <int STEPS>
VT_GPU_FN void put_at(float (&v)[STEPS], int at, float x) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) v[k] = k == at ? x : v[k];
}
/* Recomputes the few elements that the quick phase left undecided, reading x again. Bit k of `open`
 * is element STEPS-1-k. */
template <int STEPS>
VT_GPU_FN void exp_open(uint32_t open, const float *x, float m, float (&v)[STEPS]) {
  while (open != 0) {
    const int bit = 31 - __clz((int)open), k = STEPS - 1 - bit;
    put_at<STEPS>(v, k, vt_both_exp(x[vt_row_at(k)] - m));
    open ^= 1u << bit;
  }
}

/* Handles elements far below m, and NaN: their exp is 0 or left to the accurate phase. Returns bits
 * of the latter. Works on a few elements at a time to save registers. */
template <int STEPS, class P>
VT_GPU_FN uint32_t exp_far(const float *x, P there, float m, float (&v)[STEPS]) {
  uint32_t open = 0;
  VT_LOOP
  for (int first = 0; first < STEPS; first += FEW) {
    const float *mine = vt_row_mine(x) + first * VT_GPU_LANES;
    float d[FEW];
    VT_UNROLL
    for (int k = 0; k < FEW; k++)
      d[k] = (there.at(first + k) ? mine[k * VT_GPU_LANES] : -INFINITY) - m;
    VT_UNROLL
    for (int k = 0; k < STEPS; k++)
      v[k] = ((k / FEW * FEW == first) & (d[k % FEW] < VT_EXP_ZERO)) ? 0.0f : v[k];
    VT_UNROLL
    for (int k = 0; k < FEW; k++)
      open = 2 * open +
             (uint32_t)(there.at(first + k) & !(d[k] < VT_EXP_ZERO) & !(d[k] >= VT_EXP_LEAST));
  }
  return open;
}

/* Replaces v by the exponentials; absent elements give +0. Returns true if some of them may be
 * below 2^-100 without being 0. */
template <int STEPS, class P>
VT_GPU_FN bool exp_chunk(vt_exp_entry table, const float *x, P there, float m, float (&v)[STEPS]) {
  bool far = false;
  uint32_t open = 0, below = 0;
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    float e;
    const float d = v[k] - m;
    const uint32_t unsettled = vt_exp_usual(table, max(d, VT_EXP_LEAST), e);
    far |= there.at(k) & !(d >= VT_EXP_LEAST);
    open = 2 * open + (there.at(k) ? unsettled : 0);
    v[k] = there.at(k) ? e : 0.0f;
  }
  if (far) below = exp_far<STEPS>(x, there, m, v);
  exp_open<STEPS>(open | below, x, m, v);
  return below != 0;
}

template <int STEPS>
VT_GPU_FN float lane_sum(const float (&v)[STEPS], float s) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) s = s + v[k];
  return s;
}

/* ---- results from exponentials ---- */

/* Divides by the sum. For 1 <= sum < 2^24, r is the f32 nearest to 1/sum, so e*r is within 1.5
 * units in the last place of e/sum, and after one correction within 0.6; by Markstein's theorem the
 * next correction gives the rounded quotient. The remainders are exact while e is 0 or not below
 * 2^-100. A NaN sum gives NaN. */
struct shares {
  float sum, r;
  bool tiny; /* there may be an e between 0 and 2^-100, so real divisions are needed */

  __device__ __forceinline__ float of(float e) const {
    float q = e * r;
    q = __fmaf_rn(__fmaf_rn(-q, sum, e), r, q);
    return __fmaf_rn(__fmaf_rn(-q, sum, e), r, q);
  }
};
VT_GPU_FN shares shares_of(float sum, bool tiny) { return shares{sum, 1.0f / sum, tiny}; }

template <int STEPS, class P>
VT_GPU_FN void share_chunk(const float (&v)[STEPS], const shares &s, float *y, P there) {
  float *const mine = vt_row_mine(y);
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
VT_GPU_FN void lower_chunk(const float (&v)[STEPS], float m, float l, float *y, P there) {
  float *const mine = vt_row_mine(y);
  VT_UNROLL
  for (int k = 0; k < STEPS; k++)
    if (there.at(k)) mine[k * VT_GPU_LANES] = (v[k] - m) - l;
}

/* ---- rows in registers ---- */

template <int STEPS>
VT_GPU_FN float most_of(const float (&v)[STEPS]) {
  float m = v[0];
  VT_UNROLL
  for (int k = 1; k < STEPS; k++) m = max(m, v[k]);
  return vt_lanes_most(m);
}

/* Computes the exponentials of a lane and their sum. They replace the elements, unless LOGS needs
 * those again; then the exponentials are computed a few at a time to save registers. */
template <int STEPS, int FULL, bool LOGS>
VT_GPU_FN float exp_row(vt_exp_entry table, const vt_row &row, float m, float (&v)[STEPS],
                        bool &tiny) {
  enum { PART = LOGS ? FEW : STEPS };
  float s = 0;
  VT_UNROLL
  for (int first = 0; first < STEPS; first += PART) {
    const float *x = row.x + first * VT_GPU_LANES;
    const int left = row.count - first * VT_GPU_LANES;
    float e[PART];
    VT_UNROLL
    for (int k = 0; k < PART; k++) e[k] = v[first + k];
    if (first + PART <= FULL) {
      tiny |= exp_chunk<PART>(table, x, vt_present<PART>{left}, m, e);
    } else {
      tiny |= exp_chunk<PART>(table, x, vt_present<(LOGS ? 0 : FULL)>{left}, m, e);
    }
    VT_UNROLL
    for (int k = 0; k < PART; k++) v[first + k] = LOGS ? v[first + k] : e[k];
    s = lane_sum<PART>(e, s);
  }
  return s;
}

template <int STEPS, int FULL, bool LOGS>
VT_GPU_FN void softmax_row(const vt_row &row, vt_exp_entry table, int warps, float *room) {
  const vt_present<FULL> there = {row.count};
  bool tiny = false;
  float v[STEPS];
  vt_row_load<STEPS>(row.x, there, -INFINITY, v);
  const float m = vt_warps_most(most_of<STEPS>(v), warps, room);
  const float s = exp_row<STEPS, FULL, LOGS>(table, row, m, v, tiny);
  const float sum =
      vt_warps_sum(vt_lanes_join<vt_reducer_sum<float>>(s), warps, room + VT_GPU_LANES);
  if (LOGS) {
    lower_chunk<STEPS>(v, m, vt_both_log(sum), row.y, there);
  } else {
    share_chunk<STEPS>(v, shares_of(sum, tiny), row.y, there);
  }
}

/* One warp per row. All of the row except the last quarter of its steps is full. */
template <int STEPS, bool LOGS>
VT_GPU_FN void softmax_warps(const vt_gpu_rows &a) {
  const vt_exp_entry table = vt_exp_ready();
  const int64_t apart = vt_gpu_grid_stride() / VT_GPU_LANES;
  for (int64_t line = vt_gpu_first() / VT_GPU_LANES; line < a.lines.n; line += apart)
    softmax_row<STEPS, STEPS - VT_ROW_QUARTER, LOGS>(vt_row_of(a, line, 0), table, 1, nullptr);
}
/* One thread block per row, one warp per chunk. */
template <int FULL, bool LOGS>
VT_GPU_FN void softmax_chunks(const vt_gpu_rows &a, float *room) {
  const vt_exp_entry table = vt_exp_ready();
  for (int64_t line = blockIdx.x; line < a.lines.n; line += gridDim.x)
    softmax_row<VT_GPU_LANES, FULL, LOGS>(vt_row_of(a, line, vt_warp()), table, vt_warps(), room);
}
template <bool LOGS>
VT_GPU_FN void softmax_whole(const vt_gpu_rows &a) {
  __shared__ float room[2 * VT_GPU_LANES];
  if (a.n % VT_GPU_CHUNK == 0) {
    softmax_chunks<VT_GPU_LANES, LOGS>(a, room);
  } else {
    softmax_chunks<0, LOGS>(a, room);
  }
}

VT_KERNEL(softmax_8, vt_gpu_rows, 128) { softmax_warps<8, false>(a); }
VT_KERNEL(softmax_16, vt_gpu_rows, 128) { softmax_warps<16, false>(a); }
VT_KERNEL(softmax_24, vt_gpu_rows, 128) { softmax_warps<24, false>(a); }
VT_KERNEL_RESIDENT(softmax_32, vt_gpu_rows, 128, 7) { softmax_warps<32, false>(a); }
VT_KERNEL_RESIDENT(softmax_block, vt_gpu_rows, VT_GPU_ROW_THREADS, 4) { softmax_whole<false>(a); }
VT_KERNEL(log_softmax_8, vt_gpu_rows, 128) { softmax_warps<8, true>(a); }
VT_KERNEL(log_softmax_16, vt_gpu_rows, 128) { softmax_warps<16, true>(a); }
VT_KERNEL(log_softmax_24, vt_gpu_rows, 128) { softmax_warps<24, true>(a); }
VT_KERNEL_RESIDENT(log_softmax_32, vt_gpu_rows, 128, 7) { softmax_warps<32, true>(a); }
VT_KERNEL_RESIDENT(log_softmax_block, vt_gpu_rows, VT_GPU_ROW_THREADS, 4) {
  softmax_whole<true>(a);
}

/* ---- long rows ---- */

/* Writes the maximum of a warp's chunks to each of their entries in the exchange buffer. */
VT_GPU_FN void long_most(const vt_gpu_rows &a, const vt_team &t, const vt_row &row, float *room) {
  float m = -INFINITY;
  vt_row_stretches<FEW>(a, row, [&](auto at) {
    float v[FEW];
    vt_row_span_load(at, row, t.kept, -INFINITY, v);
    VT_UNROLL
    for (int k = 0; k < FEW; k++) m = max(m, v[k]);
  });
  m = vt_lanes_most(m);
  for (int c = vt_warp(); c < vt_row_chunks(row.count); c += vt_warps())
    if (vt_lane() == 0) room[t.chunk + c] = m;
}

/* Writes the sums of chunks to the exchange buffer. Exponentials replace the elements in shared
 * memory, unless those are needed again. Returns true if there may be tiny exponentials. */
VT_GPU_FN bool long_exps(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                         vt_exp_entry table, float m, float *room) {
  bool tiny = false;
  vt_row_sums<FEW>(a, t, row, room, [&](auto at, float s) {
    float v[FEW];
    vt_row_span_load(at, row, t.kept, -INFINITY, v);
    tiny |= exp_chunk(table, row.x + at.first, at.there, m, v);
    if (at.stays && !a.logs) vt_row_span_keep(t.kept, at.first, v);
    return lane_sum(v, s);
  });
  return tiny;
}

VT_GPU_FN void long_shares(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                           vt_exp_entry table, float m, const shares &s) {
  vt_row_stretches<FEW>(a, row, [&](auto at) {
    float v[FEW];
    vt_row_span_load(at, row, t.kept, -INFINITY, v);
    if (!at.stays) exp_chunk(table, row.x + at.first, at.there, m, v);
    share_chunk(v, s, row.y + at.first, at.there);
  });
}

VT_GPU_FN void long_logs(const vt_gpu_rows &a, const vt_team &t, const vt_row &row, float m,
                         float l) {
  vt_row_stretches<FEW>(a, row, [&](auto at) {
    float v[FEW];
    vt_row_span_load(at, row, t.kept, 0, v);
    lower_chunk(v, m, l, row.y + at.first, at.there);
  });
}

VT_KERNEL(softmax_long, vt_gpu_rows, VT_GPU_LONG_THREADS) {
  const vt_exp_entry table = vt_exp_ready();
  vt_team t = vt_team_of(a);
  for (int64_t line = t.first; line < a.lines.n; line += t.apart) {
    const vt_row row = vt_team_row(a, t, line);
    float *const first = t.room, *const second = t.room + vt_row_chunks(a.n);
    vt_row_keep(a, row, t.kept, -INFINITY);
    long_most(a, t, row, first);
    vt_team_meet(a, t.met);
    const float m = vt_chunks_most(first, vt_row_chunks(a.n));
    const bool tiny = long_exps(a, t, row, table, m, second);
    vt_team_meet(a, t.met);
    const float sum = vt_chunks_sum(second, vt_row_chunks(a.n));
    if (a.logs) {
      long_logs(a, t, row, m, vt_both_log(sum));
    } else {
      long_shares(a, t, row, table, m, shares_of(sum, tiny));
    }
  }
  vt_team_part(a, t.met);
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
  for (int64_t i = vt_gpu_first(); i < a.lines.n * a.n; i += vt_gpu_grid_stride()) {
    const int64_t up = a.beside ? i / a.lines.n : i / a.n;
    const int64_t line = a.beside ? i - up * a.lines.n : up, k = a.beside ? up : i - up * a.n;
    int64_t at[2], along[2];
    vt_places<2>(a.lines, line, at);
    vt_places<2>(a.along, k, along);
    const float d = ((const float *)a.x)[at[0] + along[0]] - ((const float *)a.shift)[line];
    const float scale = ((const float *)a.scale)[line];
    ((float *)a.y)[at[1] + along[1]] = a.logs ? d - scale : vt_both_exp(d) / scale;
  }
}

/* Replaces the sums by their logarithms; for logsumexp adds m, if it is finite, and stores the
 * result. */
VT_KERNEL(log_ends, vt_gpu_ends, 128) {
  for (int64_t line = vt_gpu_first(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    const float l = vt_both_log(((const float *)a.sum)[line]);
    if (a.y == nullptr) {
      ((float *)a.sum)[line] = l;
    } else {
      int64_t at[2];
      const float m = ((const float *)a.shift)[line];
      vt_places<2>(a.lines, line, at);
      ((float *)a.y)[at[1]] = m - m == 0.0f ? m + l : m;
    }
  }
}
