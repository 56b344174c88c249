/* SPDX-License-Identifier: Apache-2.0
 * cpu_levels.h - private to src/back/cpu: the sums of blocks of 256 products, added up in the order
 * that T has, for many results side by side. Level 0 gathers blocks, level l complete groups of 8^l
 * of them, each from +0. */
#ifndef VT_CPU_LEVELS_H
#define VT_CPU_LEVELS_H
#include "cpu_backend.h"

typedef struct vt_cpu_levels {
  vt_cpu_add_fn *add;
  char *at;
  int64_t bytes; /* of a level */
  int64_t n;     /* numbers of it */
  int count;     /* of levels */
} vt_cpu_levels;
/* How many levels so many blocks need. */
int vt_cpu_levels_for(int64_t blocks);
/* Of n numbers of `size` bytes each, one level after the other from `at` on. */
vt_cpu_levels vt_cpu_levels_of(vt_cpu_add_fn *add, int64_t size, void *at, int64_t n, int count);
void vt_cpu_levels_clear(const vt_cpu_levels *l);
/* Block number b was added to level 0. */
void vt_cpu_levels_carry(const vt_cpu_levels *l, int64_t b);
/* After the last block; where the result stands. */
void *vt_cpu_levels_end(const vt_cpu_levels *l);
#endif
