/* SPDX-License-Identifier: Apache-2.0
 * cpu_derived.h - data that steps derive from an operand and keep between runs, such as packed
 * weights. Every block of such data begins with a head of one cache line. A block belongs either to
 * one launch of a program, or to a shared buffer of parameters: then all launches of all programs
 * that derive the same data from it share the block, and the first of them fills it.
 *
 *   buffer of parameters     [ header | w0 w1 w2 ... ]
 *                                |
 *                              store -> block of w0: [ head | panels ] -> block of w2: ...
 *                                             ^  ^
 *                 launches of programs   -----+  +-----                                        */
#ifndef VT_CPU_DERIVED_H
#define VT_CPU_DERIVED_H
#include "cpu_backend.h"

typedef struct vt_cpu_block vt_cpu_block; /* a block in the store of a shared buffer */

/* The head of every block; the data follows VT_CPU_LINE bytes after its start. */
typedef struct vt_cpu_block_head {
  uint64_t version;     /* content version that the data was derived from; 0: never filled */
  vt_cpu_block *shared; /* NULL for a block that belongs to one launch */
} vt_cpu_block_head;
_Static_assert(sizeof(vt_cpu_block_head) <= VT_CPU_LINE, "a head has one cache line");

/* Creates the store of a buffer that is shared from now on. `host` must outlive the buffer; its
 * allocator is called by any thread, but by one at a time. */
vt_cpu_store *vt_cpu_store_new(const vt_bk_host *host);
void vt_cpu_store_free(vt_cpu_store *s);
/* Returns the block of `bytes` bytes, head included, for what this call derives from operand `i`,
 * and counts one more user of it; NULL if memory is short. */
vt_cpu_block_head *vt_cpu_store_get(vt_cpu_store *s, const vt_cpu_call *c, uint32_t i,
                                    uint64_t bytes);
/* Drops one user of a block; the last one frees it. */
void vt_cpu_store_put(vt_cpu_block *b);

/* Returns 1 if the caller must fill the block. Then no other thread gets past this function for the
 * same block until vt_cpu_block_end, where `filled` says whether the caller has filled it. */
int vt_cpu_block_begin(vt_cpu_block *b);
void vt_cpu_block_end(vt_cpu_block *b, int filled);
#endif
