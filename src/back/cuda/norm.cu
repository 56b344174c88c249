// SPDX-License-Identifier: Apache-2.0
// norm.cu - norms: layer_norm and others for rows in registers or shared memory, and the separate
// kernels of norms for any tensor. A chunk is 1024 elements of the summation order S of
// docs/numerics.md; a span is the part of a chunk that a warp processes at once (gpu_rows.cuh).
//
//   u = S(x)/n, or 0 when not centred; d = x - u; r = 1/sqrt(S(d*d)/n + eps);
//   ((d*r) * gamma) + beta, each if it is given.
#include "gpu_rows.cuh"

/* ---- rows in registers ---- */

/* Addresses of the numbers of gamma and beta for a row. */
struct affine {
  const float *gamma, *beta;
};
VT_GPU_FN affine gamma_and_beta_of_line(const vt_gpu_rows &a, int64_t line) {
  int64_t at[4];
  vt_offsets<4>(a.lines, line, at);
  return affine{(const float *)a.gamma + at[2], (const float *)a.beta + at[3]};
}

/* Stores results if gamma and beta have a number for each element of the row; gamma, beta and y
 * point to the first element to store. */
template <bool BETA, int STEPS, class P>
VT_GPU_FN void store_with_dense_gamma(const float (&d)[STEPS], float r, const float *gamma,
                                      const float *beta, float *y, P there) {
  const float *const g = vt_lane_address(gamma), *const b = vt_lane_address(beta);
  float *const to = vt_lane_address(y);
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    const int i = k * VT_GPU_LANES;
    if (!there.at(k)) continue;
    const float scaled = (d[k] * r) * g[i];
    to[i] = BETA ? scaled + b[i] : scaled;
  }
}

/* Like store_with_dense_gamma, but loads gamma and beta before it stores anything; the caller has
 * registers for that. */
template <int STEPS, class P>
VT_GPU_FN void store_with_preloaded_gamma(const float (&d)[STEPS], float r, const float *gamma,
                                          const float *beta, float *y, P there) {
  float g[STEPS], b[STEPS], *const to = vt_lane_address(y);
  vt_row_load_elements<STEPS>(gamma, there, 0, g);
  if (beta != nullptr) vt_row_load_elements<STEPS>(beta, there, 0, b);
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    const float scaled = (d[k] * r) * g[k];
    if (there.at(k)) to[k * VT_GPU_LANES] = beta != nullptr ? scaled + b[k] : scaled;
  }
}

/* Stores results if several elements use the same number of gamma, as those of a channel do, or if
 * there is no gamma. `first` is the position in the row of the first element to store. */
template <int STEPS, class P>
VT_GPU_FN void store_with_shared_gamma(const vt_gpu_rows &a, affine f, const float (&d)[STEPS],
                                       float r, int64_t first, float *y, P there) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    const int i = vt_lane_element_index(k);
    const int64_t channel = (uint32_t)(first + i) / a.each;
    float to = d[k] * r;
    if (!there.at(k)) continue;
    if (a.gamma != nullptr) to = to * f.gamma[channel * a.gamma_step];
    if (a.beta != nullptr) to = to + f.beta[channel * a.beta_step];
    y[i] = to;
  }
}

template <bool DENSE, int STEPS, class P>
VT_GPU_FN void scale_and_store_row(const vt_gpu_rows &a, affine f, const float (&d)[STEPS], float r,
                                   int64_t first, float *y, P there) {
  if (!DENSE) {
    store_with_shared_gamma<STEPS>(a, f, d, r, first, y, there);
  } else if (a.beta != nullptr) {
    store_with_dense_gamma<true>(d, r, f.gamma + first, f.beta + first, y, there);
  } else {
    store_with_dense_gamma<false>(d, r, f.gamma + first, nullptr, y, there);
  }
}

/* Replaces v by d = v - u and adds the squares to s. Without a mean u is 0, and x - 0 is x. Absent
 * elements count +0. */
template <int STEPS, class P>
VT_GPU_FN float centre_and_square(float (&v)[STEPS], float u, P there, float s) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) {
    v[k] = v[k] - u;
    s = s + (there.at(k) ? v[k] * v[k] : 0.0f);
  }
  return s;
}
template <int STEPS>
VT_GPU_FN float add_elements_to_lane(const float (&v)[STEPS], float s) {
  VT_UNROLL
  for (int k = 0; k < STEPS; k++) s = s + v[k];
  return s;
}

template <int STEPS, int FULL, bool DENSE>
VT_GPU_FN void norm_row_in_registers(const vt_gpu_rows &a, const vt_row &row, int warps,
                                     float *exchange) {
  typedef vt_reducer_sum<float> sum;
  const vt_present<FULL> there = {row.count};
  float v[STEPS], u = 0;
  vt_row_load_elements<STEPS>(row.x, there, 0, v);
  if (a.centred)
    u = vt_warps_sum(vt_lanes_join<sum>(add_elements_to_lane<STEPS>(v, 0)), warps, exchange) /
        __ll2float_rn(a.n);
  const float q = vt_warps_sum(vt_lanes_join<sum>(centre_and_square<STEPS>(v, u, there, 0)), warps,
                               exchange + VT_GPU_LANES);
  scale_and_store_row<DENSE>(
      a, gamma_and_beta_of_line(a, row.line), v, vt_norm_factor<float>(q, a.n, a.eps), row.first,
      /* vt_present<0>: if no elements are known to exist, the compiler does not load
       * all of gamma at once, which would need too many registers */
      row.y, vt_present<0>{row.count});
}

/* One warp per row. All of the row except the last quarter of its steps is full. */
template <int STEPS, bool DENSE>
VT_GPU_FN void norm_rows_by_warp(const vt_gpu_rows &a) {
  const int64_t warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  for (int64_t line = vt_gpu_first_item() / VT_GPU_LANES; line < a.lines.n; line += warp_stride)
    norm_row_in_registers<STEPS, STEPS - VT_ROW_QUARTER, DENSE>(a, vt_row_part_of(a, line, 0), 1,
                                                                nullptr);
}
/* One thread block per row. Without a mean there is one barrier per row, so two rows alternate
 * between two exchange buffers. */
template <int FULL, bool DENSE>
VT_GPU_FN void norm_rows_by_block(const vt_gpu_rows &a, float *exchange) {
  int buffer = 0;
  for (int64_t line = blockIdx.x; line < a.lines.n; line += gridDim.x, buffer = 1 - buffer)
    norm_row_in_registers<VT_GPU_LANES, FULL, DENSE>(a, vt_row_part_of(a, line, vt_warp()),
                                                     vt_warp_count(),
                                                     exchange + buffer * 2 * VT_GPU_LANES);
}

template <bool DENSE>
VT_GPU_FN void norm_rows_by_block_of_any_size(const vt_gpu_rows &a) {
  __shared__ float exchange[4 * VT_GPU_LANES];
  if (a.n % VT_GPU_CHUNK == 0) {
    norm_rows_by_block<VT_GPU_LANES, DENSE>(a, exchange);
  } else {
    norm_rows_by_block<0, DENSE>(a, exchange);
  }
}

VT_KERNEL(norm_8, vt_gpu_rows, 128) { norm_rows_by_warp<8, true>(a); }
VT_KERNEL(norm_16, vt_gpu_rows, 128) { norm_rows_by_warp<16, true>(a); }
VT_KERNEL(norm_24, vt_gpu_rows, 128) { norm_rows_by_warp<24, true>(a); }
VT_KERNEL(norm_32, vt_gpu_rows, 128) { norm_rows_by_warp<32, true>(a); }
VT_KERNEL_RESIDENT(norm_block, vt_gpu_rows, VT_GPU_ROW_THREADS, 3) {
  norm_rows_by_block_of_any_size<true>(a);
}
VT_KERNEL(norm_shared_8, vt_gpu_rows, 128) { norm_rows_by_warp<8, false>(a); }
VT_KERNEL(norm_shared_16, vt_gpu_rows, 128) { norm_rows_by_warp<16, false>(a); }
VT_KERNEL(norm_shared_24, vt_gpu_rows, 128) { norm_rows_by_warp<24, false>(a); }
VT_KERNEL(norm_shared_32, vt_gpu_rows, 128) { norm_rows_by_warp<32, false>(a); }
VT_KERNEL(norm_shared_block, vt_gpu_rows, VT_GPU_ROW_THREADS) {
  norm_rows_by_block_of_any_size<false>(a);
}

/* ---- long rows ---- */

enum { SPAN = 8 }; /* elements per lane that a span has */

VT_GPU_FN void norm_write_chunk_sums(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                     float *exchange) {
  vt_write_chunk_sums<SPAN>(a, t, row, exchange, [&](auto at, float s) {
    float v[SPAN];
    vt_span_load(at, row, t.kept, 0, v);
    return add_elements_to_lane<SPAN>(v, s);
  });
}

VT_GPU_FN void norm_write_chunk_squares(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                        float u, float *exchange) {
  vt_write_chunk_sums<SPAN>(a, t, row, exchange, [&](auto at, float s) {
    float v[SPAN];
    vt_span_load(at, row, t.kept, 0, v);
    return centre_and_square<SPAN>(v, u, at.there, s);
  });
}

template <bool DENSE>
VT_GPU_FN void norm_store_long_row(const vt_gpu_rows &a, const vt_team &t, const vt_row &row,
                                   float u, float r) {
  const affine f = gamma_and_beta_of_line(a, row.line);
  vt_for_spans_of_row<SPAN>(a, row, [&](auto at) {
    const int64_t first = row.first + at.first;
    float v[SPAN];
    vt_span_load(at, row, t.kept, 0, v);
    VT_UNROLL
    for (int k = 0; k < SPAN; k++) v[k] = v[k] - u;
    if (DENSE) {
      store_with_preloaded_gamma(v, r, f.gamma + first,
                                 a.beta != nullptr ? f.beta + first : nullptr, row.y + at.first,
                                 at.there);
    } else {
      store_with_shared_gamma<SPAN>(a, f, v, r, first, row.y + at.first, at.there);
    }
  });
}

template <bool DENSE>
VT_GPU_FN void norm_long_rows(const vt_gpu_rows &a) {
  const int chunks = vt_chunk_count(a.n);
  vt_team t = vt_team_of(a);
  int buffer = 0;
  for (int64_t line = t.first; line < a.lines.n; line += t.row_step, buffer ^= 1) {
    const vt_row row = vt_team_row_part(a, t, line);
    float u = 0;
    vt_row_copy_to_shared(a, row, t.kept, 0);
    if (a.centred) {
      norm_write_chunk_sums(a, t, row, t.exchange + buffer * chunks);
      vt_team_barrier(a, t.arrivals);
      u = vt_chunks_sum(t.exchange + buffer * chunks, chunks) / __ll2float_rn(a.n);
      buffer ^= 1;
    }
    norm_write_chunk_squares(a, t, row, u, t.exchange + buffer * chunks);
    vt_team_barrier(a, t.arrivals);
    const float q = vt_chunks_sum(t.exchange + buffer * chunks, chunks);
    norm_store_long_row<DENSE>(a, t, row, u, vt_norm_factor<float>(q, a.n, a.eps));
  }
  vt_team_leave(a, t.arrivals);
}
VT_KERNEL(norm_long, vt_gpu_rows, VT_GPU_LONG_THREADS) { norm_long_rows<true>(a); }
VT_KERNEL(norm_shared_long, vt_gpu_rows, VT_GPU_LONG_THREADS) { norm_long_rows<false>(a); }

/* ---- any tensor ---- */

template <class T>
VT_GPU_FN void norm_from_statistics(const vt_gpu_rows &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.lines.n * a.n; i += vt_gpu_grid_stride()) {
    const int64_t up = a.interleaved ? i / a.lines.n : i / a.n;
    const int64_t line = a.interleaved ? i - up * a.lines.n : up,
                  k = a.interleaved ? up : i - up * a.n;
    int64_t at[4], along[4];
    vt_offsets<4>(a.lines, line, at);
    vt_offsets<4>(a.along, k, along);
    const T x = ((const T *)a.x)[at[0] + along[0]];
    const T d = a.shift == nullptr ? x : x - ((const T *)a.shift)[line];
    T y = d * ((const T *)a.scale)[line];
    if (a.gamma != nullptr) y = y * ((const T *)a.gamma)[at[2] + along[2]];
    if (a.beta != nullptr) y = y + ((const T *)a.beta)[at[3] + along[3]];
    ((T *)a.y)[at[1] + along[1]] = y;
  }
}
VT_KERNEL(norm_out_f32, vt_gpu_rows, 256) { norm_from_statistics<float>(a); }
VT_KERNEL(norm_out_f64, vt_gpu_rows, 256) { norm_from_statistics<double>(a); }

/* Turns S(d*d) of each line into r. For batch_norm it first updates the running statistics:
 * (keep*old) + (weight*new). */
template <class T>
VT_GPU_FN void norm_line_factors(const vt_gpu_line_factors &a) {
  const T weight = (T)a.weight, keep = (T)(1.0 - a.weight);
  for (int64_t line = vt_gpu_first_item(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    T *sum = (T *)a.sum + line;
    if (a.mean != nullptr) {
      int64_t at[4];
      vt_offsets<4>(a.lines, line, at);
      const T spread = *sum / vt_lane_of<T>::count(a.n - 1);
      ((T *)a.new_mean)[at[1]] =
          (keep * ((const T *)a.mean)[at[0]]) + (weight * ((const T *)a.shift)[line]);
      ((T *)a.new_var)[at[3]] = (keep * ((const T *)a.var)[at[2]]) + (weight * spread);
    }
    *sum = vt_norm_factor<T>(*sum, a.n, a.eps);
  }
}
VT_KERNEL(norm_factors_f32, vt_gpu_line_factors, 128) { norm_line_factors<float>(a); }
VT_KERNEL(norm_factors_f64, vt_gpu_line_factors, 128) { norm_line_factors<double>(a); }
