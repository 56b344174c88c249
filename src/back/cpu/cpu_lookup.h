/* SPDX-License-Identifier: Apache-2.0
 * cpu_lookup.h - what gathers and scatters share: an index names slices of one tensor, each of
 * which goes to or comes from a row of another. */
#ifndef VT_CPU_LOOKUP_H
#define VT_CPU_LOOKUP_H
#include "cpu_move.h"

/* The walk is along the rows. at[0] follows the rows, at[1] the tensor that is looked up, but for
 * what the index says, both in bytes; at[2] follows the index, in elements. */
typedef struct vt_cpu_lookup {
  vt_cpu_walk walk;
  const vt_view *index;
  uint32_t depth;                                 /* how many coordinates a row has ... */
  int64_t apart;                                  /* ... and how far apart they lie */
  int64_t limit[VT_MAX_RANK], bytes[VT_MAX_RANK]; /* of each: the first too large, its stride */
  vt_view slice, row;                             /* the axes that the index says nothing of */
} vt_cpu_lookup;

/* `x` is looked up, `rows` has what gather_nd gives. */
vt_cpu_lookup vt_cpu_lookup_nd(const vt_view *x, const vt_view *index, const vt_view *rows,
                               uint32_t batch);

/* VT_RANGE with the lowest position of the index at fault, or VT_OK. Before anything is moved. */
vt_status vt_cpu_lookup_check(vt_cpu_call *c, const vt_cpu_lookup *l);

/* Where the slice lies that the index names, `on` rows along the last axis from where w is. */
static inline int64_t vt_cpu_lookup_at(const vt_cpu_lookup *l, const vt_cpu_walk *w, int64_t on) {
  const uint32_t last = w->rank - 1; /* without axes `on` is 0 */
  int64_t at = w->at[1] + (on == 0 ? 0 : on * w->stride[1][last]);
  int64_t where = w->at[2] + (on == 0 ? 0 : on * w->stride[2][last]);
  for (uint32_t i = 0; i < l->depth; i++, where += l->apart)
    at +=
        l->bytes[i] * (l->index->dtype == VT_DTYPE_I32 ? ((const int32_t *)l->index->data)[where]
                                                       : ((const int64_t *)l->index->data)[where]);
  return at;
}
#endif
