/* SPDX-License-Identifier: Apache-2.0
 * functions_device.cu - the functions as device code: each function by its f64 accurate phase,
 * those of ff_functions.def by the quick phase too, and pow. Built with -fmad=false. */
#define PAIRS_FN static __host__ __device__ inline
#include <cstring>
#include <cuda_runtime.h>
#include "functions_device.h"
#include "pow_pairs.h"
#include "vt_words_cuda.h"
#include "vt_core.h"
#include "fn_exp.inc"
#include "fn_log.inc"
#include "fn_trig.inc"
#include "fn_arc.inc"
#include "fn_erf.inc"
#include "fn_pow.inc"
#include "fs_all.inc"

/* ---- one input ---- */

#define VT_FUNCTION(name, ...)                                                       \
  struct core_##name {                                                               \
    static __device__ float at(float x) { return (float)vt_core_##name((double)x); } \
  };
#include "functions.def"
#undef VT_FUNCTION

#define VT_FF_FUNCTION(name, ...)                                   \
  struct both_##name {                                              \
    static __device__ float at(float x) { return vt_ff_##name(x); } \
  };
#include "ff_functions.def"
#undef VT_FF_FUNCTION

static __device__ uint32_t canonical_bits(float y) {
  return y != y ? 0x7fc00000u : __float_as_uint(y);
}

/* ---- kernels ---- */

enum { THREADS = 256, PER_THREAD = 1 << 10 };

template <class F>
__global__ void slice_kernel(uint32_t base, uint32_t *out) {
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  out[i] = canonical_bits(F::at(__uint_as_float(base + i)));
}

/* The kernel that is timed: each thread computes PER_THREAD inputs. Neighbouring threads have
 * inputs far from each other, as in real data. */
template <class F>
__global__ void time_kernel(float from, float step, uint32_t *out) {
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < PER_THREAD; k++) {
    const uint32_t place = (i * PER_THREAD + k) * 2654435761u;
    sum ^= __float_as_uint(F::at(from + (float)(place >> 8) * step));
  }
  out[i] = sum;
}

static __global__ void pow_kernel(uint64_t first, uint32_t *out) {
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  const uint64_t pair = pow_pair_bits(first + i);
  const float x = __uint_as_float((uint32_t)pair), y = __uint_as_float((uint32_t)(pair >> 32));
  out[i] = canonical_bits((float)vt_core_pow((double)x, (double)y));
}

/* ---- the table ---- */

typedef struct entry {
  const char *name;
  void (*slice)(uint32_t base, uint32_t *out);
  void (*timed)(float from, float step, uint32_t *out);
} entry;

static const entry cores[] = {
#define VT_FUNCTION(name, ...) {#name, slice_kernel<core_##name>, time_kernel<core_##name>},
#include "functions.def"
#undef VT_FUNCTION
};
static const entry shorts[] = {
#define VT_FF_FUNCTION(name, ...) {#name, slice_kernel<both_##name>, time_kernel<both_##name>},
#include "ff_functions.def"
#undef VT_FF_FUNCTION
};

static const entry *find_function_entry(int variant, int function) {
  if (variant == FD_F64) return &cores[function];
  for (const entry &e : shorts)
    if (strcmp(e.name, cores[function].name) == 0) return &e;
  return NULL;
}

/* ---- the calls ---- */

static const char *error_text(cudaError_t e) {
  return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

const char *fd_device_name(char name[256]) {
  cudaDeviceProp p;
  const char *error = error_text(cudaGetDeviceProperties(&p, 0));
  if (error == NULL) strncpy(name, p.name, 255);
  return error;
}

const char *fd_slot_open(fd_slot *s) {
  const size_t bytes = (size_t)FD_SLICE * sizeof *s->host;
  cudaStream_t stream = NULL;
  cudaError_t e = cudaStreamCreate(&stream);
  s->stream = stream;
  if (e == cudaSuccess) e = cudaMalloc(&s->device, bytes);
  if (e == cudaSuccess) e = cudaMallocHost((void **)&s->host, bytes);
  return error_text(e);
}

void fd_slot_close(fd_slot *s) {
  cudaFreeHost(s->host);
  cudaFree(s->device);
  cudaStreamDestroy((cudaStream_t)s->stream);
}

int fd_has_variant(int variant, int function) {
  return find_function_entry(variant, function) != NULL;
}

static const char *copy_results_to_host(fd_slot *s) {
  const cudaStream_t stream = (cudaStream_t)s->stream;
  const size_t bytes = (size_t)FD_SLICE * sizeof *s->host;
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(s->host, s->device, bytes, cudaMemcpyDeviceToHost, stream);
  if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
  return error_text(e);
}

const char *fd_compute_slice(fd_slot *s, int variant, int function, uint32_t slice) {
  find_function_entry(variant, function)
      ->slice<<<FD_SLICE / THREADS, THREADS, 0, (cudaStream_t)s->stream>>>(slice << 24,
                                                                           (uint32_t *)s->device);
  return copy_results_to_host(s);
}

const char *fd_compute_pow(fd_slot *s, uint64_t first_pair) {
  pow_kernel<<<FD_SLICE / THREADS, THREADS, 0, (cudaStream_t)s->stream>>>(first_pair,
                                                                          (uint32_t *)s->device);
  return copy_results_to_host(s);
}

const char *fd_time_function(fd_slot *s, int variant, int function, float from, float to,
                             double *seconds) {
  const cudaStream_t stream = (cudaStream_t)s->stream;
  const unsigned blocks = (1u << 22) / THREADS; /* 2^22 threads with 2^10 inputs each */
  cudaEvent_t start, end;
  float ms = 0;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  for (int warm = 0; warm < 2; warm++) {
    cudaEventRecord(start, stream);
    find_function_entry(variant, function)
        ->timed<<<blocks, THREADS, 0, stream>>>(from, (to - from) * 0x1p-24f,
                                                (uint32_t *)s->device);
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
  }
  cudaEventElapsedTime(&ms, start, end);
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  *seconds = ms / 1e3;
  return error_text(cudaGetLastError());
}
