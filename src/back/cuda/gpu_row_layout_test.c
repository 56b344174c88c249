/* SPDX-License-Identifier: Apache-2.0
 * gpu_row_layout_test.c - how long rows and bundles of lines are distributed. Every chunk belongs
 * to one block, and every block has a chunk. Blocks that wait for each other fit on the card at the
 * same time. Rows stay in shared memory if they fit. */
#include "gpu_bundle.h"
#include "vt_test.h"

enum { SYSTEM = 1024, COUNTERS = 4096 };

/* Limits of cards from small ones to sm_100: multiprocessors, shared memory and so on. */
static const vt_gpu_limits cards[] = {
    {1, 101376, SYSTEM, COUNTERS},   {4, 232448, SYSTEM, COUNTERS},
    {16, 101376, SYSTEM, COUNTERS},  {20, 101376, SYSTEM, COUNTERS},
    {84, 101376, SYSTEM, COUNTERS},  {108, 166912, SYSTEM, COUNTERS},
    {132, 232448, SYSTEM, COUNTERS}, {148, 232448, SYSTEM, COUNTERS},
    {600, 232448, SYSTEM, 64}};
enum { CARDS = sizeof cards / sizeof *cards };

static void check_row_layout(const vt_gpu_limits *r, int64_t lines, int64_t chunks) {
  const vt_gpu_row_layout s = vt_gpu_row_layout_of(*r, lines, chunks);
  const int64_t resident = vt_gpu_ceil_div(s.teams * s.blocks, r->processors);
  CHECK(s.blocks >= 1 && s.keep >= 1 && s.keep <= s.chunks);
  CHECK((s.blocks - 1) * s.chunks < chunks && chunks <= s.blocks * s.chunks);
  CHECK(s.teams >= 1 && s.teams <= lines);
  CHECK(s.warps >= 1 && s.warps <= s.chunks && s.warps <= VT_GPU_LONG_WARPS);
  CHECK((int64_t)s.shared <= r->shared);
  if (s.blocks == 1) return;
  CHECK(s.teams <= r->counters);
  CHECK(resident * s.warps <= VT_GPU_LONG_WARPS);
  CHECK(resident * ((int64_t)s.shared + r->system) <= r->shared + r->system);
}

/* Checks that a row that fits in shared memory stays there completely. */
static void test_row_stays_in_shared_memory(void) {
  const vt_gpu_limits *h200 = &cards[6];
  for (int64_t lines = 1; lines < 2000; lines = lines * 2 + 1)
    for (int64_t chunks = 8; chunks <= 1024; chunks += 7) {
      const vt_gpu_row_layout s = vt_gpu_row_layout_of(*h200, lines, chunks);
      CHECK(s.keep == s.chunks);
    }
}

/* Checks that a single row is distributed over most blocks, and that each of many short rows gets
 * one block, which waits for no other. */
static void test_rows_use_all_blocks(void) {
  const vt_gpu_limits *h200 = &cards[6];
  CHECK(vt_gpu_row_layout_of(*h200, 1, 400).blocks >= 100);
  CHECK(vt_gpu_row_layout_of(*h200, 5000, 8).blocks == 1);
  CHECK(vt_gpu_row_layout_of(*h200, 5000, 50).blocks > 1);
}

/* ---- bundles ---- */

static int64_t spanned_shared_elements(const vt_gpu_bundle_layout *b, int64_t n) {
  const int64_t last = (vt_gpu_min(n, b->chunks * VT_GPU_CHUNK) - 1) * b->step;
  return last + (b->wide - 1) * b->line_step + 1;
}

static void check_bundle_layout(const vt_gpu_limits *r, const vt_gpu_bundle_shape *w) {
  const vt_gpu_bundle_layout b = vt_gpu_bundle_layout_of(*r, w);
  const int64_t chunks = vt_gpu_ceil_div(w->n, VT_GPU_CHUNK),
                bundles = vt_gpu_ceil_div(w->lines, b.wide);
  const int64_t exchange = b.blocks == 1 ? vt_gpu_bundle_exchange_bytes(b.wide, w->n, w->bytes) : 0;
  const int64_t head_bytes = b.wide * (VT_GPU_OPERANDS * 8 + 2 * w->bytes);
  const int64_t sector = w->x_interleaved || w->y_interleaved ? 32 / w->bytes : 1;
  const int64_t resident = vt_gpu_ceil_div(b.teams * b.blocks, r->processors);
  CHECK(b.wide >= 1 && (b.wide & (b.wide - 1)) == 0 && b.threads % b.wide == 0);
  CHECK(b.step >= b.wide * b.line_step || b.line_step >= vt_gpu_min(w->n, b.chunks * VT_GPU_CHUNK));
  CHECK((b.blocks - 1) * b.chunks < chunks && chunks <= b.blocks * b.chunks);
  CHECK(b.teams >= 1 && b.teams <= bundles);
  CHECK(b.wide >= sector || w->n > 1 << 15);
  CHECK(b.shared >= head_bytes + exchange + spanned_shared_elements(&b, w->n) * w->bytes);
  CHECK((int64_t)b.shared <= r->shared && b.threads <= VT_GPU_LONG_THREADS);
  if (b.blocks == 1) return;
  CHECK(b.teams <= r->counters);
  CHECK(resident * b.threads <= VT_GPU_LONG_THREADS);
  CHECK(resident * ((int64_t)b.shared + r->system) <= r->shared + r->system);
}

/* Checks that lines of up to 200,000 elements of f32 or f64 fit on every card with 20
 * multiprocessors or more. */
static void test_long_lines_fit_in_bundles(void) {
  for (int i = 3; i < CARDS; i++)
    for (int64_t lines = 1; lines < 10000000; lines = lines * 5 / 2 + 1)
      for (int64_t n = 1; n <= 200000; n = n * 9 / 8 + 1)
        for (int kind = 0; kind < 8; kind++)
          check_bundle_layout(&cards[i], &(vt_gpu_bundle_shape){lines, n, kind & 4 ? 8 : 4,
                                                                kind & 1, kind >> 1 & 1});
}

/* Bundles are at least as wide as a memory sector, and `wide` is 0 if lines do not fit. */
static vt_gpu_bundle_layout layout_of_bundles(const vt_gpu_limits *r, vt_gpu_bundle_shape w) {
  return vt_gpu_bundle_layout_of(*r, &w);
}
static void test_bundle_width(void) {
  const vt_gpu_limits *h200 = &cards[6];
  CHECK(layout_of_bundles(h200, (vt_gpu_bundle_shape){1 << 20, 64, 4, 1, 1}).wide == 128);
  CHECK(layout_of_bundles(h200, (vt_gpu_bundle_shape){64, 1000, 4, 1, 0}).wide == 8);
  CHECK(layout_of_bundles(h200, (vt_gpu_bundle_shape){64, 1000, 4, 0, 1}).wide == 8);
  CHECK(layout_of_bundles(h200, (vt_gpu_bundle_shape){64, 1000, 4, 0, 0}).wide == 1);
  CHECK(layout_of_bundles(h200, (vt_gpu_bundle_shape){1, 200000, 8, 1, 1}).blocks > 90);
  CHECK(layout_of_bundles(&cards[0], (vt_gpu_bundle_shape){1, 200000, 8, 0, 0}).wide == 0);
}

/* Checks cards on which blocks cannot wait for each other: one block gets all of a line, or `wide`
 * is 0. */
static void test_without_barriers(void) {
  vt_gpu_limits no_barriers = cards[6];
  no_barriers.counters = 0;
  CHECK(layout_of_bundles(&cards[6], (vt_gpu_bundle_shape){4, 3000, 8, 0, 0}).blocks == 2);
  CHECK(layout_of_bundles(&no_barriers, (vt_gpu_bundle_shape){4, 3000, 8, 0, 0}).blocks == 1);
  CHECK(layout_of_bundles(&no_barriers, (vt_gpu_bundle_shape){4, 40000, 8, 0, 0}).wide == 0);
}

int main(void) {
  for (int i = 0; i < CARDS; i++)
    for (int64_t lines = 1; lines < 100000; lines = lines * 3 / 2 + 1)
      for (int64_t chunks = 8; chunks <= 1024; chunks++) check_row_layout(&cards[i], lines, chunks);
  test_row_stays_in_shared_memory();
  test_rows_use_all_blocks();
  test_long_lines_fit_in_bundles();
  test_bundle_width();
  test_without_barriers();
  TEST_DONE();
}
