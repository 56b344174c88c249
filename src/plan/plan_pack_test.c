/* SPDX-License-Identifier: Apache-2.0
 * plan_pack_test.c - checks that packed items that live at the same time do not overlap, that fixed
 * items keep their offsets, and that the arena is hardly higher than the most live bytes. */
#include "plan_pack.h"
#include <stdlib.h>
#include "vt_test.h"

enum { MOST = 18000, UNIT = 256 };

typedef struct sample {
  vt_pack_item at[MOST];
  uint64_t offset[MOST];
  vt_packing k;
} sample;

static uint32_t draw_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

/* Adds random items that are not sorted by first step. Most of them live for few steps and are
 * small, some live long or are large. */
static void add_random_items(sample *s, uint32_t n, uint32_t steps, uint32_t *state) {
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t first = draw_random(state) % steps,
                   most = draw_random(state) % 16 == 0 ? steps / 4 + 1 : 6;
    const uint32_t last = first + draw_random(state) % most;
    const uint64_t bytes =
        UNIT * (uint64_t)(1 + draw_random(state) % (draw_random(state) % 8 == 0 ? 100 : 9));
    s->offset[s->k.n] = UINT64_MAX;
    s->at[s->k.n] = (vt_pack_item){first, last, bytes, &s->offset[s->k.n]};
    s->k.n++;
  }
}

/* Checks that at each step no two live items overlap; returns the most live bytes of any step. */
static uint64_t check_disjoint_and_get_most_live(const sample *s, uint32_t steps) {
  static uint32_t alive[MOST];
  uint64_t most = 0, top = 0;
  uint32_t clashes = 0;
  for (uint32_t step = 0; step < 2 * steps; step++) {
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->k.n; i++) {
      const vt_pack_item *x = &s->at[i];
      if (x->first > step || step > x->last) continue;
      for (uint32_t k = 0; k < n; k++)
        clashes += s->offset[i] < s->offset[alive[k]] + s->at[alive[k]].bytes &&
                   s->offset[alive[k]] < s->offset[i] + x->bytes;
      if (s->offset[i] + x->bytes > top) top = s->offset[i] + x->bytes;
      alive[n++] = i;
      bytes += x->bytes;
    }
    if (bytes > most) most = bytes;
  }
  CHECK(clashes == 0 && s->k.top == top && s->k.fixed == s->k.n);
  return most;
}

typedef struct tally {
  uint64_t top, alive; /* sums over several packings: heights of the arenas, and most live bytes of
                          any step */
} tally;

/* Packs `n` random items in rounds; the items of earlier rounds are fixed. The height and live
 * bytes of the first round are added to *sum. */
static void test_packing_random_items(uint32_t n, uint32_t steps, uint32_t seed, uint32_t rounds,
                                      tally *sum) {
  sample *s = calloc(1, sizeof *s);
  uint64_t *was = calloc(MOST, sizeof *was);
  uint32_t state = seed;
  vt_arena scratch;
  if (s == NULL || was == NULL) exit(1);
  s->k.at = s->at;
  vt_arena_init(&scratch, vt_alloc_default());
  for (uint32_t round = 0; round < rounds; round++) {
    const uint32_t before = s->k.n;
    for (uint32_t i = 0; i < before; i++) was[i] = s->offset[i];
    add_random_items(s, n / rounds, steps, &state);
    CHECK(vt_pack(&s->k, &scratch, NULL) == VT_OK);
    const uint64_t alive = check_disjoint_and_get_most_live(s, steps);
    for (uint32_t i = 0; i < before; i++) CHECK(s->offset[i] == was[i]);
    if (round > 0) continue;
    sum->top += s->k.top;
    sum->alive += alive;
  }
  vt_arena_done(&scratch);
  free(was);
  free(s);
}

/* An item goes into the lowest hole between fixed items that is large enough; a fixed item that
 * does not live at the same time does not count. */
static void test_items_fill_holes_of_fixed(void) {
  uint64_t offset[6] = {0, 512, 1024, 7, 7, 7};
  vt_pack_item at[6] = {{0, 9, 512, &offset[0]}, {0, 3, 512, &offset[1]}, {0, 9, 256, &offset[2]},
                        {4, 5, 512, &offset[3]}, {3, 5, 256, &offset[4]}, {4, 4, 768, &offset[5]}};
  vt_packing k = {.at = at, .n = 3};
  vt_arena scratch;
  vt_arena_init(&scratch, vt_alloc_default());
  vt_pack_fix_all(&k);
  CHECK(k.fixed == 3 && k.top == 1280);
  k.n = 6;
  CHECK(vt_pack(&k, &scratch, NULL) == VT_OK);
  CHECK(offset[0] == 0 && offset[1] == 512 && offset[2] == 1024);
  /* Item 5 is placed first, because it is the largest: the hole at 512 is too small for it. */
  CHECK(offset[5] == 1280);
  CHECK(offset[3] == 512);        /* in the hole at 512: item 1 lives no longer */
  CHECK(offset[4] == 1280 + 768); /* not at 512, where item 1 still lives at step 3 */
  CHECK(k.top == 1280 + 768 + 256);
  vt_arena_done(&scratch);
}

/* Sixteen items of 2^60 bytes: each is within the limit, but their sum would wrap. */
static void test_too_large_sum_is_refused(void) {
  static uint64_t offset[16];
  vt_pack_item at[16];
  vt_packing k = {.at = at, .n = 16};
  vt_arena scratch;
  vt_diag d = {0};
  for (uint32_t i = 0; i < 16; i++) at[i] = (vt_pack_item){i, i, (uint64_t)1 << 60, &offset[i]};
  vt_arena_init(&scratch, vt_alloc_default());
  CHECK(vt_pack(&k, &scratch, &d) == VT_LIMIT && d.code == VT_LIMIT && k.fixed == 0);
  k.n = 4;
  CHECK(vt_pack(&k, &scratch, NULL) == VT_OK && k.top == (uint64_t)1 << 60);
  vt_arena_done(&scratch);
}

static void test_no_items(void) {
  vt_packing k = {.at = NULL};
  vt_arena scratch;
  vt_arena_init(&scratch, vt_alloc_default());
  CHECK(vt_pack(&k, &scratch, NULL) == VT_OK && k.top == 0);
  vt_arena_done(&scratch);
}

int main(void) {
  tally few = {0}, many = {0}, all = {0};
  test_no_items();
  test_items_fill_holes_of_fixed();
  test_too_large_sum_is_refused();
  for (uint32_t seed = 1; seed <= 20; seed++) test_packing_random_items(300, 60, seed, 3, &few);
  test_packing_random_items(
      MOST, 2000, 7, 3,
      &many); /* too many pairs to pack by size, and later rounds around fixed items */
  test_packing_random_items(MOST, 2000, 8, 1, &all); /* too many pairs, but no fixed items */
  CHECK(few.top * 100 <= few.alive * 103 && many.top * 100 <= many.alive * 110);
  CHECK(all.top * 100 <= all.alive * 150);
  printf("arena above the most live bytes: %.2f %%, %.2f %%, %.2f %%\n",
         100.0 * (double)few.top / (double)few.alive - 100,
         100.0 * (double)many.top / (double)many.alive - 100,
         100.0 * (double)all.top / (double)all.alive - 100);
  TEST_DONE();
}
