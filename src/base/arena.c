/* SPDX-License-Identifier: Apache-2.0
 * arena.c - a list of blocks, newest first; memory is handed out from the newest.
 *
 *   ar->head                                     ar->head->next
 *   |                                            |
 *   v                                            v
 *   +--------+---------------------+---------+   +--------+------------------------+
 *   | header | handed out          | free    |   | header | handed out      | lost |
 *   +--------+---------------------+---------+   +--------+------------------------+
 *            |<------ used ------->|
 *            |<------------ size ----------->|
 *
 * Headers and everything handed out start at multiples of 16 bytes. Blocks double from 4 KiB to
 * 1 MiB; a request larger than that gets a block of its own size. What is left at the end of a
 * block when the next one is opened is lost, except that a request too large for the newest
 * block does not close it: the large block goes behind it in the list. */
#include "vt_arena.h"
#include <stdint.h>
#include <string.h>

enum { ALIGN = 16, BLOCK_MIN = 4 * 1024, BLOCK_MAX = 1024 * 1024 };

struct vt_block {
  _Alignas(ALIGN) struct vt_block *next;
  size_t size, used; /* both count payload bytes */
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

static void *fail(vt_arena *ar) {
  ar->failed = 1;
  return NULL;
}

static size_t next_block_size(const vt_arena *ar) {
  if (ar->head == NULL) return BLOCK_MIN;
  return ar->head->size < BLOCK_MAX / 2 ? ar->head->size * 2 : BLOCK_MAX;
}

/* A block with room for `want` bytes, linked into the list. */
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

/* Whole multiples of ALIGN, at least one, so that every pointer is unique; 0 on overflow. */
static size_t rounded(size_t n, size_t size) {
  if (size != 0 && n > (SIZE_MAX / 2) / size) return 0;
  const size_t bytes = n * size;
  return bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Memory with anything in it: only what is handed out is zeroed, and only if that is promised. */
static void *take(vt_arena *ar, size_t n, size_t size) {
  if (ar->failed) return NULL;
  const size_t want = rounded(n, size);
  if (want == 0) return fail(ar);
  struct vt_block *b = ar->head;
  if (b == NULL || b->size - b->used < want) b = add_block(ar, want);
  if (b == NULL) return fail(ar);
  void *p = (char *)(b + 1) + b->used;
  b->used += want;
  return p;
}

void *vt_arena_array(vt_arena *ar, size_t n, size_t size) {
  void *p = take(ar, n, size);
  return p != NULL ? memset(p, 0, n * size) : NULL;
}

void *vt_arena_copy(vt_arena *ar, const void *p, size_t bytes) {
  void *q = take(ar, bytes, 1);
  if (q != NULL && bytes != 0) memcpy(q, p, bytes);
  return q;
}

char *vt_arena_string(vt_arena *ar, const char *s, size_t n) {
  if (n == SIZE_MAX) return fail(ar);
  char *q = take(ar, n + 1, 1);
  if (q == NULL) return NULL;
  if (n != 0) memcpy(q, s, n);
  q[n] = 0;
  return q;
}

void *vt_arena_grow(vt_arena *ar, void *array, uint32_t n, uint32_t *cap, size_t size) {
  if (ar->failed) return NULL;
  if (n < *cap) return array;
  if (n > UINT32_MAX / 2) return fail(ar);
  const uint32_t wider = n < 4 ? 8 : n * 2;
  void *q = vt_arena_array(ar, wider, size);
  if (q == NULL) return NULL;
  if (n != 0) memcpy(q, array, n * size);
  *cap = wider;
  return q;
}
