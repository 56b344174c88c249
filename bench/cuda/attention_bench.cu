// SPDX-License-Identifier: Apache-2.0
// attention_bench.cu - times the attention kernels for each shape, and compares their bits with
// those of a simple kernel that computes one row per thread as docs/numerics.md defines it. Exit
// 1 if bits differ. S and D are its orders for sums and for dot products. The tiled kernels are
// those of attention.cu.
//
//   nvcc -std=c++17 -O3 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -arch=sm_90
//        -Isrc/back/cuda -Isrc/num bench/cuda/attention_bench.cu -o attention_bench
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#include "gpu_attend.cuh"
namespace tiles {
#include "attention.cu"
}
namespace split {
#include "attention_split.cu"
}

#define GOOD(call)                                                                \
  do {                                                                            \
    const cudaError_t e_ = (call);                                                \
    if (e_ != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

struct shape {
  const char *name;
  int64_t batch, heads, groups, queries, keys, depth;
  bool causal;
};

static const shape shapes[] = {
    {"gpt2 prefill", 4, 12, 12, 1024, 1024, 64, true},
    {"gpt2 all keys", 4, 12, 12, 1024, 1024, 64, false},
    {"ragged", 1, 3, 3, 1000, 1001, 60, true},
    {"prefill 4096", 1, 12, 12, 4096, 4096, 64, true},
    {"grouped 128", 1, 32, 8, 2048, 2048, 128, true},
    {"decode 64", 4, 12, 12, 1, 1024, 64, true},
    {"decode 128", 8, 32, 8, 1, 8192, 128, true},
    {"decode long", 1, 8, 8, 1, 65536, 128, true},
    {"wide", 1, 4, 4, 64, 512, 256, true},
};

// ---- reference: one row per thread ----

__device__ float reference_dot(const float *x, const float *y, int64_t y_step, int64_t n) {
  attend_levels t;
  attend_levels_clear(t);
  for (int64_t c = 0; c < n; c += 256) {
    float p = 0.0f;
    for (int64_t i = c; i < n && i < c + 256; i++) p = __fmaf_rn(x[i], y[i * y_step], p);
    attend_levels_add(t, c / 256, p);
  }
  return attend_levels_sum(t);
}

// Returns S of n numbers, at most 1024.
__device__ float reference_chunk_sum(const float *x, int64_t n) {
  float s[32] = {0};
  for (int64_t i = 0; i < n; i++) s[i % 32] += x[i];
  for (int h = 16; h > 0; h /= 2)
    for (int l = 0; l < h; l++) s[l] = s[l] + s[l + h];
  return s[0];
}

__global__ void reference_attention_kernel(vt_gpu_attention a, float *weights, float *chunks,
                                           float *out) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= a.pairs * a.queries) return;
  const int64_t pair = row / a.queries, i = row % a.queries, b = pair / a.heads, h = pair % a.heads;
  const int64_t group = h / (a.heads / a.groups), count = attend_ceil_div(a.keys, 1024);
  const int64_t seen = a.causal ? i + 1 + a.keys - a.queries : a.keys;
  const float *q = attend_row<float>(a.q, b, h, i), *v = attend_row<float>(a.v, b, group, 0);
  float *e = weights + row * a.keys, *sums = chunks + row * count, m = attend_minus_infinity();
  for (int64_t j = 0; j < seen; j++) {
    e[j] = reference_dot(q, attend_row<float>(a.k, b, group, j), 1, a.depth) * a.scale;
    m = fmaxf(m, e[j]);
  }
  for (int64_t j = 0; j < seen; j++) e[j] = vt_s_narrow(vt_core_exp((double)(e[j] - m)));
  for (int64_t c = 0; c < count; c++)
    sums[c] = reference_chunk_sum(e + c * 1024, attend_max(0, attend_min(1024, seen - c * 1024)));
  const float sum = reference_chunk_sum(sums, count);
  for (int64_t c = 0; c < a.width; c++)
    out[row * a.width + c] = reference_dot(e, v + c, a.v.step[2], seen) / sum;
}

// ---- the kernels, launched as in cuda_attention.c ----

template <class T>
static T *new_device_array(int64_t n) {
  T *p;
  GOOD(cudaMalloc(&p, std::max<int64_t>(n, 1) * sizeof(T)));
  GOOD(cudaMemset(p, 0x7f, std::max<int64_t>(n, 1) * sizeof(T)));
  return p;
}

static float *random_device_numbers(int64_t n, uint32_t seed) {
  std::vector<float> x(n);
  for (float &f : x) seed = seed * 1664525u + 1013904223u, f = (float)(seed >> 8) * 0x1p-22f - 2.0f;
  float *p = new_device_array<float>(n);
  GOOD(cudaMemcpy(p, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  return p;
}

// Views data as an operand in the layout in which a projection stores it: [batch, time, head,
// width].
static vt_gpu_attended view_of_projection(const float *data, int64_t heads, int64_t time,
                                          int64_t width) {
  return {data, {time * heads * width, width, heads * width, 1}};
}

static cudaDeviceProp device;
static bool uses_tiled_kernels(const shape &s) { return s.queries >= 32 && s.depth <= 128; }

// Rows of queries that a thread block of the tiled kernels computes at a time; number of its thread
// blocks: one for each tile, or as many as are resident if scores are stored.
static int64_t rows_per_tile(const shape &s) { return s.depth <= 64 ? 64 : 32; }
static int64_t count_tiled_thread_blocks(const shape &s, bool stores_scores) {
  const int64_t all = (s.queries + rows_per_tile(s) - 1) / rows_per_tile(s) * s.batch * s.heads;
  return stores_scores
             ? std::min<int64_t>(all, device.multiProcessorCount * (s.depth <= 64 ? 3 : 2))
             : all;
}
static int64_t scores_per_query_tile(const shape &s) {
  return (s.keys + 63) / 64 * 64 * rows_per_tile(s);
}

static vt_gpu_attention new_attention_args(const shape &s, float *out) {
  vt_gpu_attention a = {};
  const int64_t rows = s.batch * s.heads * s.queries;
  a.q = view_of_projection(random_device_numbers(rows * s.depth, 1), s.heads, s.queries, s.depth);
  a.k = view_of_projection(random_device_numbers(s.batch * s.groups * s.keys * s.depth, 2),
                           s.groups, s.keys, s.depth);
  a.v = view_of_projection(random_device_numbers(s.batch * s.groups * s.keys * s.depth, 3),
                           s.groups, s.keys, s.depth);
  a.out = {out, {s.heads * s.queries * s.depth, s.queries * s.depth, s.depth, 1}};
  a.heads = s.heads, a.groups = s.groups, a.queries = s.queries, a.keys = s.keys;
  a.depth = a.width = s.depth, a.scale = 1.0f / sqrtf((float)s.depth), a.causal = s.causal;
  a.wide[0] = a.wide[1] = a.wide[2] = a.wide_out = 1;
  a.pairs = s.batch * s.heads, a.levels = 1;
  a.blocks = (s.keys + 255) / 256, a.stride = s.keys;
  for (int64_t n = a.blocks; n > 8; n = (n + 7) / 8) a.levels++;
  a.per_group = s.heads / s.groups * s.queries, a.units = (a.per_group + 7) / 8;
  a.upper = new_device_array<float>((a.levels - 1) * rows * a.width);
  a.sums_stride = (s.keys + 1023) / 1024 + (s.keys > 1024 && !uses_tiled_kernels(s));
  const int64_t slots = uses_tiled_kernels(s) ? 0 : s.batch * s.groups * a.units * 8;
  if (uses_tiled_kernels(s)) a.stride = scores_per_query_tile(s);
  a.sums = new_device_array<float>(std::max(rows, slots) * a.sums_stride);
  a.scores = new_device_array<float>(
      (uses_tiled_kernels(s) ? count_tiled_thread_blocks(s, true) : slots) * a.stride);
  a.most = new_device_array<float>(slots * a.blocks);
  a.products = new_device_array<float>(slots * a.blocks * a.width);
  return a;
}

static void launch_attention(const shape &s, const vt_gpu_attention &a, bool stores_scores) {
  const unsigned blocks = (unsigned)a.blocks, units = (unsigned)(s.batch * s.groups * a.units);
  if (!uses_tiled_kernels(s)) {
    split::attend_scores<<<dim3(blocks, units), 256, VT_ATTEND_SCORES_SHARED>>>(a);
    split::attend_values<<<dim3(blocks, units), 256, VT_ATTEND_VALUES_SHARED>>>(a);
    split::attend_results<<<units * 8, 128>>>(a);
  } else if (s.depth <= 64) {
    const auto kernel = stores_scores ? tiles::attend_64 : tiles::attend_64_long;
    kernel<<<(unsigned)count_tiled_thread_blocks(s, stores_scores), 128, VT_ATTEND_64_SHARED>>>(a);
  } else {
    const auto kernel = stores_scores ? tiles::attend_128 : tiles::attend_128_long;
    kernel<<<(unsigned)count_tiled_thread_blocks(s, stores_scores), 128, VT_ATTEND_128_SHARED>>>(a);
  }
}

static float median_ms_per_launch(const shape &s, const vt_gpu_attention &a, bool stores_scores) {
  cudaEvent_t from, to;
  std::vector<float> ms(15);
  GOOD(cudaEventCreate(&from));
  GOOD(cudaEventCreate(&to));
  launch_attention(s, a, stores_scores);
  for (float &x : ms) {
    GOOD(cudaEventRecord(from));
    for (int i = 0; i < 8; i++) launch_attention(s, a, stores_scores);
    GOOD(cudaEventRecord(to));
    GOOD(cudaEventSynchronize(to));
    GOOD(cudaEventElapsedTime(&x, from, to));
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2] / 8;
}

static int64_t count_wrong_results(const shape &s, const vt_gpu_attention &a, const float *out) {
  const int64_t rows = a.pairs * a.queries, n = rows * a.width;
  float *weights = new_device_array<float>(rows * a.keys),
        *chunks = new_device_array<float>(rows * (a.keys / 1024 + 1));
  float *want = new_device_array<float>(n);
  std::vector<uint32_t> x(n), y(n);
  reference_attention_kernel<<<(unsigned)((rows + 127) / 128), 128>>>(a, weights, chunks, want);
  GOOD(cudaMemcpy(x.data(), want, n * 4, cudaMemcpyDeviceToHost));
  GOOD(cudaMemcpy(y.data(), out, n * 4, cudaMemcpyDeviceToHost));
  GOOD(cudaFree(weights));
  GOOD(cudaFree(chunks));
  GOOD(cudaFree(want));
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++) bad += x[i] != y[i];
  return bad;
}

template <class F>
static void print_occupancy(const char *name, F *kernel, int threads, int shared_bytes) {
  cudaFuncAttributes f;
  int blocks = 0;
  GOOD(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  GOOD(cudaFuncGetAttributes(&f, kernel));
  GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
  printf("%-15s %3d registers, %zu bytes local, %d blocks per multiprocessor\n", name, f.numRegs,
         f.localSizeBytes, blocks);
}

static int64_t time_and_check_shape(const shape &s, bool stores_scores) {
  float *out = new_device_array<float>(s.batch * s.heads * s.queries * s.depth);
  const vt_gpu_attention a = new_attention_args(s, out);
  const double part = s.causal && s.queries > 1 ? 0.5 : 1.0,
               ms = median_ms_per_launch(s, a, stores_scores);
  const double flops = 4.0 * part * s.batch * s.heads * s.queries * s.keys * s.depth;
  const double bytes = 8.0 * s.batch * s.groups * s.keys * s.depth;
  const int64_t wrong = count_wrong_results(s, a, out);
  printf("%-14s %-5s %9.4f %9.2f %9.1f  %s", s.name,
         uses_tiled_kernels(s) && !stores_scores ? "twice" : "once", ms, flops / ms / 1e9,
         bytes / ms / 1e6, wrong == 0 ? "equal\n" : "");
  if (wrong != 0) printf("%lld DIFFER\n", (long long)wrong);
  GOOD(cudaGetLastError());
  GOOD(cudaDeviceSynchronize());
  for (const void *p : {a.q.data, a.k.data, a.v.data, (const void *)out, (const void *)a.upper,
                        (const void *)a.sums, (const void *)a.scores, (const void *)a.most,
                        (const void *)a.products})
    GOOD(cudaFree((void *)p));
  return wrong;
}

int main() {
  int64_t bad = 0;
  GOOD(cudaGetDeviceProperties(&device, 0));
  print_occupancy("attend_64", tiles::attend_64, 128, VT_ATTEND_64_SHARED);
  print_occupancy("attend_128", tiles::attend_128, 128, VT_ATTEND_128_SHARED);
  print_occupancy("attend_64_long", tiles::attend_64_long, 128, VT_ATTEND_64_SHARED);
  print_occupancy("attend_128_long", tiles::attend_128_long, 128, VT_ATTEND_128_SHARED);
  print_occupancy("attend_scores", split::attend_scores, 256, VT_ATTEND_SCORES_SHARED);
  print_occupancy("attend_values", split::attend_values, 256, VT_ATTEND_VALUES_SHARED);
  printf("%-14s %-5s %9s %9s %9s  %s\n", "shape", "score", "ms", "TFLOP/s", "GB/s", "bits");
  for (const shape &s : shapes) {
    bad += time_and_check_shape(s, true);
    if (uses_tiled_kernels(s)) bad += time_and_check_shape(s, false);
  }
  return bad != 0;
}
