/* SPDX-License-Identifier: Apache-2.0
 * gaps.h - the free stretches of an arena without end: take the lowest that fits, give back.
 * Both take O(log n). */
#ifndef VT_GAPS_H
#define VT_GAPS_H
#include "vt_arena.h"

typedef struct vt_gap vt_gap;
typedef struct vt_gaps {
  vt_gap *at;
  uint32_t root, spare; /* indices; 0 = none */
  uint32_t used;
} vt_gaps;

/* All is free. `most` stretches are taken at any time. */
vt_status vt_gaps_init(vt_gaps *g, uint32_t most, vt_arena *scratch) VT_NODISCARD;
/* The lowest free offset with room for `bytes` > 0; taken, it is no longer free. */
uint64_t vt_gaps_take(vt_gaps *g, uint64_t bytes);
void vt_gaps_give(vt_gaps *g, uint64_t offset, uint64_t bytes);
#endif
