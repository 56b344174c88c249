/* SPDX-License-Identifier: Apache-2.0
 * gpu_share_test.c - how long rows are shared: each chunk is some block's and every block has one,
 * blocks that wait for each other fit on the card at once, and rows stay on chip where they can. */
#include "gpu_share.h"
#include "vt_test.h"

enum { SYSTEM = 1024, COUNTERS = 4096 };

/* Processors and shared memory of cards from small ones to sm_100. */
static const vt_gpu_room cards[] = {
    {1, 101376, SYSTEM, COUNTERS},   {4, 232448, SYSTEM, COUNTERS},
    {16, 101376, SYSTEM, COUNTERS},  {84, 101376, SYSTEM, COUNTERS},
    {108, 166912, SYSTEM, COUNTERS}, {132, 232448, SYSTEM, COUNTERS},
    {148, 232448, SYSTEM, COUNTERS}, {600, 232448, SYSTEM, 64}};
enum { CARDS = sizeof cards / sizeof *cards };

static void check(const vt_gpu_room *r, int64_t lines, int64_t chunks) {
  const vt_gpu_sharing s = vt_gpu_share(*r, lines, chunks);
  const int64_t beside = vt_gpu_parts(s.teams * s.blocks, r->processors);
  CHECK(s.blocks >= 1 && s.keep >= 1 && s.keep <= s.chunks);
  CHECK((s.blocks - 1) * s.chunks < chunks && chunks <= s.blocks * s.chunks);
  CHECK(s.teams >= 1 && s.teams <= lines);
  CHECK(s.warps >= 1 && s.warps <= s.chunks && s.warps <= VT_GPU_LONG_WARPS);
  CHECK((int64_t)s.shared <= r->shared);
  if (s.blocks == 1) return;
  CHECK(s.teams <= r->counters);
  CHECK(beside * s.warps <= VT_GPU_LONG_WARPS);
  CHECK(beside * ((int64_t)s.shared + r->system) <= r->shared + r->system);
}

/* All of a row that the chip has room for stays on it. */
static void test_stays(void) {
  const vt_gpu_room *h200 = &cards[5];
  for (int64_t lines = 1; lines < 2000; lines = lines * 2 + 1)
    for (int64_t chunks = 8; chunks <= 1024; chunks += 7) {
      const vt_gpu_sharing s = vt_gpu_share(*h200, lines, chunks);
      CHECK(s.keep == s.chunks);
    }
}

/* Few rows are everybody's; many short ones wait for nobody. */
static void test_spreads(void) {
  const vt_gpu_room *h200 = &cards[5];
  CHECK(vt_gpu_share(*h200, 1, 400).blocks >= 100);
  CHECK(vt_gpu_share(*h200, 5000, 8).blocks == 1);
  CHECK(vt_gpu_share(*h200, 5000, 50).blocks > 1);
}

int main(void) {
  for (int i = 0; i < CARDS; i++)
    for (int64_t lines = 1; lines < 100000; lines = lines * 3 / 2 + 1)
      for (int64_t chunks = 8; chunks <= 1024; chunks++) check(&cards[i], lines, chunks);
  test_stays();
  test_spreads();
  TEST_DONE();
}
