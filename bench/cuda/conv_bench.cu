// SPDX-License-Identifier: Apache-2.0
// conv_bench.cu - times convolutions and integer products on this GPU, kernel by kernel, and
// compares the bits of every tile with those of the kernel that has one thread per output.
//
//   nvcc -std=c++17 -O3 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -arch=native
//     -Isrc/back/cuda -Isrc/num -Isrc/op -Isrc/base -Iinclude bench/cuda/conv_bench.cu -o
//     conv_bench
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
#include "../../src/back/cuda/conv.cu"
#include "../../src/back/cuda/conv_tiles.cu"
#include "../../src/back/cuda/ints.cu"
#include "../../src/back/cuda/ints_tiles.cu"

#define GPU(call)                                                              \
  if (cudaError_t e = (call)) {                                                \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
    exit(1);                                                                   \
  }

// ---- times ----

// Returns the median time of several launches, in microseconds.
template <class F>
static double median_microseconds(F launch) {
  cudaEvent_t a, b;
  std::vector<float> all;
  GPU(cudaEventCreate(&a));
  GPU(cudaEventCreate(&b));
  for (int i = 0; i < 13; i++) {
    float ms;
    GPU(cudaEventRecord(a));
    launch();
    GPU(cudaEventRecord(b));
    GPU(cudaEventSynchronize(b));
    GPU(cudaEventElapsedTime(&ms, a, b));
    if (i >= 2) all.push_back(ms * 1000);
  }
  GPU(cudaGetLastError());
  for (size_t i = 0; i < all.size(); i++)
    for (size_t j = i + 1; j < all.size(); j++)
      if (all[j] < all[i]) std::swap(all[i], all[j]);
  return all[all.size() / 2];
}

static uint64_t state = 1;
static uint32_t random_word() {
  return (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
}

template <class T>
static T *device_copy(const std::vector<T> &v) {
  T *p;
  GPU(cudaMalloc(&p, v.size() * sizeof(T) + 256));
  GPU(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
static std::vector<T> host_copy(const T *p, size_t n) {
  std::vector<T> v(n);
  GPU(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

// ---- conv ----

struct layer {
  const char *name;
  int images, channels, size, outputs, kernel, stride, groups;
};
static const layer layers[] = {{"7x7/2 3>64 @224", 32, 3, 224, 64, 7, 2, 1},
                               {"3x3 64>64 @56", 32, 64, 56, 64, 3, 1, 1},
                               {"3x3 128>128 @28", 32, 128, 28, 128, 3, 1, 1},
                               {"3x3 256>256 @14", 32, 256, 14, 256, 3, 1, 1},
                               {"3x3 512>512 @7", 32, 512, 7, 512, 3, 1, 1},
                               {"1x1 256>64 @56", 32, 256, 56, 64, 1, 1, 1},
                               {"1x1 512>2048 @7", 32, 512, 7, 2048, 1, 1, 1},
                               {"3x3 64>64 @56, one image", 1, 64, 56, 64, 3, 1, 1},
                               {"3x3 512>512 @7, one image", 1, 512, 7, 512, 3, 1, 1},
                               {"3x3 depthwise 128 @56", 32, 128, 56, 128, 3, 1, 128}};

static vt_gpu_direct_conv direct_conv_of(const layer &l, const float *x, const float *w, float *y) {
  const int64_t depth = l.channels / l.groups, rows = l.outputs / l.groups, low = l.kernel / 2;
  const int64_t out = (l.size + 2 * low - l.kernel) / l.stride + 1, taps = l.kernel * l.kernel;
  vt_gpu_direct_conv s = {};
  s.x = x, s.w = w, s.y = y, s.images = l.images, s.groups = l.groups, s.rows = rows,
  s.depth = depth;
  s.x_channel = l.size * l.size, s.x_group = depth * s.x_channel,
  s.x_image = l.channels * s.x_channel;
  s.w_channel = taps, s.w_row = depth * taps, s.w_group = rows * s.w_row;
  s.y_row = out * out, s.y_group = rows * s.y_row, s.y_image = l.outputs * s.y_row;
  s.length = depth * taps, s.small = 1;
  s.axis[0] = {1, 0, 0, 0, 0, 1, 1, 0, 0};
  s.axis[1] = {l.size, l.size, l.stride, -low, 1, out, l.kernel, l.kernel, out};
  s.axis[2] = {l.size, 1, l.stride, -low, 1, out, l.kernel, 1, 1};
  return s;
}

static vt_gpu_conv tiled_conv_of(const vt_gpu_direct_conv &s, int tile_rows, int tile_columns,
                                 void *levels) {
  vt_gpu_conv v = {};
  v.g.a.data = s.w, v.g.a.across = s.w_row, v.g.a.along = 1, v.g.a.step[1] = s.w_group,
  v.g.a.by_k = 1;
  v.g.y = s.y, v.g.y_row = s.y_row, v.g.y_column = 1, v.g.y_step[0] = s.y_image,
  v.g.y_step[1] = s.y_group;
  v.g.m = s.rows, v.g.n = s.axis[1].places * s.axis[2].places, v.g.k = v.g.slice = s.length;
  v.g.products = s.images * s.groups, v.g.dim[0] = s.images, v.g.dim[1] = s.groups, v.g.rank = 2;
  v.g.levels = levels;
  v.g.tiles_m = (uint32_t)((v.g.m + tile_rows - 1) / tile_rows),
  v.g.tiles_n = (uint32_t)((v.g.n + tile_columns - 1) / tile_columns);
  v.g.y_wide = v.g.n % 4 == 0;
  vt_gpu_gather &to = v.gather;
  v.x = s.x, v.x_image = s.x_image, v.x_group = s.x_group, to.x_channel = (int32_t)s.x_channel;
  for (int i = 0; i < VT_GPU_AXES; i++) {
    const vt_gpu_direct_conv_axis &a = s.axis[i];
    to.dim[i] = (int32_t)a.dim, to.stride[i] = (int32_t)a.stride, to.step[i] = (int32_t)a.step;
    to.base[i] = (int32_t)a.base, to.delta[i] = (int32_t)a.delta, to.places[i] = (int32_t)a.places;
    to.taps[i] = (int32_t)a.taps;
  }
  return v;
}

typedef void conv_kernel(const vt_gpu_conv a);
struct tile {
  const char *name;
  conv_kernel *kernel;
  int bm, bn, threads, shared;
};
#define VT_CONV_TILE(name, E, bm, bn, bk, tm, tn, stages, resident, speed)  \
  {#name,                                                                   \
   name,                                                                    \
   bm,                                                                      \
   bn,                                                                      \
   (bm / tm) * (bn / tn),                                                   \
   (int)((stages * bk * (bm + bn + 32 / sizeof(E)) + bm * bn) * sizeof(E) + \
         512 * sizeof(vt_gpu_tap))},
static const tile tiles[] = {
#include "conv_tiles.def"
};
#undef VT_CONV_TILE

static void bench_conv(const layer &l) {
  vt_gpu_direct_conv s = direct_conv_of(l, nullptr, nullptr, nullptr);
  std::vector<float> x(s.images * s.x_image), w(s.groups * s.w_group);
  const size_t results = (size_t)(s.images * s.y_image);
  for (float &v : x) v = (float)(int32_t)random_word() * 0x1p-31f;
  for (float &v : w) v = (float)(int32_t)random_word() * 0x1p-31f;
  float *dx = device_copy(x), *dw = device_copy(w), *dy = device_copy(std::vector<float>(results));
  void *levels;
  GPU(cudaMalloc(&levels, results * 16 + (1 << 24)));
  s = direct_conv_of(l, dx, dw, dy);
  const double work = 2.0 * (double)results * (double)s.length;
  const double each = median_microseconds([&] { conv_each_f32<<<132 * 32, 256>>>(s); });
  const std::vector<float> want = host_copy(dy, results);
  printf("%-26s each %9.1f us %6.2f TFLOP/s", l.name, each, work / each * 1e-6);
  for (const tile &t : tiles) {
    if (s.rows < 8 || t.name[strlen(t.name) - 1] == 'd') continue;
    const vt_gpu_conv v = tiled_conv_of(s, t.bm, t.bn, levels);
    GPU(cudaMemset(dy, 0xff, results * sizeof(float)));
    GPU(cudaFuncSetAttribute(t.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, t.shared));
    const unsigned blocks = (unsigned)(v.g.tiles_m * v.g.tiles_n * v.g.products);
    const double us = median_microseconds([&] { t.kernel<<<blocks, t.threads, t.shared>>>(v); });
    const bool same =
        memcmp(host_copy(dy, results).data(), want.data(), results * sizeof(float)) == 0;
    printf("  %s %.1f us %.2f%s", t.name + 5, us, work / us * 1e-6, same ? "" : " DIFFERS");
  }
  printf("\n");
  GPU(cudaFree(dx));
  GPU(cudaFree(dw));
  GPU(cudaFree(dy));
  GPU(cudaFree(levels));
}

// ---- integers ----

static void bench_int_product(int m, int n, int k, bool transposed) {
  std::vector<uint8_t> a((size_t)m * k), b((size_t)k * n);
  const size_t results = (size_t)m * n;
  for (uint8_t &v : a) v = (uint8_t)random_word();
  for (uint8_t &v : b) v = (uint8_t)random_word();
  vt_gpu_ints_tile t = {};
  vt_gpu_ints &p = t.p;
  uint8_t *da = device_copy(a), *db = device_copy(b),
          *dz = device_copy(std::vector<uint8_t>(16, 77));
  p.a = da, p.b = db, p.za = dz, p.y = device_copy(std::vector<int32_t>(results));
  p.m = m, p.n = n, p.k = k, p.a_row = k, p.a_step = 1, p.y_row = n, p.y_column = 1,
  p.b_flip = 0x80;
  p.b_step = transposed ? 1 : n, p.b_column = transposed ? k : 1;
  p.lead.n = 1;
  t.a_wide = t.b_wide = 1, t.b_squares = !transposed;
  printf("u8 x i8 %5d x %5d x %5d %s", m, n, k, transposed ? "transposed " : "");
  const double work = 2.0 * m * n * (double)k;
  const double each = median_microseconds([&] { ints_each<<<132 * 32, 256>>>(p); });
  const std::vector<int32_t> want = host_copy(p.y, results);
  printf("each %9.1f us", each);
  for (int size : {64, 128}) {
    t.tiles_m = (uint32_t)((m + size - 1) / size), t.tiles_n = (uint32_t)((n + size - 1) / size);
    const int shared = size * 4 * 80;
    GPU(cudaMemset(p.y, 0xff, results * 4));
    const double us = median_microseconds([&] {
      if (size == 64) {
        ints_64_64<<<t.tiles_m * t.tiles_n, 256, shared>>>(t);
      } else {
        ints_128_128<<<t.tiles_m * t.tiles_n, 256, shared>>>(t);
      }
    });
    const bool same = memcmp(host_copy(p.y, results).data(), want.data(), results * 4) == 0;
    printf("  %d: %.1f us %.1f TOP/s%s", size, us, work / us * 1e-6, same ? "" : " DIFFERS");
  }
  printf("\n");
  GPU(cudaFree(da));
  GPU(cudaFree(db));
  GPU(cudaFree(dz));
  GPU(cudaFree(p.y));
}

int main() {
  for (const layer &l : layers) bench_conv(l);
  bench_int_product(16, 4096, 4096, false);
  bench_int_product(1024, 1024, 1024, false);
  bench_int_product(4096, 4096, 4096, false);
  bench_int_product(4096, 4096, 4096, true);
  return 0;
}
