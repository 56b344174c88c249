/* SPDX-License-Identifier: Apache-2.0
 * gpu_words.cuh - the words that kernels are written in, besides those of the numerics
 * (num/vt_words_cuda.h): what a kernel is, places of elements, copies that run ahead, what threads
 * of a warp tell each other. A kernel uses nothing of the machine but these, so that the emulator
 * of tests/fake_cuda can run it on any processor; that is compiled when no CUDA compiler is. */
#ifndef VT_GPU_WORDS_CUH
#define VT_GPU_WORDS_CUH
#ifndef __CUDACC__
#include "gpu_emulated.h"
#endif
#ifndef __CUDACC_RTC__
#include <stdint.h>
#endif
#include "gpu_walk.h"

#ifdef __CUDACC__
/* A kernel of kernels.def: it is given one struct, `a`. */
#define VT_KERNEL(name, args, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ args a)
/* The same for a kernel of which `blocks` should fit on a processor at once. */
#define VT_KERNEL_RESIDENT(name, args, threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args a)
#define VT_GPU_FN static __device__ __forceinline__
#define VT_UNROLL _Pragma("unroll")
#define VT_LOOP _Pragma("unroll 1")

/* The shared memory whose size the launch says, as an array. */
template <class T>
static __device__ __forceinline__ T *vt_shared() {
  extern __shared__ __align__(16) unsigned char vt_shared_bytes[];
  return reinterpret_cast<T *>(vt_shared_bytes);
}

/* 16, 8 or 4 bytes from global to shared memory, on their way while the thread goes on; zeros where
 * they are not `there`. Those of one group arrive together. */
VT_GPU_FN void vt_ahead_16(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
               "r"(there ? 16 : 0));
}
VT_GPU_FN void vt_ahead_8(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from),
               "r"(there ? 8 : 0));
}
VT_GPU_FN void vt_ahead_4(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
               "r"(there ? 4 : 0));
}
/* For threads that keep for themselves, and so meet nobody: what they read before is read before
 * what is sent afterwards takes its place, and what has arrived is read after the wait. */
VT_GPU_FN void vt_ahead_in_order() { asm volatile("" ::: "memory"); }
VT_GPU_FN void vt_ahead_close() { asm volatile("cp.async.commit_group;"); }
/* Waits until at most N groups are still on their way. */
template <int N>
VT_GPU_FN void vt_ahead_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
}

/* 16 bytes of global memory that no kernel of this launch writes. Asked for here, and not where
 * they are first needed. */
VT_GPU_FN void vt_fetch_16(const float *from, float *v) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "l"(__cvta_generic_to_global(from)));
}

/* 8 bytes of global memory that nobody reads again. */
VT_GPU_FN void vt_pass_8(const float *from, float *v) {
  const float2 x = __ldcs((const float2 *)from);
  v[0] = x.x;
  v[1] = x.y;
}

/* A number that other blocks change. */
VT_GPU_FN uint32_t vt_look(const uint32_t *at) { return *(const volatile uint32_t *)at; }

/* c += a * b of a warp: 16 x 32 by 32 x 8 numbers of 8 bits with a sign, in 32 bits that wrap. Lane
 * 4*g + t has of a: rows g, g+8, g, g+8 at k = 4*t, 4*t, 16+4*t, 16+4*t, four bytes each; of b:
 * column g at k = 4*t and 16+4*t; of c: row g, then g+8, at columns 2*t and 2*t+1. */
VT_GPU_FN void vt_bytes_multiply(int32_t (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

/* An element that runs ahead. */
VT_GPU_FN void vt_ahead_one(float *to, const float *from, bool there = true) {
  vt_ahead_4(to, from, there);
}
VT_GPU_FN void vt_ahead_one(double *to, const double *from, bool there = true) {
  vt_ahead_8(to, from, there);
}

/* Waits until blocks have come here `all` times, this one among them. What they wrote before can be
 * read then. They are launched to run at once (vt_cuda_launch_at_once). */
VT_GPU_FN void vt_blocks_meet(uint32_t *arrived, uint32_t all) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (vt_look(arrived) < all) {
    }
    __threadfence();
  }
  __syncthreads();
}

/* ---- places ---- */

/* The first element of this thread in a line of work, and how far apart its elements are. */
VT_GPU_FN int64_t vt_gpu_first() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
VT_GPU_FN int64_t vt_gpu_grid_stride() { return (int64_t)gridDim.x * blockDim.x; }

/* W is vt_gpu_walk, or has what that has for more operands. */
template <int N, class I, class W>
VT_GPU_FN void vt_places_in(const W &w, I i, int64_t (&at)[N]) {
  VT_UNROLL
  for (int k = 0; k < N; k++) at[k] = 0;
  /* divisions are long */
  VT_LOOP
  for (int r = (int)w.rank - 1; r > 0; r--) {
    const I dim = (I)w.dim[r], up = i / dim, here = i - up * dim;
    VT_UNROLL
    for (int k = 0; k < N; k++) at[k] += (int64_t)here * w.stride[k][r];
    i = up;
  }
  VT_UNROLL
  for (int k = 0; k < N; k++) at[k] += (int64_t)i * w.stride[k][0];
}
/* Where N operands have element i, in elements from where they begin. */
template <int N, class W>
VT_GPU_FN void vt_places(const W &w, int64_t i, int64_t (&at)[N]) {
  if (w.rank == 0) {
    VT_UNROLL
    for (int k = 0; k < N; k++) at[k] = 0;
  } else if (w.small) {
    vt_places_in<N, uint32_t>(w, (uint32_t)i, at);
  } else {
    vt_places_in<N, int64_t>(w, i, at);
  }
}
#endif
