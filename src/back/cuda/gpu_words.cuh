/* SPDX-License-Identifier: Apache-2.0
 * gpu_words.cuh - the portable primitives of kernels, in addition to those of the numerics
 * (num/vt_words_cuda.h): the kernel macros, offsets of elements, asynchronous copies and barriers.
 * Kernels use no other features of the GPU, so the emulated GPU of tests/fake_cuda can run them on
 * any CPU; without a CUDA compiler this file includes the emulated primitives. */
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
/* Defines a kernel of kernels.def. Its argument is one struct, `a`. */
#define VT_KERNEL(name, args, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ args a)
/* Like VT_KERNEL, with registers limited so that `blocks` blocks are resident per multiprocessor.
 */
#define VT_KERNEL_RESIDENT(name, args, threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args a)
#define VT_GPU_FN static __device__ __forceinline__
#define VT_UNROLL _Pragma("unroll")
#define VT_LOOP _Pragma("unroll 1")

/* Returns the dynamic shared memory, whose size the launch sets, as an array. */
template <class T>
static __device__ __forceinline__ T *vt_shared() {
  extern __shared__ __align__(16) unsigned char vt_shared_bytes[];
  return reinterpret_cast<T *>(vt_shared_bytes);
}

/* Asynchronous copies of 16, 8 or 4 bytes from global to shared memory; they write zeros if `there`
 * is false. Copies between two calls of vt_async_close_group form a group, which completes as a
 * whole. */
VT_GPU_FN void vt_async_copy_16(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
               "r"(there ? 16 : 0));
}
VT_GPU_FN void vt_async_copy_8(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from),
               "r"(there ? 8 : 0));
}
VT_GPU_FN void vt_async_copy_4(void *to, const void *from, bool there) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
               "r"(there ? 4 : 0));
}
/* A barrier for the compiler only, for threads that share no data and so need no __syncthreads:
 * reads stay before later copies that overwrite what they read, and reads of copied data stay after
 * the wait. */
VT_GPU_FN void vt_async_compiler_barrier() { asm volatile("" ::: "memory"); }
VT_GPU_FN void vt_async_close_group() { asm volatile("cp.async.commit_group;"); }
/* Waits until at most N groups of this thread's asynchronous copies are incomplete. */
template <int N>
VT_GPU_FN void vt_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
}

/* Loads 16 bytes of global memory that this launch does not write. The asm keeps the load at this
 * point; the compiler may not move it to its first use. */
VT_GPU_FN void vt_load_16_now(const float *from, float *v) {
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "l"(__cvta_generic_to_global(from)));
}

/* Loads 8 bytes of global memory that are not read again (cache streaming). */
VT_GPU_FN void vt_load_8_once(const float *from, float *v) {
  const float2 x = __ldcs((const float2 *)from);
  v[0] = x.x;
  v[1] = x.y;
}

/* Reads a number that other thread blocks may change at the same time. */
VT_GPU_FN uint32_t vt_load_volatile(const uint32_t *at) { return *(const volatile uint32_t *)at; }

/* Tensor core product of a warp, c += a * b: 16 x 32 by 32 x 8 signed 8-bit integers, sums of 32
 * bits that wrap. Lane 4*g + t holds of a: rows g, g+8, g, g+8 at k = 4*t, 4*t, 16+4*t, 16+4*t,
 * four bytes each; of b: column g at k = 4*t and 16+4*t; of c: row g, then g+8, at columns 2*t and
 * 2*t+1. */
VT_GPU_FN void vt_warp_multiply_int8(int32_t (&c)[4], const uint32_t (&a)[4],
                                     const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

/* Copies one element asynchronously, or writes zero if `there` is false. */
VT_GPU_FN void vt_async_copy_one(float *to, const float *from, bool there = true) {
  vt_async_copy_4(to, from, there);
}
VT_GPU_FN void vt_async_copy_one(double *to, const double *from, bool there = true) {
  vt_async_copy_8(to, from, there);
}

/* Barrier of thread blocks: waits until `arrived` has counted `blocks` arrivals, including this
 * one. Afterwards the block sees everything that the other blocks wrote before. The blocks must be
 * resident at the same time (vt_cuda_launch_cooperative). */
VT_GPU_FN void vt_blocks_barrier(uint32_t *arrived, uint32_t blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (vt_load_volatile(arrived) < blocks) {
    }
    __threadfence();
  }
  __syncthreads();
}

/* ---- offsets ---- */

/* For grid-stride loops: the index of this thread's first item, and the distance to its next
 * one. */
VT_GPU_FN int64_t vt_gpu_first_item() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
VT_GPU_FN int64_t vt_gpu_grid_stride() { return (int64_t)gridDim.x * blockDim.x; }

/* Computes the offsets of element i in N operands. W is vt_gpu_walk or a struct with the same
 * fields for more operands; I is the integer type of the divisions. */
template <int N, class I, class W>
VT_GPU_FN void vt_offsets_by_type(const W &w, I i, int64_t (&at)[N]) {
  VT_UNROLL
  for (int k = 0; k < N; k++) at[k] = 0;
  /* the loop is not unrolled, because divisions are long code */
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
/* Computes the offsets of element i in N operands, in elements. */
template <int N, class W>
VT_GPU_FN void vt_offsets(const W &w, int64_t i, int64_t (&at)[N]) {
  if (w.rank == 0) {
    VT_UNROLL
    for (int k = 0; k < N; k++) at[k] = 0;
  } else if (w.small) {
    vt_offsets_by_type<N, uint32_t>(w, (uint32_t)i, at);
  } else {
    vt_offsets_by_type<N, int64_t>(w, i, at);
  }
}
#endif
