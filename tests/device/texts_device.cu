/* SPDX-License-Identifier: Apache-2.0
 * texts_device.cu - the numerics other than functions as device code: the texts of texts.def,
 * casts, random numbers, S and D. The device generates operands from their numbers. Built with
 * -fmad=false. */
#include <cuda_runtime.h>
#include "texts_device.h"
#include "vt_words_cuda.h"
#include "texts_test.inc"

enum { TEXT_THREADS = 256 };

/* ---- texts.def ---- */

#define VT_TEXT(name, kind)                              \
  struct text_at_##name {                                \
    static __device__ uint64_t at(uint64_t n) {          \
      return text_##name(case_operands(CASE_##kind, n)); \
    }                                                    \
  };
#include "texts.def"
#undef VT_TEXT

template <class T>
__global__ void text_kernel(uint64_t first, uint64_t *out) {
  const uint64_t i = (uint64_t)blockIdx.x * TEXT_THREADS + threadIdx.x;
  out[i] = T::at(first + i);
}

static void (*const texts[])(uint64_t first, uint64_t *out) = {
#define VT_TEXT(name, kind) text_kernel<text_at_##name>,
#include "texts.def"
#undef VT_TEXT
};

/* ---- casts and random numbers ---- */

static __global__ void cast_kernel(uint32_t from, uint32_t to, uint64_t first, uint64_t *out) {
  const uint64_t i = (uint64_t)blockIdx.x * TEXT_THREADS + threadIdx.x;
  out[i] = vt_cast_pattern(text_cast_source(first + i, from), from, to);
}

static __global__ void random_kernel(uint64_t seed, int variant, uint64_t first, uint64_t *out) {
  const uint64_t i = (uint64_t)blockIdx.x * TEXT_THREADS + threadIdx.x;
  out[i] = text_random(case_i64(first + i), seed, variant);
}

/* ---- S: one list per thread ---- */

static __global__ void sum_f32_kernel(uint64_t first_list, int64_t n, uint64_t *out) {
  out[threadIdx.x] = text_sum_f32(first_list + threadIdx.x, n);
}
static __global__ void sum_f64_kernel(uint64_t first_list, int64_t n, uint64_t *out) {
  out[threadIdx.x] = text_sum_f64(first_list + threadIdx.x, n);
}

/* ---- D: one column per thread, with operands in memory ---- */

static __global__ void fill_f32_kernel(uint64_t first_list, float *a, float *b, uint8_t *present) {
  const int64_t k = blockIdx.x;
  b[k * TD_LISTS + threadIdx.x] = text_to_f32(case_element_f32(first_list + 1 + threadIdx.x, k));
  a[k] = text_to_f32(case_element_f32(first_list, k));
  present[k] = case_is_product_present(first_list, k);
}
static __global__ void fill_f64_kernel(uint64_t first_list, double *a, double *b,
                                       uint8_t *present) {
  const int64_t k = blockIdx.x;
  b[k * TD_LISTS + threadIdx.x] = text_to_f64(case_element_f64(first_list + 1 + threadIdx.x, k));
  a[k] = text_to_f64(case_element_f64(first_list, k));
  present[k] = case_is_product_present(first_list, k);
}
static __global__ void dot_f32_kernel(const float *a, const float *b, const uint8_t *present,
                                      int64_t n, uint64_t *out) {
  const int j = (int)threadIdx.x;
  out[j] = text_from_f32(vt_dot_s_dot(a, 1, b + j, TD_LISTS, 1, present, 1, n));
}
static __global__ void dot_f64_kernel(const double *a, const double *b, const uint8_t *present,
                                      int64_t n, uint64_t *out) {
  const int j = (int)threadIdx.x;
  out[j] = text_from_f64(vt_dot_d_dot(a, 1, b + j, TD_LISTS, 1, present, 1, n));
}

/* ---- the calls ---- */

static const char *copy_results_to_host(fd_slot *s, size_t n) {
  const cudaStream_t stream = (cudaStream_t)s->stream;
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(s->host, s->device, n * sizeof(uint64_t), cudaMemcpyDeviceToHost, stream);
  if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
  return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

const char *td_compute_text(fd_slot *s, int text, uint64_t first_number) {
  texts[text]<<<TD_SLICE / TEXT_THREADS, TEXT_THREADS, 0, (cudaStream_t)s->stream>>>(
      first_number, (uint64_t *)s->device);
  return copy_results_to_host(s, TD_SLICE);
}

const char *td_compute_casts(fd_slot *s, uint32_t from, uint32_t to, uint64_t first_number) {
  cast_kernel<<<TD_SLICE / TEXT_THREADS, TEXT_THREADS, 0, (cudaStream_t)s->stream>>>(
      from, to, first_number, (uint64_t *)s->device);
  return copy_results_to_host(s, TD_SLICE);
}

const char *td_compute_randoms(fd_slot *s, uint64_t seed, int variant, uint64_t first_number) {
  random_kernel<<<TD_SLICE / TEXT_THREADS, TEXT_THREADS, 0, (cudaStream_t)s->stream>>>(
      seed, variant, first_number, (uint64_t *)s->device);
  return copy_results_to_host(s, TD_SLICE);
}

const char *td_compute_sums_f32(fd_slot *s, uint64_t first_list, int64_t n) {
  sum_f32_kernel<<<1, TD_LISTS, 0, (cudaStream_t)s->stream>>>(first_list, n, (uint64_t *)s->device);
  return copy_results_to_host(s, TD_LISTS);
}
const char *td_compute_sums_f64(fd_slot *s, uint64_t first_list, int64_t n) {
  sum_f64_kernel<<<1, TD_LISTS, 0, (cudaStream_t)s->stream>>>(first_list, n, (uint64_t *)s->device);
  return copy_results_to_host(s, TD_LISTS);
}

/* The slot's memory has the results, then b, a, and which products are present. */
const char *td_compute_dots_f32(fd_slot *s, uint64_t first_list, int64_t n, int holes) {
  uint64_t *out = (uint64_t *)s->device;
  float *b = (float *)(out + TD_LISTS), *a = b + TD_MOST_PRODUCTS * TD_LISTS;
  uint8_t *present = (uint8_t *)(a + TD_MOST_PRODUCTS);
  const cudaStream_t stream = (cudaStream_t)s->stream;
  fill_f32_kernel<<<TD_MOST_PRODUCTS, TD_LISTS, 0, stream>>>(first_list, a, b, present);
  dot_f32_kernel<<<1, TD_LISTS, 0, stream>>>(a, b, holes ? present : NULL, n, out);
  return copy_results_to_host(s, TD_LISTS);
}
const char *td_compute_dots_f64(fd_slot *s, uint64_t first_list, int64_t n, int holes) {
  uint64_t *out = (uint64_t *)s->device;
  double *b = (double *)(out + TD_LISTS), *a = b + TD_MOST_PRODUCTS * TD_LISTS;
  uint8_t *present = (uint8_t *)(a + TD_MOST_PRODUCTS);
  const cudaStream_t stream = (cudaStream_t)s->stream;
  fill_f64_kernel<<<TD_MOST_PRODUCTS, TD_LISTS, 0, stream>>>(first_list, a, b, present);
  dot_f64_kernel<<<1, TD_LISTS, 0, stream>>>(a, b, holes ? present : NULL, n, out);
  return copy_results_to_host(s, TD_LISTS);
}
