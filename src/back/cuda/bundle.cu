// SPDX-License-Identifier: Apache-2.0
// bundle.cu - softmax, norms and variances along any axes, reading x once; gpu_bundle.h describes
// the shared memory. A bundle is some neighbouring lines, which a team of thread blocks processes
// together; S is the summation order of docs/numerics.md, in chunks of 1024 elements. Each line is
// reduced twice, and the second reduction needs the first one's result:
//
//   u = S(x)/n, or 0 when not centred;   S(d*d), d = x - u;    norms, var, std
//   m = max x;                           S(exp(x - m));        softmax, log_softmax, logsumexp
#include "gpu_bundle.h"
#include "gpu_exp.cuh"
#include "gpu_rows.cuh"

/* Returns the least power of 2 that is at least n. */
VT_GPU_FN int power_of_2_not_below(int n) { return n <= 1 ? 1 : 1 << (32 - __clz(n - 1)); }

/* A thread block's part of its team's bundle. */
template <class T>
struct bundle {
  const vt_gpu_bundle &a;
  int64_t *at;    /* at[i*wide + g] is the offset of line g in operand i */
  T *shift, *sum; /* results of the two reductions of each line: u or m, and the sum */
  /* exchange buffers: chunk c of line g is at g*all + c; elements in shared memory */
  T *exchange, *kept;
  /* number of the bundle's first line; first element of each line in this block */
  int64_t line, first;
  int lines, count;       /* lines of this bundle; elements of each in this block */
  int line_chunks, which; /* chunks of a line; number of the exchange buffer in use, 0 or 1 */
  uint32_t arrivals;      /* arrivals at the team's counter when the last barrier was complete */

  __device__ __forceinline__ int member() const { return (int)(blockIdx.x % a.blocks); }

  __device__ __forceinline__ void begin() {
    at = vt_shared<int64_t>();
    shift = (T *)(at + VT_GPU_OPERANDS * a.wide);
    sum = shift + a.wide;
    line_chunks = vt_chunk_count(a.n);
    which = 0;
    arrivals = 0;
    first = (int64_t)member() * a.chunks * VT_GPU_CHUNK;
    count = (int)min(a.n - first, (int64_t)a.chunks * VT_GPU_CHUNK);
    kept = sum + a.wide;
    if (a.blocks == 1) {
      exchange = kept;
      kept += 2 * (int)a.wide * line_chunks;
    } else {
      exchange = (T *)a.exchange + (int64_t)(blockIdx.x / a.blocks) * 2 * a.wide * line_chunks;
    }
  }
  /* Switches to the other exchange buffer, for the next reduction. A block overwrites results only
   * after all blocks have read them and passed one more barrier. */
  __device__ __forceinline__ T *next_exchange() {
    which ^= 1;
    return exchange + which * (int)a.wide * line_chunks;
  }
  __device__ __forceinline__ void barrier() { vt_team_barrier(a, arrivals); }

  /* Calls f(element, along) for each element in this block, such that neighbouring threads access
   * neighbouring memory. of_line(g) returns f for line g. along[i] is the offset of the element in
   * operand i, from the start of the line. */
  template <int N, class F>
  __device__ __forceinline__ void for_each_element(bool interleaved, F of_line) const {
    const int wide = (int)a.wide, threads = (int)blockDim.x, t = (int)threadIdx.x;
    /* number of threads that share a line */
    const int some = interleaved ? threads / wide : min(power_of_2_not_below(count), threads);
    const int k = interleaved ? t / wide : t % some, hop = threads / some;
    for (int g = interleaved ? t % wide : t / some; g < lines; g += hop)
      elements<N>(kept + g * (int)a.line_step, k, some, of_line(g));
  }
  template <int N, class F>
  __device__ __forceinline__ void elements(T *mine, int k, int some, F f) const {
    int64_t along[N];
    if (a.along.rank <= 1) {
      VT_UNROLL
      for (int i = 0; i < N; i++) along[i] = (first + k) * a.along.stride[i][0];
#pragma unroll 4
      for (; k < count; k += some) {
        f(mine[k * (int)a.step], along);
        VT_UNROLL
        for (int i = 0; i < N; i++) along[i] += some * a.along.stride[i][0];
      }
    } else {
      for (; k < count; k += some) {
        vt_offsets<N>(a.along, first + k, along);
        f(mine[k * (int)a.step], along);
      }
    }
  }

  __device__ __forceinline__ void load() {
    for (uint32_t g = threadIdx.x; g < (uint32_t)lines; g += blockDim.x) {
      int64_t of[VT_GPU_OPERANDS];
      vt_offsets<VT_GPU_OPERANDS>(a.lines, line + g, of);
      VT_UNROLL
      for (int i = 0; i < VT_GPU_OPERANDS; i++) at[i * (int)a.wide + (int)g] = of[i];
      shift[g] = 0;
    }
    __syncthreads();
    for_each_element<1>(a.x_interleaved, [&](int g) {
      const T *x = (const T *)a.x + at[g];
      return [=](T &v, const int64_t(&along)[1]) { vt_async_copy_one(&v, x + along[0]); };
    });
    vt_async_close_group();
    vt_async_wait<0>();
    __syncthreads();
  }

  /* Computes S of a chunk with P lanes of a warp, each of which has every P-th lane of S. With KEEP
   * the terms that are added replace the elements in shared memory. */
  template <class W, bool KEEP, int P>
  __device__ __forceinline__ typename W::acc chunk(T *x, int n, T by) const {
    enum { EACH = VT_GPU_LANES / P };
    const int t = vt_lane() % P, step = (int)a.step;
    typename W::acc s[EACH];
    VT_UNROLL
    for (int j = 0; j < EACH; j++) s[j] = W::start();
#pragma unroll(P == VT_GPU_LANES ? 8 : 1)
    for (int k = t; k < n; k += VT_GPU_LANES) {
      VT_UNROLL
      for (int j = 0; j < EACH; j++) {
        const int i = k + j * P;
        if (EACH > 1 && i >= n) continue;
        const typename W::acc v = W::in(x[i * step], by);
        if constexpr (KEEP) x[i * step] = v;
        s[j] = W::join(s[j], v);
      }
    }
    typename W::acc line_chunks = vt_thread_join<W>(s);
    VT_UNROLL
    for (int h = P / 2; h > 0; h /= 2)
      line_chunks = W::join(line_chunks, __shfl_xor_sync(0xffffffffu, line_chunks, h));
    return line_chunks;
  }
  template <class W, bool KEEP, int P>
  __device__ __forceinline__ void chunks_by(T *to) const {
    const int here = vt_chunk_count(count), items = here * lines;
    for (int item = vt_warp() * (VT_GPU_LANES / P); item < items; item += (int)blockDim.x / P) {
      const int p = item + vt_lane() / P, c = here == 1 ? 0 : p / lines, g = p - c * lines;
      const int from = c * VT_GPU_CHUNK, n = p < items ? min(count - from, (int)VT_GPU_CHUNK) : 0;
      T *x = kept + g * (int)a.line_step + from * (int)a.step;
      const typename W::acc s = chunk<W, KEEP, P>(x, n, p < items ? shift[g] : (T)0);
      if (p < items && vt_lane() % P == 0)
        to[g * line_chunks + member() * (int)a.chunks + c] = W::out(s);
    }
  }
  /* Writes S of each chunk of each line to an exchange buffer. */
  template <class W, bool KEEP>
  __device__ __forceinline__ void chunks(T *to) const {
    if (a.n <= VT_GPU_BUNDLE_NOT_LONG) {
      chunks_by<W, KEEP, VT_GPU_BUNDLE_LANES>(to);
    } else {
      chunks_by<W, KEEP, VT_GPU_LANES>(to);
    }
  }

  /* Reduces the chunk results of each line and passes them to `make`, whose result all threads can
   * read in `to`. make's last argument is true in one thread of the team, which may write to
   * memory. */
  template <class W, class F>
  __device__ __forceinline__ void reduce_chunks(const T *from, T *to, F make) const {
    if (line_chunks == 1) {
      for (int g = (int)threadIdx.x; g < lines; g += (int)blockDim.x)
        to[g] = make(g, from[g], true);
    } else {
      for (int g = vt_warp(); g < lines; g += vt_warp_count()) {
        typename W::acc s = W::start();
        for (int c = vt_lane(); c < line_chunks; c += VT_GPU_LANES)
          s = W::join(s, W::in(from[g * line_chunks + c], (T)0));
        const bool one = vt_lane() == 0;
        const T made = make(g, W::out(vt_lanes_join<W>(s)), one && member() == 0);
        if (one) to[g] = made;
      }
    }
    __syncthreads();
  }
};

/* Loads each bundle of this team and calls End::run, which computes and stores its results. */
template <class T, class End>
VT_GPU_FN void process_bundles(const vt_gpu_bundle &a) {
  bundle<T> b = {a};
  const int64_t next = (int64_t)(gridDim.x / a.blocks) * a.wide;
  b.begin();
  for (b.line = (int64_t)(blockIdx.x / a.blocks) * a.wide; b.line < a.lines.n; b.line += next) {
    b.lines = (int)min(a.lines.n - b.line, (int64_t)a.wide);
    b.load();
    End::run(b);
    __syncthreads(); /* all threads are done with these lines before the next ones are loaded */
  }
  vt_team_leave(a, b.arrivals);
}

/* ---- short lines: one per thread, in registers ---- */

template <class T>
struct short_line {
  enum { MOST = VT_GPU_SHORT };
  const vt_gpu_bundle &a;
  int64_t line, at[VT_GPU_OPERANDS];
  T v[MOST];

  __device__ __forceinline__ int64_t step(int operand) const {
    return a.along.rank == 0 ? 0 : a.along.stride[operand][0];
  }
  __device__ __forceinline__ int64_t place(int operand, int k) const {
    return at[operand] + k * step(operand);
  }
  __device__ __forceinline__ void load() {
    const int n = (int)a.n;
    vt_offsets<VT_GPU_OPERANDS>(a.lines, line, at);
    VT_UNROLL
    for (int k = 0; k < MOST; k++) v[k] = k < n ? ((const T *)a.x)[place(0, k)] : (T)0;
  }
  /* Reduces the line in a thread's registers: each element is a lane of S; lanes without an element
   * have the reducer's start value. */
  template <class W>
  __device__ __forceinline__ T reduce(T shift) const {
    const int n = (int)a.n;
    typename W::acc s[MOST];
    VT_UNROLL
    for (int k = 0; k < MOST; k++)
      s[k] = k < n ? W::join(W::start(), W::in(v[k], shift)) : W::start();
    return W::out(vt_thread_join<W>(s));
  }
};

/* Loads each line of this thread and calls End::run, which computes and stores its results. */
template <class T, class End>
VT_GPU_FN void process_short_lines(const vt_gpu_bundle &a) {
  for (int64_t line = vt_gpu_first_item(); line < a.lines.n; line += vt_gpu_grid_stride()) {
    short_line<T> l = {a, line};
    l.load();
    End::run(l);
  }
}

/* ---- norms ---- */

template <class T>
struct line_norms {
  typedef vt_reducer_sum<T> sums;

  /* Returns the factor of a norm, r = 1/sqrt(S(d*d)/n + eps), and stores u and S(d*d) if the caller
   * wants them. For var and std stores the result at y instead. */
  VT_GPU_FN T finish(const vt_gpu_bundle &a, int64_t line, int64_t y, T u, T squares, bool writes) {
    if (writes && a.shift != nullptr) {
      ((T *)a.shift)[line] = u;
      ((T *)a.sum)[line] = squares;
    }
    if (a.kind == VT_GPU_BUNDLE_ROWS) return vt_norm_factor<T>(squares, a.n, a.eps);
    const T spread = squares / vt_lane_of<T>::count(a.divisor);
    if (writes) ((T *)a.y)[y] = a.kind == VT_GPU_BUNDLE_ROOT ? vt_lane_of<T>::root(spread) : spread;
    return spread;
  }
  VT_GPU_FN T scaled(const vt_gpu_bundle &a, T d, T r, const T *gamma, const T *beta) {
    T y = d * r;
    if (a.gamma != nullptr) y = y * *gamma;
    if (a.beta != nullptr) y = y + *beta;
    return y;
  }

  static __device__ __forceinline__ void store_results(const bundle<T> &b) {
    const vt_gpu_bundle &a = b.a;
    b.template for_each_element<4>(a.y_interleaved, [&](int g) {
      const int64_t *at = b.at + g;
      const T u = b.shift[g], r = b.sum[g];
      const T *gamma = (const T *)a.gamma + at[2 * a.wide];
      const T *beta = (const T *)a.beta + at[3 * a.wide];
      T *to = (T *)a.y + at[a.wide];
      return [=, &a](T &v, const int64_t(&along)[4]) {
        to[along[1]] = scaled(a, v - u, r, gamma + along[2], beta + along[3]);
      };
    });
  }

  VT_GPU_FN void run(bundle<T> &b) {
    const T n = vt_lane_of<T>::count(b.a.n);
    if (b.a.centred) {
      T *exchange = b.next_exchange();
      b.template chunks<sums, false>(exchange);
      b.barrier();
      b.template reduce_chunks<sums>(exchange, b.shift, [&](int, T s, bool) { return s / n; });
    }
    T *exchange = b.next_exchange();
    b.template chunks<vt_reducer_squares<T>, false>(exchange);
    b.barrier();
    b.template reduce_chunks<sums>(exchange, b.sum, [&](int g, T s, bool writes) {
      return finish(b.a, b.line + g, b.at[(int)b.a.wide + g], b.shift[g], s, writes);
    });
    if (b.a.kind == VT_GPU_BUNDLE_ROWS) store_results(b);
  }

  VT_GPU_FN void run(const short_line<T> &l) {
    const vt_gpu_bundle &a = l.a;
    const T u = a.centred ? l.template reduce<sums>(0) / vt_lane_of<T>::count(a.n) : (T)0;
    const T r = finish(a, l.line, l.at[1], u, l.template reduce<vt_reducer_squares<T>>(u), true);
    if (a.kind != VT_GPU_BUNDLE_ROWS) return;
    int64_t to = l.at[1], gamma = l.at[2], beta = l.at[3];
    VT_UNROLL
    for (int k = 0; k < l.MOST; k++) {
      if (k < (int)a.n)
        ((T *)a.y)[to] =
            scaled(a, l.v[k] - u, r, (const T *)a.gamma + gamma, (const T *)a.beta + beta);
      to += l.step(1);
      gamma += l.step(2);
      beta += l.step(3);
    }
  }
};
VT_KERNEL(bundle_norm_f32, vt_gpu_bundle, VT_GPU_LONG_THREADS) {
  process_bundles<float, line_norms<float>>(a);
}
VT_KERNEL(bundle_norm_f64, vt_gpu_bundle, VT_GPU_LONG_THREADS) {
  process_bundles<double, line_norms<double>>(a);
}
VT_KERNEL_RESIDENT(short_norm_f32, vt_gpu_bundle, VT_GPU_SHORT_THREADS, 8) {
  process_short_lines<float, line_norms<float>>(a);
}
VT_KERNEL_RESIDENT(short_norm_f64, vt_gpu_bundle, VT_GPU_SHORT_THREADS, 4) {
  process_short_lines<double, line_norms<double>>(a);
}

/* ---- softmax ---- */

struct line_softmaxes {
  typedef vt_reducer_max<float> most;
  typedef vt_reducer_sum<float> sums;

  /* Returns s, the sum of a line's exponentials, or its logarithm for log_softmax; for logsumexp
   * stores the result at y. */
  VT_GPU_FN float finish(const vt_gpu_bundle &a, int64_t y, float m, float s, bool writes) {
    if (a.kind == VT_GPU_BUNDLE_ROWS) return s;
    const float l = vt_ff_log(s);
    if (writes && a.kind == VT_GPU_BUNDLE_ONE) ((float *)a.y)[y] = m - m == 0.0f ? m + l : m;
    return l;
  }

  static __device__ __forceinline__ void store_results(const bundle<float> &b) {
    const vt_gpu_bundle &a = b.a;
    b.for_each_element<2>(a.y_interleaved, [&](int g) {
      const float m = b.shift[g], s = b.sum[g];
      float *y = (float *)a.y + b.at[(int)a.wide + g];
      const bool logs = a.kind == VT_GPU_BUNDLE_LOGS;
      return [=](float &v, const int64_t(&along)[2]) { y[along[1]] = logs ? (v - m) - s : v / s; };
    });
  }

  VT_GPU_FN void run(bundle<float> &b) {
    float *exchange = b.next_exchange();
    b.chunks<most, false>(exchange);
    b.barrier();
    b.reduce_chunks<most>(exchange, b.shift, [&](int, float m, bool) { return m; });
    exchange = b.next_exchange();
    if (b.a.kind == VT_GPU_BUNDLE_ROWS) {
      b.chunks<vt_reducer_exp, true>(exchange);
    } else {
      b.chunks<vt_reducer_exp, false>(exchange);
    }
    b.barrier();
    b.reduce_chunks<sums>(exchange, b.sum, [&](int g, float s, bool writes) {
      return finish(b.a, b.at[(int)b.a.wide + g], b.shift[g], s, writes);
    });
    if (b.a.kind != VT_GPU_BUNDLE_ONE) store_results(b);
  }

  VT_GPU_FN void run(short_line<float> &l) {
    const vt_gpu_bundle &a = l.a;
    const float m = l.reduce<most>(0);
    if (a.kind == VT_GPU_BUNDLE_ROWS) {
      VT_UNROLL
      for (int k = 0; k < l.MOST; k++) l.v[k] = vt_ff_exp(l.v[k] - m);
    }
    const float s = finish(
        a, l.at[1], m,
        a.kind == VT_GPU_BUNDLE_ROWS ? l.reduce<sums>(0) : l.reduce<vt_reducer_exp>(m), true);
    if (a.kind == VT_GPU_BUNDLE_ONE) return;
    VT_UNROLL
    for (int k = 0; k < l.MOST; k++)
      if (k < (int)a.n)
        ((float *)a.y)[l.place(1, k)] =
            a.kind == VT_GPU_BUNDLE_LOGS ? (l.v[k] - m) - s : l.v[k] / s;
  }
};
VT_KERNEL(bundle_softmax, vt_gpu_bundle, VT_GPU_LONG_THREADS) {
  process_bundles<float, line_softmaxes>(a);
}
VT_KERNEL(short_softmax, vt_gpu_bundle, VT_GPU_SHORT_THREADS) {
  process_short_lines<float, line_softmaxes>(a);
}
