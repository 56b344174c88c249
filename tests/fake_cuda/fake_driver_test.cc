/* SPDX-License-Identifier: Apache-2.0
 * fake_driver_test.cc - the emulated driver: what it does, and what it rejects. */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <unistd.h>
#include "vt_test.h"
#include "fake_driver.h"
#include "fiber.h"
#include "gpu_words.cuh"

extern "C" void fake_cuda_reset(void);
extern "C" int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                   int *status);

struct add_args {
  float *x;
  int64_t n;
  float by;
};
VT_KERNEL(add_to_all, add_args, 128) {
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride()) a.x[i] += a.by;
}
VT_KERNEL(never_ends, add_args, 64) {
  if (threadIdx.x == 0) __syncwarp(3u);
  if (threadIdx.x == 1) __syncthreads();
}

static void *context, *stream, *module, *function;

/* Sets an environment variable and resets the driver. */
static void set_variable(const char *name, const char *value) {
  if (value != nullptr) setenv(name, value, 1);
  if (value == nullptr) unsetenv(name);
  fake_cuda_reset();
}

static void open_device_and_stream() {
  CHECK(fake_cuInit(0) == fake::OK);
  CHECK(fake_cuDevicePrimaryCtxRetain(&context, 0) == fake::OK);
  CHECK(fake_cuCtxPushCurrent(context) == fake::OK);
  CHECK(fake_cuStreamCreate(&stream, 1) == fake::OK);
  CHECK(fake_cuModuleLoadData(&module, "an image") == fake::OK);
  CHECK(fake_cuModuleGetFunction(&function, module, "add_to_all") == fake::OK);
}
static void close_device_and_stream() {
  CHECK(fake_cuModuleUnload(module) == fake::OK);
  CHECK(fake_cuStreamDestroy(stream) == fake::OK);
  CHECK(fake_cuCtxPopCurrent(nullptr) == fake::OK);
}

static int launch_kernel(void *f, uint64_t x, int64_t n, unsigned grid, unsigned threads,
                         unsigned shared = 0) {
  add_args a = {reinterpret_cast<float *>(x), n, 1};
  void *parameters[] = {&a};
  const int e = fake_cuLaunchKernel(f, grid, 1, 1, threads, 1, 1, shared, stream, parameters, 0);
  a.n = 0; /* the driver must have copied the arguments at the launch */
  return e;
}
static int launch_cooperative(uint64_t x, unsigned grid, unsigned shared) {
  add_args a = {reinterpret_cast<float *>(x), 1000, 1};
  void *parameters[] = {&a};
  return fake_cuLaunchCooperativeKernel(function, grid, 1, 1, 128, 1, 1, shared, stream,
                                        parameters);
}
static float read_first_float(uint64_t x) {
  float y = -1;
  CHECK(fake_cuMemcpyDtoHAsync(&y, x, sizeof y, stream) == fake::OK);
  CHECK(fake_cuStreamSynchronize(stream) == fake::OK);
  return y;
}

static void test_entry_points() {
  void *found = nullptr;
  int status = 7;
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 3020, 0, &status) == fake::OK &&
        found != nullptr);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 2000, 0, &status) == fake::NOT_FOUND);
  CHECK(cuGetProcAddress_v2("cuNothing", &found, 3020, 0, &status) == fake::NOT_FOUND);
  CHECK(found == nullptr && status == 1);
  set_variable("FAKE_CUDA_DEVICES", "0");
  CHECK(fake_cuInit(0) == fake::NO_DEVICE);
  set_variable("FAKE_CUDA_DEVICES", "2");
  int n = 0;
  CHECK(fake_cuDeviceGetCount(&n) == fake::NOT_INITIALIZED);
  CHECK(fake_cuInit(0) == fake::OK && fake_cuDeviceGetCount(&n) == fake::OK && n == 2);
  CHECK(fake_cuDeviceGet(&n, 2) == fake::INVALID_DEVICE);
  CHECK(fake_cuDeviceGetAttribute(&n, 75, 1) == fake::OK && n == 9);
  set_variable("FAKE_CUDA_DEVICES", nullptr);
}

static void test_calls_without_context() {
  uint64_t x = 0;
  CHECK(fake_cuMemAlloc(&x, 16) == fake::INVALID_CONTEXT);
  CHECK(fake_cuCtxPushCurrent(&x) == fake::INVALID_CONTEXT);
  CHECK(fake_cuCtxPopCurrent(nullptr) == fake::INVALID_CONTEXT);
}

static void test_memory() {
  uint64_t x = 0;
  size_t free_bytes = 0, all = 0;
  set_variable("FAKE_CUDA_MEMORY", "1M");
  open_device_and_stream();
  CHECK(fake_cuMemAlloc(&x, (1 << 20) + 1) == fake::OUT_OF_MEMORY);
  CHECK(fake_cuMemAlloc(&x, 1000) == fake::OK && x % 256 == 0);
  CHECK(fake_cuMemGetInfo(&free_bytes, &all) == fake::OK);
  CHECK(all == 1 << 20 && free_bytes == all - 1000);
  CHECK(read_first_float(x + 996) !=
        read_first_float(x + 996)); /* new device memory is filled with NaNs */
  CHECK(fake_cuMemsetD8Async(x, 0, 1001, stream) == fake::INVALID_VALUE);
  CHECK(fake_cuMemsetD8Async(x + 4, 0, 997, stream) == fake::INVALID_VALUE);
  CHECK(fake_cuMemcpyDtoDAsync(x, x - 4, 4, stream) == fake::INVALID_VALUE);
  CHECK(fake_cuMemFree(x + 4) == fake::INVALID_VALUE && fake_cuMemFree(x) == fake::OK);
  CHECK(fake_cuMemFree(x) == fake::INVALID_VALUE);
  CHECK(fake_cuMemsetD8Async(x, 0, 4, stream) == fake::INVALID_VALUE);
#if !FAKE_WATCHED /* not with a sanitizer, which would end the process */
  CHECK(fake_cuMemAlloc(&x, 1000) == fake::OK);
  CHECK(launch_kernel(function, x, 251, 1, 128) == fake::OK);
  CHECK(fake_cuMemFree(x) == fake::ILLEGAL_ADDRESS);
  const char *text = nullptr;
  CHECK(fake_cuGetErrorString(fake::ILLEGAL_ADDRESS, &text) == fake::OK);
  CHECK(std::string(text).find("outside of an allocation") != std::string::npos);
#endif
  set_variable("FAKE_CUDA_MEMORY", nullptr);
  close_device_and_stream();
}

static void test_launches() {
  uint64_t x = 0;
  void *other = nullptr;
  open_device_and_stream();
  CHECK(fake_cuMemAlloc(&x, 4000) == fake::OK);
  CHECK(fake_cuMemsetD8Async(x, 0, 4000, stream) == fake::OK);
  CHECK(fake_cuModuleGetFunction(&other, module, "nothing") == fake::NOT_FOUND);
  CHECK(launch_kernel(function, x, 1000, 3, 128) == fake::OK);
  CHECK(read_first_float(x) == 1 && read_first_float(x + 3996) == 1);
  CHECK(launch_kernel(function, x, 1000, 3, 129) == fake::INVALID_VALUE);
  CHECK(launch_kernel(function, x, 1000, 0, 128) == fake::INVALID_VALUE);
  CHECK(launch_kernel(function, x, 1000, 1u << 31, 128) == fake::INVALID_VALUE);
  CHECK(launch_kernel(function, x, 1000, 1, 128, 49153) == fake::INVALID_VALUE);
  CHECK(fake_cuFuncSetAttribute(function, 8, 232449) == fake::INVALID_VALUE);
  CHECK(fake_cuFuncSetAttribute(function, 8, 232448) == fake::OK);
  CHECK(launch_kernel(function, x, 1000, 1, 128, 232448) == fake::OK && read_first_float(x) == 2);
  /* 8 blocks can be resident: 2 on each of 4 multiprocessors */
  CHECK(launch_cooperative(x, 8, 100000) == fake::OK && read_first_float(x) == 3);
  CHECK(launch_cooperative(x, 9, 100000) == fake::TOO_LARGE && read_first_float(x) == 3);
  CHECK(launch_cooperative(x, 33, 0) ==
        fake::TOO_LARGE); /* this kernel can have at most 1024 threads per multiprocessor */
  CHECK(fake_cuModuleGetFunction(&other, module, "never_ends") == fake::OK);
  CHECK(launch_kernel(other, x, 0, 1, 2) == fake::LAUNCH_FAILED);
  /* after the context was destroyed every later call fails too */
  CHECK(fake_cuStreamSynchronize(stream) == fake::LAUNCH_FAILED);
  const char *text = nullptr;
  CHECK(fake_cuGetErrorString(fake::LAUNCH_FAILED, &text) == fake::OK);
  CHECK(std::string(text).find("kernel never_ends, block (0,0,0): it hangs") == 0);
  fake_cuda_reset();
  CHECK(fake_cuMemFree(x) == fake::OK);
  close_device_and_stream();
}

static void test_graph_recording(bool late) {
  uint64_t x = 0, y = 0;
  void *graph = nullptr, *exec = nullptr, *event = nullptr;
  open_device_and_stream();
  CHECK(fake_cuMemAlloc(&x, 400) == fake::OK && fake_cuEventCreate(&event, 0) == fake::OK);
  CHECK(fake_cuMemsetD8Async(x, 0, 400, stream) == fake::OK);
  CHECK(fake_cuStreamBeginCapture(stream, 1) == fake::OK);
  CHECK(launch_kernel(function, x, 100, 1, 128) == fake::OK &&
        launch_kernel(function, x, 100, 1, 128) == fake::OK);
  CHECK(fake_cuStreamEndCapture(stream, &graph) == fake::OK);
  CHECK(read_first_float(x) == 0);
  CHECK(fake_cuGraphInstantiateWithFlags(&exec, graph, 0) == fake::OK);
  CHECK(fake_cuGraphDestroy(graph) == fake::OK);
  for (int i = 1; i < 4; i++) {
    CHECK(fake_cuGraphLaunch(exec, stream) == fake::OK);
    CHECK(*reinterpret_cast<float *>(x) == (float)(2 * (late ? i - 1 : i)));
    CHECK(read_first_float(x) == (float)(2 * i));
  }
  CHECK(fake_cuGraphExecDestroy(exec) == fake::OK);
  CHECK(fake_cuGraphLaunch(exec, stream) == fake::INVALID_HANDLE);
  for (int wrong = 0; wrong < 3; wrong++) {
    CHECK(fake_cuStreamBeginCapture(stream, 1) == fake::OK);
    if (wrong == 0) CHECK(fake_cuMemAlloc(&y, 4) == fake::CAPTURE_UNSUPPORTED);
    if (wrong == 1) CHECK(fake_cuStreamSynchronize(stream) == fake::CAPTURE_UNSUPPORTED);
    if (wrong == 2) CHECK(fake_cuEventSynchronize(event) == fake::CAPTURE_UNSUPPORTED);
    CHECK(launch_kernel(function, x, 100, 1, 128) == fake::CAPTURE_INVALIDATED);
    CHECK(fake_cuStreamEndCapture(stream, &graph) == fake::CAPTURE_INVALIDATED && graph == nullptr);
  }
  CHECK(fake_cuEventDestroy(event) == fake::OK && fake_cuMemFree(x) == fake::OK);
  close_device_and_stream();
}

static void test_events() {
  void *a = nullptr, *b = nullptr;
  float time = -1;
  open_device_and_stream();
  CHECK(fake_cuEventCreate(&a, 0) == fake::OK && fake_cuEventCreate(&b, 0) == fake::OK);
  CHECK(fake_cuEventElapsedTime(&time, a, b) == fake::NOT_READY);
  CHECK(fake_cuEventRecord(a, stream) == fake::OK && fake_cuEventRecord(b, stream) == fake::OK);
  CHECK(fake_cuEventSynchronize(b) == fake::OK);
  CHECK(fake_cuEventElapsedTime(&time, a, b) == fake::OK && time >= 0 && time < 1000);
  CHECK(fake_cuEventDestroy(a) == fake::OK && fake_cuEventDestroy(b) == fake::OK);
  CHECK(fake_cuEventRecord(a, stream) == fake::INVALID_HANDLE);
  close_device_and_stream();
}

/* Checks that a copy from pinned memory reads the memory when it executes, which may be later than
 * it was issued. */
static void test_copies_read_when_executed() {
  uint64_t x = 0;
  void *pinned = nullptr;
  open_device_and_stream();
  CHECK(fake_cuMemAlloc(&x, 4) == fake::OK && fake_cuMemHostAlloc(&pinned, 4, 0) == fake::OK);
  float *from = static_cast<float *>(pinned), plain = 3;
  *from = 1;
  CHECK(fake_cuMemcpyHtoDAsync(x, from, 4, stream) == fake::OK);
  *from = 2; /* overwritten before the copy executes */
  CHECK(read_first_float(x) == 2);
  CHECK(fake_cuMemcpyHtoDAsync(x, &plain, 4, stream) == fake::OK);
  plain = 4;
  CHECK(read_first_float(x) == 3);
  CHECK(fake_cuMemFreeHost(pinned) == fake::OK && fake_cuMemFree(x) == fake::OK);
  close_device_and_stream();
}

static void test_planted_errors() {
  uint64_t x = 0, y = 0;
  set_variable("FAKE_CUDA_FAIL", "cuMemAlloc:2=2,cuLaunchKernel:1=700");
  open_device_and_stream();
  CHECK(fake_cuMemAlloc(&x, 400) == fake::OK && fake_cuMemAlloc(&y, 400) == fake::OUT_OF_MEMORY);
  CHECK(fake_cuMemAlloc(&y, 400) == fake::OK && fake_cuMemFree(y) == fake::OK);
  CHECK(launch_kernel(function, x, 100, 1, 128) == fake::ILLEGAL_ADDRESS);
  CHECK(fake_cuMemAlloc(&y, 400) == fake::ILLEGAL_ADDRESS);
  CHECK(fake_cuMemFree(x) == fake::ILLEGAL_ADDRESS); /* the memory is freed nevertheless */
  set_variable("FAKE_CUDA_FAIL", nullptr);
  CHECK(fake_cuMemFree(x) == fake::INVALID_VALUE);
  close_device_and_stream();
}

static void test_log_lists_calls() {
  char path[] = "/tmp/fake_cuda_log_XXXXXX", line[200] = "";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  set_variable("FAKE_CUDA_LOG", path);
  open_device_and_stream();
  CHECK(launch_kernel(function, 0, 0, 3, 128) == fake::OK);
  set_variable("FAKE_CUDA_LOG", nullptr);
  FILE *f = fopen(path, "r");
  int launches = 0, lines = 0;
  while (f != nullptr && fgets(line, sizeof line, f) != nullptr) {
    lines++;
    launches += std::string(line) == "cuLaunchKernel add_to_all 3x1x1 of 128x1x1 shared 0 -> 0\n";
  }
  CHECK(launches == 1 && lines == 7);
  if (f != nullptr) fclose(f);
  close(file);
  unlink(path);
  close_device_and_stream();
}

int main() {
  test_entry_points();
  test_calls_without_context();
  test_memory();
  test_launches();
  test_graph_recording(false);
  test_events();
  test_planted_errors();
  test_log_lists_calls();
  set_variable("FAKE_CUDA_STREAMS", "late");
  test_graph_recording(true);
  test_copies_read_when_executed();
  TEST_DONE();
}
