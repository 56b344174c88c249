// SPDX-License-Identifier: Apache-2.0
// pool.cu - max_pool and avg_pool: one thread per window, or one warp if an average has many
// taps. S is the summation order of docs/numerics.md; a tap is one element of a window.
#include "gpu_words.cuh"
#include "gpu_pool.h"

// ---- windows ----

typedef struct window {
  int64_t begin[VT_GPU_POOL_AXES], x, y;
} window;

template <class I>
VT_GPU_FN int64_t divide_return_rest(I &i, int64_t n) {
  const I up = i / (I)n, here = i - up * (I)n;
  i = up;
  return (int64_t)here;
}

template <class I>
VT_GPU_FN window window_of_result_by_type(const vt_gpu_pool &a, I i) {
  window w = {{0, 0, 0}, 0, 0};
  VT_UNROLL
  for (int k = VT_GPU_POOL_AXES - 1; k >= 0; k--) {
    const int64_t p = divide_return_rest(i, a.axis[k].places);
    w.begin[k] = p * a.axis[k].step - a.axis[k].low;
    w.y += p * a.axis[k].y;
  }
  const int64_t channel = divide_return_rest(i, a.channels);
  w.x = channel * a.x_channel + (int64_t)i * a.x_image;
  w.y += channel * a.y_channel + (int64_t)i * a.y_image;
  return w;
}
VT_GPU_FN window window_of_result(const vt_gpu_pool &a, int64_t i) {
  return a.small ? window_of_result_by_type<uint32_t>(a, (uint32_t)i)
                 : window_of_result_by_type<int64_t>(a, i);
}

// Computes the offset of tap t of a window in x; returns whether the tap is inside of x.
VT_GPU_FN bool locate_tap(const vt_gpu_pool &a, const window &w,
                          const int64_t (&t)[VT_GPU_POOL_AXES], int64_t &at) {
  bool inside = true;
  at = w.x;
  VT_UNROLL
  for (int k = 0; k < VT_GPU_POOL_AXES; k++) {
    const int64_t m = w.begin[k] + t[k] * a.axis[k].dilation;
    inside = inside && (uint64_t)m < (uint64_t)a.axis[k].dim;
    at += m * a.axis[k].x;
  }
  return inside;
}

VT_GPU_FN void advance_tap(const vt_gpu_pool &a, int64_t (&t)[VT_GPU_POOL_AXES]) {
  if (++t[2] < a.axis[2].kernel) return;
  t[2] = 0;
  if (++t[1] < a.axis[1].kernel) return;
  t[1] = 0;
  t[0]++;
}

// ---- max ----

// Returns an integer key that orders numbers as -inf .. -0, +0 .. +inf, NaN.
VT_GPU_FN uint32_t order_key_of(float x) {
  const uint32_t u = __float_as_uint(x), minus = 0u - (u >> 31);
  return x == x ? u ^ (minus | 0x80000000u) : UINT32_MAX;
}
VT_GPU_FN uint64_t order_key_of(double x) {
  const int64_t u = __double_as_longlong(x);
  return x == x ? (uint64_t)(u ^ (u >> 63 | INT64_MIN)) : UINT64_MAX;
}
template <class T>
VT_GPU_FN T order_key_of(T x) {
  return x;
}

template <class T>
VT_GPU_FN T greatest_tap(const vt_gpu_pool &a, const window &w) {
  const T *x = (const T *)a.x;
  T best = 0;
  bool any = false;
  int64_t t[VT_GPU_POOL_AXES] = {0, 0, 0}, at;
  for (int64_t i = 0; i < a.taps; i++, advance_tap(a, t)) {
    if (!locate_tap(a, w, t, at)) continue;
    const T here = x[at];
    if (!any || order_key_of(here) > order_key_of(best)) best = here;
    any = true;
  }
  return best;
}

template <class T>
VT_GPU_FN void max_pool(const vt_gpu_pool &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.total; i += vt_gpu_grid_stride()) {
    const window w = window_of_result(a, i);
    ((T *)a.y)[w.y] = greatest_tap<T>(a, w);
  }
}
VT_KERNEL(max_pool_f32, vt_gpu_pool, 256) { max_pool<float>(a); }
VT_KERNEL(max_pool_f64, vt_gpu_pool, 256) { max_pool<double>(a); }
VT_KERNEL(max_pool_i8, vt_gpu_pool, 256) { max_pool<int8_t>(a); }
VT_KERNEL(max_pool_u8, vt_gpu_pool, 256) { max_pool<uint8_t>(a); }
VT_KERNEL(max_pool_i32, vt_gpu_pool, 256) { max_pool<int32_t>(a); }
VT_KERNEL(max_pool_i64, vt_gpu_pool, 256) { max_pool<int64_t>(a); }

// ---- avg ----

VT_GPU_FN float add_rounded(float a, float b) { return __fadd_rn(a, b); }
VT_GPU_FN double add_rounded(double a, double b) { return __dadd_rn(a, b); }
VT_GPU_FN float divide_by_count(float a, int64_t n) { return __fdiv_rn(a, __ll2float_rn(n)); }
VT_GPU_FN double divide_by_count(double a, int64_t n) { return __ddiv_rn(a, __ll2double_rn(n)); }

// Returns the number of taps t with from <= begin + t*dilation < to.
VT_GPU_FN int64_t count_averaged_taps_along(const vt_gpu_pool_axis &x, int64_t begin) {
  int64_t below = 0, beyond = x.kernel;
  if (begin < x.from) below = (x.from - begin + x.dilation - 1) / x.dilation;
  if (x.to <= begin) {
    beyond = 0;
  } else if (begin + (x.kernel - 1) * x.dilation >= x.to) {
    beyond = (x.to - begin + x.dilation - 1) / x.dilation;
  }
  return beyond > below ? beyond - below : 0;
}
VT_GPU_FN int64_t count_averaged_taps(const vt_gpu_pool &a, const window &w) {
  int64_t n = 1;
  VT_UNROLL
  for (int k = 0; k < VT_GPU_POOL_AXES; k++) n *= count_averaged_taps_along(a.axis[k], w.begin[k]);
  return n;
}

// Returns S of a window of at most W taps, W a power of two up to 32: the other lanes of S are +0,
// which adds nothing. A tap outside of x keeps its lane.
template <class T, int W>
VT_GPU_FN T sum_few_taps(const vt_gpu_pool &a, const window &w) {
  const T *x = (const T *)a.x;
  T s[W];
  int64_t t[VT_GPU_POOL_AXES] = {0, 0, 0}, at;
  VT_UNROLL
  for (int i = 0; i < W; i++) {
    s[i] = 0;
    if (i < a.taps && locate_tap(a, w, t, at)) s[i] = add_rounded(s[i], x[at]);
    advance_tap(a, t);
  }
  VT_UNROLL
  for (int h = W / 2; h > 0; h /= 2) {
    VT_UNROLL
    for (int l = 0; l < W / 2; l++)
      if (l < h) s[l] = add_rounded(s[l], s[l + h]);
  }
  return s[0];
}

template <class T, int W>
VT_GPU_FN void avg_few_taps(const vt_gpu_pool &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.total; i += vt_gpu_grid_stride()) {
    const window w = window_of_result(a, i);
    ((T *)a.y)[w.y] = divide_by_count(sum_few_taps<T, W>(a, w), count_averaged_taps(a, w));
  }
}

// Adds the lanes of S, which are the lanes of a warp, by a tree; every lane gets the result.
template <class T>
VT_GPU_FN T sum_warp_lanes(T s) {
  VT_UNROLL
  for (int h = 16; h > 0; h /= 2) s = add_rounded(s, __shfl_down_sync(0xffffffffu, s, (unsigned)h));
  return __shfl_sync(0xffffffffu, s, 0);
}

// Returns S of taps first .. first+n-1 to all lanes. They are at most 1024^(V+1) taps, in chunks of
// 1024^V whose sums are added as numbers.
template <class T, int V>
struct chunks {
  static __device__ T sum(const vt_gpu_pool &a, const window &w, int64_t first, int64_t n) {
    const int64_t each = (int64_t)1 << 10 * V;
    const int lane = (int)threadIdx.x % 32;
    T s = 0;
    for (int64_t c = 0, at = 0; at < n; c++, at += each) {
      const T x = chunks<T, V - 1>::sum(a, w, first + at, n - at < each ? n - at : each);
      if (c % 32 == lane) s = add_rounded(s, x);
    }
    return sum_warp_lanes(s);
  }
};

template <class T>
struct chunks<T, 0> {
  static __device__ T sum(const vt_gpu_pool &a, const window &w, int64_t first, int64_t n) {
    const T *x = (const T *)a.x;
    T s = 0;
    for (int64_t i = first + (int)threadIdx.x % 32; i < first + n; i += 32) {
      int64_t t[VT_GPU_POOL_AXES], at;
      if (a.small) {
        uint32_t left = (uint32_t)i;
        t[2] = divide_return_rest(left, a.axis[2].kernel);
        t[1] = divide_return_rest(left, a.axis[1].kernel);
        t[0] = left;
      } else {
        int64_t left = i;
        t[2] = divide_return_rest(left, a.axis[2].kernel);
        t[1] = divide_return_rest(left, a.axis[1].kernel);
        t[0] = left;
      }
      if (locate_tap(a, w, t, at)) s = add_rounded(s, x[at]);
    }
    return sum_warp_lanes(s);
  }
};

template <class T>
VT_GPU_FN void avg_many_taps(const vt_gpu_pool &a) {
  const int64_t warp_stride = vt_gpu_grid_stride() / 32;
  for (int64_t i = vt_gpu_first_item() / 32; i < a.total; i += warp_stride) {
    const window w = window_of_result(a, i);
    const T s = a.taps <= 1024      ? chunks<T, 0>::sum(a, w, 0, a.taps)
                : a.taps <= 1 << 20 ? chunks<T, 1>::sum(a, w, 0, a.taps)
                                    : chunks<T, 3>::sum(a, w, 0, a.taps);
    if (threadIdx.x % 32 == 0) ((T *)a.y)[w.y] = divide_by_count(s, count_averaged_taps(a, w));
  }
}

VT_KERNEL(avg_pool_4_f32, vt_gpu_pool, 256) { avg_few_taps<float, 4>(a); }
VT_KERNEL(avg_pool_16_f32, vt_gpu_pool, 256) { avg_few_taps<float, 16>(a); }
VT_KERNEL(avg_pool_many_f32, vt_gpu_pool, 256) { avg_many_taps<float>(a); }
VT_KERNEL(avg_pool_4_f64, vt_gpu_pool, 256) { avg_few_taps<double, 4>(a); }
VT_KERNEL(avg_pool_16_f64, vt_gpu_pool, 256) { avg_few_taps<double, 16>(a); }
VT_KERNEL(avg_pool_many_f64, vt_gpu_pool, 256) { avg_many_taps<double>(a); }
