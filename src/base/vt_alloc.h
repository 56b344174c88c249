/* SPDX-License-Identifier: Apache-2.0
 * vt_alloc.h - the host allocator and overflow-checked arithmetic on sizes. Every byte that the
 * library allocates comes from a vt_alloc, which the embedder may supply; a zeroed vt_alloc means
 * malloc and free. */
#ifndef VT_ALLOC_H
#define VT_ALLOC_H
#include <stddef.h>
#include <stdint.h>
#include "volta/volta.h"

/* Returns an allocator that uses realloc and free of the C library. */
vt_alloc vt_alloc_default(void);

/* Call the allocator's `resize`. Both return NULL when memory runs out. `vt_alloc_new` zeroes the
 * memory; `vt_alloc_raw` leaves it uninitialised. 0 bytes give a valid unique pointer.
 * `vt_alloc_free` takes the size that was asked for. */
void *vt_alloc_new(vt_alloc a, size_t bytes);
void *vt_alloc_raw(vt_alloc a, size_t bytes);
void vt_alloc_free(vt_alloc a, void *p, size_t bytes);

/* Checked products and sums: return 1 and write *out, or return 0 when the result does not fit. */
int vt_size_mul(uint64_t a, uint64_t b, uint64_t *out);
int vt_size_add(uint64_t a, uint64_t b, uint64_t *out);
int vt_i64_mul(int64_t a, int64_t b, int64_t *out);
int vt_i64_add(int64_t a, int64_t b, int64_t *out);
#endif
