/* SPDX-License-Identifier: Apache-2.0
 * gaps.h - the free ranges (gaps) of an arena without end. It allocates the lowest range that fits
 * and frees ranges again, each in O(log n). */
#ifndef VT_GAPS_H
#define VT_GAPS_H
#include "vt_arena.h"

typedef struct vt_gap vt_gap;
typedef struct vt_gaps {
  vt_gap *at;     /* the nodes of the tree; index 0 means "no node" */
  uint32_t root;  /* index of the root of the tree of gaps */
  uint32_t spare; /* first of the unused nodes, which are linked by `left`; 0: no such node */
  uint32_t used;  /* highest index that was ever used */
} vt_gaps;

/* Makes all bytes free. At most `most_ranges` ranges may be allocated at the same time. */
vt_status vt_gaps_init(vt_gaps *g, uint32_t most_ranges, vt_arena *scratch) VT_NODISCARD;
/* Allocates `bytes` > 0 at the lowest offset at which they fit and returns the offset. */
uint64_t vt_gaps_alloc(vt_gaps *g, uint64_t bytes);
/* Frees a range that vt_gaps_alloc returned, and merges it with the gaps next to it. */
void vt_gaps_free(vt_gaps *g, uint64_t offset, uint64_t bytes);
#endif
