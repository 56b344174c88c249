/* SPDX-License-Identifier: Apache-2.0
 * exp_quick_test.cc - the short way to e^x of gpu_exp.cuh, where it says that it is settled, gives
 * what the definition gives: for a part of all x that are not above 0, in the long form for all of
 * them. Its table is that of a whole warp, so a thread of this processor can look into it alone. */
#include <atomic>
#include <thread>
#include <vector>
#include "vt_test.h"
#include "gpu_words.cuh"

static uint32_t table_t[32];
static float table_low[32];
static uint32_t entry_of(unsigned, uint32_t, int lane) { return table_t[lane & 31]; }
static float entry_of(unsigned, float, int lane) { return table_low[lane & 31]; }
#define __shfl_sync entry_of
#include "gpu_exp.cuh"
#undef __shfl_sync

static void fill_table() {
  for (unsigned lane = 0; lane < 32; lane++) {
    vt_gpu_now.thread.x = lane;
    const vt_exp_entry e = vt_exp_ready();
    table_t[lane] = e.t;
    table_low[lane] = e.low;
  }
}

struct Count {
  std::atomic<uint64_t> all{0}, open{0}, wrong{0};
};

static bool is_settled(float x, bool *wrong) {
  float y = 0, usual = 0;
  const bool settled = vt_exp_quick(vt_exp_entry(), x, y);
  const bool alike = x < VT_EXP_LEAST || (vt_exp_usual(vt_exp_entry(), x, usual) == 0) == settled;
  *wrong = !alike || (settled && __float_as_uint(y) != __float_as_uint(vt_ff_exp(x)));
  return settled;
}

/* From the bits of -0 to those of -inf, every `apart`-th from `first` on. */
static void look(uint32_t first, uint32_t apart, Count *count) {
  const uint32_t end = 0x7f800000u;
  uint64_t open = 0, wrong = 0, all = 0;
  for (uint32_t i = first; i <= end; i += apart, all++) {
    bool is_wrong = false;
    open += !is_settled(__uint_as_float(0x80000000u | i), &is_wrong);
    wrong += is_wrong;
  }
  count->all += all;
  count->open += open;
  count->wrong += wrong;
}

int main() {
  enum { THREADS = 4 };
  const uint32_t apart = vt_test_is_long() ? 1 : 101;
  bool wrong = true;
  Count count;
  std::vector<std::thread> crew;
  fill_table();
  CHECK(is_settled(0.0f, &wrong) && !wrong); /* the greatest of every row */
  for (uint32_t i = 0; i < THREADS; i++)
    crew.emplace_back(look, i * apart, THREADS * apart, &count);
  for (std::thread &t : crew) t.join();
  CHECK(count.all == 0x7f800000u / apart + 1);
  CHECK(count.wrong == 0);
  CHECK(count.open > 0 &&
        count.open < count.all / 20); /* it is for the rare ones that another decides */
  printf("%llu numbers, %llu open\n", (unsigned long long)count.all,
         (unsigned long long)count.open);
  TEST_DONE();
}
