/* SPDX-License-Identifier: Apache-2.0
 * gpu_emulated.h - the CUDA primitives that kernels of this backend use, for a C++17 compiler: a
 * .cu file is then C++, its kernels register themselves, and emulator.cc runs them. Each primitive
 * gives the device's results to the bit: conversions saturate, results are rounded once, and
 * asynchronous copies complete when they are awaited and not earlier.
 *
 * Two operations are undefined in C++ but defined on the device: a C cast of a floating-point
 * number to an integer type that cannot hold it, and a shift by the width of the type or more. The
 * .cu files are compiled so that both end the launch with an error that gives the source line. A
 * kernel that needs them uses __double2ll_rz and similar functions, and tests its shift count.
 *
 * The following are missing because no kernel may use them: atomics on floating-point numbers, fast
 * functions (__expf and similar), tensor cores on floating-point numbers. */
#ifndef VT_GPU_EMULATED_H
#define VT_GPU_EMULATED_H
/* Included before the macros below, because the C++ library uses some of these names in its
 * attributes. */
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <math.h>

#define __CUDA_ARCH__ 900
#define __device__
#define __host__
#define __global__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* A worker thread runs one block at a time. Shared memory keeps the values of the previous block,
 * as it may on a device. */
#define __shared__ static thread_local

#define VT_GPU_FN [[maybe_unused]] static inline
#define VT_UNROLL
#define VT_LOOP

/* Marks what is exported, because kernels that are compiled later into libraries of their own
 * (fake_nvrtc.cc) use it. */
#define VT_GPU_EXPORT __attribute__((visibility("default")))

/* ---- vectors ---- */

#define VT_GPU_VECTOR_2(name, T, bytes)            \
  struct __attribute__((aligned(bytes))) name##2 { \
    T x, y;                                        \
  };                                               \
  VT_GPU_FN name##2 make_##name##2(T x, T y) { return {x, y}; }
#define VT_GPU_VECTOR_3(name, T) \
  struct name##3 {               \
    T x, y, z;                   \
  };                             \
  VT_GPU_FN name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define VT_GPU_VECTOR_4(name, T, bytes)            \
  struct __attribute__((aligned(bytes))) name##4 { \
    T x, y, z, w;                                  \
  };                                               \
  VT_GPU_FN name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

VT_GPU_VECTOR_2(char, signed char, 2)
VT_GPU_VECTOR_2(uchar, unsigned char, 2)
VT_GPU_VECTOR_2(short, short, 4)
VT_GPU_VECTOR_2(ushort, unsigned short, 4)
VT_GPU_VECTOR_2(int, int, 8)
VT_GPU_VECTOR_2(uint, unsigned, 8)
VT_GPU_VECTOR_2(float, float, 8)
VT_GPU_VECTOR_2(longlong, long long, 16)
VT_GPU_VECTOR_2(ulonglong, unsigned long long, 16)
VT_GPU_VECTOR_2(double, double, 16)
VT_GPU_VECTOR_3(int, int)
VT_GPU_VECTOR_3(uint, unsigned)
VT_GPU_VECTOR_3(float, float)
VT_GPU_VECTOR_4(char, signed char, 4)
VT_GPU_VECTOR_4(uchar, unsigned char, 4)
VT_GPU_VECTOR_4(short, short, 8)
VT_GPU_VECTOR_4(ushort, unsigned short, 8)
VT_GPU_VECTOR_4(int, int, 16)
VT_GPU_VECTOR_4(uint, unsigned, 16)
VT_GPU_VECTOR_4(float, float, 16)

/* ---- indices of a thread ---- */

struct vt_gpu_indices_t {
  uint3 thread, block, threads, blocks;
  unsigned char *shared;
};
/* threadIdx, blockIdx and so on of the running CUDA thread; set at every switch between CUDA
 * threads. */
extern VT_GPU_EXPORT __thread vt_gpu_indices_t vt_gpu_indices;
#define threadIdx vt_gpu_indices.thread
#define blockIdx vt_gpu_indices.block
#define blockDim vt_gpu_indices.threads
#define gridDim vt_gpu_indices.blocks
enum { warpSize = 32 };

/* ---- kernels ---- */

typedef void vt_gpu_call(const void *args);
struct VT_GPU_EXPORT vt_gpu_entry {
  vt_gpu_entry(const char *name, size_t bytes, unsigned threads, vt_gpu_call *call);
  const char *name;
  size_t bytes;     /* bytes of the kernel's argument struct */
  unsigned threads; /* most threads that a block of the kernel may have */
  vt_gpu_call *call;
  vt_gpu_entry *next;
};
#define VT_KERNEL(name, args, threads)                                                  \
  static void vt_kernel_##name(const args &a);                                          \
  static vt_gpu_entry vt_entry_##name(#name, sizeof(args), threads, [](const void *p) { \
    vt_kernel_##name(*static_cast<const args *>(p));                                    \
  });                                                                                   \
  static void vt_kernel_##name([[maybe_unused]] const args &a)
#define VT_KERNEL_RESIDENT(name, args, threads, blocks) VT_KERNEL(name, args, threads)

template <class T>
VT_GPU_FN T *vt_shared() {
  return reinterpret_cast<T *>(vt_gpu_indices.shared);
}

/* ---- threads of a block ---- */

enum vt_gpu_warp_op {
  VT_GPU_SYNCWARP,
  VT_GPU_SHFL,
  VT_GPU_SHFL_UP,
  VT_GPU_SHFL_DOWN,
  VT_GPU_SHFL_XOR,
  VT_GPU_BALLOT,
  VT_GPU_ANY,
  VT_GPU_ALL,
  VT_GPU_MATCH
};
/* Barrier of the block. Returns how many threads passed a value other than 0. */
VT_GPU_EXPORT unsigned vt_gpu_block_barrier(unsigned value);
/* Warp operation: the lanes of the mask exchange values. A shuffle returns the value of lane
 * `from`; a vote returns a mask of the lanes whose value is not 0. */
VT_GPU_EXPORT uint64_t vt_gpu_warp_exchange(vt_gpu_warp_op what, unsigned mask, uint64_t value,
                                            unsigned from);
VT_GPU_EXPORT unsigned vt_gpu_active_mask(); /* mask of the warp's lanes that have not ended */
VT_GPU_EXPORT unsigned vt_gpu_lane();

VT_GPU_FN void __syncthreads() { vt_gpu_block_barrier(0); }
VT_GPU_FN int __syncthreads_count(int p) { return (int)vt_gpu_block_barrier(p != 0); }
VT_GPU_FN int __syncthreads_or(int p) { return vt_gpu_block_barrier(p != 0) != 0; }
VT_GPU_FN int __syncthreads_and(int p) { return vt_gpu_block_barrier(p == 0) == 0; }
VT_GPU_FN void __syncwarp(unsigned mask = 0xffffffffu) {
  vt_gpu_warp_exchange(VT_GPU_SYNCWARP, mask, 0, 0);
}
VT_GPU_FN unsigned __activemask() { return vt_gpu_active_mask(); }
VT_GPU_FN unsigned __ballot_sync(unsigned mask, int p) {
  return (unsigned)vt_gpu_warp_exchange(VT_GPU_BALLOT, mask, p != 0, 0);
}
VT_GPU_FN int __any_sync(unsigned mask, int p) {
  return vt_gpu_warp_exchange(VT_GPU_ANY, mask, p != 0, 0) != 0;
}
VT_GPU_FN int __all_sync(unsigned mask, int p) {
  return vt_gpu_warp_exchange(VT_GPU_ALL, mask, p == 0, 0) == 0;
}
template <class T>
VT_GPU_FN unsigned __match_any_sync(unsigned mask, T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return (unsigned)vt_gpu_warp_exchange(VT_GPU_MATCH, mask, bits, 0);
}

template <class T>
VT_GPU_FN T vt_gpu_shuffle(vt_gpu_warp_op what, unsigned mask, T value, unsigned from) {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                "the device shuffles numbers of 32 and 64 bits");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = vt_gpu_warp_exchange(what, mask, bits, from);
  memcpy(&value, &bits, sizeof value);
  return value;
}
/* A warp is divided into segments of `width` lanes; a lane outside of the own segment reads its own
 * value. */
template <class T>
VT_GPU_FN T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  const unsigned me = vt_gpu_lane(), part = (unsigned)width - 1;
  return vt_gpu_shuffle(VT_GPU_SHFL, mask, value, (me & ~part) | ((unsigned)lane & part));
}
template <class T>
VT_GPU_FN T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned me = vt_gpu_lane(), part = (unsigned)width - 1;
  return vt_gpu_shuffle(VT_GPU_SHFL_UP, mask, value,
                        (me & part) >= (by & 31) ? me - (by & 31) : me);
}
template <class T>
VT_GPU_FN T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const unsigned me = vt_gpu_lane(), part = (unsigned)width - 1;
  return vt_gpu_shuffle(VT_GPU_SHFL_DOWN, mask, value,
                        (me & part) + (by & 31) <= part ? me + (by & 31) : me);
}
/* A lane may read from lanes of segments below its own, not from those above. */
template <class T>
VT_GPU_FN T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
  const unsigned me = vt_gpu_lane(), part = (unsigned)width - 1, other = me ^ ((unsigned)with & 31);
  return vt_gpu_shuffle(VT_GPU_SHFL_XOR, mask, value, other <= (me | part) ? other : me);
}

/* ---- threads of several blocks ---- */

VT_GPU_EXPORT void vt_gpu_yield_to_blocks();
VT_GPU_FN uint32_t vt_load_volatile(const uint32_t *at) {
  vt_gpu_yield_to_blocks();
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

/* ---- asynchronous copies ---- */

VT_GPU_EXPORT void vt_gpu_async_copy(void *to, const void *from, unsigned bytes, bool there);
VT_GPU_EXPORT void vt_gpu_async_close_group();
VT_GPU_EXPORT void vt_gpu_async_wait(unsigned left);

VT_GPU_FN void vt_async_copy_16(void *to, const void *from, bool there) {
  vt_gpu_async_copy(to, from, 16, there);
}
VT_GPU_FN void vt_async_copy_8(void *to, const void *from, bool there) {
  vt_gpu_async_copy(to, from, 8, there);
}
VT_GPU_FN void vt_async_copy_4(void *to, const void *from, bool there) {
  vt_gpu_async_copy(to, from, 4, there);
}
VT_GPU_FN void vt_load_16_now(const float *from, float *v) {
  const float4 x = *(const float4 *)from;
  v[0] = x.x;
  v[1] = x.y;
  v[2] = x.z;
  v[3] = x.w;
}
struct alignas(8) vt_gpu_float_pair {
  float x, y;
};
VT_GPU_FN void vt_load_8_once(const float *from, float *v) {
  const vt_gpu_float_pair f = *(const vt_gpu_float_pair *)from;
  v[0] = f.x;
  v[1] = f.y;
}
VT_GPU_FN void vt_async_compiler_barrier() {}
VT_GPU_FN void vt_async_close_group() { vt_gpu_async_close_group(); }
template <int N>
VT_GPU_FN void vt_async_wait() {
  vt_gpu_async_wait(N);
}

#include "gpu_emulated_numbers.h"

/* ---- tensor core products ---- */

/* Each lane's operands are stored where the whole warp can read them until the next warp barrier.
 */
VT_GPU_FN void vt_warp_multiply_int8(int32_t (&c)[4], const uint32_t (&a)[4],
                                     const uint32_t (&b)[2]) {
  struct brought {
    uint32_t a[4], b[2];
  };
  static thread_local brought all[32][32];
  brought *warp = all[threadIdx.x / 32];
  const unsigned lane = vt_gpu_lane();
  memcpy(warp[lane].a, a, sizeof a);
  memcpy(warp[lane].b, b, sizeof b);
  __syncwarp();
  for (unsigned q = 0; q < 4; q++)
    for (unsigned t = 0; t < 4; t++)
      for (unsigned half = 0; half < 2; half++) {
        const uint32_t x = warp[(lane & ~3u) + t].a[2 * half + q / 2];
        const uint32_t w = warp[4 * (lane % 4 * 2 + q % 2) + t].b[half];
        c[q] = __dp4a((int)x, (int)w, c[q]);
      }
  __syncwarp();
}
#endif
