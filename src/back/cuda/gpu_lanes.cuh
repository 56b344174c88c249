/* SPDX-License-Identifier: Apache-2.0
 * gpu_lanes.cuh - the lanes of S are the lanes of a warp. This file has the reducers for each
 * type and the tree over the lanes. S is the summation order of docs/numerics.md: 32 lanes, each
 * of which adds every 32nd element, and then a tree. W is a reducer: what is added, and how. */
#ifndef VT_GPU_LANES_CUH
#define VT_GPU_LANES_CUH
#include "gpu_words.cuh"
#include "gpu_reduce.h"
#include "vt_words_cuda.h"
#include "vt_core.h"
#include "order.inc"

/* ---- types: unsigned accumulators, and integer keys in the order of values ---- */

template <class T>
struct vt_lane_of;
template <>
struct vt_lane_of<float> {
  typedef float acc;
  typedef uint32_t key;
  static const bool real = true;
  VT_GPU_FN key high(float x) { return vt_s_key(x); }
  VT_GPU_FN key low(float x) { return x == x ? ~vt_s_key(x) : UINT32_MAX; }
  VT_GPU_FN float of_high(key k) { return __uint_as_float(k >> 31 ? k ^ 0x80000000u : ~k); }
  VT_GPU_FN float size(float x) { return __uint_as_float(__float_as_uint(x) & 0x7fffffffu); }
  VT_GPU_FN float root(float x) { return __fsqrt_rn(x); }
  VT_GPU_FN float count(int64_t n) { return __ll2float_rn(n); }
};
template <>
struct vt_lane_of<double> {
  typedef double acc;
  typedef uint64_t key;
  static const bool real = true;
  VT_GPU_FN key high(double x) { return vt_key(x); }
  VT_GPU_FN key low(double x) { return x == x ? ~vt_key(x) : UINT64_MAX; }
  VT_GPU_FN double of_high(key k) {
    return __longlong_as_double((int64_t)(k >> 63 ? k ^ (uint64_t)1 << 63 : ~k));
  }
  VT_GPU_FN double size(double x) { return vt_abs(x); }
  VT_GPU_FN double root(double x) { return __dsqrt_rn(x); }
  VT_GPU_FN double count(int64_t n) { return __ll2double_rn(n); }
};
/* For integers: a key, which orders as the numbers do, is the number's bits with the sign bit
 * inverted. Integers of fewer than 32 bits are computed in 32 bits. */
template <class T, class U>
struct vt_lane_of_int {
  typedef U acc;
  typedef U key;
  static const bool real = false;
  static const U sign = (U)1 << (sizeof(U) * 8 - 1);
  VT_GPU_FN key high(T x) { return (U)x ^ sign; }
  VT_GPU_FN key low(T x) { return ~high(x); }
  VT_GPU_FN T of_high(key k) { return (T)(k ^ sign); }
};
template <>
struct vt_lane_of<int8_t> : vt_lane_of_int<int8_t, uint32_t> {};
template <>
struct vt_lane_of<uint8_t> : vt_lane_of_int<uint8_t, uint32_t> {};
template <>
struct vt_lane_of<int32_t> : vt_lane_of_int<int32_t, uint32_t> {};
template <>
struct vt_lane_of<int64_t> : vt_lane_of_int<int64_t, uint64_t> {};

/* ---- reducers ---- */

template <class T>
struct vt_reducer {
  typedef vt_lane_of<T> of;
  typedef typename of::acc acc;
};
template <class T>
struct vt_reducer_sum : vt_reducer<T> {
  typedef typename vt_reducer<T>::acc acc;
  /* 1 if the result does not depend on the order of the additions */
  static const bool any_order = !vt_lane_of<T>::real;
  VT_GPU_FN acc start() { return (acc)0; }
  VT_GPU_FN acc in(T x, T) { return (acc)x; }
  VT_GPU_FN acc join(acc a, acc b) { return a + b; }
  VT_GPU_FN T out(acc a) { return (T)a; }
};
template <class T>
struct vt_reducer_prod : vt_reducer_sum<T> {
  typedef typename vt_reducer<T>::acc acc;
  VT_GPU_FN acc start() { return (acc)1; }
  VT_GPU_FN acc join(acc a, acc b) { return a * b; }
};
template <class T>
struct vt_reducer_max : vt_reducer<T> {
  typedef vt_lane_of<T> of;
  typedef typename of::key acc;
  static const bool any_order = true;
  VT_GPU_FN acc start() { return (acc)0; }
  VT_GPU_FN acc in(T x, T) { return of::high(x); }
  VT_GPU_FN acc join(acc a, acc b) { return a > b ? a : b; }
  VT_GPU_FN T out(acc a) { return of::of_high(a); }
};
template <class T>
struct vt_reducer_min : vt_reducer_max<T> {
  typedef vt_lane_of<T> of;
  typedef typename of::key acc;
  VT_GPU_FN acc in(T x, T) { return of::low(x); }
  VT_GPU_FN T out(acc a) { return of::of_high(~a); }
};
template <class T>
struct vt_reducer_squares : vt_reducer_sum<T> {
  VT_GPU_FN T in(T x, T shift) { return (x - shift) * (x - shift); }
};
template <class T>
struct vt_reducer_sizes : vt_reducer_sum<T> {
  VT_GPU_FN T in(T x, T) { return vt_lane_of<T>::size(x); }
};

/* The tree over the lanes of a warp: s[l] = s[l] + s[l+h] for h = 16, 8, 4, 2, 1. Each lane
 * exchanges its value with the lane whose number differs in bit h; so every lane gets the result,
 * because a + b equals b + a. */
template <class W>
VT_GPU_FN typename W::acc vt_lanes_join(typename W::acc s) {
  VT_UNROLL
  for (int h = VT_GPU_LANES / 2; h > 0; h /= 2) s = W::join(s, __shfl_xor_sync(0xffffffffu, s, h));
  return s;
}
/* The same tree over N lanes of S that one thread holds; returns lane 0. All bounds are
 * compile-time constants, so the array stays in registers. */
template <class W, int N>
VT_GPU_FN typename W::acc vt_thread_join(typename W::acc (&s)[N]) {
  VT_UNROLL
  for (int h = N / 2; h > 0; h /= 2) VT_UNROLL
  for (int k = 0; k < N / 2; k++)
    if (k < h) s[k] = W::join(s[k], s[k + h]);
  return s[0];
}
#endif
