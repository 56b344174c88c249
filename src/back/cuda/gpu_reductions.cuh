/* SPDX-License-Identifier: Apache-2.0
 * gpu_reductions.cuh - three kernels for reducing lines: one warp per chunk, with a lane of S per
 * lane; one thread block for 32 neighbouring lines, with four lanes of S per warp; one thread for a
 * short line. The strides decide which one is used; the order of the sum is the same. S is the
 * order of docs/numerics.md. A reducer W says what is accumulated and how. K::pick(kind, f) calls
 * f.run<W>() with the reducer W of that kind. */
#ifndef VT_GPU_REDUCTIONS_CUH
#define VT_GPU_REDUCTIONS_CUH
#include "gpu_lanes.cuh"

enum {
  VT_REDUCE_WARPS = 8,
  VT_REDUCE_THREADS = VT_REDUCE_WARPS * VT_GPU_LANES,
  VT_REDUCE_AHEAD = 8
};
/* Shared memory of a block that reduces 32 neighbouring lines: accumulators with a padded pitch
 * that avoids bank conflicts, and one result per line. */
enum {
  VT_REDUCE_PITCH = VT_GPU_LANES + 1,
  VT_REDUCE_WORDS = VT_GPU_LANES * VT_REDUCE_PITCH + VT_GPU_LANES
};

template <class T>
VT_GPU_FN T vt_reduce_shift_of_line(const vt_gpu_reduce &a, int64_t line) {
  return a.shift == nullptr ? (T)0 : ((const T *)a.shift)[line];
}
/* Number of elements in the chunk that begins at `first`. */
VT_GPU_FN int vt_reduce_chunk_length(const vt_gpu_reduce &a, int64_t first) {
  return a.n - first < VT_GPU_CHUNK ? (int)(a.n - first) : VT_GPU_CHUNK;
}

/* Applies the final steps a.touch to a result. The minimum of an empty line of bools is the start
 * value, which is not a bool; only its last bit is kept, which means true. */
template <class T>
VT_GPU_FN T vt_reduce_finish(const vt_gpu_reduce &a, T y) {
  typedef vt_lane_of<T> of;
  if constexpr (of::real) {
    if (a.touch & VT_GPU_TOUCH_DIVIDE) y = y / of::count(a.divisor);
    if (a.touch & VT_GPU_TOUCH_ROOT) y = of::root(y);
  } else {
    if (a.touch & VT_GPU_TOUCH_TRUTH) y = (T)(y & 1);
  }
  return y;
}

template <class T>
VT_GPU_FN void vt_reduce_store(const vt_gpu_reduce &a, int64_t line, int64_t chunk,
                               int64_t y_offset, T y) {
  if (a.chunks > 1) {
    ((T *)a.y)[line * a.chunks + chunk] = y;
  } else {
    ((T *)a.y)[y_offset] = vt_reduce_finish<T>(a, y);
  }
}

/* ---- a warp for a chunk ---- */

/* Reduces a chunk whose elements are one stride apart; returns this lane's accumulator. Elements
 * after the end of the line count as the reducer's start value, which changes nothing. */
template <class T, class W>
VT_GPU_FN typename W::acc vt_reduce_strided(const T *x, int64_t stride, int count, T shift) {
  const int lane = (int)threadIdx.x % VT_GPU_LANES;
  typename W::acc s = W::start();
  for (int k = 0; k < count; k += VT_REDUCE_AHEAD * VT_GPU_LANES) {
    T v[VT_REDUCE_AHEAD];
    VT_UNROLL
    for (int j = 0; j < VT_REDUCE_AHEAD; j++) {
      const int i = k + j * VT_GPU_LANES + lane;
      v[j] = i < count ? x[i * stride] : (T)0;
    }
    VT_UNROLL
    for (int j = 0; j < VT_REDUCE_AHEAD; j++) {
      const int i = k + j * VT_GPU_LANES + lane;
      s = W::join(s, i < count ? W::in(v[j], shift) : W::start());
    }
  }
  return s;
}

template <class T, class W>
VT_GPU_FN typename W::acc vt_reduce_chunk(const vt_gpu_reduce &a, const T *x, int64_t first,
                                          T shift) {
  const int count = vt_reduce_chunk_length(a, first);
  if (a.along.rank <= 1) {
    const int64_t stride = a.along.rank == 0 ? 0 : a.along.stride[0][0];
    return vt_reduce_strided<T, W>(x + first * stride, stride, count, shift);
  }
  typename W::acc s = W::start();
  for (int i = (int)threadIdx.x % VT_GPU_LANES; i < count; i += VT_GPU_LANES) {
    int64_t at[1];
    vt_offsets<1>(a.along, first + i, at);
    s = W::join(s, W::in(x[at[0]], shift));
  }
  return s;
}

template <class T>
struct vt_reduce_chunk_of {
  const vt_gpu_reduce &a;
  const T *x;
  int64_t first;
  T shift;
  template <class W>
  __device__ __forceinline__ T run() const {
    return W::out(vt_lanes_join<W>(vt_reduce_chunk<T, W>(a, x, first, shift)));
  }
};

template <class T, class K>
VT_GPU_FN void vt_reduce_lines(const vt_gpu_reduce &a) {
  const int64_t items = a.lines.n * a.chunks, warp_stride = vt_gpu_grid_stride() / VT_GPU_LANES;
  for (int64_t item = vt_gpu_first_item() / VT_GPU_LANES; item < items; item += warp_stride) {
    const int64_t line = a.chunks == 1 ? item : item / a.chunks, chunk = item - line * a.chunks;
    int64_t at[2];
    vt_offsets<2>(a.lines, line, at);
    const vt_reduce_chunk_of<T> f = {a, (const T *)a.x + at[0], chunk * VT_GPU_CHUNK,
                                     vt_reduce_shift_of_line<T>(a, line)};
    const T y = K::pick(a.kind, f);
    if (threadIdx.x % VT_GPU_LANES == 0) vt_reduce_store<T>(a, line, chunk, at[1], y);
  }
}

/* ---- one block for 32 neighbouring lines ---- */

/* Accumulates lanes w, w + 8, w + 16, w + 24 of S for a chunk of the line that begins at x, where w
 * is the warp's number. */
template <class T, class W>
VT_GPU_FN void vt_reduce_four_lanes_strided(const T *x, int64_t stride, int count, T shift,
                                            typename W::acc (&s)[4]) {
  for (int k = (int)threadIdx.x / VT_GPU_LANES; k < count; k += VT_REDUCE_AHEAD * VT_REDUCE_WARPS) {
    T v[VT_REDUCE_AHEAD];
    VT_UNROLL
    for (int q = 0; q < VT_REDUCE_AHEAD; q++) {
      const int i = k + VT_REDUCE_WARPS * q;
      v[q] = i < count ? x[i * stride] : (T)0;
    }
    VT_UNROLL
    for (int q = 0; q < VT_REDUCE_AHEAD; q++) {
      const int i = k + VT_REDUCE_WARPS * q;
      s[q % 4] = W::join(s[q % 4], i < count ? W::in(v[q], shift) : W::start());
    }
  }
}

template <class T, class W>
VT_GPU_FN void vt_reduce_four_lanes(const vt_gpu_reduce &a, const T *x, int64_t first, T shift,
                                    typename W::acc (&s)[4]) {
  const int count = vt_reduce_chunk_length(a, first);
  if (a.along.rank <= 1) {
    const int64_t stride = a.along.rank == 0 ? 0 : a.along.stride[0][0];
    vt_reduce_four_lanes_strided<T, W>(x + first * stride, stride, count, shift, s);
    return;
  }
  for (int i = (int)threadIdx.x / VT_GPU_LANES; i < count; i += VT_REDUCE_WARPS) {
    int64_t at[1];
    vt_offsets<1>(a.along, first + i, at);
    const typename W::acc here = W::in(x[at[0]], shift);
    VT_UNROLL
    for (int q = 0; q < 4; q++)
      if (i / VT_REDUCE_WARPS % 4 == q) s[q] = W::join(s[q], here);
  }
}

/* Reduces the block's 32 x 32 accumulators, one column per line, to one result per line. */
template <class W>
VT_GPU_FN void vt_reduce_accumulators(typename W::acc *shared, const typename W::acc (&s)[4]) {
  const int lane = (int)threadIdx.x % VT_GPU_LANES, w = (int)threadIdx.x / VT_GPU_LANES;
  __syncthreads(); /* all threads have read the previous contents of shared memory */
  VT_UNROLL
  for (int q = 0; q < 4; q++) shared[(w + VT_REDUCE_WARPS * q) * VT_REDUCE_PITCH + lane] = s[q];
  __syncthreads();
  for (int q = 0; q < 4; q++) {
    const int line = w + VT_REDUCE_WARPS * q;
    const typename W::acc r = vt_lanes_join<W>(shared[lane * VT_REDUCE_PITCH + line]);
    if (lane == 0) shared[VT_GPU_LANES * VT_REDUCE_PITCH + line] = r;
  }
  __syncthreads();
}

template <class T>
struct vt_reduce_tile_of {
  const vt_gpu_reduce &a;
  const T *x; /* elements of this thread's line; NULL if the thread has no line */
  int64_t first;
  T shift;
  void *shared;
  template <class W>
  __device__ __forceinline__ T run() const {
    typename W::acc s[4], *all = (typename W::acc *)shared;
    VT_UNROLL
    for (int q = 0; q < 4; q++) s[q] = W::start();
    if (x != nullptr) vt_reduce_four_lanes<T, W>(a, x, first, shift, s);
    vt_reduce_accumulators<W>(all, s);
    return W::out(all[VT_GPU_LANES * VT_REDUCE_PITCH + threadIdx.x % VT_GPU_LANES]);
  }
};

template <class T, class K>
VT_GPU_FN void vt_reduce_columns(const vt_gpu_reduce &a) {
  __shared__ uint64_t shared[VT_REDUCE_WORDS];
  const int64_t tiles = (a.lines.n + VT_GPU_LANES - 1) / VT_GPU_LANES;
  for (int64_t item = blockIdx.x; item < tiles * a.chunks; item += gridDim.x) {
    const int64_t chunk = item / tiles, tile = item - chunk * tiles;
    const int64_t line = tile * VT_GPU_LANES + threadIdx.x % VT_GPU_LANES;
    const bool there = line < a.lines.n;
    int64_t at[2];
    vt_offsets<2>(a.lines, there ? line : 0, at);
    const vt_reduce_tile_of<T> f = {a, there ? (const T *)a.x + at[0] : nullptr,
                                    chunk * VT_GPU_CHUNK,
                                    vt_reduce_shift_of_line<T>(a, there ? line : 0), shared};
    const T y = K::pick(a.kind, f);
    if (there && threadIdx.x < VT_GPU_LANES) vt_reduce_store<T>(a, line, chunk, at[1], y);
  }
}

/* ---- a thread for a short line with one stride: each element is a lane of S ---- */

template <class T, class W>
VT_GPU_FN typename W::acc vt_reduce_thread(const T *x, int64_t stride, int n, T shift) {
  if constexpr (W::any_order) {
    typename W::acc s = W::start();
    for (int i = 0; i < n; i++) s = W::join(s, W::in(x[i * stride], shift));
    return s;
  } else {
    typename W::acc s[VT_GPU_SHORT];
    VT_UNROLL
    for (int i = 0; i < VT_GPU_SHORT; i++)
      s[i] = W::join(W::start(), i < n ? W::in(x[i * stride], shift) : W::start());
    return vt_thread_join<W>(s);
  }
}

template <class T>
struct vt_reduce_line_of {
  const T *x;
  int64_t stride;
  int n;
  T shift;
  template <class W>
  __device__ __forceinline__ T run() const {
    return W::out(vt_reduce_thread<T, W>(x, stride, n, shift));
  }
};

template <class T, class K>
VT_GPU_FN void vt_reduce_short_lines(const vt_gpu_reduce &a) {
  const int64_t stride = a.along.rank == 0 ? 0 : a.along.stride[0][0];
  for (int64_t line = vt_gpu_first_item(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    int64_t at[2];
    vt_offsets<2>(a.lines, line, at);
    const vt_reduce_line_of<T> f = {(const T *)a.x + at[0], stride, (int)a.n,
                                    vt_reduce_shift_of_line<T>(a, line)};
    vt_reduce_store<T>(a, line, 0, at[1], K::pick(a.kind, f));
  }
}
#endif
