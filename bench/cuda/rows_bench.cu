// SPDX-License-Identifier: Apache-2.0
// rows_bench.cu - compares the speed of row kernels with that of a copy: softmax, log_softmax,
// layer_norm, rms_norm, and sums along rows and columns; softmax and norms along columns and of
// f64, and var. The kernels are the library's, launched as the library does.
//
//   nvcc -std=c++17 -O3 -arch=native -fmad=false -prec-div=true -prec-sqrt=true \
//        -I src/back/cuda -I src/num bench/cuda/rows_bench.cu -o rows_bench && ./rows_bench
//        [LENGTH]...
//
// Each line has the median time of many launches between two events, bytes read and written per
// second, and that as a fraction of the speed of a copy.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "bundle.cu"
#include "reduce.cu"
#include "gpu_row_layout.h"
#include "norm.cu"
#include "softmax.cu"

/* elements of the tensors, which are several times larger than the caches */
static const int64_t MOST = (int64_t)1 << 26;
static float *in, *out, *gamma_, *beta_, *partials;
static uint32_t *arrived;
static double copy_speed;
static int shared_most;
static int64_t processors;

static void exit_if_cuda_failed(cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(e));
  exit(1);
}

template <class F>
static double median_seconds(F work) {
  std::vector<float> times;
  cudaEvent_t from, to;
  exit_if_cuda_failed(cudaEventCreate(&from));
  exit_if_cuda_failed(cudaEventCreate(&to));
  for (int i = 0; i < 25; i++) {
    float ms = 0;
    exit_if_cuda_failed(cudaEventRecord(from));
    work();
    exit_if_cuda_failed(cudaGetLastError());
    exit_if_cuda_failed(cudaEventRecord(to));
    exit_if_cuda_failed(cudaEventSynchronize(to));
    exit_if_cuda_failed(cudaEventElapsedTime(&ms, from, to));
    if (i >= 5) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / 1e3;
}

static void print_speed(const char *name, int64_t lines, int64_t n, double seconds, double bytes) {
  const double speed = bytes / seconds / 1e9;
  printf("%-12s %9lld x %-7lld %8.1f us %7.0f GB/s %5.2f of copy\n", name, (long long)lines,
         (long long)n, seconds * 1e6, speed, copy_speed > 0 ? speed / copy_speed : 1.0);
}

/* ---- launches as in the library ---- */

static vt_gpu_walk walk_with_stride(int64_t n, int64_t stride) {
  vt_gpu_walk w = {};
  w.n = w.dim[0] = n, w.rank = 1, w.small = 1;
  w.stride[0][0] = w.stride[1][0] = stride;
  return w;
}

static vt_gpu_rows rows_args(int64_t lines, int64_t n) {
  vt_gpu_rows a = {};
  a.x = in, a.y = out, a.n = n, a.eps = 1e-5, a.each = 1;
  a.lines = walk_with_stride(lines, n), a.along = walk_with_stride(n, 1);
  return a;
}

typedef void kernel(const vt_gpu_rows);
struct kernels {
  kernel *warps[4], *block, *longer;
};

static void launch_long_rows(kernel *run, vt_gpu_rows a, int64_t chunks) {
  const vt_gpu_limits limits = {processors, shared_most, 1024, 4096};
  const vt_gpu_row_layout s = vt_gpu_row_layout_of(limits, a.lines.n, chunks);
  const dim3 grid((unsigned)(s.teams * s.blocks)), threads((unsigned)s.warps * 32);
  const void *const function = (const void *)run;
  void *args[] = {&a};
  a.blocks = (uint32_t)s.blocks, a.chunks = (uint32_t)s.chunks, a.keep = (uint32_t)s.keep;
  a.exchange = partials, a.arrived = arrived;
  exit_if_cuda_failed(
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.shared));
  exit_if_cuda_failed(
      s.blocks == 1
          ? cudaLaunchKernel(function, grid, threads, args, s.shared, nullptr)
          : cudaLaunchCooperativeKernel(function, grid, threads, args, s.shared, nullptr));
}

static void launch_rows(const kernels &k, vt_gpu_rows a) {
  const int64_t chunks = (a.n + 1023) / 1024, most = 32 * processors;
  const unsigned grid = (unsigned)std::min(a.lines.n, most);
  if (chunks == 1) {
    const unsigned blocks = (unsigned)std::min((a.lines.n + 3) / 4, most);
    k.warps[(a.n - 1) / 256]<<<blocks, 128>>>(a);
  } else if (chunks <= VT_GPU_ROW_CHUNKS) {
    k.block<<<grid, (unsigned)chunks * 32>>>(a);
  } else {
    launch_long_rows(k.longer, a, chunks);
  }
}

static const kernels soft = {
    {softmax_8, softmax_16, softmax_24, softmax_32}, softmax_block, softmax_long};
static const kernels logs = {{log_softmax_8, log_softmax_16, log_softmax_24, log_softmax_32},
                             log_softmax_block,
                             softmax_long};
static const kernels norms = {{norm_8, norm_16, norm_24, norm_32}, norm_block, norm_long};

static void time_rows_of_length(int64_t n) {
  const int64_t lines = MOST / n;
  const double bytes = 8.0 * (double)(lines * n);
  vt_gpu_rows a = rows_args(lines, n);
  print_speed("softmax", lines, n, median_seconds([&] { launch_rows(soft, a); }), bytes);
  a.logs = 1;
  print_speed("log_softmax", lines, n, median_seconds([&] { launch_rows(logs, a); }), bytes);
  a.gamma = gamma_, a.beta = beta_, a.centred = 1;
  print_speed("layer_norm", lines, n, median_seconds([&] { launch_rows(norms, a); }), bytes);
  a.beta = nullptr, a.centred = 0;
  print_speed("rms_norm", lines, n, median_seconds([&] { launch_rows(norms, a); }), bytes);
}

typedef void bundle_kernel(const vt_gpu_bundle);

/* Times the kernels of bundle.cu on lines that the row kernels do not support: columns of a matrix,
 * or rows of type T. */
template <class T>
static void time_bundles(const char *name, bundle_kernel *run, bundle_kernel *shortest,
                         uint32_t kind, int64_t lines, int64_t n, bool columns) {
  const vt_gpu_limits limits = {processors, shared_most, 1024, 4096};
  const vt_gpu_bundle_shape w = {lines, n, sizeof(T), columns,
                                 columns && kind == VT_GPU_BUNDLE_ROWS};
  const vt_gpu_bundle_layout b = vt_gpu_bundle_layout_of(limits, &w);
  const dim3 grid((unsigned)(b.teams * b.blocks)), threads(b.threads);
  const double bytes = (kind == VT_GPU_BUNDLE_ROWS ? 2.0 : 1.0) * sizeof(T) * (double)(lines * n);
  vt_gpu_bundle a = {};
  void *args[] = {&a};
  a.x = in, a.y = out, a.n = n, a.divisor = n, a.eps = 1e-5, a.kind = kind, a.centred = 1;
  a.lines = walk_with_stride(lines, columns ? 1 : n),
  a.along = walk_with_stride(n, columns ? lines : 1);
  if (kind == VT_GPU_BUNDLE_ONE) a.lines.stride[1][0] = 1, a.along.stride[1][0] = 0;
  a.wide = (uint32_t)b.wide, a.step = (uint32_t)b.step, a.line_step = (uint32_t)b.line_step;
  a.blocks = (uint32_t)b.blocks, a.chunks = (uint32_t)b.chunks;
  a.x_interleaved = (uint32_t)w.x_interleaved, a.y_interleaved = (uint32_t)w.y_interleaved;
  a.exchange = partials, a.arrived = arrived;
  if (n <= VT_GPU_SHORT && (columns || n * sizeof(T) <= 64)) {
    const unsigned blocks = (unsigned)std::min((lines + 127) / 128, 32 * processors);
    print_speed(name, lines, n,
                median_seconds([&] { shortest<<<blocks, VT_GPU_SHORT_THREADS>>>(a); }), bytes);
    return;
  }
  exit_if_cuda_failed(cudaFuncSetAttribute(
      (const void *)run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)b.shared));
  const double time = median_seconds([&] {
    exit_if_cuda_failed(
        b.blocks == 1 ? cudaLaunchKernel((const void *)run, grid, threads, args, b.shared, nullptr)
                      : cudaLaunchCooperativeKernel((const void *)run, grid, threads, args,
                                                    b.shared, nullptr));
  });
  printf("%3lld wide, %3lld blocks  ", (long long)b.wide, (long long)b.blocks);
  print_speed(name, lines, n, time, bytes);
}
static void time_bundles_of_length(int64_t n) {
  const int64_t lines = MOST / n / 32 * 32, half = lines / 2;
  const uint32_t rows = VT_GPU_BUNDLE_ROWS, one = VT_GPU_BUNDLE_ONE;
  time_bundles<float>("softmax|", bundle_softmax, short_softmax, rows, lines, n, true);
  time_bundles<float>("norm|", bundle_norm_f32, short_norm_f32, rows, lines, n, true);
  time_bundles<double>("norm|f64", bundle_norm_f64, short_norm_f64, rows, half, n, true);
  time_bundles<double>("norm f64", bundle_norm_f64, short_norm_f64, rows, half, n, false);
  time_bundles<float>("logsumexp", bundle_softmax, short_softmax, one, lines, n, false);
  time_bundles<float>("var", bundle_norm_f32, short_norm_f32, one, lines, n, false);
  time_bundles<float>("var|", bundle_norm_f32, short_norm_f32, one, lines, n, true);
}

/* Times sums of `lines` lines of n elements, along rows or columns of a matrix. */
static void time_sums(int64_t lines, int64_t n, bool columns) {
  vt_gpu_reduce a = {}, above = {};
  const int64_t most = 32 * processors, items = columns ? (lines + 31) / 32 : (lines + 7) / 8;
  a.x = in, a.n = n, a.chunks = (n + 1023) / 1024;
  a.y = a.chunks == 1 ? out : partials;
  a.lines = walk_with_stride(lines, columns ? 1 : n),
  a.along = walk_with_stride(n, columns ? lines : 1);
  if (a.chunks == 1) a.lines.stride[1][0] = 1;
  above.x = partials, above.y = out, above.n = a.chunks, above.chunks = 1;
  above.lines = walk_with_stride(lines, a.chunks), above.along = walk_with_stride(a.chunks, 1);
  above.lines.stride[1][0] = 1;
  const unsigned grid = (unsigned)std::min(items * a.chunks, most);
  const double time = median_seconds([&] {
    if (columns) {
      reduce_columns_f32<<<grid, VT_REDUCE_THREADS>>>(a);
    } else {
      reduce_lines_f32<<<grid, VT_REDUCE_THREADS>>>(a);
    }
    if (a.chunks > 1)
      reduce_lines_f32<<<(unsigned)std::min((lines + 7) / 8, most), VT_REDUCE_THREADS>>>(above);
  });
  print_speed(columns ? "sum columns" : "sum rows", lines, n, time, 4.0 * (double)(lines * n));
}

static void create_tensors() {
  std::vector<float> x((size_t)MOST);
  for (size_t i = 0; i < x.size(); i++) x[i] = (float)rand() / (float)RAND_MAX * 8.0f - 4.0f;
  const size_t bytes = (size_t)MOST * sizeof(float), some = (size_t)(1 << 20) * sizeof(float);
  exit_if_cuda_failed(cudaMalloc(&in, bytes));
  exit_if_cuda_failed(cudaMalloc(&out, bytes));
  exit_if_cuda_failed(cudaMalloc(&gamma_, some));
  exit_if_cuda_failed(cudaMalloc(&beta_, some));
  exit_if_cuda_failed(cudaMalloc(&partials, 4 * some));
  exit_if_cuda_failed(cudaMalloc(&arrived, some));
  exit_if_cuda_failed(cudaMemset(arrived, 0, some));
  exit_if_cuda_failed(cudaMemcpy(in, x.data(), bytes, cudaMemcpyHostToDevice));
  exit_if_cuda_failed(cudaMemcpy(gamma_, x.data(), some, cudaMemcpyHostToDevice));
  exit_if_cuda_failed(cudaMemcpy(beta_, x.data(), some, cudaMemcpyHostToDevice));
}

int main(int argc, char **argv) {
  cudaDeviceProp p;
  exit_if_cuda_failed(cudaGetDeviceProperties(&p, 0));
  processors = p.multiProcessorCount, shared_most = (int)p.sharedMemPerBlockOptin;
  create_tensors();
  const double time = median_seconds([] {
    exit_if_cuda_failed(cudaMemcpyAsync(out, in, (size_t)MOST * 4, cudaMemcpyDeviceToDevice));
  });
  printf("%s\n", p.name);
  print_speed("copy", 1, MOST, time, 8.0 * (double)MOST);
  copy_speed = 8.0 * (double)MOST / time / 1e9;
  for (int i = 1; i < argc; i++) time_rows_of_length(atoll(argv[i]));
  if (argc > 1) return 0;
  const int64_t lengths[] = {64,   256,   768,   1024,  2048,   4096,
                             8192, 16384, 32768, 50257, 131072, 200000};
  for (int64_t n : lengths) time_rows_of_length(n);
  const int64_t bundled[] = {3, 16, 64, 256, 1000, 4096, 32768, 200000};
  for (int64_t n : bundled) time_bundles_of_length(n);
  time_sums(MOST / 16, 16, false);
  time_sums(MOST / 64, 64, false);
  time_sums(MOST / 768, 768, false);
  time_sums(MOST / 4096, 4096, false);
  time_sums(64, MOST / 64, false);
  time_sums(4096, MOST / 4096, true);
  time_sums(768, MOST / 768, true);
  return 0;
}
