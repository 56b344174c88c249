/* SPDX-License-Identifier: Apache-2.0
 * cpu_levels.h - private to src/back/cpu: adds up the sums of blocks of 256 products, for many
 * results at once, in the order T of docs/numerics.md. Level 0 sums up to 8 blocks, level l sums
 * complete groups of 8^l blocks; every level starts at +0.
 *
 *   block    0 1 .. 7 | 8 .. 15 | ...
 *   level 0  \______/   \_____/         is added to level 1 after every 8th block, then cleared
 *   level 1  \_____________________/    is added to level 2 after every 64th block, and so on */
#ifndef VT_CPU_LEVELS_H
#define VT_CPU_LEVELS_H
#include "cpu_backend.h"

typedef struct vt_cpu_levels {
  vt_cpu_add_fn *add;
  char *at;      /* the sums: [level][n] */
  int64_t bytes; /* bytes of one level */
  int64_t n;     /* numbers of one level */
  int count;     /* number of levels */
} vt_cpu_levels;
/* The number of levels that `blocks` blocks need. */
int vt_cpu_levels_needed(int64_t blocks);
/* Prepares `levels` levels of n numbers of `element_bytes` bytes each, stored one after the other
 * in `memory`. */
vt_cpu_levels vt_cpu_levels_init(vt_cpu_add_fn *add, int64_t element_bytes, void *memory, int64_t n,
                                 int levels);
void vt_cpu_levels_clear(const vt_cpu_levels *l);
/* Must be called after block number `block` was added to level 0: adds complete groups to the next
 * levels. */
void vt_cpu_levels_carry(const vt_cpu_levels *l, int64_t block);
/* Must be called after the last block: adds up all levels, returns the address of the n totals. */
void *vt_cpu_levels_total(const vt_cpu_levels *l);
#endif
