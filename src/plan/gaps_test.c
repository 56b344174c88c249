/* SPDX-License-Identifier: Apache-2.0
 * gaps_test.c - compares the tree of gaps with a first-fit search in a plain map of bytes. */
#include "gaps.h"
#include <string.h>
#include "vt_test.h"

enum { CAPACITY = 4096, MOST = 200 };

/* The lowest offset of `bytes` consecutive free bytes in the map; CAPACITY if there are not that
 * many. */
static uint64_t lowest_free_range(const uint8_t *taken, uint64_t bytes) {
  uint64_t free_units = 0;
  for (uint64_t i = 0; i < CAPACITY; i++) {
    free_units = taken[i] ? 0 : free_units + 1;
    if (free_units == bytes) return i + 1 - bytes;
  }
  return CAPACITY;
}

static uint32_t draw_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

static void test_gaps_match_byte_map(uint32_t seed) {
  static uint8_t taken[CAPACITY];
  uint64_t at[MOST], size[MOST];
  uint32_t n = 0, state = seed;
  vt_arena scratch;
  vt_gaps g;
  memset(taken, 0, sizeof taken);
  vt_arena_init(&scratch, vt_alloc_default());
  CHECK(vt_gaps_init(&g, MOST, &scratch) == VT_OK);
  for (int i = 0; i < 4000; i++) {
    const int full = n == MOST || (n > 0 && draw_random(&state) % 5 < 2);
    if (full) {
      const uint32_t k = draw_random(&state) % n;
      vt_gaps_free(&g, at[k], size[k]);
      memset(taken + at[k], 0, size[k]);
      at[k] = at[--n];
      size[k] = size[n];
    } else {
      size[n] = 1 + draw_random(&state) % (i % 7 == 0 ? 30 : 9);
      const uint64_t want = lowest_free_range(taken, size[n]);
      at[n] = vt_gaps_alloc(&g, size[n]);
      CHECK(at[n] == want);
      if (at[n] != want) break;
      memset(taken + at[n], 1, size[n]);
      n++;
    }
  }
  while (n-- > 0) vt_gaps_free(&g, at[n], size[n]);
  CHECK(vt_gaps_alloc(&g, (uint64_t)1 << 60) == 0); /* all gaps were merged into one without end */
  vt_arena_done(&scratch);
}

int main(void) {
  for (uint32_t seed = 1; seed <= 20; seed++) test_gaps_match_byte_map(seed);
  TEST_DONE();
}
