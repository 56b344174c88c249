/* SPDX-License-Identifier: Apache-2.0
 * plan_pack.h - packs items into one arena. An item is a number of bytes with a lifetime; packing
 * gives each an offset such that items that live at the same time do not overlap. */
#ifndef VT_PLAN_PACK_H
#define VT_PLAN_PACK_H
#include "vt_arena.h"

typedef struct vt_pack_item {
  uint32_t first, last; /* lifetime: the first and the last step */
  uint64_t bytes;       /* size > 0, a multiple of the alignment of offsets */
  uint64_t *offset;     /* receives the item's offset in the arena */
} vt_pack_item;
typedef struct vt_packing {
  vt_pack_item *at; /* the items; the caller allocates this array, large enough for all items that
                       it will append */
  uint32_t n;       /* number of items */
  uint32_t fixed; /* the first `fixed` items already have offsets, which vt_pack does not change */
  uint64_t top;   /* end of the highest fixed item */
} vt_packing;

/* Declares all items appended so far as fixed at the offsets that they have. */
void vt_pack_fix_all(vt_packing *k);
/* Gives an offset to each item that is not fixed, so that it does not overlap fixed ones;
 * afterwards all items are fixed. VT_LIMIT if the items have more than 2^62 bytes together. */
vt_status vt_pack(vt_packing *k, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
#endif
