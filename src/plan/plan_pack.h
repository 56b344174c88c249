/* SPDX-License-Identifier: Apache-2.0
 * plan_pack.h - stretches of bytes, each alive from step to step, in one arena. */
#ifndef VT_PLAN_PACK_H
#define VT_PLAN_PACK_H
#include "vt_arena.h"

typedef struct vt_lifetime {
  uint32_t first, last;
  uint64_t bytes;   /* more than none, and rounded to what offsets are multiples of */
  uint64_t *offset; /* where its place is written */
} vt_lifetime;
typedef struct vt_packing {
  vt_lifetime *at;   /* has room for all that is added */
  uint32_t n, fixed; /* the first `fixed` of them have their places */
  uint64_t top;      /* where the highest of those ends */
} vt_packing;

/* All that were added lie where they lie. */
void vt_pack_keep(vt_packing *k);
/* Gives places to those that have none, beside those that have. VT_LIMIT when their bytes together
 * are beyond 2^62. */
vt_status vt_pack(vt_packing *k, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
#endif
