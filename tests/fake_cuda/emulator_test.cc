/* SPDX-License-Identifier: Apache-2.0
 * emulator_test.cc - correct kernels give the same results in every order of threads; wrong ones
 * end with the error of their kind. */
#include <algorithm>
#include <string>
#include <vector>
#include "vt_test.h"
#include "emulator.h"
#include "fiber.h"
#include "gpu_words.cuh"

using fake::Order;
using fake::Outcome;

struct test_args {
  const float *in;
  float *out;
  uint64_t *wide;
  unsigned *count;
  int64_t n;
  int mode;
};

static unsigned linear_thread_index() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/* ---- correct kernels ---- */

VT_KERNEL(reverse_block, test_args, 1024) {
  __shared__ float fixed[1024];
  float *sized = vt_shared<float>();
  const unsigned t = threadIdx.x, n = blockDim.x;
  fixed[t] = a.in[t];
  __syncthreads();
  sized[t] = fixed[n - 1 - t] + 1;
  __syncthreads();
  a.out[t] = sized[t ^ 1] + fixed[t];
}

VT_KERNEL(shuffles, test_args, 64) {
  const unsigned t = threadIdx.x;
  const uint64_t w = (uint64_t)t << 40 | t;
  uint64_t *o = a.wide + 8 * t;
  o[0] = __shfl_sync(0xffffffffu, (unsigned long long)w, 5);
  o[1] = (uint64_t)__shfl_up_sync(0xffffffffu, (int)t, 3);
  o[2] = (uint64_t)__shfl_down_sync(0xffffffffu, (float)t, 3, 16);
  o[3] = (uint64_t)__shfl_xor_sync(0xffffffffu, (double)t, 9);
  o[4] = __ballot_sync(0xffffffffu, t % 3 == 0);
  o[5] = (uint64_t)(__any_sync(0xffffffffu, t == 40) + 2 * __all_sync(0xffffffffu, t < 32));
  if (t % 32 < 8) o[6] = (uint64_t)__shfl_xor_sync(0xffu, t, 7);
  if (t % 32 >= 8) o[6] = __shfl_sync(0xffffff00u, t, 31);
  __syncwarp();
  o[7] = (uint64_t)__syncthreads_count(t < 10) << 8 | (uint64_t)__syncthreads_or(t == 3) << 1 |
         (uint64_t)__syncthreads_and(t != 3);
}
static uint64_t expected_shuffle(unsigned t, unsigned operation) {
  const unsigned l = t % 32, base = t - l;
  /* the votes of both warps: bits of the multiples of 3 in 0..31 and in 32..63 */
  const uint64_t votes[2] = {0x49249249u, 0x92492492u};
  switch (operation) {
    case 0:
      return (uint64_t)(base + 5) << 40 | (base + 5);
    case 1:
      return l >= 3 ? t - 3 : t;
    case 2:
      return l % 16 + 3 < 16 ? t + 3 : t;
    case 3:
      return t ^ 9;
    case 4:
      return votes[t / 32];
    case 5:
      return t < 32 ? 2 : 1;
    case 6:
      return l < 8 ? t ^ 7 : base + 31;
    default:
      return 10u << 8 | 1u << 1;
  }
}

/* Half of the threads, some of each warp, end before the barrier. */
VT_KERNEL(leave_early, test_args, 128) {
  const unsigned t = threadIdx.x;
  if (t >= 64 || t % 2 == 1) return;
  __syncthreads();
  a.out[t] = __shfl_down_sync(0xffffffffu, (float)t, 2) + (float)__popc(__activemask());
  __syncthreads();
}

/* Reads the first group of copies after waiting until at most a.mode groups are incomplete. */
VT_KERNEL(async_copies, test_args, 32) {
  float *s = vt_shared<float>();
  const unsigned t = threadIdx.x;
  vt_async_copy_16(s + 4 * t, a.in + 4 * t, true);
  vt_async_close_group();
  vt_async_copy_4(s + 128 + t, a.in + 128 + t, t % 2 == 0);
  vt_async_close_group();
  if (a.mode == 0) vt_async_wait<0>();
  if (a.mode == 1) vt_async_wait<1>();
  if (a.mode == 2) vt_async_wait<2>();
  __syncwarp();
  for (unsigned i = t; i < 160; i += 32) a.out[i] = s[i];
}

VT_KERNEL(all_indices, test_args, 24) {
  const uint64_t block = blockIdx.x + gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
  const uint64_t i = block * blockDim.x * blockDim.y * blockDim.z + linear_thread_index();
  a.wide[i] += i;
  atomicAdd(a.count, 1u);
  atomicMax(a.count + 1, (unsigned)i);
  atomicExch(a.count + 2, (unsigned)block);
}

/* ---- wrong kernels ---- */

enum Wrong {
  HANGS,
  MASKS_DIFFER,
  NOT_IN_MASK,
  BEHIND_SHARED,
  BEHIND_ARRAY,
  NOT_ALIGNED,
  NOT_ALIGNED_AHEAD,
  NOWHERE,
  TOO_DEEP,
  SHIFTS_TOO_FAR,
  CASTS_TOO_MUCH,
  WRONGS
};
static int fill_stack(volatile char *above, int n) {
  volatile char here[256] = {0};
  here[0] = (char)(above[0] + n);
  return n == 0 ? here[0] : fill_stack(here, n - 1) + here[0];
}
VT_KERNEL(is_wrong, test_args, 64) {
  __shared__ float four[4];
  const unsigned t = threadIdx.x;
  unsigned char *s = vt_shared<unsigned char>();
  volatile char top[1] = {0};
  if (a.mode == HANGS && t != 0) __syncwarp();
  if (a.mode == HANGS && t == 0) __syncthreads();
  if (a.mode == MASKS_DIFFER) __syncwarp(t % 2 == 0 ? 0xffffffffu : 0xfffffffeu);
  if (a.mode == NOT_IN_MASK) __syncwarp(1u);
  if (a.mode == BEHIND_SHARED) s[a.n] = 1;
  if (a.mode == BEHIND_ARRAY) four[t % 5] = 1;
  if (a.mode == NOT_ALIGNED) *(float4 *)(a.out + 1) = make_float4(1, 2, 3, 4);
  if (a.mode == NOT_ALIGNED_AHEAD) vt_async_copy_16(s, a.in + 1, true);
  if (a.mode == NOWHERE) a.out[(int64_t)1 << 43] = four[t % 4];
  if (a.mode == TOO_DEEP) a.count[0] = (unsigned)fill_stack(top, 100000);
  if (a.mode == SHIFTS_TOO_FAR) a.count[0] = 1u << (unsigned)a.n;
  if (a.mode == CASTS_TOO_MUCH) a.count[0] = (unsigned)(int)(a.in[0] + 1e20f);
}

/* Blocks pass a.n barriers; after each, a block reads what the next block wrote. */
VT_KERNEL(wait_for_blocks, test_args, 64) {
  const unsigned next = (blockIdx.x + 1) % gridDim.x, t = threadIdx.x, n = blockDim.x;
  for (unsigned i = 0; i < (unsigned)a.n; i++) {
    uint64_t *left = a.wide + i % 2 * gridDim.x * n;
    left[blockIdx.x * n + t] = i * 1000 + blockIdx.x;
    if (a.mode == 1 && blockIdx.x == 1) a.out[t] = *a.in; /* reads from an invalid address */
    vt_blocks_barrier(a.count, (i + 1) * gridDim.x);
    a.out[blockIdx.x * n + t] += (float)(left[next * n + n - 1 - t] - i * 1000);
  }
}

/* A wrong kernel: without a barrier between its two lines it is correct in one order of threads
 * only. */
VT_KERNEL(lacks_barrier, test_args, 64) {
  float *s = vt_shared<float>();
  s[threadIdx.x] = 1;
  a.out[threadIdx.x] = threadIdx.x == 0 ? 1 : s[threadIdx.x - 1];
}

/* ---- tests ---- */

static const Order orders[] = {Order::forward, Order::reverse, Order::shuffle};

static Outcome launch_kernel(const char *name, uint3 blocks, uint3 threads, unsigned shared,
                             Order order, const test_args &args, unsigned workers = 1) {
  fake::Rules rules;
  rules.order = order;
  rules.workers = workers;
  const fake::Launch l = {fake::find_kernel(name), blocks, threads, shared, false};
  Outcome o = fake::run(l, &args, rules);
  return o;
}

static void test_barriers(Order order) {
  for (unsigned n : {2u, 64u, 1024u}) {
    std::vector<float> in(n), out(n);
    for (unsigned i = 0; i < n; i++) in[i] = (float)(i * i);
    const test_args a = {in.data(), out.data(), nullptr, nullptr, 0, 0};
    CHECK(launch_kernel("reverse_block", {1, 1, 1}, {n, 1, 1}, 4 * n, order, a).error == fake::RAN);
    for (unsigned i = 0; i < n; i++) CHECK(out[i] == in[n - 1 - (i ^ 1)] + 1 + in[i]);
  }
}

static void test_warp_operations(Order order) {
  std::vector<uint64_t> wide(64 * 8);
  std::vector<float> out(128, -1);
  test_args a = {nullptr, out.data(), wide.data(), nullptr, 0, 0};
  CHECK(launch_kernel("shuffles", {1, 1, 1}, {64, 1, 1}, 0, order, a).error == fake::RAN);
  for (unsigned i = 0; i < 64 * 8; i++) CHECK(wide[i] == expected_shuffle(i / 8, i % 8));
  CHECK(launch_kernel("leave_early", {1, 1, 1}, {128, 1, 1}, 0, order, a).error == fake::RAN);
  for (unsigned t = 0; t < 128; t++) {
    const float from = t % 32 < 30 ? (float)t + 2 : (float)t;
    CHECK(out[t] == (t < 64 && t % 2 == 0 ? from + 16 : -1));
  }
}

static void test_async_copies(Order order) {
  std::vector<float4> memory(40), result(40);
  float *in = &memory[0].x, *out = &result[0].x;
  for (int i = 0; i < 160; i++) in[i] = (float)i;
  for (int left = 0; left < 3; left++) {
    const test_args a = {in, out, nullptr, nullptr, 0, left};
    CHECK(launch_kernel("async_copies", {1, 1, 1}, {32, 1, 1}, 640, order, a).error == fake::RAN);
    for (int i = 0; i < 160; i++) {
      const bool arrived = i < 128 ? left < 2 : left < 1;
      const float there = i < 128 || i % 2 == 0 ? in[i] : 0;
      CHECK(arrived ? out[i] == there : out[i] != out[i]);
    }
  }
}

static void test_grid_indices(Order order, unsigned workers) {
  const uint64_t total = 3 * 5 * 2 * 4 * 3 * 2;
  std::vector<uint64_t> wide(total);
  unsigned count[3] = {0, 0, 0};
  const test_args a = {nullptr, nullptr, wide.data(), count, 0, 0};
  CHECK(launch_kernel("all_indices", {3, 5, 2}, {4, 3, 2}, 0, order, a, workers).error ==
        fake::RAN);
  for (uint64_t i = 0; i < total; i++) CHECK(wide[i] == i);
  CHECK(count[0] == total && count[1] == total - 1);
  /* the number of the last block */
  if (workers == 1 && order == Order::forward) CHECK(count[2] == 29);
  if (workers == 1 && order == Order::reverse) CHECK(count[2] == 0);
}

static Outcome run_block_barriers(Order order, bool cooperative, int mode, float *out) {
  std::vector<uint64_t> wide(2 * 7 * 64);
  unsigned count = 0;
  const test_args a = {nullptr, out, wide.data(), &count, 5, mode};
  const fake::Launch l = {
      fake::find_kernel("wait_for_blocks"), {7, 1, 1}, {64, 1, 1}, 0, cooperative};
  fake::Rules rules;
  rules.order = order;
  return fake::run(l, &a, rules);
}
static void test_block_barriers(Order order) {
  std::vector<float> out(7 * 64);
  CHECK(run_block_barriers(order, true, 0, out.data()).error == fake::RAN);
  for (unsigned i = 0; i < out.size(); i++) CHECK(out[i] == 5 * ((i / 64 + 1) % 7));
}
static void test_wrong_block_barriers(Order order) {
  std::vector<float> out(7 * 64);
  const Outcome alone = run_block_barriers(order, false, 0, out.data());
  CHECK(alone.error == fake::LAUNCH_FAILED);
  CHECK(alone.text.find("waits for a block that may not be resident") != std::string::npos);
  CHECK(run_block_barriers(order, true, 1, out.data()).error == fake::ILLEGAL_ADDRESS);
}

static void test_wrong_kernels(Order order) {
  static const struct {
    int error;
    const char *text;
  } expected[WRONGS] = {{fake::LAUNCH_FAILED, "hangs"},
                        {fake::LAUNCH_FAILED, "hangs"},
                        {fake::LAUNCH_FAILED, "lacks the thread itself"},
                        {fake::ILLEGAL_ADDRESS, "after the end of its shared memory"},
                        {fake::ILLEGAL_ADDRESS, "outside of its array"},
                        {fake::MISALIGNED, "not aligned"},
                        {fake::MISALIGNED, "not aligned"},
                        {fake::ILLEGAL_ADDRESS, "touched"},
                        {fake::ILLEGAL_ADDRESS, "stack is full"},
                        {fake::LAUNCH_FAILED, "a shift"},
                        {fake::LAUNCH_FAILED, "cannot hold"}};
  std::vector<float4> memory(16);
  unsigned count[2] = {0, 0};
  for (int w = 0; w < WRONGS; w++) {
    const test_args a = {&memory[0].x, &memory[0].x, nullptr, count, 64, w};
    const Outcome o = launch_kernel("is_wrong", {2, 1, 1}, {64, 1, 1}, 64, order, a);
    CHECK(o.error == expected[w].error);
    CHECK(o.text.find(expected[w].text) != std::string::npos);
    CHECK(o.text.find("kernel is_wrong, block (") == 0);
    test_barriers(order); /* a failed launch does not affect the next one */
  }
}

/* Checks that a missing barrier changes results in some orders of threads. */
static void test_missing_barrier() {
  int wrong[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    float out[64];
    const test_args a = {nullptr, out, nullptr, nullptr, 0, 0};
    CHECK(launch_kernel("lacks_barrier", {1, 1, 1}, {64, 1, 1}, 256, orders[i], a).error ==
          fake::RAN);
    for (float x : out) wrong[i] += x != 1;
  }
  CHECK(wrong[0] == 0 && wrong[1] == 63 && wrong[2] > 0);
}

int main() {
  for (Order order : orders) {
    test_barriers(order);
    test_warp_operations(order);
    test_async_copies(order);
    test_grid_indices(order, 1);
    test_grid_indices(order, 4);
    test_block_barriers(order);
#if !FAKE_WATCHED /* not with a sanitizer, which would end the process */
    test_wrong_kernels(order);
    test_wrong_block_barriers(order);
#endif
  }
  test_missing_barrier();
  CHECK(fake::find_kernel("nothing of this name") == nullptr);
  TEST_DONE();
}
