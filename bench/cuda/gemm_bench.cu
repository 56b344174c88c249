// SPDX-License-Identifier: Apache-2.0
// gemm_bench.cu - times every kernel variant for products of f32 matrices, and cuBLAS, on this GPU:
// medians of times between events; and checks that all variants give the same bits. Small products
// are timed in a graph, as plans run them. cuBLAS uses its fastest setting for each product, which
// is printed. TF32 is not among them, because it drops bits of the operands. gemm_bench.sh builds
// and runs it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cublas_v2.h>
#include "gemm.cu"
#include "move.cu"
#include "gemm_variants.h"

#define CHECK(x)                                                 \
  do {                                                           \
    const cudaError_t e_ = (x);                                  \
    if (e_ != cudaSuccess) {                                     \
      printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                   \
    }                                                            \
  } while (0)

static cudaStream_t stream;
static cublasHandle_t blas;
static cudaDeviceProp device;

/* ---- launches ---- */

struct Kernel {
  const char *name;
  const void *at;
};
static const Kernel kernels[] = {
#define VT_GPU_FUSED(name, args, why) {#name, (const void *)name},
#define VT_GPU(name, args) {#name, (const void *)name},
#include "kernels_gemm.def"
#include "kernels_move.def"
#undef VT_GPU
#undef VT_GPU_FUSED
};

int gemm_launch_kernel(const char *name, uint32_t blocks_x, uint32_t blocks_y, uint32_t threads,
                       uint32_t shared_bytes, const void *args) {
  for (const Kernel &k : kernels) {
    if (strcmp(k.name, name) != 0) continue;
    CHECK(
        cudaFuncSetAttribute(k.at, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    void *params[] = {const_cast<void *>(args)};
    CHECK(cudaLaunchKernel(k.at, dim3(blocks_x, blocks_y, 1), dim3(threads), params, shared_bytes,
                           stream));
    return 0;
  }
  return 1;
}

/* ---- times ---- */

static int order_of_times(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Returns the median time of one call of f in microseconds, over at most 64 `rounds`. If
 * `calls_per_round` is above 1, a round is a CUDA graph of that many calls. f gets the number of
 * the call as its argument. */
template <class F>
static double median_microseconds_per_call(F f, int rounds, int calls_per_round) {
  cudaEvent_t from, to;
  cudaGraphExec_t run = nullptr;
  float times[64];
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  for (int i = 0; i < 2; i++) f(i);
  CHECK(cudaStreamSynchronize(stream));
  if (calls_per_round > 1) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls_per_round; i++) f(i);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(run, stream));
  }
  for (int i = 0; i < rounds; i++) {
    float ms;
    CHECK(cudaEventRecord(from, stream));
    if (calls_per_round > 1) {
      CHECK(cudaGraphLaunch(run, stream));
    } else {
      f(i);
    }
    CHECK(cudaEventRecord(to, stream));
    CHECK(cudaEventSynchronize(to));
    CHECK(cudaEventElapsedTime(&ms, from, to));
    times[i] = ms;
  }
  if (run != nullptr) CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaEventDestroy(from));
  CHECK(cudaEventDestroy(to));
  qsort(times, (size_t)rounds, sizeof *times, order_of_times);
  return times[rounds / 2] * 1e3 / calls_per_round;
}

/* ---- bits ---- */

__global__ void count_differing_kernel(const uint32_t *x, const uint32_t *y, size_t n,
                                       unsigned long long *count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    if (x[i] != y[i]) atomicAdd(count, 1ull);
}

static unsigned long long *differences;
static unsigned long long count_differing(const float *x, const float *y, size_t n) {
  unsigned long long count = 0;
  CHECK(cudaMemsetAsync(differences, 0, sizeof count, stream));
  count_differing_kernel<<<1024, 256, 0, stream>>>((const uint32_t *)x, (const uint32_t *)y, n,
                                                   differences);
  CHECK(cudaMemcpyAsync(&count, differences, sizeof count, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  return count;
}

/* ---- products ---- */

static float *a, *b, *y, *first, *reference, *work;
static uint32_t *counters;
static const size_t ELEMENTS = 8192ull * 8192, WORK = 3ull << 30;

static gemm_product product_of_buffers(int64_t m, int64_t n, int64_t k, bool transpose_a,
                                       bool transpose_b) {
  gemm_product p = {m,
                    n,
                    k,
                    a,
                    b,
                    y,
                    k,
                    1,
                    n,
                    1,
                    work,
                    counters,
                    device.multiProcessorCount,
                    (uint32_t)device.sharedMemPerBlockOptin};
  if (transpose_a) p.a_row = 1, p.a_column = m;
  if (transpose_b) p.b_row = 1, p.b_column = k;
  return p;
}

static void multiply_by_cublas(const gemm_product &p, bool transpose_a, bool transpose_b) {
  const float one = 1, zero = 0;
  cublasSgemm(blas, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
              transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p.n, (int)p.m, (int)p.k, &one, p.b,
              (int)(transpose_b ? p.k : p.n), p.a, (int)(transpose_a ? p.m : p.k), &zero, reference,
              (int)p.n);
}

/* Computes a product with one row by cuBLAS's function for matrix and vector. */
static void multiply_row_by_cublas(const gemm_product &p, bool transpose_b) {
  const float one = 1, zero = 0;
  cublasSgemv(blas, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, (int)(transpose_b ? p.k : p.n),
              (int)(transpose_b ? p.n : p.k), &one, p.b, (int)(transpose_b ? p.k : p.n), p.a, 1,
              &zero, reference, 1);
}

struct Setting {
  const char *name;
  cublasMath_t math;
  size_t workspace; /* bytes of the workspace that cuBLAS gets; 0 lets it use its own */
};
static const Setting settings[] = {{"default", CUBLAS_DEFAULT_MATH, 0},
                                   {"pedantic", CUBLAS_PEDANTIC_MATH, 0},
                                   {"default, 64 MiB", CUBLAS_DEFAULT_MATH, 64 << 20},
                                   {"pedantic, 64 MiB", CUBLAS_PEDANTIC_MATH, 64 << 20}};

struct Fastest {
  double us;
  const char *setting, *function;
};

/* Times `call` with each setting of cuBLAS and keeps the fastest in `best`. cublasSetStream makes
 * cuBLAS use its own workspace again. */
template <class F>
static void find_fastest_setting(const char *function, F call, int rounds, int calls_per_round,
                                 Fastest *best) {
  for (const Setting &s : settings) {
    cublasSetMathMode(blas, s.math);
    cublasSetStream(blas, stream);
    if (s.workspace != 0) cublasSetWorkspace(blas, work, s.workspace);
    const double us = median_microseconds_per_call(call, rounds, calls_per_round);
    if (best->setting == nullptr || us < best->us) *best = {us, s.name, function};
  }
}

static void time_variants(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b,
                          bool every_variant) {
  const gemm_product p = product_of_buffers(m, n, k, transpose_a, transpose_b);
  const double flops = 2.0 * (double)m * (double)n * (double)k;
  const int inside = flops < 5e9 ? 20 : 1, rounds = flops > 1e11 ? 7 : 15;
  Fastest blas_best = {};
  find_fastest_setting(
      "gemm", [&](int) { multiply_by_cublas(p, transpose_a, transpose_b); }, rounds, inside,
      &blas_best);
  const double theirs = blas_best.us;
  char name[64];
  uint64_t bytes;
  int seen = 0;
  printf("%lldx%lldx%lld %c%c  cublas (%s) %9.2f us %6.2f TFLOP/s%s\n", (long long)m, (long long)n,
         (long long)k, transpose_a ? 't' : 'n', transpose_b ? 't' : 'n', blas_best.setting, theirs,
         flops / theirs / 1e6, inside > 1 ? " (in a graph)" : "");
  for (int i = -1; i < 0 || (every_variant &&
                             gemm_describe_variant(&p, (uint32_t)i, name, sizeof name, &bytes));
       i++) {
    if (i < 0) strcpy(name, "chosen"), bytes = gemm_scratch_bytes(&p);
    if (bytes > WORK) continue;
    CHECK(cudaMemsetAsync(y, 0xff, (size_t)(m * n) * 4, stream));
    const double ours =
        median_microseconds_per_call([&](int) { gemm_issue_variant(&p, i); }, rounds, inside);
    unsigned long long bad = 0;
    if (seen++ == 0) {
      CHECK(cudaMemcpyAsync(first, y, (size_t)(m * n) * 4, cudaMemcpyDeviceToDevice, stream));
    } else {
      bad = count_differing(first, y, (size_t)(m * n));
    }
    printf("  %-18s %9.2f us %6.2f TFLOP/s  %.3f of cublas%s\n", name, ours, flops / ours / 1e6,
           theirs / ours, bad ? "  OTHER BITS" : "");
  }
  fflush(stdout);
}

static bool is_skinny_variant(const char *name) {
  for (const char *variant : {"few", "stream", "thin", "band"})
    if (strncmp(name, variant, strlen(variant)) == 0 && strstr(name, "transposed") == nullptr)
      return true;
  return false;
}

/* Times a product of m rows with a matrix that is read from memory, not from the cache: it uses
 * several copies of the matrix in turn, which together are larger than the cache. */
static void time_skinny_product(int64_t m, int64_t n, int64_t k, bool transpose_b) {
  gemm_product p = product_of_buffers(m, n, k, false, transpose_b);
  const float *all = p.b;
  const size_t each = (size_t)(n * k), copies = each < ELEMENTS ? ELEMENTS / each : 1;
  const auto next_copy = [&](int i) { p.b = all + each * ((size_t)i % copies); };
  Fastest blas_best = {};
  find_fastest_setting(
      "gemm", [&](int i) { next_copy(i), multiply_by_cublas(p, false, transpose_b); }, 15, 8,
      &blas_best);
  if (m == 1)
    find_fastest_setting(
        "gemv", [&](int i) { next_copy(i), multiply_row_by_cublas(p, transpose_b); }, 15, 8,
        &blas_best);
  const double theirs = blas_best.us;
  const double bytes = (double)n * (double)k * 4;
  printf("%2lld rows, w %s %lldx%lld  cublas (%s, %s) %8.2f us %5.0f GB/s", (long long)m,
         transpose_b ? "[n,k]" : "[k,n]", (long long)n, (long long)k, blas_best.function,
         blas_best.setting, theirs, bytes / theirs / 1e3);
  char name[64] = "chosen";
  uint64_t room = gemm_scratch_bytes(&p);
  for (int w = -1; w < 0 || gemm_describe_variant(&p, (uint32_t)w, name, sizeof name, &room); w++) {
    if ((w >= 0 && !is_skinny_variant(name)) || room > WORK) continue;
    const double ours = median_microseconds_per_call(
        [&](int i) { next_copy(i), gemm_issue_variant(&p, w); }, 15, 8);
    next_copy(0), gemm_issue_variant(&p, w);
    if (w < 0)
      CHECK(cudaMemcpyAsync(first, y, (size_t)(m * n) * 4, cudaMemcpyDeviceToDevice, stream));
    printf("  %s %.2f us %.0f GB/s %.3f%s", name, ours, bytes / ours / 1e3, theirs / ours,
           count_differing(first, y, (size_t)(m * n)) ? "  OTHER BITS" : "");
  }
  printf("\n");
  fflush(stdout);
}

static float *random_device_matrix(unsigned seed) {
  float *x = (float *)malloc(ELEMENTS * sizeof *x), *at;
  for (size_t i = 0; i < ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
  }
  CHECK(cudaMalloc(&at, ELEMENTS * sizeof *x));
  CHECK(cudaMemcpy(at, x, ELEMENTS * sizeof *x, cudaMemcpyHostToDevice));
  free(x);
  return at;
}

static void create_buffers_print_device() {
  CHECK(cudaGetDeviceProperties(&device, 0));
  CHECK(cudaStreamCreate(&stream));
  cublasCreate(&blas);
  a = random_device_matrix(1), b = random_device_matrix(2);
  CHECK(cudaMalloc(&y, ELEMENTS * sizeof *y));
  CHECK(cudaMalloc(&first, ELEMENTS * sizeof *first));
  CHECK(cudaMalloc(&reference, ELEMENTS * sizeof *reference));
  CHECK(cudaMalloc(&work, WORK));
  CHECK(cudaMalloc(&counters, 1 << 14));
  CHECK(cudaMemset(counters, 0, 1 << 14));
  CHECK(cudaMalloc(&differences, sizeof *differences));
  printf("%s, %d multiprocessors\n", device.name, device.multiProcessorCount);
  for (const Kernel &k : kernels) {
    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, k.at));
    printf("%-14s %3d registers, %zu bytes spilled\n", k.name, f.numRegs, f.localSizeBytes);
  }
}

/* Times square products, transposed ones, those of a small transformer, and some whose sizes tiles
 * do not divide. */
static void time_all_products() {
  for (int64_t n = 128; n <= 8192; n *= 2) time_variants(n, n, n, false, false, true);
  for (int64_t n = 512; n <= 4096; n *= 8) {
    time_variants(n, n, n, true, false, false);
    time_variants(n, n, n, false, true, false);
    time_variants(n, n, n, true, true, false);
  }
  time_variants(4096, 2304, 768, false, false, true);
  time_variants(4096, 768, 768, false, false, true);
  time_variants(4096, 768, 3072, false, false, true);
  time_variants(1024, 50257, 768, false, true, true);
  time_variants(1024, 1024, 16640, false, false, false);
  /* the last tiles overlap their neighbours, and sums of slices of k are stored in y */
  time_variants(68, 132, 2080, false, false, true);
  time_variants(100, 300, 5000, false, false, true);
}

int main(int argc, char **argv) {
  const bool only_skinny = argc > 1 && strcmp(argv[1], "few") == 0;
  create_buffers_print_device();
  if (!only_skinny) time_all_products();
  for (int transposed = 0; transposed < 2; transposed++)
    for (int64_t m = 1; m <= 16; m *= 2) {
      time_skinny_product(m, 1024, 1024, transposed != 0);
      time_skinny_product(m, 4096, 4096, transposed != 0);
      time_skinny_product(m, 14336, 4096, transposed != 0);
      time_skinny_product(m, 4096, 14336, transposed != 0);
    }
  return 0;
}
