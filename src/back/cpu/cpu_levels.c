/* SPDX-License-Identifier: Apache-2.0
 * cpu_levels.c - adds up the sums of blocks, level by level. A sum that starts at +0 is never -0,
 * so adding it to a level that is +0 changes no bit. */
#include "cpu_levels.h"
#include <string.h>

int vt_cpu_levels_needed(int64_t blocks) {
  int n = 1;
  for (int64_t m = blocks; m >= VT_CPU_GROUP; m /= VT_CPU_GROUP) n++;
  return n;
}

vt_cpu_levels vt_cpu_levels_init(vt_cpu_add_fn *add, int64_t element_bytes, void *memory, int64_t n,
                                 int levels) {
  return (vt_cpu_levels){
      .add = add, .at = memory, .bytes = n * element_bytes, .n = n, .count = levels};
}

static char *level_address(const vt_cpu_levels *l, int i) { return l->at + i * l->bytes; }

void vt_cpu_levels_clear(const vt_cpu_levels *l) {
  memset(l->at, 0, (size_t)(l->count * l->bytes));
}

void vt_cpu_levels_carry(const vt_cpu_levels *l, int64_t block) {
  int64_t full = block + 1;
  for (int i = 0; full % VT_CPU_GROUP == 0; i++, full /= VT_CPU_GROUP) {
    l->add(level_address(l, i + 1), level_address(l, i), l->n);
    memset(level_address(l, i), 0, (size_t)l->bytes);
  }
}

void *vt_cpu_levels_total(const vt_cpu_levels *l) {
  for (int i = 1; i < l->count; i++) l->add(level_address(l, i), level_address(l, i - 1), l->n);
  return level_address(l, l->count - 1);
}
