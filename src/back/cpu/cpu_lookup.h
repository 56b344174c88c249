/* SPDX-License-Identifier: Apache-2.0
 * cpu_lookup.h - shared by gathers and scatters: an index tensor names slices of one tensor, and
 * each slice is copied to or from a row of another tensor. */
#ifndef VT_CPU_LOOKUP_H
#define VT_CPU_LOOKUP_H
#include "cpu_move.h"

/* The walk goes over the rows. at[0] is the offset of the row in bytes; at[1] the offset in the
 * indexed tensor, without the part that the index adds, in bytes; at[2] the offset in the index, in
 * elements. */
typedef struct vt_cpu_lookup {
  vt_cpu_walk walk;
  const vt_view *index;
  uint32_t depth;            /* coordinates of one row in the index */
  int64_t coordinate_stride; /* elements from one coordinate of a row to the next */
  /* For each coordinate: its exclusive upper bound, and the stride of its axis. */
  int64_t limit[VT_MAX_RANK], bytes[VT_MAX_RANK];
  vt_view slice, row; /* one slice of the indexed tensor, one row of the other */
} vt_cpu_lookup;

/* The lookup of gather_nd and scatter_nd: `x` is indexed, `rows` has the shape of gather_nd's
 * result. */
vt_cpu_lookup vt_cpu_lookup_nd(const vt_view *x, const vt_view *index, const vt_view *rows,
                               uint32_t batch);

/* Checks all indices: VT_OK, or VT_RANGE with the lowest faulty position of the index in `c`. Must
 * be called before any element is moved. */
vt_status vt_cpu_lookup_check(vt_cpu_call *c, const vt_cpu_lookup *l);

/* The offset in bytes of the indexed slice for the row that is `ahead` rows after the position of
 * w, along the last axis. */
static inline int64_t vt_cpu_lookup_offset(const vt_cpu_lookup *l, const vt_cpu_walk *w,
                                           int64_t ahead) {
  const uint32_t last = w->rank - 1; /* not used if there are no axes, because `ahead` is then 0 */
  int64_t at = w->at[1] + (ahead == 0 ? 0 : ahead * w->stride[1][last]);
  int64_t where = w->at[2] + (ahead == 0 ? 0 : ahead * w->stride[2][last]);
  for (uint32_t i = 0; i < l->depth; i++, where += l->coordinate_stride)
    at +=
        l->bytes[i] * (l->index->dtype == VT_DTYPE_I32 ? ((const int32_t *)l->index->data)[where]
                                                       : ((const int64_t *)l->index->data)[where]);
  return at;
}
#endif
