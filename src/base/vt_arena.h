/* SPDX-License-Identifier: Apache-2.0
 * vt_arena.h - an allocator that frees everything at once. All memory of an arena has one owner and
 * one lifetime. An allocation failure is sticky: builders need not test every pointer; the stage
 * that owns the arena tests vt_arena_status() once, before it publishes its result. */
#ifndef VT_ARENA_H
#define VT_ARENA_H
#include <stddef.h>
#include "vt_alloc.h"

typedef struct vt_arena {
  vt_alloc a;            /* source of the blocks */
  struct vt_block *head; /* newest block; NULL while the arena is empty */
  int failed;            /* 1 after the first failed allocation, until vt_arena_done */
} vt_arena;

void vt_arena_init(vt_arena *ar, vt_alloc a);
/* Frees all memory; the arena is empty afterwards and can be used again. */
void vt_arena_done(vt_arena *ar);
vt_status vt_arena_status(const vt_arena *ar) VT_NODISCARD;

/* Returns zeroed memory for `n` items of `size` bytes, aligned for any type, or NULL (sticky) when
 * memory runs out or the size overflows. n == 0 gives a valid unique pointer. */
void *vt_arena_array(vt_arena *ar, size_t n, size_t size);
/* Copy `bytes` bytes or `n` characters into the arena; the string gets a terminating 0. */
void *vt_arena_copy(vt_arena *ar, const void *p, size_t bytes);
char *vt_arena_string(vt_arena *ar, const char *s, size_t n);
/* Makes sure that a growing array has capacity for one more item. When its length `n` has reached
 * `*cap`, the items are copied into a fresh array of twice the capacity and `*cap` is updated.
 * Returns the array, which may have moved, or NULL (sticky) on failure; the old array stays valid.
 */
void *vt_arena_grow(vt_arena *ar, void *array, uint32_t n, uint32_t *cap, size_t size);

#define VT_NEW(ar, T) ((T *)vt_arena_array((ar), 1, sizeof(T)))
#define VT_NEW_N(ar, T, n) ((T *)vt_arena_array((ar), (n), sizeof(T)))
#endif
