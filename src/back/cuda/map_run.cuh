/* SPDX-License-Identifier: Apache-2.0
 * map_run.cuh - the body of every kernel of map.cu, fun.cu, cast.cu and map_whole.cu: one
 * pointwise formula over whole tensors. A formula is a struct F with the types A, B, C of its
 * operands, R of its result, N operands, and F::at(a, b, c). at[k] is the offset of an element in
 * operand k; a group is as many neighbouring elements as a thread processes together. */
#ifndef VT_MAP_RUN_CUH
#define VT_MAP_RUN_CUH
#include "gpu_words.cuh"
#include "gpu_map.h"

enum { VT_MAP_THREADS = 256 };

template <class T, int G>
struct alignas(sizeof(T) * G) vt_map_group {
  T v[G];
};

template <class T, int G>
VT_GPU_FN vt_map_group<T, G> vt_map_load_group(const void *from, int64_t at, bool one) {
  const T *p = (const T *)from + at;
  if (!one) return *(const vt_map_group<T, G> *)p;
  vt_map_group<T, G> x;
  const T same = *p;
  VT_UNROLL
  for (int k = 0; k < G; k++) x.v[k] = same;
  return x;
}

template <class F>
struct vt_map {
  static constexpr int larger(int a, int b) { return a > b ? a : b; }
  static constexpr int bytes = larger(larger(sizeof(typename F::A), sizeof(typename F::B)),
                                      larger(sizeof(typename F::C), sizeof(typename F::R)));
  static constexpr int G = VT_GPU_GROUP(bytes);
  typedef vt_map_group<typename F::A, G> group_a;
  typedef vt_map_group<typename F::B, G> group_b;
  typedef vt_map_group<typename F::C, G> group_c;
  typedef vt_map_group<typename F::R, G> group_r;

  /* Computes one element. The result may alias an operand. */
  VT_GPU_FN void compute_element(const vt_gpu_map &m, const int64_t (&at)[F::N + 1]) {
    typename F::A a = ((const typename F::A *)m.from[0])[at[1]];
    typename F::B b = 0;
    typename F::C c = 0;
    if constexpr (F::N > 1) b = ((const typename F::B *)m.from[1])[at[2]];
    if constexpr (F::N > 2) c = ((const typename F::C *)m.from[2])[at[3]];
    ((typename F::R *)m.to)[at[0]] = F::at(a, b, c);
  }

  VT_GPU_FN void group(const vt_gpu_map &m, const int64_t (&at)[F::N + 1]) {
    const group_a a = vt_map_load_group<typename F::A, G>(m.from[0], at[1], m.one & 1);
    group_b b = {};
    group_c c = {};
    group_r y;
    if constexpr (F::N > 1) b = vt_map_load_group<typename F::B, G>(m.from[1], at[2], m.one & 2);
    if constexpr (F::N > 2) c = vt_map_load_group<typename F::C, G>(m.from[2], at[3], m.one & 4);
    VT_UNROLL
    for (int k = 0; k < G; k++) y.v[k] = F::at(a.v[k], b.v[k], c.v[k]);
    *(group_r *)((typename F::R *)m.to + at[0]) = y;
  }

  /* Computes the offsets of element i after the last complete group; then the walk has one axis. */
  VT_GPU_FN void rest_offsets(const vt_gpu_map &m, int64_t i, int64_t (&at)[F::N + 1]) {
    VT_UNROLL
    for (int k = 0; k <= F::N; k++)
      at[k] = (k > 0 && (m.one >> (k - 1) & 1)) ? 0 : m.walk.n * G + i;
  }

  VT_GPU_FN void run(const vt_gpu_map &m) {
    const int64_t n = m.walk.n, all = n + m.rest;
    /* the loop is not unrolled, because the elements of a group give enough parallelism */
    VT_LOOP
    for (int64_t i = vt_gpu_first_item(); i < all; i += vt_gpu_grid_stride()) {
      int64_t at[F::N + 1];
      if (i < n)
        vt_offsets<F::N + 1>(m.walk, i, at);
      else
        rest_offsets(m, i - n, at);
      if (m.grouped && i < n)
        group(m, at);
      else
        compute_element(m, at);
    }
  }
};

/* ---- formulas, named as in gpu_map.cuh ---- */

#define VT_TYPE_f32 float
#define VT_TYPE_f64 double
#define VT_TYPE_i8 int8_t
#define VT_TYPE_u8 uint8_t
#define VT_TYPE_i32 int32_t
#define VT_TYPE_i64 int64_t
#define VT_TYPE_bool uint8_t
#define VT_TYPE_f16 uint16_t
#define VT_TYPE_bf16 uint16_t

#define VT_MAP_KERNEL_same(type, op, n)                            \
  struct of_##type##_##op {                                        \
    typedef VT_TYPE_##type A, B, C, R;                             \
    static constexpr int N = n;                                    \
    VT_GPU_FN R at(A a, B b, C c) { return type##_##op(a, b, c); } \
  };                                                               \
  VT_KERNEL(map_##type##_##op, vt_gpu_map, VT_MAP_THREADS) { vt_map<of_##type##_##op>::run(a); }
#define VT_MAP_KERNEL_truth(type, op, n)                                           \
  struct of_##type##_##op {                                                        \
    typedef VT_TYPE_##type A, B, C;                                                \
    typedef uint8_t R;                                                             \
    static constexpr int N = n;                                                    \
    VT_GPU_FN R at(A a, B b, C c) { return (void)c, (R)(type##_##op(a, b) != 0); } \
  };                                                                               \
  VT_KERNEL(map_##type##_##op, vt_gpu_map, VT_MAP_THREADS) { vt_map<of_##type##_##op>::run(a); }
#define VT_MAP_KERNEL_cast(from, to)                                                  \
  struct of_cast_##from##_##to {                                                      \
    typedef VT_TYPE_##from A, B, C;                                                   \
    typedef VT_TYPE_##to R;                                                           \
    static constexpr int N = 1;                                                       \
    VT_GPU_FN R at(A a, B b, C c) { return (void)b, (void)c, cast_##from##_##to(a); } \
  };                                                                                  \
  VT_KERNEL(map_cast_##from##_##to, vt_gpu_map, VT_MAP_THREADS) {                     \
    vt_map<of_cast_##from##_##to>::run(a);                                            \
  }
#endif
