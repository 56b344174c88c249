/* SPDX-License-Identifier: Apache-2.0
 * arena.c - the arena as a list of blocks, newest first. Memory is allocated from the newest block;
 * vt_arena_array zeroes it.
 *
 *   ar->head                                     ar->head->next
 *   |                                            |
 *   v                                            v
 *   +--------+---------------------+---------+   +--------+------------------------+
 *   | header | allocated           | free    |   | header | allocated       | lost |
 *   +--------+---------------------+---------+   +--------+------------------------+
 *            |<------ used ------->|
 *            |<------------ size ----------->|
 *
 * Headers and all allocations start at multiples of 16 bytes. Block sizes double from 4 KiB to 1
 * MiB; a request larger than the next block size gets a block of its own size. The rest of a block
 * is lost when a newer block becomes the head. A block for a large request does not become the
 * head: it is inserted second, so that the newest block stays in use. */
#include "vt_arena.h"
#include <stdint.h>
#include <string.h>

enum { ALIGN = 16, BLOCK_MIN = 4 * 1024, BLOCK_MAX = 1024 * 1024 };

struct vt_block {
  _Alignas(ALIGN) struct vt_block *next;
  size_t size, used; /* bytes after the header: all of them, and those already allocated */
};

void vt_arena_init(vt_arena *ar, vt_alloc a) { *ar = (vt_arena){.a = a}; }

void vt_arena_done(vt_arena *ar) {
  for (struct vt_block *b = ar->head, *next; b != NULL; b = next) {
    next = b->next;
    vt_alloc_free(ar->a, b, sizeof *b + b->size);
  }
  *ar = (vt_arena){.a = ar->a};
}

vt_status vt_arena_status(const vt_arena *ar) { return ar->failed ? VT_NOMEM : VT_OK; }

static void *mark_as_failed(vt_arena *ar) {
  ar->failed = 1;
  return NULL;
}

static size_t next_block_size(const vt_arena *ar) {
  if (ar->head == NULL) return BLOCK_MIN;
  return ar->head->size < BLOCK_MAX / 2 ? ar->head->size * 2 : BLOCK_MAX;
}

/* Allocates a block with at least `want` free bytes and links it into the list. */
static struct vt_block *add_block(vt_arena *ar, size_t want) {
  const size_t usual = next_block_size(ar);
  const int large = want > usual;
  struct vt_block *b = vt_alloc_raw(ar->a, sizeof *b + (large ? want : usual));
  if (b == NULL) return NULL;
  *b = (struct vt_block){.size = large ? want : usual};
  if (large && ar->head != NULL) {
    b->next = ar->head->next;
    ar->head->next = b;
  } else {
    b->next = ar->head;
    ar->head = b;
  }
  return b;
}

/* Returns the bytes of n items rounded up to a multiple of ALIGN, at least ALIGN, so that every
 * pointer is unique; 0 on overflow. */
static size_t aligned_bytes(size_t n, size_t size) {
  if (size != 0 && n > (SIZE_MAX / 2) / size) return 0;
  const size_t bytes = n * size;
  return bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Allocates uninitialised memory from the arena. Only vt_arena_array zeroes it, and only the bytes
 * that were asked for. */
static void *allocate_uninitialised(vt_arena *ar, size_t n, size_t size) {
  if (ar->failed) return NULL;
  const size_t want = aligned_bytes(n, size);
  if (want == 0) return mark_as_failed(ar);
  struct vt_block *b = ar->head;
  if (b == NULL || b->size - b->used < want) b = add_block(ar, want);
  if (b == NULL) return mark_as_failed(ar);
  void *p = (char *)(b + 1) + b->used;
  b->used += want;
  return p;
}

void *vt_arena_array(vt_arena *ar, size_t n, size_t size) {
  void *p = allocate_uninitialised(ar, n, size);
  return p != NULL ? memset(p, 0, n * size) : NULL;
}

void *vt_arena_copy(vt_arena *ar, const void *p, size_t bytes) {
  void *q = allocate_uninitialised(ar, bytes, 1);
  if (q != NULL && bytes != 0) memcpy(q, p, bytes);
  return q;
}

char *vt_arena_string(vt_arena *ar, const char *s, size_t n) {
  if (n == SIZE_MAX) return mark_as_failed(ar);
  char *q = allocate_uninitialised(ar, n + 1, 1);
  if (q == NULL) return NULL;
  if (n != 0) memcpy(q, s, n);
  q[n] = 0;
  return q;
}

void *vt_arena_grow(vt_arena *ar, void *array, uint32_t n, uint32_t *cap, size_t size) {
  if (ar->failed) return NULL;
  if (n < *cap) return array;
  if (n > UINT32_MAX / 2) return mark_as_failed(ar);
  const uint32_t wider = n < 4 ? 8 : n * 2;
  void *q = vt_arena_array(ar, wider, size);
  if (q == NULL) return NULL;
  if (n != 0) memcpy(q, array, n * size);
  *cap = wider;
  return q;
}
