/* SPDX-License-Identifier: Apache-2.0
 * vt_arena.h - one owner, one lifetime, one free.
 * An allocation failure is sticky: builders need not test every pointer, the stage tests
 * vt_arena_status() once before it publishes its result. */
#ifndef VT_ARENA_H
#define VT_ARENA_H
#include <stddef.h>
#include "vt_alloc.h"

typedef struct vt_arena {
  vt_alloc a;
  struct vt_block *head;
  int failed;
} vt_arena;

void vt_arena_init(vt_arena *ar, vt_alloc a);
void vt_arena_done(vt_arena *ar); /* frees everything; the arena can be initialised again */
vt_status vt_arena_status(const vt_arena *ar) VT_NODISCARD;

/* Zeroed memory for `n` items of `size` bytes, aligned for any type; NULL (sticky) on failure
 * or overflow. n == 0 gives a valid unique pointer. */
void *vt_arena_array(vt_arena *ar, size_t n, size_t size);
/* Copies; the string gets a terminating 0. */
void *vt_arena_copy(vt_arena *ar, const void *p, size_t bytes);
char *vt_arena_string(vt_arena *ar, const char *s, size_t n);
/* Room for one more item in a growing array: when `n` has reached `*cap` the array is doubled
 * into fresh arena memory and `*cap` updated. Returns the (possibly moved) array, NULL (sticky)
 * on failure; the old array stays valid. */
void *vt_arena_grow(vt_arena *ar, void *array, uint32_t n, uint32_t *cap, size_t size);

#define VT_NEW(ar, T) ((T *)vt_arena_array((ar), 1, sizeof(T)))
#define VT_NEW_N(ar, T, n) ((T *)vt_arena_array((ar), (n), sizeof(T)))
#endif
