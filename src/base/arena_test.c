/* SPDX-License-Identifier: Apache-2.0
 * arena_test.c - alignment, zeroing, no overlap of allocations, sticky failure, and no leak on any
 * path. */
#include "vt_arena.h"
#include <stdlib.h>
#include <string.h>
#include "vt_test.h"

static int all_bytes_are(const unsigned char *p, size_t n, unsigned char v) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != v) return 0;
  return 1;
}

/* Allocates pieces of many sizes, some larger than a block. Each must be aligned and zero, and must
 * still hold its own pattern after all the others were written. */
static void test_pieces_do_not_overlap(void) {
  enum { N = 400 };
  static unsigned char *piece[N];
  static size_t size[N];
  vt_fault f = {0};
  vt_arena ar;
  vt_arena_init(&ar, vt_fault_alloc(&f));
  for (size_t i = 0; i < N; i++) {
    size[i] = i % 50 == 49 ? i * 5000 : i * 37 % 700;
    piece[i] = vt_arena_array(&ar, size[i], 1);
    CHECK(piece[i] != NULL && (uintptr_t)piece[i] % 16 == 0);
    CHECK(all_bytes_are(piece[i], size[i], 0));
    memset(piece[i], (int)(i % 255 + 1), size[i]);
  }
  for (size_t i = 0; i < N; i++) {
    CHECK(all_bytes_are(piece[i], size[i], (unsigned char)(i % 255 + 1)));
    CHECK(i == 0 || piece[i] != piece[i - 1]); /* pointers are unique even for zero bytes */
  }
  CHECK(vt_arena_status(&ar) == VT_OK);
  vt_arena_done(&ar);
  CHECK(f.live == 0);
}

/* An allocator whose memory is never zero: the arena must zero what it returns all the same. */
static void *resize_with_dirty_memory(void *user, void *p, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  free(p);
  char *q = new_size != 0 ? malloc(new_size) : NULL;
  return q != NULL ? memset(q, 0xa5, new_size) : NULL;
}

static void test_memory_is_zeroed(void) {
  vt_arena ar;
  vt_arena_init(&ar, (vt_alloc){.resize = resize_with_dirty_memory});
  for (size_t n = 0; n < 300; n++) {
    const unsigned char *p = vt_arena_array(&ar, n * n, 1);
    CHECK(p != NULL && all_bytes_are(p, n * n, 0));
  }
  CHECK(strcmp(vt_arena_string(&ar, "abc", 3), "abc") == 0);
  vt_arena_done(&ar);
}

/* A small arena takes one small block, and a large arena few blocks. A request larger than a block
 * does not waste the rest of the current block. */
static void test_blocks_are_few_and_not_wasted(void) {
  vt_fault f = {0};
  vt_arena ar;
  vt_arena_init(&ar, vt_fault_alloc(&f));
  CHECK(vt_arena_array(&ar, 10, 1) != NULL && f.live == 1);
  CHECK(vt_arena_array(&ar, 10u << 20, 1) != NULL && f.live == 2);
  /* The 3000 bytes fit into the rest of the first block, which is still in use. */
  CHECK(vt_arena_array(&ar, 3000, 1) != NULL && f.live == 2);
  for (int i = 0; i < 16384; i++) (void)vt_arena_array(&ar, 1024, 1);
  CHECK(f.live < 32); /* the 16 MiB take fewer than 32 blocks */
  vt_arena_done(&ar);
  CHECK(f.live == 0);
}

static void test_copies_and_strings(void) {
  vt_arena ar;
  vt_arena_init(&ar, (vt_alloc){NULL, NULL});
  CHECK(strcmp(vt_arena_string(&ar, "abcdef", 3), "abc") == 0);
  CHECK(strcmp(vt_arena_string(&ar, NULL, 0), "") == 0);
  const int v[3] = {1, 2, 3};
  int *copy = vt_arena_copy(&ar, v, sizeof v);
  CHECK(copy != v && memcmp(copy, v, sizeof v) == 0);
  CHECK(vt_arena_copy(&ar, NULL, 0) != NULL);
  vt_arena_done(&ar);
}

static void test_grow_keeps_items(void) {
  vt_fault f = {0};
  vt_arena ar;
  vt_arena_init(&ar, vt_fault_alloc(&f));
  uint32_t *v = NULL, cap = 0;
  for (uint32_t n = 0; n < 10000; n++) {
    v = vt_arena_grow(&ar, v, n, &cap, sizeof *v);
    CHECK(v != NULL && cap > n);
    if (v != NULL) v[n] = n * 7;
  }
  uint32_t wrong = 0;
  for (uint32_t n = 0; n < 10000; n++) wrong += v[n] != n * 7;
  CHECK(wrong == 0);
  uint32_t *same = vt_arena_grow(&ar, v, cap - 1, &cap, sizeof *v);
  CHECK(same == v); /* an array that is not full does not move */
  vt_arena_done(&ar);
  CHECK(f.live == 0);
}

static void test_overflow_is_sticky(void) {
  vt_fault f = {0};
  vt_arena ar;
  vt_arena_init(&ar, vt_fault_alloc(&f));
  void *before = vt_arena_array(&ar, 8, 8);
  CHECK(before != NULL && vt_arena_status(&ar) == VT_OK);
  /* The size in bytes would wrap to 8 if the overflow went unnoticed. */
  CHECK(vt_arena_array(&ar, SIZE_MAX / 8 + 2, 8) == NULL);
  CHECK(vt_arena_status(&ar) == VT_NOMEM);
  CHECK(vt_arena_array(&ar, 1, 1) == NULL && vt_arena_copy(&ar, "x", 1) == NULL);
  CHECK(f.asked == 1); /* the size was refused before the allocator was called */
  uint32_t cap = 4;
  CHECK(vt_arena_grow(&ar, before, 1, &cap, 8) == NULL && cap == 4);
  vt_arena_done(&ar);
  CHECK(f.live == 0 && vt_arena_status(&ar) == VT_OK);
  CHECK(vt_arena_string(&ar, "x", SIZE_MAX) == NULL && vt_arena_status(&ar) == VT_NOMEM);
  vt_arena_done(&ar);
}

/* An array cannot grow beyond the range of its 32-bit counter. */
static void test_grow_beyond_32_bits_fails(void) {
  vt_arena ar;
  vt_arena_init(&ar, (vt_alloc){NULL, NULL});
  char one = 0;
  uint32_t cap = 0x80000000u;
  CHECK(vt_arena_grow(&ar, &one, cap, &cap, 1) == NULL && cap == 0x80000000u);
  CHECK(vt_arena_status(&ar) == VT_NOMEM);
  vt_arena_done(&ar);
}

static vt_status allocate_from_arena(vt_alloc a) {
  vt_arena ar;
  vt_arena_init(&ar, a);
  uint32_t *v = NULL, cap = 0;
  for (uint32_t n = 0; n < 5000; n++) {
    uint32_t *wider = vt_arena_grow(&ar, v, n, &cap, sizeof *v);
    if (wider == NULL) break;
    v = wider;
    v[n] = n;
    (void)vt_arena_string(&ar, "some text", 9);
  }
  (void)vt_arena_array(&ar, 3u << 20, 1);
  const vt_status s = vt_arena_status(&ar);
  vt_arena_done(&ar);
  return s;
}

static void test_every_allocation_failure(void) {
  long fails = 0;
  for (long k = 1;; k++) {
    vt_fault f = {.left = k};
    const vt_status s = allocate_from_arena(vt_fault_alloc(&f));
    CHECK(f.live == 0);
    if (s == VT_OK) break;
    CHECK(s == VT_NOMEM && f.asked == k); /* after a failure the allocator is not called again */
    fails++;
  }
  CHECK(fails > 5);
}

int main(void) {
  test_memory_is_zeroed();
  test_pieces_do_not_overlap();
  test_blocks_are_few_and_not_wasted();
  test_copies_and_strings();
  test_grow_keeps_items();
  test_overflow_is_sticky();
  test_grow_beyond_32_bits_fails();
  test_every_allocation_failure();
  TEST_DONE();
}
