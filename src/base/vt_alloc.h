/* SPDX-License-Identifier: Apache-2.0
 * vt_alloc.h - the host allocator, and sizes that cannot overflow unnoticed.
 * Every byte the library takes goes through a vt_alloc that the embedder may supply. */
#ifndef VT_ALLOC_H
#define VT_ALLOC_H
#include <stddef.h>
#include <stdint.h>
#include "volta/volta.h"

/* malloc, realloc and free behind the interface. */
vt_alloc vt_alloc_default(void);

/* Thin wrappers; a NULL result means out of memory. `vt_alloc_new` gives zeroed memory,
 * `vt_alloc_raw` memory with anything in it. */
void *vt_alloc_new(vt_alloc a, size_t bytes);
void *vt_alloc_raw(vt_alloc a, size_t bytes);
void vt_alloc_free(vt_alloc a, void *p, size_t bytes);

/* Products and sums of sizes: 1 on success, 0 when the result does not fit. */
int vt_size_mul(uint64_t a, uint64_t b, uint64_t *out);
int vt_size_add(uint64_t a, uint64_t b, uint64_t *out);
int vt_i64_mul(int64_t a, int64_t b, int64_t *out);
int vt_i64_add(int64_t a, int64_t b, int64_t *out);
#endif
