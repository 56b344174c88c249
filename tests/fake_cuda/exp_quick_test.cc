/* SPDX-License-Identifier: Apache-2.0
 * exp_quick_test.cc - the quick phase of e^x in gpu_exp.cuh gives the defined result whenever it
 * reports that it decided. Tests a part of all x <= 0, and all of them in the long test. The table
 * is that of a whole warp and is filled in advance, so that a single CPU thread can use it. */
#include <atomic>
#include <thread>
#include <vector>
#include "vt_test.h"
#include "gpu_words.cuh"

static uint32_t table_t[32];
static float table_low[32];
static uint32_t table_entry(unsigned, uint32_t, int lane) { return table_t[lane & 31]; }
static float table_entry(unsigned, float, int lane) { return table_low[lane & 31]; }
#define __shfl_sync table_entry
#include "gpu_exp.cuh"
#undef __shfl_sync

static void fill_table() {
  for (unsigned lane = 0; lane < 32; lane++) {
    vt_gpu_indices.thread.x = lane;
    const vt_exp_entry e = vt_exp_load_entry();
    table_t[lane] = e.t;
    table_low[lane] = e.low;
  }
}

struct Count {
  std::atomic<uint64_t> all{0}, undecided{0}, wrong{0};
};

static bool decides_quick_exp(float x, bool *wrong) {
  float y = 0, near = 0;
  const bool decided = vt_exp_quick(vt_exp_entry(), x, y);
  const bool consistent =
      x < VT_EXP_LEAST || (vt_exp_undecided_above_least(vt_exp_entry(), x, near) == 0) == decided;
  *wrong = !consistent || (decided && __float_as_uint(y) != __float_as_uint(vt_ff_exp(x)));
  return decided;
}

/* Tests the bit patterns from -0 to -inf: every `step`-th, beginning with `first`. */
static void test_range(uint32_t first, uint32_t step, Count *count) {
  const uint32_t end = 0x7f800000u;
  uint64_t undecided = 0, wrong = 0, all = 0;
  for (uint32_t i = first; i <= end; i += step, all++) {
    bool is_wrong = false;
    undecided += !decides_quick_exp(__uint_as_float(0x80000000u | i), &is_wrong);
    wrong += is_wrong;
  }
  count->all += all;
  count->undecided += undecided;
  count->wrong += wrong;
}

int main() {
  enum { THREADS = 4 };
  const uint32_t step = vt_test_is_long() ? 1 : 101;
  bool wrong = true;
  Count count;
  std::vector<std::thread> crew;
  fill_table();
  /* 0 must be decided, because it is x - m of the greatest element of every row */
  CHECK(decides_quick_exp(0.0f, &wrong) && !wrong);
  for (uint32_t i = 0; i < THREADS; i++)
    crew.emplace_back(test_range, i * step, THREADS * step, &count);
  for (std::thread &t : crew) t.join();
  CHECK(count.all == 0x7f800000u / step + 1);
  CHECK(count.wrong == 0);
  CHECK(count.undecided > 0 &&
        count.undecided < count.all / 20); /* few arguments are left to the accurate phase */
  printf("%llu numbers, %llu open\n", (unsigned long long)count.all,
         (unsigned long long)count.undecided);
  TEST_DONE();
}
